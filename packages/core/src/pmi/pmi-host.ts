/**
 * What MPI libraries in the ranks of one host share at its session agent, whichever protocol they speak: keys,
 * collectives, news. What concerns this host alone is decided here; the rest goes to the controller, or to the agent of
 * the rank that has it.
 */

import {
  CONTROLLER, type ErrorRecord, type JobId, type Rank, type SpawnRequest,
} from '@stci/interface';
import { NAME_CHARS_MAX } from '../codec/bounds.js';
import type { MessageBody, MessageReply } from '../messages/messages.js';
import type { JobPlace } from '../service/contracts.js';
import {
  hasMember, isOfInit, type Cancel, type CollectiveResult, type Done, type Pair, type PmiClient, type ProcessSet,
} from './contracts.js';
import { HostCollectives, type CollectiveOf, type Tells } from './host-collectives.js';
import { Keys, hasKey } from './keys.js';
import { policyOf } from './policy.js';
import { Requests, problemOf } from './requests.js';

interface RankState {
  /** Libraries that are between init and finalize. A child of the rank may have one, too. */
  readonly clients: Set<PmiClient>;
  hasInit: boolean;
  isFinalized: boolean;
  /** No longer awaited. */
  isGone: boolean;
}

/** Beginnings of the names of what libraries share memory by: MPICH, UCX, Open MPI 4, Open MPI 5. */
const SHARED = ['mpich_shar_tmp', 'ucx_shm_posix_', 'vader_segment.', 'sm_segment.'];
/** Ranks may have begun so long before the first request: files of that time may be theirs. */
const EARLIER_MS = 60_000;
/** Files that a job may leave. */
const FILES_MAX = 65_536;
/** The system's. */
const PATH_CHARS_MAX = 4096;
/** Characters of what a library says of its end. */
const TEXT_MAX = 8192;
const RESTART_TEXT = 'is an MPI program, of which no rank can be started again (--on-failure restart): its library has '
  + 'no way back into the job. Write --on-failure notify, if the program goes on without who is lost; or leave it out';

export class PmiHost {
  readonly place: JobPlace;
  readonly keys: Keys;
  readonly requests: Requests;
  readonly #ranks = new Map<Rank, RankState>();
  readonly #sets = new Map<string, ProcessSet>();
  readonly #collectives: HostCollectives;
  /** Whose process has not ended. */
  readonly #running = new Set<Rank>();
  readonly #files = new Set<string>();
  readonly #sinceWallMs: number;
  readonly #lost = new Set<Rank>();
  /** Of other hosts: nobody has what they put. */
  readonly #silent = new Set<Rank>();
  #hasNoWorld = false;
  /** The controller knows the version of a library. */
  #hasSpoken = false;
  #state: 'new' | 'asked' | 'open' = 'new';
  #problem: string | undefined;
  readonly #onOpen: (() => void)[] = [];
  /** Losses are told to libraries, and collectives go on without who is lost. */
  readonly isTolerant: boolean;

