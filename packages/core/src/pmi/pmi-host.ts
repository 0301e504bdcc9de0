/**
 * What MPI libraries in the ranks of one host share at its session agent, whichever protocol they speak: keys,
 * collectives, news. What concerns this host alone is decided here; the rest goes to the controller, or to the agent of
 * the rank that has it.
 */

import { CONTROLLER, sessionAddress, type ErrorRecord, type JobId, type Rank } from '@stci/interface';
import type { MessageBody, MessageReply } from '../messages/messages.js';
import type { JobPlace } from '../service/contracts.js';
import {
  collectiveKey, ranksOfRanges, type CollectiveId, type CollectiveKind, type CollectiveResult, type Pair,
  type PmiClient, type ProcessSet, type Range,
} from './contracts.js';

/** Called once: with what came of it, or why nothing did. */
export type Done<T> = (result: T | undefined, problem?: string) => void;

interface RankState {
  readonly rank: Rank;
  /** What other ranks of this host see of it, and what ranks elsewhere see. */
  readonly near: Map<string, Uint8Array>;
  readonly far: Map<string, Uint8Array>;
  /** It has put something since all hosts were told. */
  isUntold: boolean;
  hasPut: boolean;
  /** Libraries that are between init and finalize. A child of the rank may have one, too. */
  readonly clients: Set<PmiClient>;
  hasInit: boolean;
  isFinalized: boolean;
  /** No longer awaited. */
  isGone: boolean;
}

interface Collective {
  readonly id: CollectiveId;
  readonly collects: boolean;
  readonly calls: Map<Rank, Done<CollectiveResult>>;
  /** The controller knows. */
  isSent: boolean;
}

/** Collectives of one name and kind that may be open at a host at a time. */
const COLLECTIVES_MAX = 1024;
/** Gets that wait for a rank to put. */
const WAITING_MAX = 65_536;
/** Contexts of groups of one host are odd, those of several even. */
const CONTEXT_STEP = 2;

export class PmiHost {
  readonly place: JobPlace;
  readonly #ranks = new Map<Rank, RankState>();
  readonly #sets = new Map<string, ProcessSet>();
  /** Of ranks elsewhere, what they have put as far as it was told. */
  readonly #told = new Map<string, readonly Pair[]>();
  readonly #collectives = new Map<string, Collective>();
  readonly #counts = new Map<string, number>();
  #waiting: { readonly rank: Rank; isAnswered(): boolean }[] = [];
  readonly #lost = new Set<Rank>();
  #context = 1;
  #state: 'new' | 'asked' | 'open' = 'new';
  #problem: string | undefined;
  readonly #onOpen: (() => void)[] = [];
  /** Losses are told to libraries, and collectives go on without who is lost. */
  readonly isTolerant: boolean;

  constructor(place: JobPlace, isTolerant: boolean) {
    this.place = place;
    this.isTolerant = isTolerant;
  }

  onEvent({ rank, nspace, process, status, event }: MessageBody<'pmi.event'>): void {
    for (const client of this.#clients()) {
      if (client.rank !== rank) client.onEvent({ nspace, rank: process }, status, event);
    }
  }

  get job(): JobId {
    return this.place.job;
  }

  /** Sets of processes that libraries here may name. */
  setOf(nspace: string): ProcessSet | undefined {
    return this.#sets.get(nspace);
  }

  /** That of a rank of this job. */
  setOfRank(rank: Rank, job = this.job): ProcessSet | undefined {
    return [...this.#sets.values()].find((set) =>
      set.job === job && rank >= set.first && rank < set.first + set.size);
  }

  isHere(rank: Rank): boolean {
    return this.#ranks.has(rank);
  }

