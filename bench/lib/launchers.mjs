/**
 * Launchers that start one program on many hosts over ssh: STCI, and peers if they are installed. A shape is a number
 * of hosts and of ranks on each.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, script, stcirun } from './place.mjs';

/** Launchers in the order of the tables; the first is the floor, the second is that to which goals refer. */
export const LAUNCHERS = [
  { name: 'ssh, all at once', needs: 'xargs', argv: floorArgv },
  { name: 'mpiexec.hydra', needs: 'mpiexec.hydra', package: 'hydra, or mpich', argv: hydraArgv },
  { name: 'Open MPI mpirun', needs: 'mpirun.openmpi', package: 'openmpi-bin', argv: openMpiArgv },
  { name: 'pdsh', needs: 'pdsh', package: 'pdsh', oneEach: true, argv: pdshArgv },
  { name: 'clush', needs: 'clush', package: 'clustershell', oneEach: true, argv: clushArgv },
  { name: 'stcirun', isOurs: true, argv: (shape) => ourArgv(shape) },
  { name: 'stcirun, nothing cached', isOurs: true, isCold: true, argv: (shape) => ourArgv(shape) },
];

/** An empty script of Node on each host: one bare Node in addition to the login. */
export const BARE = { name: 'bare Node', needs: 'xargs', argv: (shape) => nodeArgv(shape, 'tools/empty.cjs') };

/** The minimum of an agent: reads its input, loads crypto and net, starts `true`, answers. */
export const FLOOR = { name: 'floor of an agent', needs: 'xargs', argv: (shape) => nodeArgv(shape, 'tools/floor.cjs') };

/** The controller starts all hosts: the cost of one more child. */
export const FLAT = {
  name: 'flat',
  isOurs: true,
  argv: (shape) => ourArgv(shape, ['--mca', 'launcher=flat', '--mca', 'launcher.window=64']),
};

/** Launcher in which each host is started by the one before: the cost of one more level. */
export const CHAIN = {
  name: 'chain',
  isOurs: true,
  argv: (shape) => ourArgv(shape, ['--mca', 'launcher.tree.arity=1']),
};

/** Launchers in an allocation of Slurm, whose shape they have; the first is that to which goals refer. */
export const SLURM_LAUNCHERS = [
  { name: 'srun', needs: 'srun', argv: () => ['srun', 'true'] },
  { name: 'srun, one a host', needs: 'srun', argv: ({ hosts }) => oneEach(hosts, ['true']) },
  {
    name: 'srun, bare Node a host',
    needs: 'srun',
    argv: ({ hosts }) => oneEach(hosts, [process.execPath, script('tools/empty.cjs')]),
  },
  { name: 'mpiexec.hydra', needs: 'mpiexec.hydra', package: 'hydra, or mpich', argv: hydraInSlurmArgv },
  { name: 'stcirun', isOurs: true, by: 'slurm', argv: ({ ranks }) => inAllocationArgv(ranks, 'slurm') },
  { name: 'stcirun by ssh', isOurs: true, by: 'slurm', argv: ({ ranks }) => inAllocationArgv(ranks, 'ssh') },
];

/** Why it is left out of the bench; undefined: it is available. */
export function whyNot(launcher) {
  if (launcher.isOurs) {
    const { by = 'ssh' } = launcher;
    return existsSync(join(root, `packages/launcher-${by}/dist/index.js`)) ? undefined : `launcher-${by} is not built`;
  }
  if (spawnSync('sh', ['-c', 'command -v "$0"', launcher.needs]).status === 0) return undefined;
  return `not installed${launcher.package ? ` (Debian: ${launcher.package})` : ''}`;
}

/** Writes host files of a shape below `directory`. */
export function makeShape(directory, hosts, ranksEach) {
  const names = Array.from({ length: hosts }, (_, i) => `h${i + 1}`);
  const file = (name, line) => {
    const path = join(directory, `${name}-${hosts}x${ranksEach}`);
    writeFileSync(path, names.map((host) => `${line(host)}\n`).join(''));
    return path;
  };
  return {
    hosts,
    ranksEach,
    ranks: hosts * ranksEach,
    names,
    plain: file('plain', (host) => host),
    colons: file('colons', (host) => `${host}:${ranksEach}`),
    slots: file('slots', (host) => `${host} slots=${ranksEach}`),
  };
}

/** `ssh HOST true` for all hosts concurrently; several ranks are background jobs of a shell. */
function floorArgv({ hosts, ranksEach, plain }) {
  const command = ranksEach === 1 ? 'true' : `${'true & '.repeat(ranksEach)}wait`;
  return ['xargs', '-a', plain, '-P', String(hosts), '-I', '{}', 'ssh', '-n', '{}', command];
}

function nodeArgv({ hosts, plain }, name) {
  const line = `echo go | ssh {} "'${process.execPath}' '${script(name)}'"`;
  return ['xargs', '-a', plain, '-P', String(hosts), '-I', '{}', 'sh', '-c', line];
}

function hydraArgv({ ranks, ranksEach, colons }) {
  return ['mpiexec.hydra', '-launcher', 'ssh', '-f', colons, '-ppn', String(ranksEach), '-n', String(ranks), 'true'];
}

function openMpiArgv({ ranks, slots }) {
  return ['mpirun.openmpi', '--allow-run-as-root', '--hostfile', slots, '-np', String(ranks), 'true'];
}

function oneEach(hosts, argv) {
  return ['srun', `--nodes=${hosts}`, `--ntasks=${hosts}`, '--ntasks-per-node=1', ...argv];
}

function hydraInSlurmArgv({ ranks, ranksEach }) {
  const ours = ['-bootstrap', 'slurm', '-rmk', 'slurm', '-ppn', String(ranksEach), '-n', String(ranks)];
  return ['mpiexec.hydra', ...ours, 'true'];
}

function inAllocationArgv(ranks, launcher) {
  return [process.execPath, stcirun, '--launcher', launcher, '-n', String(ranks), 'true'];
}

function pdshArgv({ hosts, names }) {
  return ['pdsh', '-R', 'ssh', '-f', String(hosts), '-w', names.join(','), 'true'];
}

function clushArgv({ hosts, names }) {
  return ['clush', '-q', '-f', String(hosts), '-w', names.join(','), 'true'];
}

function ourArgv({ ranks, slots }, options = []) {
  return [process.execPath, stcirun, '--launcher', 'ssh', ...options, '--hostfile', slots, '-n', String(ranks), 'true'];
}
