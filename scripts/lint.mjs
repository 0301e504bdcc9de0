/** `npm run lint`: ESLint with the repository's rules, then tidy. Both always run. */

import { join } from 'node:path';
import { root, status } from './lib/run.mjs';

const eslint = join(root, 'lint/node_modules/eslint/bin/eslint.js');
const codes = [
  status(process.execPath, [eslint, '--config', 'lint/eslint.config.mjs', '--max-warnings', '0', '.']),
  status(process.execPath, [join(root, 'scripts/tidy.mjs')]),
];
process.exitCode = Math.max(...codes);
