/**
 * What the controller does for the programs of one job that use the client library: tells their session agents which
 * ranks were lost, and decides their agreements. It begins with the first program that connects.
 */

import {
  AGREEMENT_KINDS, MARKS_MAX, StciError, isInRanges, rankRanges, ranksInRanges, sessionAddress, type AgreementKind,
  type HostIndex, type JobEvent, type JobId, type LostRanks, type Params, type Rank, type RankRange, type RankReport,
} from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import { Agreement } from '../job/agreement.js';
import { endText } from '../job/exit-rule.js';
import type { Ledger } from '../job/ledger.js';
import type { AgentNode } from './node.js';
import { checkRanks } from './rank-checks.js';

/** Kind of wait: of ranks that have voted, for the others. */
const WAIT = 'agreement';

/** Longest reason of a loss, in characters. */
const REASON_CHARS_MAX = 500;

export class JobPrograms {
  readonly #node: AgentNode;
  readonly #job: JobId;
  readonly #ledger: Ledger;
  readonly #emit: (event: JobEvent) => void;
  readonly #agreement: Agreement;
  /** How many marks each rank has made. */
  readonly #marks = new Map<Rank, number>();
  #lost: LostRanks[] = [];
  /** How many of `#lost` have been told. */
  #told = 0;
  #isScheduled = false;

  /** Of a ledger that stays the job's. */
  constructor(node: AgentNode, job: JobId, ledger: Ledger, emit: (event: JobEvent) => void) {
    this.#node = node;
    this.#job = job;
    this.#ledger = ledger;
    this.#emit = emit;
    this.#agreement = new Agreement(ledger.map.size);
    for (let rank = 0; rank < ledger.map.size; rank++) {
      const report = ledger.rankReport(rank);
      if (report !== undefined) this.#add(report);
      else if (ledger.attempt(rank) > 1) this.#addReturned(rank, 'it failed and was started again');
    }
    this.#told = this.#lost.length;
  }

  /** A program has connected to the session agent of this host, which is told of all losses from now on. */
  onOpen(host: HostIndex): void {
    const state = { decided: this.#agreement.decided, lost: this.#lost };
    this.#node.messages.send(sessionAddress(host), 'program.state', state, this.#job);
  }

  /** Throws STCI_MESSAGE_INVALID for ranks of other hosts, and votes on an agreement that is not open yet. */
  onVotes({ host, sequence, votes }: MessageBody<'program.votes'>): void {
    const { placements, map } = this.#ledger;
    checkRanks(placements, map, host, votes.map(([rank]) => rank));
    for (const [rank, kind, flag] of votes) {
      this.#agreement.vote({ rank, sequence, kind: AGREEMENT_KINDS[kind] as AgreementKind, flag });
    }
    this.#schedule();
  }

  /** Throws STCI_MESSAGE_INVALID for ranks of other hosts, and for more than their session agent may let through. */
  onMarked({ host, marks }: MessageBody<'program.marked'>): void {
    checkRanks(this.#ledger.placements, this.#ledger.map, host, marks.map(([rank]) => rank));
    for (const [rank, name, wallMs] of marks) {
      const count = (this.#marks.get(rank) ?? 0) + 1;
      // Each attempt has so many; the next one may have begun before its report is here.
      if (count > MARKS_MAX * (this.#ledger.attempt(rank) + 1)) {
        throw new StciError('STCI_MESSAGE_INVALID', `Expected at most ${MARKS_MAX} marks of rank ${rank}, got more`);
      }
      this.#marks.set(rank, count);
      this.#emit({ type: 'mark', rank, host, name, wallMs });
    }
  }

  onEnded(report: RankReport): void {
    this.#add(report);
    this.#schedule();
  }

  /** An attempt of a rank has ended, and another follows. */
  onRestarting(report: RankReport): void {
    this.#addReturned(report.rank, reasonOf(report) ?? 'it is started again');
    this.#schedule();
  }

  #add(report: RankReport): void {
    const { rank, outcome } = report;
    const reason = outcome === 'ended' ? undefined : reasonOf(report);
    this.#agreement.ended(rank, reason !== undefined);
    if (reason !== undefined) this.#addLost(rank, reason);
  }

  #addReturned(rank: Rank, reason: string): void {
    this.#agreement.ended(rank, true);
    this.#agreement.returned(rank);
    this.#addLost(rank, reason);
  }

  #addLost(rank: Rank, reason: string): void {
    const before = this.#lost.at(-1);
    const isNext = this.#lost.length > this.#told && before?.[1] === rank - 1 && before[2] === reason;
    if (isNext) this.#lost[this.#lost.length - 1] = [before[0], rank, reason];
    else this.#lost.push([rank, rank, reason]);
  }

  /** Losses and votes of one turn are told together: a host that is lost may have had thousands of ranks. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#node.platform.clock.soon(() => {
      this.#isScheduled = false;
      this.#tell();
    });
  }

  /** Losses first, so that whoever gets a decision knows them. */
  #tell(): void {
    const lost = this.#lost.slice(this.#told);
    this.#told = this.#lost.length;
    const { messages } = this.#node;
    if (lost.length > 0) messages.sendSubtree('program.failed', { lost }, this.#job);
    const decision = this.#agreement.decide();
    if (this.#agreement.isAwaited) messages.waits.begin(WAIT, this.#job, 'all');
    else messages.waits.end(WAIT, this.#job);
    if (decision === undefined) return;
    this.#forget(decision.joined);
    const attempts = ranksInRanges(decision.joined).map((rank) => this.#ledger.attempt(rank));
    messages.sendSubtree('program.agreed', { ...decision, attempts }, this.#job);
  }

  /** Ranks that take part again are not lost. */
  #forget(joined: readonly RankRange[]): void {
    if (joined.length === 0) return;
    this.#lost = this.#lost.flatMap(([first, last, reason]): LostRanks[] => {
      const left = ranksInRanges([[first, last]]).filter((rank) => !isInRanges(joined, rank));
      return rankRanges(left).map(([from, to]) => [from, to, reason]);
    });
    this.#told = this.#lost.length;
  }
}

/** Why the rank is lost; undefined if it ended well. */
function reasonOf(report: RankReport): string | undefined {
  if (report.outcome === 'exited' && report.end?.status === 0) return undefined;
  return (report.error?.message ?? endText(report)).slice(0, REASON_CHARS_MAX);
}

/**
 * Throws STCI_MESSAGE_INVALID for a job without the client library: its session agents would not understand what they
 * are told from then on.
 */
export function openPrograms(params: Params, ...of: ConstructorParameters<typeof JobPrograms>): JobPrograms {
  if (params.bool('client.enable')) return new JobPrograms(...of);
  throw new StciError('STCI_MESSAGE_INVALID', 'Expected no program of a job that runs without the client library');
}
