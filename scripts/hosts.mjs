/**
 * `npm run hosts -- up 8`, `down`, `list`, `run 'ssh h1 hostname'`: test hosts on this machine. The code is in
 * packages/testkit/src/hosts; manual: docs/test-hosts.md.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/run.mjs';

const index = join(root, 'packages/testkit/dist/hosts/index.js');
if (!existsSync(index)) {
  console.error('error: the test hosts are not built: run npm run setup first');
  process.exit(1);
}
const { main } = await import(index);
process.exitCode = await main(process.argv.slice(2));