  /** A process is about to be started for this rank. */
  add(rank: Rank): void {
    this.#ranks.set(rank, {
      rank, near: new Map(), far: new Map(), isUntold: false, hasPut: false, clients: new Set(), hasInit: false,
      isFinalized: false, isGone: false,
    });
  }

  /** Its process has ended. */
  remove(rank: Rank): void {
    const state = this.#ranks.get(rank);
    if (state === undefined || state.isGone) return;
    state.clients.clear();
    if (state.isFinalized || (!state.hasInit && !this.isTolerant)) this.#drop([rank]);
    else if (this.isTolerant) this.onLost([rank]);
  }

  /** Why an end with status 0 is none: a library waits for it. */
  complaintOf(rank: Rank): ErrorRecord | undefined {
    const state = this.#ranks.get(rank);
    if (state?.hasInit !== true || state.isFinalized) return undefined;
    const message = `Rank ${rank} on ${this.place.hostName} ended between MPI_Init and MPI_Finalize, with status 0`;
    return { code: 'STCI_MPI_UNFINISHED', message, rank };
  }

  /** Calls `done` when it is known which processes there are; with a problem if that cannot be asked. */
  whenOpen(done: (problem?: string) => void): void {
    if (this.#state === 'open') return done(this.#problem);
    this.#onOpen.push(() => done(this.#problem));
    if (this.#state === 'asked') return;
    this.#state = 'asked';
    const { node, host } = this.place;
    node.messages.request(CONTROLLER, 'pmi.open', { host }, (error, answer) => {
      const reply = answer as MessageReply<'pmi.open'> | undefined;
      this.#problem = error?.message;
      for (const set of reply?.sets ?? []) this.#learn(set);
      this.#state = 'open';
      for (const call of this.#onOpen.splice(0)) call();
      this.onLost(reply?.lost ?? []);
    });
  }

  /** A library has begun in this rank. */
  begin(client: PmiClient): void {
    const state = this.#ranks.get(client.rank);
    if (state === undefined) return;
    state.hasInit = true;
    state.isFinalized = false;
    state.clients.add(client);
    if (this.#lost.size > 0) client.onLost([...this.#lost]);
  }

  /** It has said that it ends. */
  finalize(client: PmiClient): void {
    const state = this.#ranks.get(client.rank);
    state?.clients.delete(client);
    if (state !== undefined && state.clients.size === 0) state.isFinalized = true;
  }

  /** `near`: for ranks of this host; `far`: for others. Returns why not. */
  put(rank: Rank, { near, far }: { readonly near: readonly Pair[]; readonly far: readonly Pair[] }, keysMax: number):
  string | undefined {
    const state = this.#ranks.get(rank);
    if (state === undefined) return 'no rank of this host';
    for (const [pairs, into] of [[near, state.near], [far, state.far]] as const) {
      for (const [key, value] of pairs) into.set(key, value.slice());
      if (into.size > keysMax) return `at most ${keysMax} keys`;
    }
    state.isUntold ||= far.length > 0;
    state.hasPut = true;
    this.#answerWaiting(rank);
    return undefined;
  }

  /** What a rank has put, as this host sees it now; undefined: nothing is known of it. */
  known(rank: Rank, job = this.job): readonly Pair[] | undefined {
    const state = job === this.job ? this.#ranks.get(rank) : undefined;
    if (state !== undefined) return state.hasPut ? [...state.near] : undefined;
    return this.#told.get(`${job}.${rank}`);
  }

  /** Ranks of which something is known. */
  knownRanks(): Rank[] {
    const own = [...this.#ranks.values()].filter(({ hasPut }) => hasPut).map(({ rank }) => rank);
    return [...own, ...[...this.#told.keys()].map((key) => key.split('.').map(Number) as [number, number])
      .filter(([job]) => job === this.job).map(([, rank]) => rank)];
  }

  /** The value of a key, whoever put it. */
  find(key: string): Uint8Array | undefined {
    for (const { near } of this.#ranks.values()) {
      const value = near.get(key);
      if (value !== undefined) return value;
    }
    for (const pairs of this.#told.values()) {
      const value = pairs.find(([own]) => own === key)?.[1];
      if (value !== undefined) return value;
    }
    return undefined;
  }

  /**
   * Calls `done` with what the rank has put, once this key, or any, is among it; undefined: it is gone, or there is
   * none.
   */
  await(rank: Rank, job: JobId, key: string | undefined, done: Done<readonly Pair[]>): void {
    const known = this.known(rank, job);
    if (known !== undefined && hasKey(known, key)) return done(known);
    if (job !== this.job || !this.#ranks.has(rank)) return this.#ask(rank, job, key, done);
    this.#awaitOwn(rank, key, ({ near }) => near, (pairs) => done(pairs));
  }

  #awaitOwn(
    rank: Rank, key: string | undefined, of: (state: RankState) => ReadonlyMap<string, Uint8Array>,
    done: (pairs: readonly Pair[] | undefined) => void,
  ): void {
    const state = this.#ranks.get(rank);
    const isAnswered = (): boolean => {
      const isThere = state?.hasPut === true && (key === undefined || of(state).has(key));
      if (state !== undefined && !isThere && !state.isGone) return false;
      done(state !== undefined && isThere ? [...of(state)] : undefined);
      return true;
    };
    if (isAnswered()) return;
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push({ rank, isAnswered });
    else done(undefined);
  }

  /** A rank of this job; those of others have told with the connect what they have put. */
  #ask(rank: Rank, job: JobId, key: string | undefined, done: Done<readonly Pair[]>): void {
    const host = job !== this.job ? undefined : this.setOfRank(rank)?.hosts.find(([, , ranks]) =>
      ranks.some(([first, last]) => rank >= first && rank <= last))?.[0];
    if (host === undefined) return done(undefined);
    const { messages } = this.place.node;
    const body = { rank, ...(key !== undefined && { key }) };
    messages.request(sessionAddress(host), 'pmi.get', body, (error, answer) => {
      const reply = answer as MessageReply<'pmi.get'> | undefined;
      if (reply?.isFound !== true) return done(undefined, error?.message);
      this.#told.set(`${job}.${rank}`, reply.pairs);
      done(reply.pairs);
    });
  }

  /** Another host's agent asks: for what ranks elsewhere see. */
  onGet({ rank, key }: MessageBody<'pmi.get'>, reply: (reply: MessageReply<'pmi.get'>) => void): void {
    this.#awaitOwn(rank, key, ({ far }) => far, (pairs) => reply({ isFound: pairs !== undefined, pairs: pairs ?? [] }));
  }

  #answerWaiting(rank: Rank): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#waiting.push(...waiting.filter((each) => each.rank !== rank || !each.isAnswered()));
  }

  /**
   * A rank takes part in a collective. `collects`: what the members have put is told to the hosts of all. Calls `done`
   * when all that live have come.
   */
  enter(
    rank: Rank, of: { readonly kind: CollectiveKind; readonly name: string; readonly members: readonly Range[] },
    collects: boolean, done: Done<CollectiveResult>,
  ): void {
    if (this.#collectives.size >= COLLECTIVES_MAX) return done(undefined, `at most ${COLLECTIVES_MAX} collectives`);
    const counted = collectiveKey({ ...of, sequence: 0 });
    let sequence = (this.#counts.get(counted) ?? 0) + 1;
    const find = (): Collective | undefined => this.#collectives.get(collectiveKey({ ...of, sequence }));
    while (find()?.calls.has(rank) === true || find()?.isSent === true) sequence += 1;
    const id: CollectiveId = { ...of, sequence };
    const collective = find() ?? { id, collects, calls: new Map(), isSent: false };
    this.#collectives.set(collectiveKey(id), collective);
    collective.calls.set(rank, done);
    this.#check(collective);
  }

  #check(collective: Collective): void {
    const { id, calls, collects, isSent } = collective;
    if (isSent || calls.size === 0) return;
    const own = ranksOfRanges(id.members, this.job).filter((rank) => this.#ranks.has(rank));
    if (own.some((rank) => this.#ranks.get(rank)?.isGone !== true && !calls.has(rank))) return;
    const count = id.members.reduce((sum, [, first, last]) => sum + last - first + 1, 0);
    if (count === own.length) {
      this.#context += CONTEXT_STEP;
      return this.#settle(collective, { id, problem: '', context: this.#context, data: [], sets: [] });
    }
    collective.isSent = true;
    const data = collects ? own.flatMap((rank) => this.#untoldOf(rank)) : [];
    const { node, host } = this.place;
    const error = node.messages.send(CONTROLLER, 'pmi.enter', { host, id, data });
    if (error !== undefined) this.#settle(collective, { id, problem: error.message, context: 0, data: [], sets: [] });
  }

  /** Told once to all hosts: a collective of fewer members may come again. */
  #untoldOf(rank: Rank): (readonly [Rank, readonly Pair[]])[] {
    const state = this.#ranks.get(rank);
    return state === undefined || state.far.size === 0 ? [] : [[rank, [...state.far]]];
  }

  onDone(result: CollectiveResult): void {
    for (const set of result.sets) this.#learn(set);
    for (const [job, rank, pairs] of result.data) {
      if (job !== this.job || !this.#ranks.has(rank)) this.#told.set(`${job}.${rank}`, pairs);
    }
    const collective = this.#collectives.get(collectiveKey(result.id));
    if (collective !== undefined) this.#settle(collective, result);
  }

  #settle({ id, calls }: Collective, result: CollectiveResult): void {
    this.#collectives.delete(collectiveKey(id));
    const counted = collectiveKey({ ...id, sequence: 0 });
    this.#counts.set(counted, Math.max(id.sequence, this.#counts.get(counted) ?? 0));
    const problem = result.problem === '' ? undefined : result.problem;
    for (const done of calls.values()) done(problem === undefined ? result : undefined, problem);
  }

  /** Ranks of this job are lost: each is told once to each library. */
  onLost(ranks: readonly Rank[]): void {
    const lost = ranks.filter((rank) => !this.#lost.has(rank));
    for (const rank of lost) this.#lost.add(rank);
    if (lost.length === 0) return;
    if (this.isTolerant) for (const client of this.#clients()) client.onLost(lost);
    this.#drop(lost);
  }

  /** They are not awaited any longer. */
  #drop(ranks: readonly Rank[]): void {
    for (const rank of ranks) {
      const state = this.#ranks.get(rank);
      if (state !== undefined) state.isGone = true;
      this.#answerWaiting(rank);
    }
    for (const collective of [...this.#collectives.values()]) {
      for (const rank of ranks) collective.calls.delete(rank);
      if (collective.calls.size === 0 && !collective.isSent) this.#collectives.delete(collectiveKey(collective.id));
      else this.#check(collective);
    }
  }

  *#clients(): Iterable<PmiClient> {
    for (const { clients } of this.#ranks.values()) yield* clients;
  }

  /** Asks for sets of other jobs. */
  learn(nspaces: readonly string[], done: (problem?: string) => void): void {
    this.place.node.messages.request(CONTROLLER, 'pmi.sets', { nspaces }, (error, reply) => {
      for (const set of (reply as MessageReply<'pmi.sets'> | undefined)?.sets ?? []) this.#learn(set);
      done(error?.message);
    });
  }

  #learn(set: ProcessSet): void {
    this.#sets.set(set.nspace, set);
  }

  /** Keys that anybody in the session may look up. `taken`: those that somebody has published. */
  publish(rank: Rank, persistence: number, pairs: readonly Pair[], done: Done<readonly string[]>): void {
    const { node, host } = this.place;
    node.messages.request(CONTROLLER, 'pmi.publish', { host, rank, persistence, pairs }, (error, reply) =>
      done((reply as MessageReply<'pmi.publish'> | undefined)?.taken, error?.message));
  }

  unpublish(rank: Rank, keys: readonly string[], done: Done<readonly string[]>): void {
    const { node, host } = this.place;
    node.messages.request(CONTROLLER, 'pmi.unpublish', { host, rank, keys }, (error, reply) =>
      done((reply as MessageReply<'pmi.unpublish'> | undefined)?.missing, error?.message));
  }

  lookup(
    rank: Rank, keys: readonly string[], waits: boolean,
    done: Done<readonly (readonly [nspace: string, process: number, key: string, value: Uint8Array])[]>,
  ): void {
    const { node, host } = this.place;
    node.messages.request(CONTROLLER, 'pmi.lookup', { host, rank, keys, waits }, (error, reply) =>
      done((reply as MessageReply<'pmi.lookup'> | undefined)?.found, error?.message));
  }

  /** The job ends, with this exit code and text. */
  abort(rank: Rank, exitCode: number, message: string): void {
    const { node, host } = this.place;
    node.messages.send(CONTROLLER, 'pmi.abort', { host, rank, exitCode, message });
  }

  notify(client: PmiClient, status: number, event: Uint8Array): void {
    const { node, host } = this.place;
    const { rank } = client;
    const set = this.setOfRank(rank);
    if (set === undefined) return;
    const body = { host, rank, nspace: set.nspace, process: rank - set.first, status, event };
    node.messages.send(CONTROLLER, 'pmi.notify', body);
  }
}

export function hasKey(pairs: readonly Pair[], key: string | null | undefined): boolean {
  return key === undefined || key === null || pairs.some(([own]) => own === key);
}
