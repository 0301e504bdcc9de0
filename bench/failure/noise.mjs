/** A job of two ranks in a session whose agents run a ring, and in one whose agents run none, in turns. */

import { join } from 'node:path';
import { inSession, ringParams } from '../lib/failure-session.mjs';
import { script } from '../lib/place.mjs';
import { print, printGoal } from '../lib/print.mjs';
import { interleave, ratio, scaled, spread } from '../lib/stats.mjs';

const PERIOD_MS = 100;
const JOBS = scaled(3);
/** Agents on this machine, and rounds: one agent a core, and many. */
const SHAPES = scaled([[2, 9], [16, 5]], [[2, 1]]);
/** About half a second each. */
const AMOUNT = { compute: scaled(5e8, 1e6), 'ping-pong': scaled(20_000, 100) };

export async function noise() {
  print(`  a job of 2 ranks under a ring at ${PERIOD_MS} ms, and without any; each value the least of ${JOBS} jobs`);
  for (const [size, rounds] of SHAPES) {
    const none = ['--overlay', 'bmg'];
    const [ring, bare] = await interleave(rounds,
      [ringParams(PERIOD_MS), none].map((params) => () => inSession(size, params, jobs)));
    for (const what of Object.keys(AMOUNT)) {
      const [with_, without] = [ring, bare].map((times) => times.map((each) => each[what]));
      print(`  ${what}, ${size} agents: ring ${spread(with_, 'ms')}, none ${spread(without, 'ms')}; ${rounds} rounds`);
      printGoal(`${what}, ${size} agents, slowed by %`, 100 * (ratio(with_, without) - 1), 1);
    }
  }
}

/** The least of some runs: what else the machine did, it did not do in that one. */
async function jobs(session) {
  const least = {};
  for (const [what, amount] of Object.entries(AMOUNT)) {
    least[what] = Infinity;
    for (let i = 0; i < JOBS; i++) least[what] = Math.min(least[what], await jobMs(session, what, amount, i));
  }
  return least;
}

async function jobMs({ job, directory }, what, amount, number) {
  const { lines, ended } = job('-n', '2', '--ppn', '1', process.execPath, script('tools/noise-job.cjs'), what,
    String(amount), join(directory, `socket-${number}`));
  const took = await lines(/^took (\S+)$/u, what === 'compute' ? 2 : 1);
  await ended;
  return Math.max(...took.map(([, ms]) => Number(ms)));
}
