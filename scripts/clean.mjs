/** `npm run clean`: removes all output of the build (dist, dist-test), including that of deleted sources. */

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/run.mjs';

for (const name of readdirSync(join(root, 'packages'))) {
  for (const made of ['dist', 'dist-test']) {
    const path = join(root, 'packages', name, made);
    if (existsSync(path)) rmSync(path, { recursive: true });
  }
}
