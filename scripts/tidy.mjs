/** The second part of `npm run lint`: checks that ESLint does not make. They are in packages/testkit/src/tidy. */

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tidy } from '../packages/testkit/dist/tidy/main.js';

process.exitCode = tidy(dirname(dirname(fileURLToPath(import.meta.url))));
