/**
 * Writes docs/parameters.md from the declarations of everything that stcirun assembles. A test of stcirun fails
 * while the file is not current.
 */

import { writeFileSync } from 'node:fs';
import { parametersDocument } from '../packages/core/dist/index.js';
import { assembleRegistry } from '../packages/stcirun/dist/assembly.js';

const path = new URL('../docs/parameters.md', import.meta.url);
writeFileSync(path, parametersDocument(assembleRegistry()));
