/**
 * `npm run lint`, second half: what ESLint does not check. The checks are packages/testkit/src/tidy.
 */

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tidy } from '../packages/testkit/dist/tidy/main.js';

process.exitCode = tidy(dirname(dirname(fileURLToPath(import.meta.url))));
