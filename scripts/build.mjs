/**
 * `npm run build`: compiles what changed, then bundles the commands and the agent.
 */

import { node } from './lib/run.mjs';

node('node_modules/typescript/bin/tsc', ['-b']);
node('packages/stcirun/scripts/bundle.mjs', []);
node('packages/finject-cli/scripts/bundle.mjs', []);
node('packages/client/scripts/bundle.mjs', []);
