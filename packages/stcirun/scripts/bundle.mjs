/**
 * Makes dist/bundle/: for each program (stcirun, stci, the agent) a few files of bundled code, so that a start reads
 * one file instead of hundreds and only what it uses; V8's code cache of each, taken after a real run, so that what
 * a run needs is not compiled again; and a small loader NAME.cjs that puts them together. A cache that another
 * version of V8 made is refused by V8 and costs nothing but time. And the agent once more in one piece, which is sent
 * to hosts that have nothing of ours.
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

/** stcirun takes oclif's parser; its help, prompts and error handler come along and cost 4 ms a start. */
const UNUSED = ['help/index.js', 'ux/index.js', 'errors/handle.js'].map((path) => `@oclif/core/lib/${path}`);

const PROGRAMS = [
  { name: 'stcirun', entry: 'dist/main-stcirun.js', without: UNUSED },
  { name: 'stci', entry: 'dist/main-stci.js' },
  { name: 'agent', entry: 'dist/agent-main.js', small: true },
];

/** Programs are run to see what they have compiled by their end; of two runs of a part the later counts. */
const RUNS = [
  ['stci.cjs', 'info', 'launcher'],
  ['stcirun.cjs', '--help'],
  ['stcirun.cjs', '--quiet', '-n', '2', '--', process.execPath, '--version'],
];

const RECORD = `process.on('exit', () => {
  for (const [path, script] of scripts) require('node:fs').writeFileSync(path + '.cache', script.createCachedData());
});
`;

/** What Node starts. Knows the pieces by their file names; each is run once. */
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

/** The agent in one piece, with the code cache of a run in which it was the agent. */
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

/** Gives the agent, behind its own arguments, what the shell holds. */
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
