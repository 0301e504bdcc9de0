/**
 * MPI programs under stcirun, and under the launchers of their libraries, in turns: from MPI_Init to the first barrier
 * as the slowest rank sees it; the whole command, also in a running session; a fence of PMIx; recovery after the death
 * of a rank (ULFM), with Open MPI 5 alone; and what an agent of many ranks holds. STCI_MPI_ROOT names a root with
 * packages of a later release (packages/stcirun/test/mpi-libraries.ts); its own launcher takes part where the root can
 * be entered: bin, lib and lib64 are links into usr, dev, proc and sys are bound.
 */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cleanEnvironment, script, stci, stcirun, withDirectory } from './lib/place.mjs';
import { mib, print, printGoal } from './lib/print.mjs';
import { commandLine, descendants, pssBytes } from './lib/proc.mjs';
import { interleave, ratio, scaled, spread } from './lib/stats.mjs';

const ROUNDS = scaled(15);
const RANKS = process.env.BENCH_SMOKE ? [2] : [4, 16, 32];
/** Agents on this machine, in place of hosts. */
const HOSTS = ['a', 'b', 'c', 'd'];
const EACH = scaled(8, 1);
/** What one agent serves while its memory is measured. */
const MANY = scaled(128, 4);
const MEMORY_GOAL_MIB = 40;
const SESSION = 'bench-mpi';
const FENCES = process.env.BENCH_SMOKE ? [2] : [2, 8, 32];
const TRIPLET = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
/** Without these the libraries look for networks and displays, under any launcher. */
const QUIET = { HWLOC_COMPONENTS: '-gl,-opencl', OMPI_MCA_btl_tcp_if_include: 'lo', OMPI_MCA_mpi_yield_when_idle: '1' };
const AS_ROOT = { OMPI_ALLOW_RUN_AS_ROOT: '1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM: '1', PRTE_ALLOW_RUN_AS_ROOT: '1',
  PRTE_ALLOW_RUN_AS_ROOT_CONFIRM: '1' };

const root = process.env.STCI_MPI_ROOT || undefined;

function variablesOf(directory) {
  if (root === undefined) return {};
  return {
    LD_LIBRARY_PATH: [directory, join(root, 'lib', TRIPLET), join(directory, 'openmpi/lib')].join(':'),
    OPAL_PREFIX: join(root, 'usr'), PMIX_INSTALL_PREFIX: join(directory, 'pmix2'),
    PMIX_MCA_pcompress_base_silence_warning: '1',
  };
}

function library(name, launcher, launch, at) {
  const directory = join(at ?? '/', 'usr/lib', TRIPLET);
  const file = join(directory, name === 'mpich' ? 'libmpich.so.12' : 'libmpi.so.40');
  const include = join(directory, `${name}/include`);
  if (!existsSync(join(include, 'mpi.h')) || !existsSync(launcher)) return undefined;
  const isFive = name === 'openmpi' && at !== undefined;
  return { name: isFive ? 'Open MPI of the root' : name, file, include, directory, launcher, launch, isFive, at };
}

/** Builds a program against a library; returns its path. */
function build({ file, include, directory, isFive, at }, source, program, isInside = false) {
  const link = [`-Wl,-rpath-link,${directory}`, '-Wl,--allow-shlib-undefined'];
  if (at !== undefined && !isInside) link.push(`-Wl,--dynamic-linker=${join(at, 'usr/lib64/ld-linux-x86-64.so.2')}`);
  const flags = isFive ? ['-DWITH_FT'] : [];
  execFileSync('gcc', ['-o', program, script(`tools/${source}`), `-I${include}`, ...flags, file, ...link]);
  return program;
}

function run(command, args, env) {
  const sinceMs = performance.now();
  const options = { encoding: 'utf8', env, timeout: 20_000, killSignal: 'SIGTERM' };
  const { status, stdout, stderr } = spawnSync(command, args, options);
  const wallMs = performance.now() - sinceMs;
  const took = /^took ([\d.]+)$/m.exec(stdout)?.[1];
  if (took === undefined) throw new Error(`${command} ${args.join(' ')} ended with ${status}: ${stdout}${stderr}`);
  return { tookMs: Number(took), wallMs };
}

