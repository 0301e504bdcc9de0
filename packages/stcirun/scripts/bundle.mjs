/**
 * Makes dist/bundle/: for each program (stcirun, stci, the agent) a few files of bundled code, so that a start reads
 * one file instead of hundreds; V8's code cache of each, recorded after a real run, so that no run compiles the same
 * code again; and a small loader NAME.cjs. V8 refuses a cache of another version, which only costs time. Also makes
 * the agent bundle, a single file that is shipped to hosts on which STCI is not installed.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { START_SCRIPT } from '@stci/platform-node';
import { AGENT_BUNDLE, AGENT_MAIN, AGENT_SHELL } from '../dist/agent-files.js';
import { pack, packWhole } from './pack.mjs';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(here, 'dist/bundle');

/** stcirun uses oclif's parser only; its help, prompts, error handler, log and files would cost 8 ms per start. */
const UNUSED = [
  ...['help/index.js', 'ux/index.js', 'errors/handle.js', 'util/fs.js'].map((path) => `@oclif/core/lib/${path}`),
  'node:readline',
  'wrap-ansi/index.js',
  ['debug/src/index.js', 'module.exports = () => () => undefined;'],
];

const PROGRAMS = [
  { name: 'stcirun', entry: 'dist/main-stcirun.js', without: UNUSED },
  { name: 'stci', entry: 'dist/main-stci.js' },
  { name: 'agent', entry: 'dist/agent-main.js', small: true },
];

/** Runs whose compiled code is recorded; of two runs of a part the later counts. */
const RUNS = [
  ['stci.cjs', 'info', 'launcher'],
  ['stcirun.cjs', '--help'],
  ['stcirun.cjs', '--quiet', '-n', '2', '--', process.execPath, '--version'],
];

const RECORD = `process.on('exit', () => {
  for (const [path, script] of scripts) require('node:fs').writeFileSync(path + '.cache', script.createCachedData());
});
`;

/** The main file of a program. Loads the pieces by their file names; each is run once. */
const loader = (first, record) => `'use strict';
const { readFileSync } = require('node:fs');
const { Script } = require('node:vm');
const pieces = Object.create(null);
const modules = Object.create(null);
const scripts = [];
function load(file) {
  const path = __dirname + '/' + file;
  let cachedData;
  try {
    cachedData = readFileSync(path + '.cache');
  } catch {}
  const script = new Script(readFileSync(path, 'latin1'), { filename: path, cachedData });
  ${record ? 'scripts.push([path, script]);\n  ' : ''}Object.assign(pieces, script.runInThisContext());
}
function piece(id) {
  if (!id.startsWith('./')) return require(id);
  const file = id.slice(2);
  if (modules[file] !== undefined) return modules[file].exports;
  if (pieces[file] === undefined) load(file);
  const module = (modules[file] = { exports: {} });
  pieces[file](module.exports, piece, module, __filename, __dirname);
  return module.exports;
}
${record ? RECORD : ''}piece('./${first}');
`;

function writeLoaders(programs, record) {
  for (const { name, parts } of programs) writeFileSync(join(out, `${name}.cjs`), loader(parts[0], record));
}

/** The agent as a single file, with the code cache of a run as an agent. */
async function bundleAgent(programs) {
  const make = await packWhole({ root: here, name: 'agent', entry: 'dist/agent-main.js', out });
  const path = join(out, AGENT_MAIN);
  writeLoaders(programs, false);
  writeFileSync(path, make('record'));
  runAll(RUNS.slice(-1));
  const cache = readFileSync(`${path}.cache`);
  rmSync(`${path}.cache`);
  writeFileSync(join(out, AGENT_BUNDLE), make(cache));
}

function record(programs) {
  writeLoaders(programs, true);
  runAll(RUNS);
  for (const { name, parts } of programs) {
    if (!existsSync(join(out, `${parts[0]}.cache`))) throw new Error(`the build made no code cache of ${name}`);
  }
}

function runAll(runs) {
  for (const [program, ...args] of runs) {
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
}

/** Appends the descriptors that the shell opened to the agent's arguments. */
const agentShell = `run() {
  stci_held=$1
  shift
  exec "$@" "$stci_held"
}
${START_SCRIPT}
hold "$@"
`;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const programs = await Promise.all(
  PROGRAMS.map(async (program) => ({ name: program.name, parts: await pack({ root: here, out, ...program }) })),
);
writeFileSync(join(out, AGENT_SHELL), agentShell);
await bundleAgent(programs);
record(programs);
writeLoaders(programs, false);
