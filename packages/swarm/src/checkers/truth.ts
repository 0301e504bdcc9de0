/** The ground truth of each rank, by the simulated kernel: the process that was started for it, and its end. */

import type { SimProcess } from '@stci/platform-sim';
import { LOGIN_HOST, isTool } from '../scenarios/faults.js';
import { hostName, stdinBytes } from '../scenarios/job-spec.js';
import { expectedOf, type AppPlan, type Expected } from '../scenarios/programs.js';
import { spawnedApps } from '../scenarios/spawner.js';
import type { Run } from '../worlds/run.js';

export interface RankTruth {
  readonly rank: number;
  readonly app: AppPlan;
  /** Index of its host, by rules of our own. */
  readonly host: number;
  /** undefined: it was never started. */
  readonly process: SimProcess | undefined;
  readonly expected: Expected;
}

/** Where a rank goes: host by host full (slots), or round robin over the hosts. */
function placeOf(rank: number, run: Run, total: number): number {
  const { hosts, slots, byNode } = run.options;
  if (byNode) return rank % hosts;
  return Math.min(Math.floor(rank / slots), hosts - 1) % Math.max(1, Math.min(hosts, total));
}

/** Every rank's process by the variable in its environment; one that was started twice is a problem of its own. */
export function rankProcesses(run: Run): Map<number, SimProcess[]> {
  const byRank = new Map<number, SimProcess[]>();
  for (const process of run.world.processes()) {
    // No parent waits for the children of tools.
    if (!isTool(process) || process.watcher === undefined) continue;
    const rank = Number(process.env['STCI_RANK']);
    const list = byRank.get(rank);
    if (list === undefined) byRank.set(rank, [process]);
    else list.push(process);
  }
  return byRank;
}

export function truthOf(run: Run): RankTruth[] {
  const { apps, stdin, remote } = run.options;
  const processes = rankProcesses(run);
  const input = stdinBytes(run.options);
  const total = apps.reduce((sum, app) => sum + app.count, 0);
  const first = apps.flatMap((app) => Array.from({ length: app.count }, () => app));
  const ranks = [...first, ...spawnedApps(run.options.settings, run.record.events)];
  return ranks.map((app, rank) => {
    const host = placeOf(rank, run, total);
    const isFed = rank < total && (stdin.to === 'all' || (stdin.to === 'rank' && stdin.rank === rank));
    // The last one that was started: only of that does anybody know, where an earlier one's host was lost untold.
    const process = processes.get(rank)?.toSorted((a, b) => a.startMs - b.startMs).at(-1);
    // A host that did not come up may have been replaced, or left out.
    const hostname = process?.host ?? (remote ? hostName(host) : LOGIN_HOST);
    const expected = expectedOf(app, { rank, hostname, stdin: isFed ? input : new Uint8Array(0) });
    return { rank, app, host, process, expected };
  });
}