const onHost = (ranks) => ['--launcher', 'local', '--host', `a:${ranks}`];

const ours = (ranks, variables, more, program, mode, where = []) => {
  const options = Object.entries(variables).flatMap(([name, value]) => ['-x', `${name}=${value}`]);
  const all = [stcirun, ...where, '-n', String(ranks), ...options, ...more];
  const [command, ...words] = [...all, program, ...mode];
  return run(command, words, cleanEnvironment());
};

async function compare(what, goal, measures, unit = 'ms') {
  for (const measure of measures) await measure[1]();
  const results = await interleave(ROUNDS, measures.map(([, measure]) => measure));
  const took = results.map((list) => list.map(({ tookMs }) => tookMs));
  const wall = results.map((list) => list.map(({ wallMs }) => wallMs));
  for (const [i, [name]] of measures.entries()) {
    print(`  ${what}, ${name}: ${spread(took[i], unit, 2)}; the command ${spread(wall[i], 'ms')}`);
  }
  if (goal !== undefined) printGoal(`${what} to that of ${measures[1][0]}`, ratio(took[0], took[1]), goal);
}

export async function bench() {
  const hydra = library('mpich', '/usr/bin/mpiexec.mpich', (n) => ['-n', String(n)]);
  const mpirun = library('openmpi', '/usr/bin/mpirun.openmpi', (n) => ['-n', String(n), '--oversubscribe']);
  const libraries = [hydra, mpirun].filter((each) => each !== undefined);
  if (libraries.length === 0) return print('  left out: neither MPICH nor Open MPI is installed');
  print(`  ${ROUNDS} runs each, in turns`);
  await withDirectory(async (place) => {
    for (const each of libraries) {
      const program = build(each, 'mpi.c', join(place, each.name));
      const variables = { ...QUIET };
      const env = { ...cleanEnvironment(), ...AS_ROOT, ...variables };
      for (const ranks of RANKS) {
        await compare(`${each.name}, ${ranks} ranks, MPI_Init to the first barrier`, each.name === 'mpich' ? 1.3 : 1, [
          ['stcirun', () => ours(ranks, variables, [], program, ['init'])],
          [each.launcher, () => run(each.launcher, [...each.launch(ranks), program, 'init'], env)],
        ]);
      }
      await warm(each, program, variables, env);
    }
    if (hydra !== undefined) await onHosts(hydra, join(place, hydra.name));
    await memory(libraries[0], join(place, libraries[0].name));
    if (mpirun !== undefined) await fences(mpirun, place);
    const five = root && library('openmpi', join(root, 'usr/bin/mpirun.openmpi'), undefined, root);
    if (five) await compareFive(five, place);
  });
}

/** In a session that runs: the whole command. */
async function warm(library, program, variables, env) {
  const ranks = Math.max(...RANKS);
  const start = [stci, 'start', '--name', SESSION, ...onHost(ranks)];
  execFileSync(process.execPath, start, { env: cleanEnvironment(), stdio: 'ignore' });
  try {
    const results = await interleave(ROUNDS, [
      () => ours(ranks, variables, [], program, ['init'], ['--session', SESSION]),
      () => run(library.launcher, [...library.launch(ranks), program, 'init'], env),
    ]);
    const wall = results.map((list) => list.map(({ wallMs }) => wallMs));
    const what = `${library.name}, a command of ${ranks} ranks`;
    print(`  ${what}: in a session ${spread(wall[0], 'ms')}; ${library.launcher} ${spread(wall[1], 'ms')}`);
    printGoal(`${what} in a session to ${library.launcher}`, ratio(wall[0], wall[1]), 1);
  } finally {
    execFileSync(process.execPath, [stci, 'stop', SESSION], { env: cleanEnvironment(), stdio: 'ignore' });
  }
}

