/**
 * The controller's ledger of one job: the outcome of each rank, and the failures. Pure: facts go in as
 * they arrive, late, twice or out of order; each rank is counted once, and its first reported outcome stands.
 * No decision is made here but the exit rule, at the end.
 *
 * A rank is `waiting`, then `running`, then done with one outcome. `exited` may come without `started` before it.
 */

import { assert, defined } from '@stci/interface';
import type {
  AllocatedJob, AppSpec, ErrorRecord, Failure, FailureId, HostIndex, HostSpec, JobId, JobMap, JobReport, Rank,
  RankAttempt, RankOutcome, RankReport, Spawn,
} from '@stci/interface';
import { decideExit, failureOf, failuresInOrder, type HostFailure } from './exit-rule.js';
import { hostOf, ranksOf } from './placement.js';
import type { PlacementLookup } from './placement.js';

/** How many failures are kept: the first to arrive. Of further ones the count is kept, and the one that decides. */
export const FAILURES_MAX = 1000;

/** What a session agent reports of the end of a rank's attempt. */
export interface RankEnd extends Omit<RankAttempt, 'host' | 'failure'> {
  readonly rank: Rank;
  /** Given by who judges it. */
  readonly failure?: FailureId | undefined;
  /** Number of the attempt, from 1; absent: that of the last start. */
  readonly attempt?: number;
}

/** Result of an entry: whether it was new, and the failure that the error manager must judge, if it is one. */
export interface Entry {
  readonly counted: boolean;
  readonly failure?: Failure;
}

interface Row {
  pid: number;
  /** Name of the host of its last end: another may have its place by now. */
  host?: string;
  startWallMs?: number;
  done?: RankEnd;
  /** Attempts that were followed by another; absent: none. */
  earlier?: RankAttempt[];
}

export class Ledger {
  readonly job: JobId;
  spec: AllocatedJob;
  /** As the ranks are placed now. */
  map: JobMap;
  placements: PlacementLookup;
  /** In order. */
  readonly spawns: Spawn[] = [];
  /** Kept failures by arrival, at most FAILURES_MAX, each rank and each lost host once. */
  readonly failures: Failure[] = [];
  /** Failures found, kept or not. */
  failureCount = 0;
  /** Ranks that run as far as is known. */
  ranksAlive = 0;
  /** Ranks that have no outcome yet, those not started included. */
  ranksOpen: number;
  readonly submitWallMs: number;
  readonly #rows: Row[];
  readonly #known = new Set<string>();
  readonly #daemons = new Map<HostIndex, number>();
  #unstarted: number;
  /** As `explain` was told. */
  #allocationEnd: Failure | undefined;
  /** By the exit rule, of all failures. */
  #first: Failure | undefined;

  constructor(init: Pick<Ledger, 'job' | 'spec' | 'map' | 'submitWallMs'>) {
    this.job = init.job;
    this.spec = init.spec;
    this.map = init.map;
    this.placements = hostOf(init.map);
    this.ranksOpen = init.map.size;
    this.#unstarted = init.map.size;
    this.submitWallMs = init.submitWallMs;
    this.#rows = Array.from({ length: init.map.size }, () => ({ pid: 0 }));
  }

  /** True when every rank has been started or has an outcome. */
  get allStarted(): boolean {
    return this.#unstarted === 0;
  }

  /** True when every rank has an outcome. */
  get complete(): boolean {
    return this.ranksOpen === 0;
  }

  started(rank: Rank, pid: number, wallMs: number): boolean {
    const row = this.#row(rank);
    if (row.startWallMs !== undefined || row.done !== undefined) return false;
    row.pid = pid;
    row.startWallMs = wallMs;
    if (row.earlier === undefined) this.#unstarted--;
    this.ranksAlive++;
    return true;
  }

  /** The rank's last attempt was started, and has not ended. */
  isRunning(rank: Rank): boolean {
    const row = this.#rows[rank];
    return row?.startWallMs !== undefined && row.done === undefined;
  }

