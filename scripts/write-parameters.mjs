/**
 * Writes docs/parameters.md from the declarations of everything that stcirun assembles. A test of stcirun fails
 * while the file is not current.
 */

import { writeFileSync } from 'node:fs';
import { bootcomComponents, builtins, createRegistry, parametersDocument } from '../packages/core/dist/index.js';
import { launcherLocal } from '../packages/launcher-local/dist/index.js';
import { topologyBmg } from '../packages/topology-bmg/dist/index.js';
import { topologyMesh } from '../packages/topology-mesh/dist/index.js';
import { topologyTree } from '../packages/topology-tree/dist/index.js';

const components = [...bootcomComponents, launcherLocal, topologyBmg, topologyMesh, topologyTree];
const path = new URL('../docs/parameters.md', import.meta.url);
writeFileSync(path, parametersDocument(createRegistry(builtins(components))));
