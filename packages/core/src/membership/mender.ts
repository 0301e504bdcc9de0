/**
 * Mender: decides how the boot tree is mended when agents are lost, and who starts agents besides those with which it
 * began (host-starts.ts). Pure: reports, answers and the time go in, actions and the next due time come out. It writes
 * what it decides into the membership table.
 *
 * A host whose link is lost may live, and so may those below it. The nearest connected agent above it in the planned
 * tree is asked to reach it, then those farther up. If it does not answer soon, cannot be reached, or its process has
 * ended, the hosts below it are orphaned and reached in the same way. A host that nobody reached within the lease is
 * given up. One that answers "busy" lives: its parent is being mended, and may let it go, or it has not noticed the
 * loss yet. It gets more time, and is asked again. An orphan whose parent may live is not given up before its parent.
 *
 * At most one attempt for a host is awaited at any time, and the time between two grows.
 */

import type { Evidence, HostIndex, StciError } from '@stci/interface';
import { HostStarts, type StartAction } from './host-starts.js';
import type { Case, LossReport, Member, MemberChange, ParentHost } from './member.js';
import { MendCases, type Attempt } from './mend-cases.js';
import { MendTimes } from './mend-times.js';
import type { MembershipTable } from './table.js';

export type { LossEvidence, LossReport } from './member.js';

/** What the arbiter says of a host that it gives up. */
export interface Declared {
  readonly error: StciError;
  readonly notice: Evidence;
}

export type AdoptionAnswer =
  | { readonly result: 'adopted' | 'dead' | 'unreachable' }
  /** It has a link to this parent, which is not the one that tried. */
  | { readonly result: 'busy'; readonly parent: ParentHost };

export type MendAction =
  /** The agent of `by` is to reach `host`; `subtree`: hosts at and below it. It may take so long. */
  | (Attempt & { readonly type: 'attempt'; readonly id: number; readonly waitMs: number })
  /** `by` linked to it, by an attempt that may be an earlier one, and takes `subtree` to be below it since. */
  | (Omit<Attempt, 'incarnation'> & { readonly type: 'adopted' })
  /** `isNew`: it was linked now, and not found linked. */
  | { readonly type: 'mended'; readonly host: HostIndex; readonly by: ParentHost; readonly isNew: boolean }
  /** Its link is the one that it had. */
  | { readonly type: 'kept'; readonly host: HostIndex }
  /** `was`: its row before. `cause`: the host whose loss cut it off; its own index if its own link was lost. */
  | {
      readonly type: 'lost';
      readonly host: HostIndex;
      readonly was: Member;
      readonly cause: HostIndex;
      /** Of its link, since it was linked last. */
      readonly report: LossReport | undefined;
      readonly declared: Declared | undefined;
    }
  | StartAction;

export interface MenderInit {
  readonly table: MembershipTable;
  readonly leaseMs: number;
  /** Each step of a start takes so long at most, as a rule. */
  readonly handshakeMs: number;
}

export class Mender {
  readonly #table: MembershipTable;
  readonly #times: MendTimes;
  /** Agents end from below: only the controller is sure to be there still. */
  #isFinal = false;
  readonly #cases: MendCases;
  readonly #starts: HostStarts;
  #nowMs = 0;
  #actions: MendAction[] = [];

  constructor({ table, leaseMs, handshakeMs }: MenderInit) {
    this.#table = table;
    this.#times = new MendTimes(leaseMs);
    this.#cases = new MendCases(table);
    this.#starts = new HostStarts(table, handshakeMs);
  }

