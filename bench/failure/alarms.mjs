/** Nobody fails: are there suspicions? With both cores busy, and at a short period without load. */

import { availableParallelism } from 'node:os';
import { inSession, ringParams } from '../lib/failure-session.mjs';
import { endAll, member, pause } from '../lib/members.mjs';
import { print, printGoal } from '../lib/print.mjs';
import { scaled } from '../lib/stats.mjs';

const SIZE = scaled(16, 4);
const SHORT_S = scaled(20);
const LONG_S = 600;
const BUSY = 'process.stdin.on("end", () => process.exit()).resume(); (function f() { '
  + 'for (const end = Date.now() + 500; Date.now() < end;); setImmediate(f); })()';

export async function alarms({ long }) {
  const seconds = long ? LONG_S : SHORT_S;
  print(`  nobody fails for ${seconds} s, n = ${SIZE}, timeout 10 periods\n`
    + '  | period ms | busy processes | heartbeats | suspicions | false | reports |\n  |---|---|---|---|---|---|');
  for (const [periodMs, isLoaded] of [[100, true], [20, false]]) {
    const busy = isLoaded ? availableParallelism() : 0;
    const counts = await inSession(SIZE, ringParams(periodMs), (session) => quiet(session, busy, seconds));
    const [heartbeats, suspicions, wrong, reports] = ['heartbeats', 'suspicions', 'suspicions_false', 'reports']
      .map((name) => counts.sum(`stci_detector_${name}_total`));
    print(`  | ${[periodMs, busy, heartbeats, suspicions, wrong, reports].join(' | ')} |`);
    printGoal(`suspicions and reports at ${periodMs} ms`, suspicions + reports, 0);
  }
}

async function quiet({ counts }, busy, seconds) {
  const members = Array.from({ length: busy }, () => member(process.execPath, ['-e', BUSY]));
  try {
    await pause(seconds * 1000);
    return counts();
  } finally {
    await endAll(members);
  }
}
