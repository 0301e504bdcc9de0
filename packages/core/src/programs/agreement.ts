/**
 * What the ranks of a job do together (STCI paper, II-F; the uniform agreement, and the shape of failures, of
 * fault-tolerant MPI, ULFM). Pure, and in one place, the controller: it decides once, when every rank that has not
 * ended has taken part. So the result is the same for all who get it, whoever dies meanwhile; a rank that dies after it
 * took part has had its say, and is not awaited.
 *
 * One collective is open at a time, the next after `decided`: no rank takes part again before it knows the decision.
 * `agree` and `shrink` go on without ranks that are lost. The others are strict: once a rank of the group has ended
 * without its part, whoever has called one, or calls one before the next `shrink`, is refused at once. A refusal is
 * no decision: the collective stays open for those who call `shrink` at its place.
 *
 * A rank that was started again knows nothing of the earlier collectives: it is not awaited, and joins with the next
 * `shrink` of the others after its vote.
 */

import {
  StciError, rankRanges, type Agreed, type CollectiveKind, type Form, type HostIndex, type LostRanks,
  type ProgramErrorCode, type Rank,
} from '@stci/interface';
import { NO_BYTES, ownBytes } from '../iof/bytes.js';
import { calledText, missingText, NOT_YET } from './agreement-text.js';

/** A key, the form of its value, and the value. */
export type Pair = readonly [key: string, form: Form, value: Uint8Array];

/** What a rank brought: the form and the bytes. */
export type Part = readonly [rank: Rank, form: Form, bytes: Uint8Array];

export interface Vote {
  readonly rank: Rank;
  /** Of the collective that it takes part in. */
  readonly sequence: number;
  /** By which the rank's agent finds the call when it is refused. */
  readonly number: number;
  readonly host: HostIndex;
  readonly kind: CollectiveKind;
  readonly flag: boolean;
  readonly root: Rank;
  readonly form: Form;
  /** Bytes of its part or of its pairs; these are empty where those of its host are too many. */
  readonly length: number;
  readonly part: Uint8Array;
  readonly pairs: readonly Pair[];
}

/** Why it failed; both are empty where it did not. */
interface Verdict {
  readonly code: ProgramErrorCode | '';
  readonly reason: string;
}

export interface Decision extends Verdict {
  /** 1, 2, … in the job. */
  readonly sequence: number;
  readonly agreed: Agreed;
  /** In ascending order of rank: of all, of the root, or none. */
  readonly parts: readonly Part[];
  readonly root: Rank;
  /** Of an exchange. */
  readonly pairs: readonly Pair[];
}

/** Calls that fail at once, all for the same cause. */
export interface Refusal extends Verdict {
  readonly votes: readonly Vote[];
  readonly agreed: Agreed;
}

export interface RankEnd {
  readonly isFailure: boolean;
  /** For people: `it was ended by SIGKILL`. */
  readonly reason: string;
  readonly host: string;
}

export interface AgreementLimits {
  /** Bytes of all parts of a collective. */
  readonly partsBytesMax: number;
  /** Says why these pairs cannot be taken; '' if they can. */
  refusesPairs(pairs: ReadonlyMap<string, Pair>): string;
}

const MEMBER = 0;
const ENDED = 1;
const FAILED = 2;
/** Started again. */
const JOINING = 3;


const isStrict = (kind: CollectiveKind): boolean => kind !== 'agree' && kind !== 'shrink';

/** Of these, a flag that is false says that the rank's value could not be sent. */
const hasValues = (kind: CollectiveKind): boolean => kind === 'gather' || kind === 'allgather' || kind === 'broadcast';

export class Agreement {
  readonly #limits: AgreementLimits;
  /** By rank. */
  readonly #states: Uint8Array;
  readonly #counts: [members: number, ended: number, failed: number, joining: number];
  /** Of the open collective, those of ranks that have ended too. */
  readonly #votes = new Map<Rank, Vote>();
  /** How many of them are of members. */
  #voted = 0;
  /** How many of them are strict, and the bytes that these brought. */
  #strict = 0;
  #bytes = 0;
  /** Votes of ranks that were started again. */
  readonly #joining = new Map<Rank, Vote>();
  readonly #refused: Refusal[] = [];
  /** Ranks of the group that have ended. */
  readonly #departed = new Map<Rank, RankEnd>();
  /** The code of strict calls until the next shrink, that it be the same for all; undefined: none was refused. */
  #refusal: ProgramErrorCode | undefined;
  /** Those of them without a strict vote. */
  #missing = 0;
  #group: Uint8Array;
  #decided = 0;

  constructor(size: number, limits: AgreementLimits) {
    this.#limits = limits;
    this.#states = new Uint8Array(size);
    this.#group = new Uint8Array(size).fill(1);
    this.#counts = [size, 0, 0, 0];
  }

