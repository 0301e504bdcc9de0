/**
 * What the controller does for the programs of one job that use the client library: tells their session agents which
 * ranks were lost or have ended, decides what ranks do together, and has the keys. It begins with the first program
 * that connects.
 */

import {
  COLLECTIVES, FORMS, MARKS_MAX, PROGRAM_KEYS_MAX, StciError, addressIndex, rankRanges, ranksInRanges, sessionAddress,
  type CollectiveKind, type Form, type HostIndex, type HostMap, type JobId, type LostRanks, type Rank, type RankRange,
  type RankReport,
} from '@stci/interface';
import { soonOnce } from '../event/soon-once.js';
import { needsOwner } from '../am/requests.js';
import { SUBTREE } from '../am/transport.js';
import { endText } from '../job/exit-rule.js';
import type { Ledger } from '../job/ledger.js';
import { ranksOf } from '../job/placement.js';
import { checkRanks } from '../job/rank-checks.js';
import { launchedSize } from '../job/spawn.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { JobAtController, JobHooks, JobOwner } from '../service/contracts.js';
import { Agreement, type Decision, type Pair } from './agreement.js';
import { collectiveLimits } from './program-limits.js';
import { WAITS_MAX, waitsText, type Waiting } from './program-waits.js';
import { pairBytes } from './program.js';

/** Kind of wait: of ranks that have voted, for the others. */
const WAIT = 'agreement';

/** How long the answers of agents are awaited, ms. */
const ANSWERS_MS = 1000;

/** Longest reason of a loss, in characters. */
const REASON_CHARS_MAX = 500;

export class JobPrograms implements JobHooks {
  readonly #node: AgentNode;
  readonly #job: JobId;
  readonly #ledger: Ledger;
  readonly #owner: JobOwner;
  /** Ranks of the job as it was launched: those that are spawned take no part. */
  readonly #size: number;
  readonly #agreement: Agreement;
  /** How many marks each rank has made. */
  readonly #marks = new Map<Rank, number>();
  /** Each by itself, in the order of their losses. */
  readonly #lost = new Map<Rank, LostRanks>();
  /** Ranks that have ended well. */
  readonly #ended: Rank[] = [];
  /** Of both, those that have not been told. */
  readonly #untold: { readonly lost: LostRanks[]; readonly ended: Rank[] } = { lost: [], ended: [] };
  /** Ranks that take part again, and as which attempt. */
  readonly #joined = new Map<Rank, number>();
  readonly #keys = new Map<string, Pair>();
  #keysBytes = 0;
  readonly #keysBytesMax: number;
  readonly #schedule: () => void;
  readonly #isPlacing: () => boolean;
  /** Hosts where programs take part. */
  readonly #open = new Set<HostIndex>();
  /** Of these, those that have not been told where the ranks are. */
  readonly #unanswered = new Set<HostIndex>();

