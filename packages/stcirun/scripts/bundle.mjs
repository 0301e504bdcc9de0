/**
 * Makes dist/bundle/: for each program (stcirun, stci, the agent) one bundled file, so that a start reads one file
 * instead of hundreds; V8's code cache of it, taken after a real run, so that what a run needs is not compiled
 * again; and a small loader NAME.cjs that puts the two together. A cache that another version of V8 made is refused
 * by V8 and costs nothing but time.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(here, 'dist/bundle');
const NAMES = ['stcirun', 'stci', 'agent'];

const loader = (name, atExit) => `'use strict';
const { readFileSync${atExit && ', writeFileSync'} } = require('node:fs');
const { Script } = require('node:vm');
const file = __dirname + '/${name}.js';
let cachedData;
try {
  cachedData = readFileSync(file + '.cache');
} catch {}
const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData });
${atExit}script.runInThisContext()(exports, require, module, __filename, __dirname);
`;

const RECORD = `process.on('exit', () => writeFileSync(file + '.cache', script.createCachedData()));\n`;

/** Each program is run once; what it had compiled by its end is its cache. */
const RUNS = [
  ['stci.cjs', 'info', 'launcher'],
  ['stcirun.cjs', '--quiet', '-n', '2', '--', process.execPath, '--version'],
];

function writeLoaders(atExit) {
  for (const name of NAMES) writeFileSync(join(out, `${name}.cjs`), loader(name, atExit));
}

function record() {
  writeLoaders(RECORD);
  for (const [program, ...args] of RUNS) {
    const run = spawnSync(process.execPath, [join(out, program), ...args], {
      cwd: '/',
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '' },
      timeout: 30_000,
    });
    if (run.status === 0) continue;
    throw new Error(`${program} ${args.join(' ')} failed in the build:\n${run.stdout}${run.stderr}`);
  }
  for (const name of NAMES) {
    if (!existsSync(join(out, `${name}.js.cache`))) throw new Error(`the build made no code cache of ${name}`);
  }
}

rmSync(out, { recursive: true, force: true });
await build({
  absWorkingDir: here,
  entryPoints: { stcirun: 'dist/main-stcirun.js', stci: 'dist/main-stci.js', agent: 'dist/agent-main.js' },
  outdir: out,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  logLevel: 'warning',
});
for (const name of NAMES) {
  const file = join(out, `${name}.js`);
  const text = readFileSync(file, 'latin1');
  writeFileSync(file, `(function(exports,require,module,__filename,__dirname){${text}\n})`, 'latin1');
}
record();
writeLoaders('');
