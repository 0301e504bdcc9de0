/** Makes dist/bundle/finject.cjs as stcirun's programs are made: a start reads a few files instead of hundreds. */

import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack } from '../../stcirun/scripts/pack.mjs';
import { record } from '../../stcirun/scripts/programs.mjs';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(here, 'dist/bundle');

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const parts = await pack({ root: here, name: 'finject', entry: 'dist/main-finject.js', out });
record(out, [{ name: 'finject', parts }], [['finject.cjs', 'help']]);
