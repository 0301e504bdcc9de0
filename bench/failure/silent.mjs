/** An agent that falls silent (SIGSTOP) at any moment of a period: only its heartbeats tell. */

import { START_AGAIN, inSession, ringParams, stopAgents } from '../lib/failure-session.mjs';
import { pause } from '../lib/members.mjs';
import { print } from '../lib/print.mjs';
import { scaled, spread } from '../lib/stats.mjs';

const SIZE = scaled(16, 4);
const STOPS = scaled(20);
const PERIODS_MS = scaled([500, 200, 100, 50], [100]);
/** Long enough for busy moments, short enough to measure many. */
const TIMEOUT_PERIODS = 4;
/** Successive moments of a period spread evenly over it. */
const GOLDEN = 0.618_034;

export async function silent() {
  print(`  an agent stopped, n = ${SIZE}, timeout ${TIMEOUT_PERIODS} periods, lag.max=0; ms\n`
    + '  | period | stops | reported after | (timeout − period, timeout] | inside | at most beyond | '
    + 'from report to last agent | last agent told after |\n  |---|---|---|---|---|---|---|---|');
  for (const periodMs of PERIODS_MS) {
    const timeoutMs = TIMEOUT_PERIODS * periodMs;
    const params = ringParams(periodMs, [['detector.ring.timeout', `${timeoutMs}ms`],
      ['detector.ring.lag.max', '0s'], ...START_AGAIN]);
    const stops = await inSession(SIZE, params, (session) => stopsOf(session, periodMs));
    const reported = stops.map(({ reportedMs }) => reportedMs);
    const beyond = reported.map((ms) => Math.max(0, timeoutMs - periodMs - ms, ms - timeoutMs));
    print(`  | ${[periodMs, stops.length, spread(reported, 'ms', 0),
      `${timeoutMs - periodMs}–${timeoutMs}`, beyond.filter((ms) => ms === 0).length, Math.max(...beyond),
      spread(stops.map(({ reportedMs, toldMs }) => toldMs - reportedMs), 'ms', 0),
      spread(stops.map(({ toldMs }) => toldMs), 'ms', 0)].join(' | ')} |`);
  }
}

async function stopsOf(session, periodMs) {
  const records = [];
  for (let i = 0; i < STOPS; i++) {
    await pause(periodMs + ((i * GOLDEN) % 1) * periodMs);
    records.push(...await stopAgents(session, [(i * 7 + 3) % SIZE], true));
  }
  return await Promise.all(records);
}