  /** Number of decisions so far. */
  get decided(): number {
    return this.#decided;
  }

  /** Ranks have taken part, and wait for others. */
  get isAwaited(): boolean {
    return this.#voted > 0 || this.#joining.size > 0;
  }

  /** A late vote, or that of an ended rank, counts for nothing. Throws STCI_MESSAGE_INVALID for an early one. */
  vote(vote: Vote): void {
    const { rank, sequence, kind } = vote;
    if (sequence > this.#decided + 1) {
      const text = `Expected a vote on agreement ${this.#decided + 1}, got one of rank ${rank} on ${sequence}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    if (sequence <= this.#decided) return;
    if (this.#states[rank] === JOINING) {
      if (kind === 'shrink') this.#joining.set(rank, withoutBytes(vote));
      else this.#refuseJoining(vote);
    }
    if (this.#states[rank] !== MEMBER || this.#votes.has(rank)) return;
    this.#keep(vote);
    this.#voted += 1;
    this.#refuse();
  }

  ended(rank: Rank, end: RankEnd): void {
    const state = this.#states[rank];
    if (state === ENDED || state === FAILED) return;
    if (state === MEMBER && this.#votes.has(rank)) this.#voted -= 1;
    this.#set(rank, end.isFailure ? FAILED : ENDED);
    this.#joining.delete(rank);
    if (this.#group[rank] === 1) {
      const vote = this.#votes.get(rank);
      if (!this.#departed.has(rank) && (vote === undefined || !isStrict(vote.kind))) this.#missing += 1;
      this.#departed.set(rank, end);
    }
    this.#refuse();
  }

  /** It failed, and is started again. */
  returned(rank: Rank): void {
    this.#set(rank, JOINING);
  }

  /** The refusals since the last call. */
  refusals(): Refusal[] {
    return this.#refused.splice(0);
  }

  /** The decision, once, when no more votes are awaited; the next collective is open then. */
  decide(): Decision | undefined {
    const [members, , , joining] = this.#counts;
    // Where all others have ended, those that were started again go on alone.
    const isReady = members > 0 ? this.#voted === members : joining > 0 && this.#joining.size === joining;
    if (!isReady) return undefined;
    this.#decided += 1;
    const counted = this.#counted();
    const votes = members > 0 ? counted : [...this.#joining.values()];
    const first = votes[0] as Vote;
    const { kind } = first;
    const isMismatch = votes.some((vote) => vote.kind !== kind || vote.root !== first.root);
    const joined = !isMismatch && kind === 'shrink' ? [...this.#joining.keys()].sort((a, b) => a - b) : [];
    for (const rank of joined) this.#set(rank, MEMBER);
    const living = [...new Set([...this.#votes.keys(), ...joined])].filter((rank) => this.#states[rank] === MEMBER);
    const agreed: Agreed = {
      kind, isMismatch,
      flag: counted.every(({ flag }) => flag),
      ranks: rankRanges(living.sort((a, b) => a - b)),
      joined: rankRanges(joined),
      failed: rankRanges(this.#lost()),
      missing: [],
    };
    if (kind === 'shrink' && !isMismatch) this.#regroup(living);
    for (const rank of joined) this.#joining.delete(rank);
    this.#votes.clear();
    [this.#voted, this.#strict, this.#bytes] = [0, 0, 0];
    this.#missing = this.#departed.size;
    const result = isMismatch ? mismatch(votes) : this.#result(first, votes);
    return { code: '', reason: '', parts: [], pairs: [], ...result, sequence: this.#decided, agreed, root: first.root };
  }

  /** What strict votes brought is kept as long as it is not too much together; what others brought is not asked for. */
  #keep(vote: Vote): void {
    const { rank, kind, length } = vote;
    if (isStrict(kind)) {
      this.#strict += 1;
      this.#bytes += length;
    }
    const isTooMuch = this.#bytes > this.#limits.partsBytesMax;
    if (isTooMuch && this.#bytes - length <= this.#limits.partsBytesMax) {
      for (const [of, each] of this.#votes) this.#votes.set(of, withoutBytes(each));
    }
    this.#votes.set(rank, isTooMuch || !isStrict(kind) ? withoutBytes(vote) : withOwnBytes(vote));
  }

  /** The votes that count: a rank that ended after it called something strict does not hinder the others' `shrink`. */
  #counted(): Vote[] {
    const votes = [...this.#votes.values()].sort((a, b) => a.rank - b.rank);
    const isAlive = ({ rank }: Vote): boolean => this.#states[rank] === MEMBER;
    const areStrict = votes.some((vote) => isAlive(vote) && isStrict(vote.kind));
    return votes.filter((vote) => isAlive(vote) || isStrict(vote.kind) === areStrict);
  }

  #result({ kind, root }: Vote, votes: readonly Vote[]): Partial<Decision> {
    const bytes = votes.reduce((sum, { length }) => sum + length, 0);
    const { partsBytesMax } = this.#limits;
    if (bytes > partsBytesMax) {
      const text = `the ranks brought ${bytes} bytes together, at most ${partsBytesMax} are allowed`;
      return { code: 'STCI_CLIENT_LIMIT', reason: `${text}: send more by messages` };
    }
    const failing = hasValues(kind) ? votes.find(({ flag }) => !flag) : undefined;
    if (failing !== undefined) {
      const text = `the value of rank ${failing.rank} cannot be sent: it is too large, or of no form that can be`;
      return { code: 'STCI_CLIENT_LIMIT', reason: text };
    }
    if (kind === 'exchange') return this.#exchanged(votes);
    const ofRoot = kind === 'broadcast' || kind === 'allreduce';
    const brought = ofRoot ? votes.filter(({ rank }) => rank === root) : votes;
    if (ofRoot && brought.length === 0) {
      return { code: 'STCI_CLIENT_ARGUMENT', reason: `rank ${root} is not in the group` };
    }
    const parts = brought.map(({ rank, form, part }): Part => [rank, form, part]);
    return isStrict(kind) && kind !== 'barrier' ? { parts } : {};
  }

  #exchanged(votes: readonly Vote[]): Partial<Decision> {
    const pairs = new Map<string, Pair>();
    const owners = new Map<string, Rank>();
    for (const { rank, pairs: own } of votes) {
      for (const pair of own) {
        const [key] = pair;
        const other = owners.get(key) ?? rank;
        if (other !== rank) {
          return { code: 'STCI_CLIENT_DUPLICATE', reason: `key '${key}' was put by ranks ${other} and ${rank}` };
        }
        owners.set(key, rank);
        pairs.set(key, pair);
      }
    }
    const reason = this.#limits.refusesPairs(pairs);
    return reason === '' ? { pairs: [...pairs.values()] } : { code: 'STCI_CLIENT_LIMIT', reason };
  }

  /** Refuses what cannot succeed any more. */
  #refuse(): void {
    if (this.#strict === 0) return;
    // Some go on without a rank that had its say: the others are to follow them.
    const isMixed = this.#voted === this.#counts[MEMBER] && this.#departed.size > 0
      && this.#strict < this.#votes.size && this.#counted().some(({ kind }) => !isStrict(kind));
    if (this.#missing === 0 && !isMixed) return;
    const strict = [...this.#votes.values()].filter(({ kind }) => isStrict(kind));
    const had = new Set(strict.map(({ rank }) => rank));
    const missing = [...this.#departed].filter(([rank]) => this.#missing === 0 || !had.has(rank));
    for (const { rank } of strict) this.#votes.delete(rank);
    [this.#strict, this.#bytes, this.#missing] = [0, 0, this.#departed.size];
    const votes = strict.filter(({ rank }) => this.#states[rank] === MEMBER);
    this.#voted -= votes.length;
    if (votes.length === 0) return;
    missing.sort(([a], [b]) => a - b);
    const lost = missing.map(([rank, { reason, host }]): LostRanks => [rank, rank, reason, host]);
    this.#refusal ??= missing.some(([, end]) => end.isFailure) ? 'STCI_CLIENT_RANK_LOST' : 'STCI_CLIENT_RANK_ENDED';
    this.#refused.push({ code: this.#refusal, reason: missingText(lost), votes, agreed: this.#none(lost) });
  }

  #refuseJoining(vote: Vote): void {
    this.#refused.push({ ...NOT_YET, votes: [vote], agreed: this.#none([]) });
  }

  #none(missing: readonly LostRanks[]): Agreed {
    const failed = rankRanges(this.#lost());
    return { kind: 'barrier', flag: false, isMismatch: false, ranks: [], joined: [], failed, missing };
  }

  #regroup(ranks: readonly Rank[]): void {
    this.#group = new Uint8Array(this.#states.length);
    for (const rank of ranks) this.#group[rank] = 1;
    this.#departed.clear();
    this.#refusal = undefined;
    this.#missing = 0;
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

function withoutBytes(vote: Vote): Vote {
  return { ...vote, part: NO_BYTES, pairs: [] };
}

/** Not the whole message that it came in. */
function withOwnBytes(vote: Vote): Vote {
  const pairs = vote.pairs.map(([key, form, value]): Pair => [key, form, ownBytes(value)]);
  return { ...vote, part: ownBytes(vote.part), pairs };
}

function mismatch(votes: readonly Vote[]): Verdict {
  return { code: 'STCI_CLIENT_MISMATCH', reason: calledText(votes) };
}