  /** Of a ledger that stays the job's. */
  constructor(node: AgentNode, job: JobId, ledger: Ledger, owner: JobOwner, isPlacing: () => boolean) {
    this.#isPlacing = isPlacing;
    this.#node = node;
    this.#schedule = soonOnce(node.platform.clock, () => this.#tell());
    this.#job = job;
    this.#ledger = ledger;
    this.#owner = owner;
    const { partsBytesMax, keysBytesMax } = collectiveLimits(node.params);
    this.#keysBytesMax = keysBytesMax;
    this.#size = launchedSize(ledger.map, ledger.spawns);
    this.#agreement = new Agreement(this.#size, {
      partsBytesMax, refusesPairs: (pairs) => this.#refusesPairs(pairs),
    });
    for (let rank = 0; rank < this.#size; rank++) {
      const report = ledger.rankReport(rank);
      if (report !== undefined) this.#add(report);
      else if (ledger.attempt(rank) > 1) this.#addReturned(rank, 'it failed and was started again');
    }
    this.#takeUntold();
  }

  /** A program has connected to the session agent of this host, which is told of all losses from now on. */
  onOpen(host: HostIndex): void {
    this.#open.add(host);
    this.#unanswered.add(host);
    this.#answer();
  }

  onStarted(): void {
    this.#answer();
  }

  /** Nobody is told a place of a rank at which it will not be, or to which messages come before it. */
  #answer(): void {
    if (this.#unanswered.size === 0 || this.#isPlacing()) return;
    for (const host of this.#unanswered) this.#tellState(host);
    this.#unanswered.clear();
  }

  #tellState(host: HostIndex): void {
    const { hosts } = this.#ledger.map;
    const state: MessageBody<'program.state'> = {
      decided: this.#agreement.decided,
      lost: merged(this.#lost.values()),
      ended: rankRanges(this.#ended.slice().sort((a, b) => a - b)),
      places: hosts.map((place) => [place.host, place.name, rankRanges(this.#ranksOf(place))]),
      attempts: [...this.#joined],
      pairs: wirePairs(this.#keys.values()),
    };
    this.#owner.check(this.#node.messages.send(sessionAddress(host), 'program.state', state, this.#job));
  }

  /** Ascending. */
  #ranksOf(place: HostMap): Rank[] {
    return [...ranksOf(place)].filter((rank) => rank < this.#size).sort((a, b) => a - b);
  }

  /** Throws STCI_MESSAGE_INVALID for ranks of other hosts. */
  #check(host: HostIndex, ranks: readonly Rank[]): void {
    checkRanks(this.#ledger.placements, { size: this.#size }, host, ranks);
  }

  /** Throws STCI_MESSAGE_INVALID for ranks of other hosts, and votes on an agreement that is not open yet. */
  onVotes({ host, sequence, votes }: MessageBody<'program.votes'>): void {
    this.#check(host, votes.map(([rank]) => rank));
    for (const [rank, number, kind, flag, root, form, length, part, pairs] of votes) {
      const own = pairs.map(([key, of, value]): Pair => [key, FORMS[of] as Form, value]);
      const bytes = own.reduce((sum, pair) => sum + pairBytes(pair), part.length);
      this.#agreement.vote({
        rank, sequence, number, host, flag, root, length: Math.max(length, bytes), part,
        kind: COLLECTIVES[kind] as CollectiveKind, form: FORMS[form] as Form, pairs: own,
      });
    }
    this.#schedule();
  }

  /** Throws STCI_MESSAGE_INVALID for ranks of other hosts, and for more than their session agent may let through. */
  onMarked({ host, marks }: MessageBody<'program.marked'>): void {
    this.#check(host, marks.map(([rank]) => rank));
    for (const [rank, name, wallMs] of marks) {
      const count = (this.#marks.get(rank) ?? 0) + 1;
      // Each attempt has so many; the next one may have begun before its report is here.
      if (count > MARKS_MAX * (this.#ledger.attempt(rank) + 1)) {
        throw new StciError('STCI_MESSAGE_INVALID', `Expected at most ${MARKS_MAX} marks of rank ${rank}, got more`);
      }
      this.#marks.set(rank, count);
      this.#owner.emit({ type: 'mark', rank, host, name, wallMs });
    }
  }

  /** Calls `done` with what the programs wait for, in words; '' if none does. */
  askWaits(done: (text: string) => void): void {
    const answers: Waiting[] = [];
    const agents = [...this.#open].map((host) => [sessionAddress(host), this.#job] as const);
    this.#node.collects.ask('program.wait', agents, {
      withinMs: ANSWERS_MS, job: this.#job,
      onEach: ({ count, waits }, [agent]) => {
        const own = waits.filter(([rank]) => this.#isAt(rank, addressIndex(agent)));
        answers.push({ count, waits: own.slice(0, WAITS_MAX) });
      },
      onDone: () => done(waitsText(answers)),
    });
  }

  #isAt(rank: Rank, host: HostIndex): boolean {
    return rank < this.#size && this.#ledger.placements.host(rank) === host;
  }

  /** Its session agent answers no more; another that takes its place opens anew. */
  onHostLost(host: HostIndex): void {
    this.#open.delete(host);
    this.#unanswered.delete(host);
  }

  onEnded(report: RankReport): void {
    this.#answer();
    if (report.rank >= this.#size) return;
    this.#add(report);
    this.#schedule();
  }

  /** An attempt of a rank has ended, and another follows. */
  onRestarting(report: RankReport): void {
    this.#answer();
    if (report.rank >= this.#size) return;
    this.#addReturned(report.rank, reasonOf(report) ?? 'it is started again');
    this.#schedule();
  }

  #add(report: RankReport): void {
    const { rank, outcome } = report;
    const lost = outcome === 'ended' ? undefined : reasonOf(report);
    const reason = lost ?? (outcome === 'ended' ? 'it is ended' : 'it ended with status 0');
    this.#agreement.ended(rank, { isFailure: lost !== undefined, reason, host: this.#hostName(rank) });
    if (lost !== undefined) this.#addLost(rank, lost);
    else for (const ranks of [this.#ended, this.#untold.ended]) ranks.push(rank);
  }

  #addReturned(rank: Rank, reason: string): void {
    this.#agreement.ended(rank, { isFailure: true, reason, host: this.#hostName(rank) });
    this.#agreement.returned(rank);
    this.#addLost(rank, reason);
  }

  #addLost(rank: Rank, reason: string): void {
    const lost: LostRanks = [rank, rank, reason, this.#hostName(rank)];
    this.#lost.set(rank, lost);
    this.#untold.lost.push(lost);
  }

  #takeUntold(): [lost: LostRanks[], ended: RankRange[]] {
    const { lost, ended } = this.#untold;
    return [merged(lost.splice(0)), rankRanges(ended.splice(0).sort((a, b) => a - b))];
  }

  #hostName(rank: Rank): string {
    const { map, placements } = this.#ledger;
    return map.hosts[placements.host(rank)]?.name ?? '';
  }

  /** Losses and votes of one turn are told together: a host that is lost may have had thousands of ranks. */
  /** Losses first, so that whoever gets a decision knows them. */
  #tell(): void {
    const [lost, ended] = this.#takeUntold();
    const { messages } = this.#node;
    if (lost.length > 0) messages.sendList(SUBTREE, 'program.failed', lost, (part) => ({ lost: [...part] }), this.#job);
    if (ended.length > 0) {
      messages.sendList(SUBTREE, 'program.ended', ended, (part) => ({ ranks: [...part] }), this.#job);
    }
    this.#tellRefusals();
    const decision = this.#agreement.decide();
    if (this.#agreement.isAwaited) messages.waits.begin(WAIT, this.#job, 'all');
    else messages.waits.end(WAIT, this.#job);
    if (decision !== undefined) this.#tellDecision(decision);
  }

  #tellRefusals(): void {
    for (const { votes, code, reason, agreed } of this.#agreement.refusals()) {
      const { failed, missing } = agreed;
      for (const host of new Set(votes.map((vote) => vote.host))) {
        const own = votes.filter((vote) => vote.host === host);
        const calls = own.map(({ rank, number }) => [rank, number] as const);
        const refusal = { calls, code, reason, failed, missing };
        this.#owner.check(this.#node.messages.send(sessionAddress(host), 'program.refused', refusal, this.#job));
      }
    }
  }

  /**
   * What cannot be told fails for all: nobody waits for its parts, or goes on without them. Where that cannot be told
   * either, the job fails.
   */
  #tellDecision(decision: Decision): void {
    // Ranks that take part again are not lost.
    for (const rank of ranksInRanges(decision.agreed.joined)) this.#lost.delete(rank);
    const error = this.#sendDecision(decision);
    if (!needsOwner(error)) return;
    const reason = `what the ranks brought cannot be told: ${error.message}`;
    this.#owner.check(
      this.#sendDecision({ ...decision, code: 'STCI_CLIENT_LIMIT', reason, parts: [], pairs: [] }));
  }

  #sendDecision({ sequence, code, reason, agreed, parts, root, pairs }: Decision): StciError | undefined {
    const { joined, kind } = agreed;
    const { placements } = this.#ledger;
    const joins = ranksInRanges(joined).map((rank) => {
      this.#joined.set(rank, this.#ledger.attempt(rank));
      return [this.#ledger.attempt(rank), placements.host(rank), this.#hostName(rank)] as const;
    });
    const { flag, isMismatch, ranks, failed } = agreed;
    const told: MessageBody<'program.agreed'> = {
      sequence, kind: COLLECTIVES.indexOf(kind), flag, isMismatch, ranks, joined, failed, joins, code, reason,
      parts: parts.map(([rank, form, bytes]) => [rank, FORMS.indexOf(form), bytes] as const), partsTo: undefined,
      partsAt: undefined, pairs: wirePairs(pairs),
    };
    const { messages } = this.#node;
    // Why a reduction failed concerns all.
    const isForRoot = code === '' && (kind === 'gather' || (kind === 'reduce' && flag));
    const partsAt = placements.host(root);
    const error = isForRoot
      ? messages.send(sessionAddress(partsAt), 'program.agreed', { ...told, partsTo: root }, this.#job) : undefined;
    if (needsOwner(error)) return error;
    const unsent =
      messages.sendSubtree('program.agreed', isForRoot ? { ...told, parts: [], partsAt } : told, this.#job);
    if (unsent === undefined) for (const pair of pairs) this.#setPair(pair);
    return unsent;
  }

  #setPair(pair: Pair): void {
    this.#keysBytes += pairBytes(pair) - pairBytes(this.#keys.get(pair[0]));
    this.#keys.set(pair[0], pair);
  }

  #refusesPairs(pairs: ReadonlyMap<string, Pair>): string {
    let [count, bytes] = [this.#keys.size, this.#keysBytes];
    for (const [key, pair] of pairs) {
      if (!this.#keys.has(key)) count += 1;
      bytes += pairBytes(pair) - pairBytes(this.#keys.get(key));
    }
    if (count > PROGRAM_KEYS_MAX) return `the job has ${count} keys, at most ${PROGRAM_KEYS_MAX} are allowed`;
    if (bytes <= this.#keysBytesMax) return '';
    return `the job's keys count for ${bytes} bytes, at most ${this.#keysBytesMax} are allowed`;
  }
}

/** Those of ranks that follow each other, and were lost alike, as one. */
function merged(lost: Iterable<LostRanks>): LostRanks[] {
  const ranges: LostRanks[] = [];
  for (const each of lost) {
    const [first, last, reason, host] = each;
    const before = ranges.at(-1);
    const isNext = before?.[1] === first - 1 && before[2] === reason && before[3] === host;
    if (isNext) ranges[ranges.length - 1] = [before[0], last, reason, host];
    else ranges.push(each);
  }
  return ranges;
}

function wirePairs(pairs: Iterable<Pair>): (readonly [string, number, Uint8Array])[] {
  return [...pairs].map(([key, form, value]) => [key, FORMS.indexOf(form), value]);
}

/** Why the rank is lost; undefined if it ended well. */
function reasonOf(report: RankReport): string | undefined {
  if (report.outcome === 'exited' && report.end?.status === 0) return undefined;
  return endText(report).slice(0, REASON_CHARS_MAX);
}

/**
 * Throws STCI_MESSAGE_INVALID for a job without the client library: its session agents would not understand what they
 * are told from then on.
 */
export function openPrograms({ node, job, params, ledger, front, isPlacing }: JobAtController): JobPrograms {
  if (params.bool('client.enable')) return new JobPrograms(node, job, ledger, front, isPlacing);
  throw new StciError('STCI_MESSAGE_INVALID', 'Expected no program of a job that runs without the client library');
}
