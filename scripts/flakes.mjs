/** `npm run flakes -- [WORD...]`: runs test files many times, as packages/testkit/src/flakes does. */

import { runFlakes } from '../packages/testkit/dist/flakes/main.js';
import { root } from './lib/run.mjs';

process.exitCode = await runFlakes(root, process.argv.slice(2));
