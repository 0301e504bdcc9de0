/**
 * `npm test` and `npm run check`: installs (with --setup), builds, lints, tests. Tests run even if lint fails, which
 * counts as one failed. The last line printed is always `N passed, N failed`.
 */

import { join } from 'node:path';
import { root, status } from './lib/run.mjs';

const [first, ...rest] = process.argv.slice(2);
const withSetup = first === '--setup';
const args = withSetup ? rest : process.argv.slice(2);

const made = status(process.execPath, [join(root, `scripts/${withSetup ? 'setup' : 'build'}.mjs`)]);
if (made !== 0) {
  console.log(`error: the ${withSetup ? 'setup' : 'build'} failed, see above\n0 passed, 1 failed`);
  process.exit(1);
}
const linted = status(process.execPath, [join(root, 'scripts/lint.mjs')]);
const { runTests } = await import('../packages/testkit/dist/runner/main.js');
process.exitCode = await runTests(root, args, linted === 0 ? [] : ['lint found something, see above']);
