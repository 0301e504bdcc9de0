/** Makes dist/stci-client.cjs, the command as one file: scripts start it for each of their calls. */

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packOne } from '../../stcirun/scripts/pack.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
await packOne({ root, entry: 'dist/command/main.js', outfile: 'dist/stci-client.cjs' });
