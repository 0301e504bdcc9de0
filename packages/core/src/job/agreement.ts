/**
 * Agreement among the ranks of a job (STCI paper, II-F; the uniform agreement of fault-tolerant MPI). Pure, and in one
 * place, the controller: it decides once, when every rank that has not ended has voted. So the result is the same for
 * all who get it, whoever dies meanwhile; a rank that dies after its vote has had its say, and is not awaited.
 *
 * One agreement is open at a time, the next after `decided`: no rank votes again before it knows the decision.
 *
 * A rank that was started again knows nothing of the earlier agreements: it is not awaited, and joins with the next
 * `shrink` of the others after its vote.
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

const MEMBER = 0;
const ENDED = 1;
const FAILED = 2;
/** Started again. */
const JOINING = 3;

export class Agreement {
  /** By rank. */
  readonly #states: Uint8Array;
  readonly #counts: [members: number, ended: number, failed: number, joining: number];
  readonly #voted = new Set<Rank>();
  /** Votes of ranks that were started again. */
  readonly #joining = new Set<Rank>();
  readonly #kinds = new Set<AgreementKind>();
  #decided = 0;
  #flag = true;

  constructor(size: number) {
    this.#states = new Uint8Array(size);
    this.#counts = [size, 0, 0, 0];
  }

  /** Number of decisions so far. */
  get decided(): number {
    return this.#decided;
  }

  /** Ranks have voted, and wait for others. */
  get isAwaited(): boolean {
    return this.#voted.size > 0 || this.#joining.size > 0;
  }

  /** A late vote, or that of an ended rank, counts for nothing. Throws STCI_MESSAGE_INVALID for an early one. */
  vote({ rank, sequence, kind, flag }: Vote): void {
    if (sequence > this.#decided + 1) {
      const text = `Expected a vote on agreement ${this.#decided + 1}, got one of rank ${rank} on ${sequence}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    if (sequence <= this.#decided) return;
    if (this.#states[rank] === JOINING) this.#joining.add(rank);
    if (this.#states[rank] !== MEMBER || this.#voted.has(rank)) return;
    this.#voted.add(rank);
    this.#kinds.add(kind);
    this.#flag &&= flag;
  }

  ended(rank: Rank, isFailure: boolean): void {
    if (this.#states[rank] === ENDED || this.#states[rank] === FAILED) return;
    this.#set(rank, isFailure ? FAILED : ENDED);
    this.#voted.delete(rank);
    this.#joining.delete(rank);
  }

  /** It failed, and is started again. */
  returned(rank: Rank): void {
    this.#set(rank, JOINING);
  }

  /** The decision, once, when no more votes are awaited; the next agreement is open then. */
  decide(): Decision | undefined {
    const [members, , , joining] = this.#counts;
    // Where all others have ended, those that were started again go on alone.
    const isReady = members > 0 ? this.#voted.size === members : joining > 0 && this.#joining.size === joining;
    if (!isReady) return undefined;
    this.#decided += 1;
    const joined = members === 0 || (this.#kinds.size === 1 && this.#kinds.has('shrink')) ? [...this.#joining] : [];
    for (const rank of joined) this.#set(rank, MEMBER);
    const ranks = [...this.#voted, ...joined].sort((a, b) => a - b);
    const decision: Decision = {
      sequence: this.#decided,
      flag: this.#flag,
      isMismatch: this.#kinds.size > 1,
      ranks: rankRanges(ranks),
      joined: rankRanges(joined.sort((a, b) => a - b)),
      failed: rankRanges(this.#lost()),
    };
    for (const rank of joined) this.#joining.delete(rank);
    this.#voted.clear();
    this.#kinds.clear();
    this.#flag = true;
    return decision;
  }

  #set(rank: Rank, state: number): void {
    this.#counts[this.#states[rank] as 0 | 1 | 2 | 3] -= 1;
    this.#counts[state as 0 | 1 | 2 | 3] += 1;
    this.#states[rank] = state;
  }

  *#lost(): Iterable<Rank> {
    for (const [rank, state] of this.#states.entries()) if (state === FAILED || state === JOINING) yield rank;
  }
}
