/** A rank of this host, while its process runs: what it has at its session agent belongs to it, not to a connection. */

import { PROGRAM_PARTS_BYTES_MAX, programKeyBytes, type ProgramErrorCode, type Rank } from '@stci/interface';
import type { Pair, Vote } from './agreement.js';
import { MarkBudget } from './mark-budget.js';
import type { ProgramConnection } from './program-connection.js';
import { RankMailbox } from './rank-mailbox.js';

/** It has called a collective, and waits for the decision. */
export interface ProgramVote extends Omit<Vote, 'rank' | 'sequence' | 'host'> {
  /** When it came, on the agent's clock. */
  readonly sinceMs: number;
}

/** What the ranks of one host have put, and what their calls of exchange() that wait have taken of it. */
export interface UntoldKeys {
  bytes: number;
}

export class Program {
  readonly rank: Rank;
  readonly attempt: number;
  readonly token: string;
  readonly marks = new MarkBudget();
  connection: ProgramConnection | undefined;
  /** Besides: by which it tells for whom it waits elsewhere. */
  observer: ProgramConnection | undefined;
  vote: ProgramVote | undefined;
  /** Its connection waits for the decision. */
  awaitsVote = false;
  hasPromised = false;
  readonly mailbox = new RankMailbox();
  /** Sends that are not answered, and their bytes. */
  sends = 0;
  sendsBytes = 0;
  /** Of a rank that was started again: not yet. */
  takesPart: boolean;
  /** Put, and not told to the others yet. */
  readonly #pairs = new Map<string, Pair>();
  #pairsBytes = 0;
  /** Of pairs that its vote has. */
  #takenBytes = 0;
  readonly #untold: UntoldKeys;

  constructor(rank: Rank, attempt: number, token: string, untold: UntoldKeys = { bytes: 0 }) {
    this.#untold = untold;
    this.rank = rank;
    this.attempt = attempt;
    this.token = token;
    this.takesPart = attempt === 1;
  }

  done(id: number): void {
    this.connection?.send({ type: 'done', id });
  }

  fail(id: number, { code, reason }: { readonly code: ProgramErrorCode; readonly reason: string }): void {
    this.connection?.send({ type: 'failed-call', id, code, reason });
  }

  put(id: number, pair: Pair): void {
    const more = pairBytes(pair) - pairBytes(this.#pairs.get(pair[0]));
    const bytes = this.#untold.bytes + more;
    // What all ranks bring to one exchange has the same bound.
    if (more > 0 && bytes > PROGRAM_PARTS_BYTES_MAX) {
      const reason = `the keys that the ranks of this host have put since their last exchange count for ${bytes} `
        + `bytes, at most ${PROGRAM_PARTS_BYTES_MAX} are allowed: call exchange() sooner`;
      return this.fail(id, { code: 'STCI_CLIENT_LIMIT', reason });
    }
    this.#keep(pair);
    this.done(id);
  }

  /** What an exchange takes, with its bytes; they count until it is decided. */
  takePairs(): readonly [readonly Pair[], number] {
    const taken = [[...this.#pairs.values()], this.#pairsBytes] as const;
    this.#pairs.clear();
    this.#takenBytes += this.#pairsBytes;
    this.#pairsBytes = 0;
    return taken;
  }

  /** Its vote is decided, or its process has ended. */
  forgetTaken(): void {
    this.#untold.bytes -= this.#takenBytes;
    this.#takenBytes = 0;
  }

  /** An exchange did not take place: the next one takes what it would have taken. */
  restorePairs(pairs: readonly Pair[]): void {
    this.forgetTaken();
    for (const pair of pairs) if (!this.#pairs.has(pair[0])) this.#keep(pair);
  }

  #keep(pair: Pair): void {
    const more = pairBytes(pair) - pairBytes(this.#pairs.get(pair[0]));
    this.#pairs.set(pair[0], pair);
    this.#pairsBytes += more;
    this.#untold.bytes += more;
  }
}

/** What a pair counts for; nothing where there is none. */
export function pairBytes(pair: Pair | undefined): number {
  return pair === undefined ? 0 : programKeyBytes(pair[0], pair[2]);
}
