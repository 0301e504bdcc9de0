/**
 * Collectives of one host's ranks, at its session agent. Those of this host alone are decided here; the controller
 * decides others (collectives.ts), once all ranks of this host have come that are awaited.
 */

import type { JobId, Rank } from '@stci/interface';
import {
  PMI1_FENCE, hasMember, seriesKey, type Cancel, type CollectiveId, type CollectiveKind,
  type CollectiveResult, type Done, type Pair,
} from './contracts.js';

export type CollectiveOf = Omit<CollectiveId, 'sequence'>;

/** What it does not decide, at the host's engine. */
export interface CollectiveHost {
  readonly job: JobId;
  /** Undefined: it is not a rank of this host. */
  isAwaited(rank: Rank): boolean | undefined;
  /** MPI_Init waits in it. */
  isOfInit(id: CollectiveId): boolean;
  /** No MPI_COMM_WORLD comes about: a rank is absent, or has another library. Who waits for it waits for the end. */
  endWorld(rank: Rank, absent?: Rank): void;
  /** What a rank has put for other hosts. */
  far(rank: Rank): readonly Pair[];
  /** The controller is told that all of this host have come; returns why it cannot be. */
  send(id: CollectiveId, data: readonly (readonly [Rank, readonly Pair[]])[]): string | undefined;
}

/** What a rank tells the other members; true: all that it has put is told to their hosts. */
export type Tells = readonly Pair[] | boolean;

interface Collective {
  readonly calls: Map<Rank, { readonly tells: Tells; readonly done: Done<CollectiveResult> }>;
  /** The controller knows. */
  isSent: boolean;
}

/** Collectives of one kind and name by the same processes, which are counted. */
interface Series {
  readonly of: CollectiveOf;
  /** Ranks with another library waited for the same when it came: neither will end. */
  readonly isMixed: boolean;
  /** Of those that are over, the last. */
  sequence: number;
  readonly open: Map<number, Collective>;
}

/** Series, and collectives that are open, at a time. */
const SERIES_MAX = 65_536;
const COLLECTIVES_MAX = 1024;
/** Contexts of groups of one host are odd, those of several even. */
const CONTEXT_STEP = 2;

export class HostCollectives {
  readonly #host: CollectiveHost;
  readonly #series = new Map<string, Series>();
  #openCount = 0;
  #context = 1;

  constructor(host: CollectiveHost) {
    this.#host = host;
  }

  /** A rank takes part; as `PmiHost.enter`. */
  enter(rank: Rank, of: CollectiveOf, tells: Tells, done: Done<CollectiveResult>): Cancel | undefined {
    if (!hasMember(of.members, this.#host.job, rank)) return void done(undefined, 'it is not among the members');
    const series = this.#seriesOf(of);
    if (series?.isMixed === true) return void this.#host.endWorld(rank);
    if (this.#openCount >= COLLECTIVES_MAX || series === undefined) return void done(undefined, 'too many collectives');
    let sequence = series.sequence + 1;
    let collective = series.open.get(sequence);
    while (collective !== undefined && (collective.isSent || collective.calls.has(rank))) {
      sequence += 1;
      collective = series.open.get(sequence);
    }
    if (collective === undefined) {
      collective = { calls: new Map(), isSent: false };
      series.open.set(sequence, collective);
      this.#openCount += 1;
    }
    const [call, { calls }] = [{ tells, done }, collective];
    calls.set(rank, call);
    this.#check(series, sequence, collective);
    return () => {
      if (calls.get(rank) === call) this.#withdraw(series, sequence, collective, [rank]);
    };
  }

  #withdraw(series: Series, sequence: number, { calls, isSent }: Collective, ranks: readonly Rank[]): void {
    for (const rank of ranks) calls.delete(rank);
    if (calls.size === 0 && !isSent && series.open.delete(sequence)) this.#openCount -= 1;
  }

  /** How many members wait here in each that is open. */
  *waiting(): Iterable<readonly [kind: CollectiveKind, count: number]> {
    for (const { of: { kind }, open } of this.#series.values()) {
      for (const { calls } of open.values()) yield [kind, calls.size];
    }
  }

  #seriesOf(of: CollectiveOf): Series | undefined {
    const key = seriesKey(of);
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= SERIES_MAX) return undefined;
    const other = { ...of, name: of.name === PMI1_FENCE ? '' : PMI1_FENCE };
    const isMixed = of.kind === 'fence' && (this.#series.get(seriesKey(other))?.open.size ?? 0) > 0;
    const series = { of, isMixed, sequence: 0, open: new Map<number, Collective>() };
    this.#series.set(key, series);
    return series;
  }

  #check(series: Series, sequence: number, collective: Collective): void {
    if (collective.isSent || collective.calls.size === 0) return;
    const { job } = this.#host;
    const id = { ...series.of, sequence };
    const isOfInit = this.#host.isOfInit(id);
    const here: Rank[] = [];
    let [count, isMissing] = [0, false];
    for (const [of, first, last] of series.of.members) {
      count += last - first + 1;
      for (let rank = first; of === job && rank <= last; rank++) {
        const isAwaited = this.#host.isAwaited(rank);
        if (isAwaited === false && isOfInit) return this.#host.endWorld([...collective.calls.keys()][0] as Rank, rank);
        if (isAwaited === true && !collective.calls.has(rank)) {
          if (!isOfInit) return;
          isMissing = true;
        }
        if (isAwaited !== undefined) here.push(rank);
      }
    }
    if (isMissing) return;
    if (count === here.length) {
      this.#context += CONTEXT_STEP;
      const told = id.kind === 'group' ? this.#told(collective, here) : [];
      const data = told.map(([rank, pairs]) => [job, rank, pairs] as const);
      return this.#settle(series, collective, { id, problem: '', context: this.#context, data, sets: [] });
    }
    collective.isSent = true;
    const problem = this.#host.send(id, this.#told(collective, here));
    if (problem !== undefined) this.#settle(series, collective, { id, problem, context: 0, data: [], sets: [] });
  }

  /** What the members here tell the others; `here`: all of them, also those that are gone. */
  #told({ calls }: Collective, here: readonly Rank[]): readonly (readonly [Rank, readonly Pair[]])[] {
    const tellsAll = [...calls.values()].some(({ tells }) => tells === true);
    if (tellsAll) return here.map((rank) => [rank, this.#host.far(rank)]);
    return [...calls].flatMap(([rank, { tells }]) =>
      (typeof tells === 'boolean' || tells.length === 0 ? [] : [[rank, tells] as const]));
  }

  /** The controller says what came of one. */
  onDone(result: CollectiveResult): void {
    const series = this.#series.get(seriesKey(result.id));
    const collective = series?.open.get(result.id.sequence);
    if (series !== undefined && collective !== undefined) this.#settle(series, collective, result);
  }

  #settle(series: Series, { calls }: Collective, result: CollectiveResult): void {
    const { id: { sequence } } = result;
    if (series.open.delete(sequence)) this.#openCount -= 1;
    series.sequence = Math.max(sequence, series.sequence);
    const problem = result.problem === '' ? undefined : result.problem;
    for (const { done } of calls.values()) done(problem === undefined ? result : undefined, problem);
  }

  /** These are not awaited any longer. */
  drop(ranks: readonly Rank[]): void {
    for (const series of this.#series.values()) {
      for (const [sequence, collective] of [...series.open]) {
        this.#withdraw(series, sequence, collective, ranks);
        this.#check(series, sequence, collective);
      }
    }
  }
}