  /** Number of the attempt that runs, or is to be started; from 1. */
  attempt(rank: Rank): number {
    return 1 + (this.#row(rank).earlier?.length ?? 0);
  }

  /** An attempt has ended, and the rank is started again. Returns its report; undefined if it has an outcome. */
  again(end: RankEnd): RankReport | undefined {
    const row = this.#row(end.rank);
    if (row.done !== undefined) return undefined;
    const { earlier = [], ...report } = this.#reportOf(this.#close(row, this.#placed(end)));
    const { rank: _rank, app: _app, ...attempt } = report;
    row.earlier = [...earlier, attempt];
    delete row.done;
    delete row.host;
    delete row.startWallMs;
    row.pid = 0;
    this.ranksOpen++;
    return report;
  }

  /** `nowWallMs` is used where the host did not report the time of the end. */
  exited(end: RankEnd, nowWallMs: number): Entry {
    const row = this.#row(end.rank);
    if (row.done !== undefined) return { counted: false };
    const place = this.placements.host(end.rank);
    const host = { index: place, name: this.#hostName(place) };
    // The job ended before the next attempt was started: this one was the last.
    if (end.attempt !== undefined) row.earlier?.splice(end.attempt - 1);
    const done = this.#close(row, this.#placed(end));
    const of = { job: this.job, attempt: this.attempt(end.rank) };
    const failure = failureOf(done, host, of, done.endWallMs ?? nowWallMs);
    row.done = { ...done, failure: failure?.error.failure };
    return failure !== undefined && this.failed(failure) ? { counted: true, failure } : { counted: true };
  }

  /** These ranks of the host become `lost`. False: it was lost before. */
  agentLost(loss: HostFailure, ranks: readonly Rank[]): boolean {
    for (const rank of ranks) {
      const row = this.#row(rank);
      this.#close(row, this.#withoutEnd(rank, row, 'lost', loss.error));
    }
    return this.failed({ ...loss, kind: 'agent-lost' });
  }

  /** The job has these ranks besides, which are to be started; of these programs, behind those that it has. */
  grow(spawn: Spawn, apps: readonly AppSpec[], map: JobMap): void {
    assert(spawn.first === this.map.size && map.size === spawn.first + spawn.count, 'spawned ranks are the next ones');
    this.spec = { ...this.spec, apps: [...this.spec.apps, ...apps] };
    this.spawns.push(spawn);
    this.remap(map);
    this.ranksOpen += spawn.count;
    this.#unstarted += spawn.count;
    for (let i = 0; i < spawn.count; i++) this.#rows.push({ pid: 0 });
  }

  /** Ranks were moved to other hosts. */
  remap(map: JobMap): void {
    this.map = map;
    this.placements = hostOf(map);
  }

  /** Another host has the place of a lost one. */
  replaceHost(host: HostIndex, spec: HostSpec): void {
    this.spec = { ...this.spec, hosts: this.spec.hosts.with(host, spec) };
    this.map = {
      ...this.map, hosts: this.map.hosts.map((each) => (each.host === host ? { ...each, name: spec.name } : each)),
    };
  }

  /** Ranks of `host` without an outcome. */
  openRanks(host: HostIndex): readonly Rank[] {
    return [...ranksOf(this.map.hosts[host]!)].filter((rank) => this.#row(rank).done === undefined);
  }

  /**
   * A rank is not started again after all: its last attempt was the last; one that had none is lost by `error`, with
   * the host that this names, whose place another may have by now.
   */
  giveUp(rank: Rank, error: ErrorRecord): void {
    const row = this.#row(rank);
    const last = row.earlier?.pop();
    if (row.done !== undefined) return;
    this.#close(row, last === undefined ? this.#withoutEnd(rank, row, 'lost', error) : { rank, ...last });
    row.host = last?.host ?? error.host ?? row.host;
  }

  /** Nothing of the job is left on `host`; `daemons` of its processes had left their groups and were ended. */
  drained(host: HostIndex, daemons: number): void {
    if (daemons > 0) this.#daemons.set(host, daemons + (this.#daemons.get(host) ?? 0));
  }

  /** Any other failure; false where its rank, or its host with the same kind, has one already. */
  failed(found: Failure): boolean {
    const key = failureKey(found);
    if (this.#known.has(key)) return false;
    const end = this.#allocationEnd;
    // What came of the end of the allocation may be told after it, with an earlier time of another host's clock.
    const isLate = end !== undefined && found.wallMs <= end.wallMs && isEffect(found, end);
    const failure = isLate ? { ...found, wallMs: end.wallMs + 1 } : found;
    this.#known.add(key);
    this.failureCount++;
    if (this.failures.length < FAILURES_MAX) this.failures.push(failure);
    this.#first = this.#first === undefined ? failure : failuresInOrder([this.#first, failure])[0];
    return true;
  }

  /**
   * A batch system ends the job: what came of that just before (ranks that ended by its SIGTERM or SIGKILL, agents that
   * were lost) is no cause. False if it is known already, in the same words.
   */
  explain(failure: Failure): boolean {
    const key = failureKey(failure);
    const before = this.failures.findIndex((each) => failureKey(each) === key);
    if (before >= 0 && this.failures[before]!.error.message === failure.error.message) return false;
    if (before >= 0) this.failures.splice(before, 1);
    const effects = this.failures.filter((each) => isEffect(each, failure));
    const wallMs = Math.min(failure.wallMs, ...effects.map((each) => each.wallMs - 1));
    if (this.failures.length === FAILURES_MAX) this.failures.pop();
    this.#allocationEnd = { ...failure, wallMs };
    this.failures.push(this.#allocationEnd);
    this.#known.add(key);
    if (before < 0) this.failureCount++;
    const known = this.#first === undefined || failureKey(this.#first) === key ? this.failures
      : [...this.failures, this.#first];
    this.#first = failuresInOrder(known)[0];
    return true;
  }

  /** Ranks that were never started become `not-started`: they will not be started any more. Returns them. */
  closeUnstarted(): readonly Rank[] {
    const closed: Rank[] = [];
    this.#rows.forEach((row, rank) => {
      if (row.startWallMs !== undefined || row.done !== undefined) return;
      this.#close(row, this.#withoutEnd(rank, row, 'not-started'));
      closed.push(rank);
    });
    return closed;
  }

  /** The report of one rank so far; undefined while it has no outcome. */
  rankReport(rank: Rank): RankReport | undefined {
    const row = this.#row(rank);
    return row.done && this.#reportOf(row.done);
  }

  /** Ranks that are still without an outcome are reported as `lost` or `not-started`. */
  report(endWallMs: number): JobReport {
    const ranks = this.#rows.map((row, rank) => {
      const outcome = row.startWallMs === undefined ? 'not-started' : 'lost';
      return this.#reportOf(row.done ?? this.#withoutEnd(rank, row, outcome));
    });
    const { exitCode, cause } = decideExit(this.#first === undefined ? [] : [this.#first], ranks);
    return {
      job: this.job,
      exitCode,
      ...(cause !== undefined && { cause }),
      failures: failuresInOrder(this.failures).map((failure) => failure.error),
      ranks,
      daemons: [...this.#daemons].map(([host, count]) => ({ host: this.#hostName(host), count })),
      submitWallMs: this.submitWallMs,
      endWallMs,
    };
  }

  #close(row: Row, end: RankEnd): RankEnd {
    const running = row.startWallMs !== undefined;
    const startWallMs = end.startWallMs ?? row.startWallMs;
    const done: RankEnd = {
      ...end,
      pid: end.pid || row.pid,
      ...(startWallMs !== undefined && { startWallMs }),
      // A clock that was set back meanwhile, or a host that reports wrong times: no rank ends before it starts.
      ...(end.endWallMs !== undefined && { endWallMs: Math.max(end.endWallMs, startWallMs ?? 0) }),
    };
    row.done = done;
    row.host = this.#hostName(this.placements.host(end.rank));
    if (running) this.ranksAlive--;
    else if (row.earlier === undefined) this.#unstarted--;
    this.ranksOpen--;
    return done;
  }

  #withoutEnd(rank: Rank, row: Row, outcome: RankOutcome, error?: ErrorRecord): RankEnd {
    return {
      rank, pid: row.pid, outcome, leftovers: 0, ...defined({ error, startWallMs: row.startWallMs }),
    };
  }

  #reportOf(end: RankEnd): RankReport {
    const { host, app } = this.placements.placement(end.rank);
    const { earlier = [], host: own } = this.#row(end.rank);
    const { rank, pid, outcome, leftovers, error, failure = error?.failure, startWallMs, endWallMs, readInput } = end;
    return {
      rank, host: own ?? this.#hostName(host), app, pid, outcome, leftovers,
      ...defined({ end: end.end, error, failure, startWallMs, endWallMs, readInput }),
      ...(earlier.length > 0 && { earlier: [...earlier] }),
    };
  }

  /** The place of a rank is the map's, and the id of its failure the ledger's, whatever its host's error says. */
  #placed(end: RankEnd): RankEnd {
    const { rank, error } = end;
    if (error === undefined) return end;
    const { failure: _told, ...own } = error;
    return { ...end, error: { ...own, host: this.#hostName(this.placements.host(rank)), rank } };
  }

  #hostName(host: HostIndex): string {
    return this.map.hosts[host]!.name;
  }

  #row(rank: Rank): Row {
    const row = this.#rows[rank];
    assert(row !== undefined, `rank is in 0..${this.#rows.length - 1}, got ${rank}`);
    return row;
  }
}

/** Time from what a batch system does to its words about it. */
const WORDS_MS = 10_000;

/** Whether this may come of the end of the allocation, which is told later. */
function isEffect({ kind, error, wallMs }: Failure, end: Failure): boolean {
  if (end.wallMs - wallMs > WORDS_MS) return false;
  if (kind === 'agent-lost' || kind === 'session-lost' || kind === 'agent-launch') return true;
  const signal = error.data?.['signal'];
  return (kind === 'tool-signal' && (signal === 'SIGTERM' || signal === 'SIGKILL'))
    || (kind === 'interrupt' && (signal === 'SIGTERM' || signal === 'SIGHUP'));
}

/** One failure a rank; one of each kind a host, of each that had its place; one of each code for the job as a whole. */
function failureKey({ kind, rank, host, error }: Failure): string {
  if (rank !== undefined) return `rank ${rank}`;
  return host === undefined ? `job ${kind} ${error.code}` : `host ${host} ${error.host} ${kind}`;
}
