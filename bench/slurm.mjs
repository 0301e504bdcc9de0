/**
 * A program that does nothing, started on all hosts of an allocation of Slurm: by srun, by hydra, and by STCI, which
 * starts everything, or finds a session that runs there, or goes by ssh. In turns, on test hosts of this machine with a
 * real Slurm; the processor time is that of all that the launch ran, Slurm's daemons included.
 */

import { inAllocation } from './lib/allocation.mjs';
import { createCpuMeter, whyNoMeter } from './lib/cpu-meter.mjs';
import { SLURM_LAUNCHERS, makeShape, whyNot } from './lib/launchers.mjs';
import { measureLaunch, otherShare, run } from './lib/measure-launch.mjs';
import { built, stci, stcirun, withDirectory } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { median, ratio, scaled } from './lib/stats.mjs';

/** Number of hosts, tasks on each. */
const SHAPES = scaled([[16, 1], [16, 8], [64, 1], [64, 8]], [[2, 1], [2, 8]]);
const ROUNDS = scaled(7);
const CPUS = 16;
const NAME = 'bench';
const BARE_GOAL = 2;

const SESSION = {
  name: 'stcirun --session',
  argv: ({ ranks }) => [process.execPath, stcirun, '--session', NAME, '-n', String(ranks), 'true'],
};

export async function bench({ shapes = SHAPES, rounds = ROUNDS, only = undefined } = {}) {
  const { up, whyNoHosts, whyNoSlurm } = await built('testkit', 'hosts/index.js');
  const why = whyNoHosts() ?? whyNoSlurm() ?? whyNoMeter();
  if (why !== undefined) return print(`  left out: ${why}`);
  const launchers = SLURM_LAUNCHERS.filter(({ name }) => only === undefined || only.includes(name));
  for (const launcher of launchers) {
    if (whyNot(launcher) !== undefined) print(`  without ${launcher.name}: ${whyNot(launcher)}`);
  }
  const there = launchers.filter((launcher) => whyNot(launcher) === undefined);
  print(`  medians of ${rounds}, in turns; processor time of all that ran: here, on the hosts, Slurm's daemons`);
  await withDirectory(async (directory) => {
    const hosts = await up(Math.max(...shapes.map(([count]) => count)), { slurm: { cpus: CPUS } });
    const cpu = createCpuMeter(hosts, await slurmsDaemons(hosts));
    try {
      for (const [count, each] of shapes) {
        const shape = makeShape(directory, count, each);
        const results = await inAllocation(hosts, count, each, (variables) => {
          const env = { ...variables, STCI_MCA_session_directory: directory };
          return measureShape({ hosts, cpu, shape, env }, there, rounds);
        });
        report(shape, results);
      }
    } finally {
      await hosts.down();
      cpu.close();
    }
  });
}

/** Process ids of slurmctld and munged, which serve all launches. */
async function slurmsDaemons({ set }) {
  const [{ daemonOf }, { LOGIN, netnsPath }, { netnsInode, processesIn }] = await Promise.all(
    ['slurm', 'names', 'procs'].map((name) => built('testkit', `hosts/${name}.js`)));
  const all = processesIn(netnsInode(netnsPath(set, LOGIN)));
  return all.filter(({ command }) => daemonOf(command) !== undefined).map(({ pid }) => pid);
}

/** Each round all of them once, then a session in which a job is not measured and one is. */
async function measureShape(place, launchers, rounds) {
  const results = new Map([...launchers, SESSION].map((launcher) => [launcher, []]));
  for (let round = 0; round <= rounds; round++) {
    const keep = (launcher, one) => round > 0 && results.get(launcher).push(one);
    for (const launcher of launchers) keep(launcher, await measureLaunch(place, launcher));
    if (launchers.some(({ isOurs }) => isOurs)) keep(SESSION, await inSession(place));
    else results.delete(SESSION);
  }
  return [...results].map(([launcher, runs]) => ({ launcher, runs }));
}

async function inSession(place) {
  const { hosts, cpu, env, shape } = place;
  const inEnv = (argv) => run(cpu.counted(hosts.loginArgv(argv, { env })));
  await inEnv([process.execPath, stci, 'start', '--name', NAME, '--launcher', 'slurm']);
  try {
    await inEnv(SESSION.argv(shape));
    return await measureLaunch(place, SESSION);
  } finally {
    await inEnv([process.execPath, stci, 'stop', NAME]);
    await cpu.settled();
  }
}

function report(shape, results) {
  const of = (name) => results.find(({ launcher }) => launcher.name === name)?.runs;
  const [srun, one, bare] = ['srun', 'srun, one a host', 'srun, bare Node a host'].map(of);
  const [cold, warm] = ['stcirun', SESSION.name].map(of);
  const others = (100 * median(results.flatMap(({ runs }) => runs).map(otherShare))).toFixed(0);
  print(`\n  ${shape.hosts} hosts × ${shape.ranksEach}; other work used ${others} % of the processors`);
  print('  | launcher | wall s | cpu s | here + hosts + slurmctld | machine s | wall, cpu to srun |');
  print('  |---|---|---|---|---|---|');
  for (const { launcher, runs } of results) {
    const cell = (name, digits = 2) => median(runs.map((each) => each[name])).toFixed(digits);
    const parts = ['frontS', 'hostS', 'daemonS'].map((name) => cell(name)).join(' + ');
    const times = (name) => quotient(runs, srun, name).toFixed(2);
    const to = srun === undefined ? '–' : `${times('wallS')}, ${times('cpuS')}`;
    print(`  | ${launcher.name} | ${cell('wallS')} | ${cell('cpuS')} | ${parts} | ${cell('machineS')} | ${to} |`);
  }
  for (const [name, what] of [['wallS', 'wall'], ['cpuS', 'processor']]) {
    if (warm !== undefined && srun !== undefined) {
      printGoal(`${what} time in a session to srun`, quotient(warm, srun, name), 1);
    }
    if ([srun, one, bare, cold].includes(undefined)) continue;
    const floor = srun.map((each, i) => ({ [name]: each[name] + BARE_GOAL * (bare[i][name] - one[i][name]) }));
    printGoal(`${what} time to srun and ${BARE_GOAL} bare Nodes a host`, quotient(cold, floor, name), 1);
  }
}

const quotient = (runs, floor, name) => ratio(runs.map((each) => each[name]), floor.map((each) => each[name]));