  constructor(place: JobPlace, isTolerant: boolean) {
    this.place = place;
    this.#sinceWallMs = place.node.platform.clock.wallMs() - EARLIER_MS;
    this.keys = new Keys(place.job);
    this.requests = new Requests(place, this.keys);
    this.isTolerant = isTolerant;
    this.#collectives = new HostCollectives({
      job: place.job,
      isAwaited: (rank) => {
        const state = this.#ranks.get(rank);
        return state && !state.isGone;
      },
      isOfInit: (id) => isOfInit(id, this.#sets.values()),
      endWorld: (rank, absent) => this.#endWorld(rank, absent),
      far: (own) => this.keys.far(own),
      send: (id, data) => {
        const lost = [...this.#lost].filter((rank) => this.isHere(rank) && hasMember(id.members, place.job, rank));
        const body = { host: place.host, id, data, lost: isTolerant ? lost : [] };
        return place.node.messages.send(CONTROLLER, 'pmi.enter', body)?.message;
      },
    });
    place.holds.holdAll(() => this.#held());
  }

  *#held(): Iterable<string> {
    for (const { rank } of this.#clients()) yield `MPI library of rank ${rank}`;
    for (const [kind, count] of this.#collectives.waiting()) yield `${kind} of MPI libraries, ${count} wait here`;
    for (let count = this.requests.waiting + this.keys.waiting; count > 0; count--) yield 'get of an MPI library';
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

  /** Of this job, as far as they are known here. */
  nspaces(): readonly string[] {
    return [...this.#sets.values()].flatMap(({ job, nspace }) => (job === this.job ? [nspace] : []));
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
    this.#running.add(rank);
    this.#ranks.set(rank, { clients: new Set(), hasInit: false, isFinalized: false, isGone: false });
    this.keys.add(rank);
  }

  /** Files that a library leaves to its launcher to remove. */
  leave(paths: readonly string[]): void {
    for (const path of paths) {
      if (this.#files.size < FILES_MAX && path.length <= PATH_CHARS_MAX) this.#files.add(path);
    }
  }

  /** Its process has ended. */
  remove(rank: Rank, isWell: boolean): void {
    const state = this.#ranks.get(rank);
    if (state === undefined || !this.#running.delete(rank)) return;
    state.clients.clear();
    if (this.#running.size === 0) this.#clean();
    if (state.isGone) return;
    // Where losses are no news, the job is about to end, and nobody is to go on as if all had come.
    if (isWell) this.#drop([rank]);
    else if (this.isTolerant) this.onLost([rank]);
  }

  /** Nothing of the job runs here, for now. */
  #clean(): void {
    const { files } = this.place.node.platform;
    files.removeNamed([...this.#files]);
    this.#files.clear();
    const isUnclean = [...this.#ranks.values()].some(({ hasInit, isFinalized }) => hasInit && !isFinalized);
    if (isUnclean) files.removeUnused(SHARED, this.#sinceWallMs);
  }

  /** Why an end with status 0 is none: a library waits for it. */
  complaintOf(rank: Rank): ErrorRecord | undefined {
    const state = this.#ranks.get(rank);
    if (state?.hasInit !== true || state.isFinalized) return undefined;
    const message = `Rank ${rank} on ${this.place.hostName} ended between MPI_Init and MPI_Finalize, with status 0`;
    return { code: 'STCI_MPI_UNFINISHED', message, rank };
  }

  /**
   * Calls `done` when it is known which processes there are; with a problem if that cannot be asked. `version`: '' of a
   * library that has not spoken yet.
   */
  whenOpen(library: Pick<MessageBody<'pmi.open'>, 'protocol' | 'version'>, done: (problem?: string) => void): void {
    if (this.#state === 'open') done(this.#problem);
    else this.#onOpen.push(() => done(this.#problem));
    const hasSpoken = library.version !== '';
    if (this.#state !== 'new' && (this.#hasSpoken || !hasSpoken)) return;
    this.#hasSpoken ||= hasSpoken;
    const { node, host } = this.place;
    if (this.#state === 'new') {
      this.#state = 'asked';
      node.platform.processes.shareMemory(SHARED);
    }
    node.messages.request(CONTROLLER, 'pmi.open', { host, ...library }, (error, answer) => {
      const reply = answer as MessageReply<'pmi.open'> | undefined;
      this.#problem = error?.message;
      for (const set of reply?.sets ?? []) this.#learn(set);
      this.#state = 'open';
      for (const call of this.#onOpen.splice(0)) call();
      this.onLost(reply?.lost ?? [], reply?.silent);
    });
  }

  /** A library has begun in this rank. */
  begin(client: PmiClient): void {
    const state = this.#ranks.get(client.rank);
    if (state === undefined) return;
    // It runs a second program: no key of the first is meant for it.
    if (state.isFinalized) this.keys.add(client.rank);
    state.hasInit = true;
    state.isFinalized = false;
    state.clients.add(client);
    if (policyOf(this.place.params) === 'restart') this.abort(client.rank, 1, RESTART_TEXT, 'restart');
    if (this.#lost.size > 0) client.onLost([...this.#lost]);
  }

  /** Its connection is closed. */
  end(client: PmiClient): void {
    this.#ranks.get(client.rank)?.clients.delete(client);
  }

  /** It has said that it ends. */
  finalize(client: PmiClient): void {
    const state = this.#ranks.get(client.rank);
    state?.clients.delete(client);
    if (state !== undefined && state.clients.size === 0) state.isFinalized = true;
  }

  /** Calls `done` as `Keys.await` does, also of a rank that runs elsewhere. */
  await(rank: Rank, job: JobId, key: string | undefined, done: Done<readonly Pair[]>): Cancel | undefined {
    const known = this.keys.known(rank, job);
    if (known !== undefined && hasKey(known, key)) return void done(known);
    if (job !== this.job || !this.isHere(rank)) return this.#ask(rank, job, key, done);
    return this.keys.await(rank, key, 'near', (pairs) => done(pairs));
  }

  /** A rank of this job; those of others have told with the connect what they have put. */
  #ask(rank: Rank, job: JobId, key: string | undefined, done: Done<readonly Pair[]>): Cancel | undefined {
    const host = job !== this.job ? undefined : this.setOfRank(rank)?.hosts.find(([, , ranks]) =>
      ranks.some(([first, last]) => rank >= first && rank <= last))?.[0];
    // An agent that is lost with its ranks does not answer.
    if (host === undefined || this.#lost.has(rank) || this.#silent.has(rank)) return void done(undefined);
    return this.requests.get(host, rank, job, key, done);
  }

  /**
   * A rank takes part in a collective. Calls `done` when all that live have come; of who withdraws before, the next
   * call counts in its place.
   */
  enter(rank: Rank, of: CollectiveOf, tells: Tells, done: Done<CollectiveResult>): Cancel | undefined {
    if (of.name.length > NAME_CHARS_MAX) return void done(undefined, `at most ${NAME_CHARS_MAX} characters of a name`);
    return this.#collectives.enter(rank, of, tells, done);
  }

  /** No MPI_COMM_WORLD comes about: one is gone, or has another library. Who waits for it waits for the job's end. */
  #endWorld(rank: Rank, absent?: Rank): void {
    const { node, host } = this.place;
    const more = absent === undefined ? {} : { absent };
    if (!this.#hasNoWorld) node.messages.send(CONTROLLER, 'pmi.split', { host, rank, ...more });
    this.#hasNoWorld = true;
  }

  onDone(result: CollectiveResult): void {
    for (const set of result.sets) this.#learn(set);
    for (const [job, rank, pairs] of result.id.kind === 'group' ? [] : result.data) {
      if (job !== this.job || !this.isHere(rank)) this.keys.tell(job, rank, pairs);
    }
    this.#collectives.onDone(result);
  }

  /** Ranks of this job are lost: each is told once to each library. `silent`: had ended well, and their agent is. */
  onLost(ranks: readonly Rank[], silent: readonly Rank[] = []): void {
    for (const rank of silent) this.#silent.add(rank);
    const lost = ranks.filter((rank) => !this.#lost.has(rank));
    for (const rank of lost) this.#lost.add(rank);
    if (this.isTolerant && lost.length > 0) for (const client of this.#clients()) client.onLost(lost);
    this.requests.onLost([...lost, ...silent]);
    this.#drop(lost);
  }

  /** They are not awaited any longer. */
  #drop(ranks: readonly Rank[]): void {
    for (const rank of ranks) {
      const state = this.#ranks.get(rank);
      if (state !== undefined) state.isGone = true;
      this.keys.giveUp(rank);
    }
    this.#collectives.drop(ranks);
  }

  *#clients(): Iterable<PmiClient> {
    for (const { clients } of this.#ranks.values()) yield* clients;
  }

  /** Asks for sets of this job, and for those of others by their names. */
  learn(nspaces: readonly string[], done: (problem?: string) => void): void {
    this.requests.ask('pmi.sets', { nspaces }, (reply, problem) => {
      for (const set of reply?.sets ?? []) this.#learn(set);
      done(problem);
    });
  }

  #learn(set: ProcessSet): void {
    this.#sets.set(set.nspace, set);
  }

  /** Keys that anybody in the session may look up. `taken`: those that somebody has published. */
  publish(rank: Rank, persistence: number, pairs: readonly Pair[], done: Done<readonly string[]>): void {
    const body = { host: this.place.host, rank, persistence, pairs };
    this.requests.ask('pmi.publish', body, (reply, problem) => done(reply?.taken, problem));
  }

  unpublish(rank: Rank, keys: readonly string[], done: Done<readonly string[]>): void {
    const { host } = this.place;
    this.requests.ask('pmi.unpublish', { host, rank, keys }, (reply, problem) => done(reply?.missing, problem));
  }

  /** The job ends, with this exit code and text. */
  abort(rank: Rank, exitCode: number, message: string, cause: 'abort' | 'restart' = 'abort'): void {
    const { node, host } = this.place;
    node.messages.send(CONTROLLER, 'pmi.abort', { host, rank, cause, exitCode, message: message.slice(0, TEXT_MAX) });
  }

  /** Further ranks of the job, of which `done` gets the set; or why there are none. */
  spawn(request: SpawnRequest, done: Done<ProcessSet>): void {
    const { host } = this.place;
    this.requests.ask('pmi.spawn', { host, request }, (reply, problem = reply?.problem) => {
      for (const set of reply?.sets ?? []) this.#learn(set);
      done(reply?.sets[0], problem);
    });
  }

  /** An event for the libraries in the job's other ranks. Returns why it cannot be told. */
  notify(rank: Rank, status: number, event: Uint8Array): string | undefined {
    const { node, host } = this.place;
    const body = { host, rank, status, event };
    return problemOf('pmi.notify', body) ?? node.messages.send(CONTROLLER, 'pmi.notify', body)?.message;
  }
}
