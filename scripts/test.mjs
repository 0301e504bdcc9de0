/** `npm test -- [WORD...] [--grep TEXT]`: runs the compiled tests. The runner is packages/testkit/src/runner. */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const runner = join(root, 'packages/testkit/dist/runner/main.js');
if (!existsSync(runner)) {
  console.error('error: the test runner is not built: run npm run build first');
  console.log('0 passed, 1 failed');
  process.exit(2);
}
const { runTests } = await import(runner);
process.exitCode = await runTests(root, process.argv.slice(2));
