/** Agents that fall silent at once: in different places of the ring, and neighbours on it. */

import { inSession, ringParams, stopAgents } from '../lib/failure-session.mjs';
import { pause } from '../lib/members.mjs';
import { print, printGoal } from '../lib/print.mjs';
import { median, scaled, spread } from '../lib/stats.mjs';

const SIZE = 24;
const ROUNDS = scaled(6);
const PERIOD_MS = 100;
const TIMEOUT_MS = 1000;
const SETTLE_MS = 300;

/** One after the other in one session that starts no agents again: next to each, those that live are neighbours. */
const SERIES = [
  { name: 'one', hosts: [10] },
  { name: '2 scattered', hosts: [2, 12], goal: ['to one', 1.3] },
  { name: '4 scattered', hosts: [4, 9, 14, 19], goal: ['to one', 1.3] },
  { name: '2 neighbours', hosts: [6, 7], goal: ['reported, in timeouts', 2] },
  { name: '4 neighbours', hosts: [15, 16, 17, 18], goal: ['reported, in timeouts', 4] },
];

export async function several() {
  print(`  agents stopped at once until the last agent was told of the last of them, n = ${SIZE}, `
    + `period ${PERIOD_MS} ms, timeout ${TIMEOUT_MS} ms, lag.max=0, reconnect=1`);
  const params = ringParams(PERIOD_MS, [['detector.ring.timeout', `${TIMEOUT_MS}ms`], ['detector.ring.lag.max', '0s'],
    ['detector.ring.reconnect', '1']]);
  const times = SERIES.map(() => ({ told: [], reported: [] }));
  for (let round = 0; round < ROUNDS; round++) await inSession(SIZE, params, (session) => series(session, times));
  for (const [i, { name }] of SERIES.entries()) {
    const { told, reported } = times[i];
    print(`  ${name}: ${spread(told, 'ms', 0)}; reported ${spread(reported, 'ms', 0)}; ${ROUNDS} times`);
  }
  for (const [i, { name, goal: [what, goal] = [] }] of SERIES.entries()) {
    if (what === undefined) continue;
    const unitMs = what === 'to one' ? median(times[0].told) : TIMEOUT_MS;
    printGoal(`${name}, ${what}`, median(times[i][what === 'to one' ? 'told' : 'reported']) / unitMs, goal);
  }
}

async function series(session, times) {
  for (const [i, { hosts }] of SERIES.entries()) {
    await pause(SETTLE_MS);
    const records = await Promise.all(await stopAgents(session, hosts, false));
    times[i].told.push(Math.max(...records.map(({ toldMs }) => toldMs)));
    times[i].reported.push(Math.max(...records.map(({ reportedMs }) => reportedMs)));
  }
}