/** Four agents, and four proxies of hydra, on this machine. */
async function onHosts(hydra, program) {
  const ranks = HOSTS.length * EACH;
  const where = ['--launcher', 'local', '--host', HOSTS.map((host) => `${host}:${EACH}`).join()];
  const proxies = HOSTS.map((_, i) => `127.0.0.${i + 1}`).join();
  const theirs = ['-launcher', 'fork', '-hosts', proxies, '-ppn', String(EACH), '-n', String(ranks), program, 'init'];
  await compare(`mpich, ${HOSTS.length} × ${EACH} ranks, MPI_Init to the first barrier`, 1.3, [
    ['stcirun', () => ours(ranks, QUIET, [], program, ['init'], where)],
    [hydra.launcher, () => run(hydra.launcher, theirs, { ...cleanEnvironment(), ...QUIET })],
  ]);
}

/** Of one agent, all of whose ranks have met and wait. */
async function memory({ name }, program) {
  const options = Object.entries(QUIET).flatMap(([variable, value]) => ['-x', `${variable}=${value}`]);
  const args = [stcirun, ...onHost(MANY), '-n', String(MANY), ...options, program, 'wait'];
  const child = spawn(process.execPath, args, { env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  try {
    const [met] = await Promise.race([once(child.stdout, 'data'), exited]);
    if (typeof met === 'number') throw new Error(`${MANY} ranks did not meet: stcirun ended with ${met}`);
    const agents = descendants(child.pid).filter((pid) => commandLine(pid)[1]?.endsWith('agent.cjs'));
    const held = agents.map((pid) => mib(pssBytes(pid)));
    print(`  ${name}, an agent of ${MANY} ranks: PSS ${spread(held, 'MiB')}`);
    printGoal(`PSS of an agent of ${MANY} ranks, MiB`, Math.max(...held), MEMORY_GOAL_MIB);
  } finally {
    child.kill('SIGTERM');
    await exited;
  }
}

/** Of the root: its mpirun runs in it, and stcirun's ranks with its libraries. */
async function compareFive(five, place) {
  const program = build(five, 'mpi.c', join(place, 'five'));
  const variables = { ...QUIET, ...variablesOf(five.directory) };
  const canEnter = spawnSync('chroot', [five.at, '/usr/bin/mpirun.openmpi', '--version']).status === 0;
  const inside = join(five.at, 'tmp', `${basename(place)}-five`);
  if (canEnter) copyFileSync(build(five, 'mpi.c', join(place, 'inside'), true), inside);
  else print('  the mpirun of the root is left out: it cannot be entered by chroot');
  const launcher = [five.at, '/usr/bin/mpirun.openmpi', '--oversubscribe'];
  const theirs = (ranks, more, mode) => () => run('chroot', [
    ...launcher, '-n', String(ranks), ...more, `/tmp/${basename(inside)}`, mode,
  ], { ...cleanEnvironment(), ...AS_ROOT, ...QUIET });
  const both = (ranks, more, mode) => [
    ['stcirun', () => ours(ranks, variables, more, program, [mode])],
    ...(canEnter ? [["the root's mpirun", theirs(ranks, more, mode)]] : []),
  ];
  try {
    for (const ranks of RANKS) {
      await compare(`Open MPI 5, ${ranks} ranks, MPI_Init to the first barrier`, canEnter ? 1 : undefined,
        both(ranks, [], 'init'));
    }
    const ulfm = both(4, ['--with-ft', 'ulfm'], 'survive');
    await compare('4 ranks, the kill of one to the agreed communicator', canEnter ? 1 : undefined, ulfm);
  } finally {
    rmSync(inside, { force: true });
  }
}

/** Of libpmix's own server under mpirun, and of our agent. */
async function fences(mpirun, place) {
  const pmix = join(mpirun.directory, 'pmix2');
  const file = join(pmix, 'lib/libpmix.so.2');
  if (!existsSync(join(pmix, 'include/pmix.h')) || !existsSync(file)) return print('  fences left out: no pmix.h');
  const program = build({ ...mpirun, include: join(pmix, 'include'), file }, 'fence.c', join(place, 'fence'));
  const env = { ...cleanEnvironment(), ...AS_ROOT, ...QUIET };
  for (const ranks of FENCES) {
    await compare(`a fence of ${ranks} ranks`, 2, [
      ['stcirun', () => ours(ranks, QUIET, [], program, [])],
      ["mpirun's libpmix", () => run(mpirun.launcher, [...mpirun.launch(ranks), program], env)],
    ]);
  }
}
