/** Writes docs/parameters.md from the declarations. A test fails while the file is not current. */
import { writeFileSync } from 'node:fs';
import { builtins, createRegistry, parametersDocument } from '../packages/core/dist/index.js';

const path = new URL('../docs/parameters.md', import.meta.url);
writeFileSync(path, parametersDocument(createRegistry(builtins())));
