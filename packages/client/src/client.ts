/** What a program sees of its job: who is lost, agreements with the other ranks, and the watch over itself. */

import {
  MARKS_MAX, MARKS_PER_SECOND_MAX, MARK_CHARS_MAX, WATCHDOG_MS_MAX, isInRanges,
  ranksInRanges, type Agreed, type AgreementKind, type LostRanks, type ProgramEvent,
} from '@stci/interface';
import { ClientError } from './errors.js';
import type { LineSocket } from './line-socket.js';

/** Ranks that were lost together. */
export interface Loss {
  readonly ranks: readonly number[];
  /** For people: `it was ended by SIGKILL`. */
  readonly reason: string;
}

/** The same for every rank that gets it. */
export interface Agreement {
  /** All ranks that took part gave true. */
  readonly flag: boolean;
  /** All ranks lost so far, in ascending order. */
  readonly failed: readonly number[];
}

/** The survivors, numbered anew; the same for every rank that gets it. */
export interface Group {
  /** This rank's place among them, from 0. */
  readonly rank: number;
  readonly size: number;
  /** Their ranks in the job, by place. */
  readonly ranks: readonly number[];
}

export interface Watchdog {
  /** A sign of life. Cheap: called more often than needed, it does nothing. */
  alive(): void;
  /** Takes the promise back. */
  stop(): void;
}

/**
 * `agree`, `barrier` and `shrink` are called by all ranks that run, in the same order. A rank that was started again
 * first calls `shrink`, and takes part from the next one of the others on.
 */
export interface Client {
  readonly rank: number;
  readonly size: number;
  readonly job: number;
  /** 1, 2, …: how often this rank was started. */
  readonly attempt: number;
  /** Called for every loss from now on, before an agreement that counts it resolves. Returns what ends that. */
  onFailure(call: (loss: Loss) => void): () => void;
  /** Ranks lost so far, as far as this one knows, in ascending order. */
  failed(): number[];
  /** Waits for the flags of all ranks that run; those that end meanwhile are not awaited. */
  agree(flag: boolean): Promise<Agreement>;
  /** Waits until all ranks that run have called it. */
  barrier(): Promise<void>;
  /** As barrier, and numbers those that are left. */
  shrink(): Promise<Group>;
  /** Promises a sign of life within this time, again and again; a rank that breaks it counts as failed. */
  watchdog(withinMs: number): Watchdog;
  /**
   * Tells experiments that the program has come to a point that they know by this name: 1 to 256 printable ASCII
   * characters. At most 100 in a second and 10 000 in all: more throw STCI_CLIENT_LIMIT.
   */
  mark(name: string): void;
  /** Ends the connection; calls that wait are rejected. */
  close(): void;
}

interface Waiting {
  readonly kind: AgreementKind;
  readonly flag: boolean;
  resolve(agreed: Agreed): void;
  reject(error: ClientError): void;
}

type Welcome = Pick<Client, 'rank' | 'size' | 'job' | 'attempt'>;

/** Part of the promised time in which a further sign of life is not sent; the promise is made longer by it. */
const QUIET_PART = 1 / 4;
const SECOND_MS = 1000;

export class ProgramClient implements Client {
  readonly rank: number;
  readonly size: number;
  readonly job: number;
  readonly attempt: number;
  readonly #socket: LineSocket;
  readonly #failed = new Set<number>();
  readonly #listeners = new Set<(loss: Loss) => void>();
  /** In the order of their calls; the first has been sent. */
  readonly #waiting: Waiting[] = [];
  /** It knows where the others are. */
  #takesPart: boolean;
  #closed: ClientError | undefined;
  #marks = 0;
  /** When the marks of the last second were made. */
  readonly #marked: number[] = [];

  constructor({ rank, size, job, attempt }: Welcome, socket: LineSocket) {
    this.rank = rank;
    this.size = size;
    this.job = job;
    this.attempt = attempt;
    this.#takesPart = attempt === 1;
    this.#socket = socket;
    socket.hold(false);
  }

