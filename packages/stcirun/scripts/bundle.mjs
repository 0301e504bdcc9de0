/**
 * Makes dist/bundle/: for each program (stcirun, stci, the agent) a few files of bundled code, so that a start reads
 * one file instead of hundreds; V8's code cache of each, recorded after a real run, so that no run compiles the same
 * code again; and a small loader NAME.cjs. V8 refuses a cache of another version, which only costs time. Also makes
 * the agent bundle, a single file that is shipped to hosts on which STCI is not installed.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { START_SCRIPT } from '@stci/platform-node';
import { AGENT_BUNDLE, AGENT_MAIN, AGENT_SHELL } from '../dist/agent/agent-files.js';
import { pack, packWhole } from './pack.mjs';
import { record, runAll, writeLoaders } from './programs.mjs';

const here = dirname(dirname(fileURLToPath(import.meta.url)));
const out = join(here, 'dist/bundle');

/** stcirun uses oclif's parser only; its help, prompts, error handler, log and files would cost 8 ms per start. */
const UNUSED = [
  ...['help/index.js', 'ux/index.js', 'errors/handle.js', 'util/fs.js'].map((path) => `@oclif/core/lib/${path}`),
  'node:readline',
  ['supports-color/index.js', 'module.exports = { stdout: false, stderr: false };'],
  'wrap-ansi/index.js',
  ['debug/src/index.js', 'module.exports = () => () => undefined;'],
];

const PROGRAMS = [
  { name: 'stcirun', entry: 'dist/main-stcirun.js', without: UNUSED, small: true },
  { name: 'stci', entry: 'dist/main-stci.js', small: true },
  { name: 'agent', entry: 'dist/agent-main.js', small: true },
];

/** Two ranks of PMIx, of PMI-1, of neither. */
const jobs = (agent) => [
  ...['pmix', 'pmi1'].map((protocol) => [join(here, 'scripts/mpi-client.mjs'), protocol]),
  ['--version'],
].map((args) => [
  'stcirun.cjs', '--quiet', '-n', '2', '--mca', `launcher.root.method=${agent}`, '--', process.execPath, ...args,
]);

const AGENT_RUNS = jobs('process');

/** Runs whose compiled code is recorded; of two runs of a part the later counts. */
const RUNS = [
  ['stci.cjs', 'info', 'launcher'],
  ['stci.cjs', 'complete', '--', 'stcirun', '--mca', ''],
  ['stcirun.cjs', '--help'],
  ...AGENT_RUNS,
  ...jobs('inline'),
];

/** The agent as a single file, with the code cache of a run as an agent. */
async function bundleAgent(programs) {
  const make = await packWhole({ root: here, name: 'agent', entry: 'dist/agent-main.js', out });
  const path = join(out, AGENT_MAIN);
  writeLoaders(out, programs, false);
  writeFileSync(path, make('record'));
  runAll(out, AGENT_RUNS.slice(-1));
  const cache = readFileSync(`${path}.cache`);
  rmSync(`${path}.cache`);
  writeFileSync(join(out, AGENT_BUNDLE), make(cache));
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
record(out, programs, RUNS);
