/**
 * Writes docs/parameters.md from the declarations of all components of stcirun. A test of stcirun fails if the file is
 * not up to date.
 */

import { writeFileSync } from 'node:fs';
import { parametersDocument } from '../packages/core/dist/index.js';
import { frontEndRegistry } from '../packages/stcirun/dist/cli/front-end-registry.js';

const path = new URL('../docs/parameters.md', import.meta.url);
writeFileSync(path, parametersDocument(frontEndRegistry()));
