/**
 * What a repeat has left: first on this machine, until nothing is left there, then on the hosts that its session used,
 * by a login to each or, where the session's agents were started on this machine, here.
 */

import { searchHosts, type HostLook, type LeftBehind } from '@stci/finject/experiment';
import type { Clock, HostSpec, Params } from '@stci/interface';
import { identityOf, lookForMarks, type MarkedProcesses } from '@stci/stcirun/front-end';
import { commandOf, isOfOwnSpace, markedProcesses, RUN_VARIABLE } from './marked-processes.js';

/** How often this machine is looked at. */
const LOOK_MS = 20;
const NAMED_MAX = 20;
/** So long after an agent's end its guardian has ended what it leaves; less than what a look gets (host-search.ts). */
const SETTLE_MS = 2000;
/** Name of this machine in the record. */
const HERE = 'this machine';
const LOCAL = 'local';

export interface OrphanSearchInit {
  readonly clock: Clock;
  readonly params: Params;
  /** Of the repeat. */
  readonly mark: string;
  /** All that the session had, spares too. */
  readonly hosts: readonly HostSpec[];
  /** Name of the launcherproc that started its agents. */
  readonly launcher: string;
  /** The session that was started for the repeat, at `sinceMs` of the clock. */
  readonly own: { readonly session: string; readonly sinceMs: number } | undefined;
  /** How long what ends just now may take. */
  readonly waitMs: number;
}

/** Never rejects. `isSearched`: other hosts too. */
export async function findOrphans(init: OrphanSearchInit, isSearched: boolean): Promise<LeftBehind> {
  const { clock, mark, waitMs, launcher } = init;
  const endMs = clock.nowMs() + waitMs;
  // Hosts may be containers of this machine, and have their own look.
  const marked = (): readonly number[] =>
    markedProcesses(mark).filter((pid) => !isSearched || launcher === LOCAL || isOfOwnSpace(pid));
  await until(() => marked().length === 0, waitMs);
  const here = marked();
  const left = here.slice(0, NAMED_MAX).map((pid) => ({ host: HERE, pid, command: commandOf(pid) }));
  if (!isSearched) return { orphans: here.length, left, unknown: undefined };
  const there = await searchAll(init, here, Math.max(0, endMs - clock.nowMs()));
  return { ...there, orphans: here.length + there.orphans, left: [...left, ...there.left] };
}

function searchAll(init: OrphanSearchInit, here: readonly number[], waitMs: number): Promise<LeftBehind> {
  const { clock, params, launcher } = init;
  const isHere = launcher === LOCAL;
  const hosts = new Map(init.hosts.map((host) => [host.name, host]));
  const mark = `${RUN_VARIABLE}=${init.mark}`;
  const { sinceMs = 0, session } = init.own ?? {};
  const ageMs = (): number => clock.nowMs() - sinceMs;
  const own = session === undefined ? undefined : { session, settleMs: SETTLE_MS, ageMs };
  return new Promise((resolve) => searchHosts({
    clock, waitMs, hosts: isHere ? [HERE] : [...hosts.keys()],
    look: (name, stillMs, deadlineMs, done) => {
      const search = { mark, own, waitMs: stillMs };
      const looked = lookForMarks(isHere ? undefined : hosts.get(name), params, search, deadlineMs);
      looked.then((found) => done(typeof found === 'string' ? found : besides(found, here)), (thrown: unknown) => {
        done(`the search itself failed: ${String(thrown)}`);
      });
    },
  }, resolve));
}

/** Without those that were found already, where the host is this machine, or says so. */
function besides(found: MarkedProcesses, here: readonly number[]): HostLook {
  const own = identityOf(process.pid);
  if (found.boot !== own?.boot || found.space !== own.space) return found;
  const processes = found.processes.filter(({ pid }) => !here.includes(pid));
  return { count: found.count - (found.processes.length - processes.length), processes };
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, LOOK_MS));

export async function until(condition: () => boolean, withinMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  while (!condition() && performance.now() < deadlineMs) await pause();
  return condition();
}