  onFailure(call: (loss: Loss) => void): () => void {
    const listener = (loss: Loss): void => call(loss);
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  failed(): number[] {
    return [...this.#failed].sort((a, b) => a - b);
  }

  async agree(flag: boolean): Promise<Agreement> {
    if (typeof flag !== 'boolean') {
      throw new ClientError('STCI_CLIENT_ARGUMENT', `agree(${String(flag)}): not a boolean`);
    }
    const agreed = await this.#vote('agree', flag);
    return { flag: agreed.flag, failed: ranksInRanges(agreed.failed) };
  }

  async barrier(): Promise<void> {
    await this.#vote('barrier', true);
  }

  async shrink(): Promise<Group> {
    const ranks = ranksInRanges((await this.#vote('shrink', true)).ranks);
    return { rank: ranks.indexOf(this.rank), size: ranks.length, ranks };
  }

  watchdog(withinMs: number): Watchdog {
    const longestMs = WATCHDOG_MS_MAX / (1 + QUIET_PART);
    if (!Number.isInteger(withinMs) || withinMs < 1 || withinMs > longestMs) {
      const text = `watchdog(${withinMs}): not an integer in 1..${longestMs}, in ms`;
      throw new ClientError('STCI_CLIENT_ARGUMENT', text);
    }
    const promisedMs = Math.ceil(withinMs * (1 + QUIET_PART));
    let sentMs = -Infinity;
    const alive = (): void => {
      const nowMs = performance.now();
      if (nowMs - sentMs < withinMs * QUIET_PART || this.#closed !== undefined) return;
      sentMs = nowMs;
      this.#socket.send({ type: 'alive', withinMs: promisedMs });
    };
    alive();
    return { alive, stop: () => this.#closed ?? this.#socket.send({ type: 'alive', withinMs: 0 }) };
  }

  mark(name: string): void {
    if (this.#closed !== undefined) throw this.#closed;
    if (typeof name !== 'string' || name.length > MARK_CHARS_MAX || !/^[ -~]+$/u.test(name)) {
      const text = `mark(): expected a name of 1 to ${MARK_CHARS_MAX} printable ASCII characters`;
      throw new ClientError('STCI_CLIENT_ARGUMENT', text);
    }
    const nowMs = performance.now();
    while ((this.#marked[0] ?? nowMs) < nowMs - SECOND_MS) this.#marked.shift();
    if (this.#marked.length >= MARKS_PER_SECOND_MAX || this.#marks >= MARKS_MAX) {
      const text = `mark('${name}'): more than ${MARKS_PER_SECOND_MAX} marks in a second, or ${MARKS_MAX} in all`;
      throw new ClientError('STCI_CLIENT_LIMIT', text);
    }
    this.#marks += 1;
    this.#marked.push(nowMs);
    this.#socket.send({ type: 'mark', name });
  }

  close(): void {
    this.#end(new ClientError('STCI_CLIENT_CLOSED', 'The connection to the session agent was closed by close()'));
    this.#socket.close();
  }

  onEvent(event: ProgramEvent): void {
    if (this.#closed !== undefined) return;
    if (event.type === 'failed') return this.#onLost(event.lost);
    if (event.type === 'agreed') return this.#onAgreed(event.agreed);
    if (event.type === 'exit') process.exit(event.status); // An injected fault.
    this.#socket.destroy(event.type === 'refused' ? event.reason : 'the session agent broke the protocol');
  }

  onClosed(reason: string): void {
    this.#end(new ClientError('STCI_CLIENT_LOST', `The connection to the session agent ended: ${reason}.`));
  }

  #vote(kind: AgreementKind, flag: boolean): Promise<Agreed> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) return reject(this.#closed);
      if (!this.#takesPart && kind !== 'shrink') {
        const text = `${kind}(): this rank was started again; it takes part from its first shrink() on`;
        return reject(new ClientError('STCI_CLIENT_MISMATCH', text));
      }
      this.#takesPart = true;
      this.#waiting.push({ kind, flag, resolve, reject });
      if (this.#waiting.length === 1) this.#sendVote();
    });
  }

  #sendVote(): void {
    const next = this.#waiting[0];
    this.#socket.hold(next !== undefined);
    if (next !== undefined) this.#socket.send({ type: 'vote', kind: next.kind, flag: next.flag });
  }

  #onAgreed(agreed: Agreed): void {
    // What it counts as lost is known before it resolves, and who takes part again is not lost.
    for (const rank of ranksInRanges(agreed.joined)) this.#failed.delete(rank);
    this.#onLost(agreed.failed.map(([first, last]) => [first, last, 'it is lost']));
    const waiting = this.#waiting.shift();
    if (waiting === undefined || !isInRanges(agreed.ranks, this.rank)) {
      return this.#socket.destroy('the session agent broke the protocol');
    }
    this.#sendVote();
    if (!agreed.isMismatch) return waiting.resolve(agreed);
    const text = `${waiting.kind}(): other ranks called another of agree, barrier and shrink at the same place. `
      + 'All ranks must call them in the same order.';
    waiting.reject(new ClientError('STCI_CLIENT_MISMATCH', text));
  }

  #onLost(lost: readonly LostRanks[]): void {
    for (const range of lost) {
      const ranks = ranksInRanges([range]).filter((rank) => !this.#failed.has(rank));
      if (ranks.length === 0) continue;
      for (const rank of ranks) this.#failed.add(rank);
      for (const listener of this.#listeners) listener({ ranks, reason: range[2] });
    }
  }

  #end(error: ClientError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
