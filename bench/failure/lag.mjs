/**
 * How late agents run while they forward output at full speed, beside one that has no rank: a thread of its own for
 * heartbeats could at best be as punctual as that one.
 */

import { inSession, ringParams } from '../lib/failure-session.mjs';
import { pause } from '../lib/members.mjs';
import { script } from '../lib/place.mjs';
import { print } from '../lib/print.mjs';
import { scaled } from '../lib/stats.mjs';
import { above } from '../lib/metrics.mjs';

const PERIODS_MS = scaled([100, 20], [100]);
/** Bytes of each of two ranks. */
const BYTES = scaled(300_000_000, 1_000_000);
const IDLE_MS = scaled(4000, 100);
const BOUNDS_MS = [5, 20, 50, 100];
/** Two with ranks, one without. */
const AGENTS = [['forwards', 'root:0'], ['forwards', 'root:1'], ['no rank', 'root:2']];

export async function lag() {
  print('  how often an agent ran late by more than …, by its own measure; period in ms\n'
    + `  | period | load | agent | seconds | ${BOUNDS_MS.map((ms) => `> ${ms} ms`).join(' | ')} | none above |\n`
    + `  |---|---|---|---|${'---|'.repeat(BOUNDS_MS.length)}---|`);
  for (const periodMs of PERIODS_MS) {
    await inSession(AGENTS.length, ringParams(periodMs), async (session) => {
      await measured(session, `${periodMs} | none`, () => pause(IDLE_MS));
      await measured(session, `${periodMs} | compute`, () => run(session, 'noise-job.cjs', 'compute', 4 * BYTES));
      await measured(session, `${periodMs} | output`, () => run(session, 'lines.cjs', BYTES));
      const counts = session.counts();
      const names = ['heartbeats', 'suspicions', 'reports'];
      const values = names.map((name) => `${name} ${counts.sum(`stci_detector_${name}_total`)}`);
      print(`  period ${periodMs} ms: ${values.join(', ')}`);
    });
  }
}

async function measured(session, what, load) {
  const before = session.counts('--by-agent');
  const sinceMs = performance.now();
  await load();
  const seconds = ((performance.now() - sinceMs) / 1000).toFixed(1);
  const after = session.counts('--by-agent');
  for (const [does, agent] of AGENTS) {
    const [was, is] = [before, after].map((counts) => counts.histogram('stci_agent_lag_seconds', { agent }));
    const { above: times, largestMs } = above(was, is, BOUNDS_MS);
    print(`  | ${[what, `${agent}, ${does}`, seconds, ...times, `${largestMs} ms`].join(' | ')} |`);
  }
}

async function run({ job }, tool, ...args) {
  const { ended } = job('-n', '2', '--ppn', '1', process.execPath, script(`tools/${tool}`), ...args.map(String));
  await ended;
}
