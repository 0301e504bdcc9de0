/** `npm run mutants -- [WORD...]`: do tests notice small changes of core? packages/testkit/src/mutants looks. */

import { runMutants } from '../packages/testkit/dist/mutants/main.js';
import { root } from './lib/run.mjs';

process.exitCode = await runMutants(root, process.argv.slice(2));
