/**
 * Writes docs/experiment.schema.json, the schema of experiment files for editors. A test of finject fails if the file
 * is not up to date.
 */

import { writeFileSync } from 'node:fs';
import { EXPERIMENT_SCHEMA } from '../packages/finject/dist/experiment.js';

const path = new URL('../docs/experiment.schema.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(EXPERIMENT_SCHEMA, null, 2)}\n`);
