/**
 * A program that does nothing, started on many hosts: ours, the peers that are installed, and bare ssh as the floor,
 * in turns, on test hosts of this machine. All hosts share its processors, so the processor time of the whole start is
 * what counts here; what hosts of their own would change is computed by the bench `scaling`.
 */

import { spawn } from 'node:child_process';
import { createCpuMeter, whyNoMeter } from './lib/cpu-meter.mjs';
import { LAUNCHERS, makeShape, whyNot } from './lib/launchers.mjs';
import { built, cleanEnvironment, withDirectory } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { interleave, median, ratio } from './lib/stats.mjs';

/** Hosts, ranks on each. */
const SHAPES = [[1, 1], [4, 1], [16, 1], [64, 1], [16, 8]];
const ROUNDS = 7;
const DEADLINE_MS = 60_000;
const CPU_GOAL = 1.35;
const WALL_GOAL = 1.25;

export async function bench({ shapes = SHAPES, rounds = ROUNDS, only = undefined } = {}) {
  const { up, whyNoHosts } = await built('testkit', 'hosts/index.js');
  const why = whyNoHosts() ?? whyNoMeter();
  if (why !== undefined) return print(`  left out: ${why}`);
  const launchers = LAUNCHERS.filter((launcher) => only === undefined || only.includes(launcher.name));
  for (const launcher of launchers) {
    if (whyNot(launcher) !== undefined) print(`  without ${launcher.name}: ${whyNot(launcher)}`);
  }
  const there = launchers.filter((launcher) => whyNot(launcher) === undefined);
  print(`  medians of ${rounds}, in turns; processor time of all that the launch ran, here and on the hosts`);
  await withDirectory(async (directory) => {
    const hosts = await up(Math.max(...shapes.map(([count]) => count)));
    const cpu = createCpuMeter(hosts);
    try {
      for (const [count, each] of shapes) {
        const shape = makeShape(directory, count, each);
        report(shape, await measureShape({ hosts, cpu, shape }, there, rounds));
      }
    } finally {
      await hosts.down();
      cpu.close();
    }
  });
}

async function measureShape(place, launchers, rounds) {
  const able = launchers.filter(({ oneEach }) => !oneEach || place.shape.ranksEach === 1);
  const makers = able.map((launcher) => () => measure(place, launcher));
  for (const make of makers) await make();
  const runs = await interleave(rounds, makers);
  return able.map((launcher, i) => ({ launcher, runs: runs[i] }));
}

/** One launch. Resolves when nothing of it is left. */
async function measure({ hosts, cpu, shape }, launcher) {
  if (launcher.isCold) await hosts.runOn('h1', ['rm', '-rf', `${hosts.home}/.cache/stci`]);
  const before = cpu.read();
  const sinceMs = performance.now();
  await run(cpu.counted(hosts.loginArgv(launcher.argv(shape))));
  const wallS = (performance.now() - sinceMs) / 1000;
  await cpu.settled();
  const after = cpu.read();
  const seconds = (name) => (after[name] - before[name]) / 1000;
  const [frontS, hostS, machineS] = [seconds('frontMs'), seconds('hostMs'), seconds('machineMs')];
  return { wallS, frontS, hostS, cpuS: frontS + hostS, machineS };
}

/** Rejects unless it ends with 0 in time. */
function run([program, ...args]) {
  return new Promise((resolve, reject) => {
    const env = { ...cleanEnvironment(), XDG_CACHE_HOME: undefined };
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env, timeout: DEADLINE_MS });
    let said = '';
    child.stderr.on('data', (chunk) => (said = (said + chunk).slice(-2000)));
    child.on('error', reject);
    child.on('close', (status, signal) => {
      if (status === 0) resolve();
      else reject(new Error(`${[program, ...args].join(' ')} ended with ${signal ?? status}: ${said}`));
    });
  });
}

function report(shape, results) {
  const floor = results[0].runs;
  const hydra = results.find(({ launcher }) => launcher.name === 'mpiexec.hydra')?.runs;
  print(`\n  ${shape.hosts} hosts × ${shape.ranksEach}`);
  print('  | launcher | wall s | cpu s | here + hosts | machine s | wall, cpu to hydra | wall, cpu to ssh |');
  print('  |---|---|---|---|---|---|---|');
  for (const { launcher, runs } of results) {
    const cell = (name, digits = 2) => median(runs.map((each) => each[name])).toFixed(digits);
    const to = (other) => (other === undefined ? '–' : `${times(runs, other, 'wallS')}, ${times(runs, other, 'cpuS')}`);
    print(`  | ${launcher.name} | ${cell('wallS')} | ${cell('cpuS')} | ${cell('frontS')} + ${cell('hostS')} `
      + `| ${cell('machineS')} | ${to(hydra)} | ${to(floor)} |`);
  }
  const ours = results.find(({ launcher }) => launcher.name === 'stcirun')?.runs;
  if (shape.hosts !== 64 || hydra === undefined || ours === undefined) return;
  printGoal('processor time at 64 hosts to hydra', quotient(ours, hydra, 'cpuS'), CPU_GOAL);
  printGoal('wall time at 64 hosts to hydra', quotient(ours, hydra, 'wallS'), WALL_GOAL);
}

const times = (runs, floor, name) => quotient(runs, floor, name).toFixed(2);

const quotient = (runs, floor, name) => ratio(runs.map((each) => each[name]), floor.map((each) => each[name]));
