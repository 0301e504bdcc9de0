/** A rank of this host, while its process runs: what it has at its session agent belongs to it, not to a connection. */

import {
  PROGRAM_PARTS_BYTES_MAX, type Form, type ProgramErrorCode, type ProgramRequest, type Rank,
} from '@stci/interface';
import type { Pair } from '../job/agreement.js';
import { MarkBudget } from '../job/mark-budget.js';
import type { ProgramConnection } from './program-connection.js';
import { Mailbox } from './program-mailbox.js';

/** It has called a collective, and waits for the decision. */
export interface ProgramVote extends Pick<Extract<ProgramRequest, { type: 'vote' }>, 'kind'> {
  readonly number: number;
  /** When it came, on the agent's clock. */
  readonly sinceMs: number;
  readonly flag: boolean;
  readonly root: Rank;
  readonly form: Form;
  readonly length: number;
  readonly part: Uint8Array;
  readonly pairs: readonly Pair[];
}

export class Program {
  readonly rank: Rank;
  readonly attempt: number;
  readonly token: string;
  readonly marks = new MarkBudget();
  connection: ProgramConnection | undefined;
  vote: ProgramVote | undefined;
  /** Its connection waits for the decision. */
  awaitsVote = false;
  hasPromised = false;
  readonly mailbox = new Mailbox();
  /** Sends that are not answered, and their bytes. */
  sends = 0;
  sendsBytes = 0;
  /** Of a rank that was started again: not yet. */
  takesPart: boolean;
  /** Put, and not told to the others yet. */
  readonly #pairs = new Map<string, Pair>();
  #pairsBytes = 0;

  constructor(rank: Rank, attempt: number, token: string) {
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
    const bytes = this.#pairsBytes + pairBytes(pair) - pairBytes(this.#pairs.get(pair[0]));
    if (bytes > PROGRAM_PARTS_BYTES_MAX) {
      const reason = `this rank has put ${bytes} bytes since its last exchange, at most ${PROGRAM_PARTS_BYTES_MAX} `
        + 'are allowed';
      return this.fail(id, { code: 'STCI_CLIENT_LIMIT', reason });
    }
    this.#pairsBytes = bytes;
    this.#pairs.set(pair[0], pair);
    this.done(id);
  }

  /** What an exchange takes, with its bytes. */
  takePairs(): readonly [readonly Pair[], number] {
    const taken = [[...this.#pairs.values()], this.#pairsBytes] as const;
    this.#pairs.clear();
    this.#pairsBytes = 0;
    return taken;
  }

  /** An exchange did not take place: the next one takes what it would have taken. */
  restorePairs(pairs: readonly Pair[]): void {
    for (const pair of pairs) {
      if (this.#pairs.has(pair[0])) continue;
      this.#pairs.set(pair[0], pair);
      this.#pairsBytes += pairBytes(pair);
    }
  }
}

function pairBytes(pair: Pair | undefined): number {
  return pair === undefined ? 0 : pair[0].length + pair[2].length;
}
