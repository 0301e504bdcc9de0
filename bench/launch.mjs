/**
 * A program that does nothing, started on many hosts: by STCI, by the peers that are installed, and by bare ssh as the
 * floor, in turns, on test hosts of this machine. All hosts share its processors, so the processor time of the whole
 * start is compared; the effect of separate hosts is computed by the bench `scaling`.
 */

import { createCpuMeter, whyNoMeter } from './lib/cpu-meter.mjs';
import { KEY_EXCHANGES, useKeyExchange } from './lib/key-exchange.mjs';
import { LAUNCHERS, makeShape, whyNot } from './lib/launchers.mjs';
import { measureLaunch, otherShare } from './lib/measure-launch.mjs';
import { built, withDirectory } from './lib/place.mjs';
import { print, printGoal } from './lib/print.mjs';
import { interleave, median, ratio } from './lib/stats.mjs';

/** Number of hosts, ranks on each. */
const SHAPES = [[1, 1], [4, 1], [16, 1], [64, 1], [16, 8]];
const ROUNDS = 7;
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
      for (const exchange of KEY_EXCHANGES) {
        useKeyExchange(hosts, exchange);
        print(`\n  ${exchange.name}`);
        for (const [count, each] of shapes) {
          const shape = makeShape(directory, count, each);
          report(shape, await measureShape({ hosts, cpu, shape }, there, rounds));
        }
      }
    } finally {
      await hosts.down();
      cpu.close();
    }
  });
}

async function measureShape(place, launchers, rounds) {
  const able = launchers.filter(({ oneEach }) => !oneEach || place.shape.ranksEach === 1);
  const makers = able.map((launcher) => () => measureLaunch(place, launcher));
  for (const make of makers) await make();
  const runs = await interleave(rounds, makers);
  return able.map((launcher, i) => ({ launcher, runs: runs[i] }));
}

function report(shape, results) {
  const floor = results[0].runs;
  const hydra = results.find(({ launcher }) => launcher.name === 'mpiexec.hydra')?.runs;
  const others = (100 * median(results.flatMap(({ runs }) => runs).map(otherShare))).toFixed(0);
  print(`\n  ${shape.hosts} hosts × ${shape.ranksEach}; other work used ${others} % of the processors`);
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