  /** When `tick` is to be called next; undefined: only after another input. */
  get dueMs(): number | undefined {
    const [casesMs = Infinity, startsMs = Infinity] = [this.#cases.dueMs, this.#starts.dueMs];
    const dueMs = Math.min(casesMs, startsMs);
    return dueMs === Infinity ? undefined : dueMs;
  }

  /** The next incarnation of a host that takes no part is wanted; `tick` begins. */
  start(host: HostIndex, nowMs: number): void {
    if (!this.#isFinal) this.#starts.ask(host, nowMs);
  }

  /** The agent of a host that was being started runs. */
  up(host: HostIndex, change: MemberChange, nowMs: number): MendAction[] {
    return this.#run(nowMs, () => void this.#table.apply(host, 'up', change));
  }

  /** An input to the starts of agents. */
  onStarts(input: (starts: HostStarts) => StartAction[], nowMs: number): MendAction[] {
    return this.#run(nowMs, () => void this.#actions.push(...input(this.#starts)));
  }

  /** Only from the agent that has the link; reports of former parents and of former incarnations change nothing. */
  lost(report: LossReport, nowMs: number): MendAction[] {
    const { reporter, host, incarnation, evidence, text, news } = report;
    return this.#run(nowMs, () => {
      const { state, parent, incarnation: current } = this.#table.get(host);
      if (parent !== reporter || incarnation !== current) return;
      if (state !== 'up' && state !== 'orphaned' && state !== 'suspect') return;
      if (state !== 'suspect') this.#table.apply(host, 'suspect', { evidence: text });
      if (state === 'up') this.#open(host, host, text);
      const found = this.#cases.get(host);
      if (found === undefined) return;
      found.evidence = text;
      if (news !== undefined) found.report = report;
      found.lostBy = [reporter];
      if (evidence === 'silent') this.#onSilent(found);
      if (evidence === 'exited') this.#giveUp(found, 'fail', text);
    });
  }

