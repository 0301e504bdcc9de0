/**
 * Agreement among the ranks of a job (STCI paper, II-F; the uniform agreement of fault-tolerant MPI). Pure, and in one
 * place, the controller: it decides once, when every rank that has not ended has voted. So the result is the same for
 * all who get it, whoever dies meanwhile; a rank that dies after its vote has had its say, and is not awaited.
 *
 * One agreement is open at a time, the next after `decided`: no rank votes again before it knows the decision.
 */

import { StciError, rankRanges, type Agreed, type AgreementKind, type Rank } from '@stci/interface';

export interface Decision extends Agreed {
  /** 1, 2, … in the job. */
  readonly sequence: number;
}

export interface Vote {
  readonly rank: Rank;
  /** Of the agreement that is voted on. */
  readonly sequence: number;
  readonly kind: AgreementKind;
  readonly flag: boolean;
}

const ENDED = 1;
const FAILED = 2;

export class Agreement {
  /** By rank; 0: it has not ended. */
  readonly #ends: Uint8Array;
  readonly #voted = new Set<Rank>();
  readonly #kinds = new Set<AgreementKind>();
  #open: number;
  #decided = 0;
  #flag = true;

  constructor(size: number) {
    this.#ends = new Uint8Array(size);
    this.#open = size;
  }

  /** Number of decisions so far. */
  get decided(): number {
    return this.#decided;
  }

  /** A late vote, or that of an ended rank, counts for nothing. Throws STCI_MESSAGE_INVALID for an early one. */
  vote({ rank, sequence, kind, flag }: Vote): void {
    if (sequence > this.#decided + 1) {
      const text = `Expected a vote on agreement ${this.#decided + 1}, got one of rank ${rank} on ${sequence}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    if (sequence <= this.#decided || this.#ends[rank] !== 0 || this.#voted.has(rank)) return;
    this.#voted.add(rank);
    this.#kinds.add(kind);
    this.#flag &&= flag;
  }

  ended(rank: Rank, isFailure: boolean): void {
    if (this.#ends[rank] !== 0) return;
    this.#ends[rank] = isFailure ? FAILED : ENDED;
    this.#voted.delete(rank);
    this.#open -= 1;
  }

  /** It was started again: its vote is awaited again. */
  returned(rank: Rank): void {
    if (this.#ends[rank] === 0) return;
    this.#ends[rank] = 0;
    this.#open += 1;
  }

  /** The decision, once, when no more votes are awaited; the next agreement is open then. */
  decide(): Decision | undefined {
    if (this.#voted.size === 0 || this.#voted.size < this.#open) return undefined;
    this.#decided += 1;
    const decision: Decision = {
      sequence: this.#decided,
      flag: this.#flag,
      isMismatch: this.#kinds.size > 1,
      ranks: rankRanges(this.#having(0)),
      failed: rankRanges(this.#having(FAILED)),
    };
    this.#voted.clear();
    this.#kinds.clear();
    this.#flag = true;
    return decision;
  }

  *#having(end: number): Iterable<Rank> {
    for (let rank = 0; rank < this.#ends.length; rank++) if (this.#ends[rank] === end) yield rank;
  }
}
