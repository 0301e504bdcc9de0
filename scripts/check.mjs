/**
 * `npm test` and `npm run check`: installs (with --setup), builds, then tests, with lint beside them. What lint finds
 * counts as one failed. The last line printed is always `N passed, N failed`.
 */

import { join } from 'node:path';
import { begin, root, status } from './lib/run.mjs';

const [first, ...rest] = process.argv.slice(2);
const withSetup = first === '--setup';
const args = withSetup ? rest : process.argv.slice(2);

const made = status(process.execPath, [join(root, `scripts/${withSetup ? 'setup' : 'build'}.mjs`)]);
if (made !== 0) {
  console.log(`error: the ${withSetup ? 'setup' : 'build'} failed, see above\n0 passed, 1 failed`);
  process.exit(1);
}
const lint = () => begin(process.execPath, [join(root, 'scripts/lint.mjs')])
  .then((code) => (code === 0 ? [] : ['lint found something, see above']));
const { runTests } = await import('../packages/testkit/dist/runner/main.js');
process.exitCode = await runTests(root, args, lint);