  /** A detector found the agent dead: it is given up at once, whether it lives or not. */
  declare(host: HostIndex, incarnation: number, declared: Declared, nowMs: number): MendAction[] {
    return this.#run(nowMs, () => {
      const { state, incarnation: current } = this.#table.get(host);
      if (incarnation !== current || (state !== 'up' && state !== 'suspect' && state !== 'orphaned')) return;
      const evidence = declared.error.message;
      const report = this.#cases.get(host)?.report;
      if (state !== 'suspect') this.#table.apply(host, 'suspect', { evidence });
      this.#open(host, host, evidence);
      this.#giveUp({ ...this.#cases.get(host) as Case, report }, 'fence', evidence, declared);
    });
  }

  /** Answers may come late, not in order, or never. `from`: only the agent that was asked may answer. */
  answered(id: number, answer: AdoptionAnswer, nowMs: number, from = this.#cases.attempt(id)?.by): MendAction[] {
    return this.#run(nowMs, () => {
      const attempt = this.#cases.attempt(id);
      if (attempt === undefined || attempt.by !== from) return;
      this.#cases.removeAttempt(id, attempt);
      const { host, by, incarnation, subtree } = attempt;
      if (answer.result === 'adopted') this.#actions.push({ type: 'adopted', by, host, subtree });
      const found = this.#cases.get(host);
      if (this.#isGivenUp(attempt)) {
        if (answer.result === 'adopted') this.#actions.push({ type: 'expel', by, host });
      } else if (found !== undefined && this.#table.get(host).incarnation === incarnation) {
        const awaited = found.pending === id;
        const deadText = found.lostBy === undefined ? 'its agent has ended' : found.evidence;
        if (awaited) this.#cases.settle(found);
        if (answer.result === 'adopted') this.#link(host, by, true);
        else if (answer.result === 'dead') this.#giveUp(found, 'fail', deadText);
        else if (answer.result === 'busy') this.#onBusy(found, answer.parent);
        else if (awaited) this.#onUnreachable(found);
      }
    });
  }

  /** A parent that starts the next incarnation ends the former one by itself, and is not to end the next. */
  #isGivenUp({ by, host, incarnation }: Attempt): boolean {
    const { incarnation: current, parent } = this.#table.get(host);
    return incarnation === current ? this.#table.isGone(host) : parent !== by;
  }

  /** The session ends. */
  finish(): void {
    this.#isFinal = true;
    this.#starts.close();
  }

  tick(nowMs: number): MendAction[] {
    return this.#run(nowMs, () => undefined);
  }

  /** Handles an input, then what is due, and what comes of both. */
  #run(nowMs: number, handle: () => void): MendAction[] {
    this.#nowMs = nowMs;
    handle();
    for (let ready = this.#cases.takeReady(nowMs); ready.length > 0; ready = this.#cases.takeReady(nowMs)) {
      // What became of one before may have closed it.
      for (const found of ready) if (this.#cases.get(found.host) === found) this.#advance(found);
    }
    const actions = [...this.#actions, ...this.#starts.advance(nowMs)];
    this.#actions = [];
    return actions;
  }

  /** `above`: the case of its parent. */
  #open(host: HostIndex, cause: HostIndex, evidence: string, above?: Case): void {
    const isBelowSilent = above?.silence !== undefined;
    const leastMs = this.#nowMs + this.#times.belowSilentMs;
    this.#cases.open({
      host, cause, evidence, sinceMs: this.#nowMs,
      deadlineMs: isBelowSilent ? Math.max(above.deadlineMs, leastMs) : this.#nowMs + this.#times.caseMs,
      silence: isBelowSilent ? 'above' : undefined,
    });
  }

  #onSilent(found: Case): void {
    found.silence = 'own';
    found.deadlineMs = this.#nowMs + this.#times.silentMs;
  }

  #advance(found: Case): void {
    if (found.pending !== undefined && !this.#isTrying(found.pending)) {
      found.pending = undefined; // The agent that tries is lost itself; its answer may still come.
      this.#cases.setDue(found, this.#nowMs);
      found.deadlineMs = Math.max(found.deadlineMs, this.#nowMs + this.#times.silentMs);
    }
    if (found.pending === undefined && this.#isStillLinked(found)) return this.#keepLink(found);
    if (this.#nowMs < found.dueMs) return;
    if (found.pending === undefined) {
      const isOver = this.#nowMs >= found.deadlineMs && !this.#waitsForParent(found);
      if (isOver) this.#giveUp(found, 'fence', found.evidence);
      else this.#attempt(found);
    } else if (this.#nowMs >= found.pendingUntilMs) {
      this.#cases.settle(found);
      this.#onUnanswered(found);
    } else {
      this.#cases.setDue(found, found.pendingUntilMs);
      this.#spread(found.host, found.cause, found);
    }
  }

  /** After a silence of the whole lease, the nearest and the controller try once each. */
  #candidates({ host, silence }: Case): ParentHost[] {
    const above = this.#isFinal ? [undefined] : this.#table.connectedAncestors(host);
    return silence === undefined ? above : [...above.slice(0, -1).slice(0, 1), undefined];
  }

  #isTrying(id: number): boolean {
    const attempt = this.#cases.attempt(id);
    return attempt !== undefined && (attempt.by === undefined || this.#table.isConnected(attempt.by));
  }

  #attempt(found: Case): void {
    const { host } = found;
    const { incarnation } = this.#table.get(host);
    const above = this.#candidates(found);
    const by = above[found.unreached % above.length];
    const subtree = this.#table.hostsBelow(host);
    const id = this.#cases.addAttempt({ by, host, incarnation, subtree });
    found.attempts += 1;
    found.pending = id;
    const answerMs = this.#times.answerMs(found.silence, above.length);
    found.pendingUntilMs = this.#nowMs + answerMs;
    const spreadMs = this.#times.spreadMs(found.lostBy !== undefined);
    this.#cases.setDue(found, Math.min(found.pendingUntilMs, this.#nowMs + spreadMs));
    const waitMs = this.#times.reachMs(answerMs);
    this.#actions.push({ type: 'attempt', id, by, host, incarnation, subtree, waitMs });
  }

  /** The hosts below `host` have lost their parent, or may have. `above`: its case. */
  #spread(host: HostIndex, cause: HostIndex, above?: Case): void {
    for (const child of this.#table.children(host)) {
      const was = this.#table.get(child);
      const evidence = 'the agent above it is lost';
      if (was.state === 'up') {
        this.#table.apply(child, 'orphan', { evidence });
        this.#open(child, cause, evidence, above);
      } else if (was.state === 'starting') {
        // Only its starter has a way to it, and it ends without a link.
        this.#table.apply(child, 'fail', { evidence });
        this.#actions.push({ type: 'lost', host: child, was, cause, report: undefined, declared: undefined });
        this.#spread(child, cause, above);
      }
    }
  }

  /** It lives. It waits with its parent if that is being mended itself; or it has not noticed yet that it lost it. */
  #onBusy(found: Case, parent: ParentHost): void {
    const { host, lostBy, isCut } = found;
    const isPlaced = this.#table.get(host).parent === parent;
    const isSame = isCut ? isPlaced : lostBy !== undefined && lostBy[0] === parent;
    // Its parent is cut off, and lets it go after a while: it is asked again until that parent is linked, or given up.
    const isWaiting = isPlaced && parent !== undefined && !this.#table.isConnected(parent);
    if (!isSame && !isWaiting && this.#table.ancestors(host).includes(parent)) return this.#link(host, parent, false);
    this.#extend(found);
  }

  /** The agent that tried does not answer, which says nothing about the host; one that was silent gets no more time. */
  #onUnanswered(found: Case): void {
    if (found.silence === 'own') return this.#onUnreachable(found);
    found.unreached += 1;
    this.#extend(found);
  }

  #extend(found: Case): void {
    found.silence = undefined;
    found.deadlineMs = Math.min(this.#nowMs + this.#times.caseMs, found.sinceMs + this.#times.allMs);
    this.#retryLater(found);
  }

  #onUnreachable(found: Case): void {
    found.unreached += 1;
    if (this.#isStillLinked(found)) return this.#keepLink(found);
    this.#spread(found.host, found.cause, found);
    const isTried = found.silence !== undefined && found.unreached >= this.#candidates(found).length;
    if (isTried) found.deadlineMs = this.#nowMs; // Its parent may still live, and be waited for.
    if (isTried && found.silence === 'own') this.#giveUp(found, 'fence', found.evidence);
    else if (found.silence !== undefined && !isTried) this.#attempt(found);
    else this.#retryLater(found);
  }

  #retryLater(found: Case): void {
    const delayMs = this.#times.retryMs(found.attempts);
    const untilMs = this.#waitsForParent(found) ? Infinity : Math.max(this.#nowMs, found.deadlineMs);
    this.#cases.setDue(found, Math.min(this.#nowMs + delayMs, untilMs));
  }

  /** Nobody reported the loss of its link, and its parent is connected again. */
  #isStillLinked({ host, lostBy, isCut }: Case): boolean {
    const { parent } = this.#table.get(host);
    return !isCut && lostBy === undefined && (parent === undefined || this.#table.isConnected(parent));
  }

  /** As far as is known it is linked to a parent that may live: what becomes of that parent decides. */
  #waitsForParent({ host, lostBy, isCut }: Case): boolean {
    const { parent } = this.#table.get(host);
    return !isCut && lostBy === undefined && parent !== undefined && !this.#table.isGone(parent);
  }

  #keepLink({ host }: Case): void {
    this.#table.apply(host, 'link');
    this.#actions.push({ type: 'kept', host });
  }

  #link(host: HostIndex, by: ParentHost, isNew: boolean): void {
    this.#table.apply(host, 'link', { parent: by });
    // Below an agent that is cut off, it is mended with that agent.
    if (this.#table.isConnected(host)) this.#actions.push({ type: 'mended', host, by, isNew });
  }

  #giveUp(found: Case, event: 'fail' | 'fence', evidence: string, declared?: Declared): void {
    const { host, cause, report } = found;
    const was = this.#table.get(host);
    if (was.isDraining) this.#table.apply(host, 'leave', { evidence: 'it was removed' });
    else this.#table.apply(host, event, { evidence });
    this.#actions.push({ type: 'lost', host, was, cause, report, declared });
    this.#spread(host, cause, found);
    for (const child of this.#table.children(host)) {
      const below = this.#cases.get(child);
      if (below === undefined) continue;
      below.isCut = true;
      this.#cases.setDue(below, Math.min(below.dueMs, Math.max(this.#nowMs, below.deadlineMs)));
    }
    // Nothing more is taken from it.
    this.#cases.removeAttemptsBy(host);
  }
}
