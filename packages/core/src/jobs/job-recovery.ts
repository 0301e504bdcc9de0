/**
 * Recovery of one job, at the controller: asks the error manager about each failure and carries out what it decides.
 * Ranks of a lost agent that are started again are no failure of the job yet: they are if that is given up.
 */

import {
  StciError, type Action, type ErrorManager, type Failure, type HostIndex,
  type JobContext, type JobId, type Params, type Rank, type RankReport, type RestartAction,
} from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { foldRanks } from '../iof/fold.js';
import { failureOf, type HostFailure } from '../job/exit-rule.js';
import type { Ledger, RankEnd } from '../job/ledger.js';
import { localSize } from '../job/placement.js';
import type { SessionFailure } from '../messages/failure-shapes.js';
import type { Launch } from '../messages/messages.js';
import type { JobFront } from './job-front.js';
import type { JobHosts } from './job-hosts.js';
import type { JobSession } from './job-session.js';
import { RankRelocation } from './rank-relocation.js';

/** Hosts on which a rank is to start before it counts as lost with them. */
const PLACES_MAX = 4;
/** Longest time from the end of an agent to that of its tools. */
const GUARDIAN_MS = 500;

export interface JobRecoveryInit {
  readonly errorManager: ErrorManager;
  readonly session: JobSession;
  /** Of the job. */
  readonly holds: Scope;
  readonly job: JobId;
  /** Between SIGTERM and SIGKILL of a tool. */
  readonly graceMs: number;
  /** Of the job. */
  readonly params: Params;
  ledger(): Ledger;
  phase(): JobContext['phase'] | 'over';
  /** Whether a service, such as that of the client library, knows where its ranks are. */
  hasServices(): boolean;
  /** The launch of all hosts, with the ranks as they are placed now. */
  launchNow(): Launch;
  /** A session agent was started there by the launch of the whole job. */
  hasFirstAgent(host: HostIndex): boolean;
  readonly hosts: JobHosts;
  readonly front: Pick<JobFront, 'emit' | 'check' | 'onHostLost' | 'onHostJoined'>;
  /** Told to the job's follower already. */
  onRestarting(report: RankReport): void;
  onHostLost(host: HostIndex): void;
  /** Ranks wait for slots that other jobs have. */
  onAwaitingSlots(): void;
  /** All ranks have slots, or are given up. */
  onPlaced(): void;
  onExited(host: HostIndex, end: RankEnd): void;
  /** Tells the outcome of a rank, which the ledger has. */
  exited(rank: Rank): void;
  record(found: Failure): void;
  endJob(reason: string): void;
  checkOver(): void;
}

/** An attempt that has ended; `moves`: the next one is not its session agent's to start. */
export type RestartingEnd = RankEnd & { readonly afterMs: number; readonly moves?: boolean };

export class JobRecovery {
  readonly #init: JobRecoveryInit;
  #relocation: RankRelocation | undefined;
  /** On how many hosts ranks were to start that lost the first before. */
  readonly #places = new Map<Rank, number>();
  /** Ranks were told to wait for slots, and not all of them have some. */
  #awaitsSlots = false;

  constructor(init: JobRecoveryInit) {
    this.#init = init;
  }

  /** Reaction to a failure that the ledger has. `attempt`: starts so far of what failed. */
  apply(found: Failure, attempt = found.rank === undefined ? 0 : this.#init.ledger().attempt(found.rank)): void {
    const actions = this.#decide(found, attempt);
    // A tool is started again by its session agent, or not at all.
    const ends = actions.some(({ type }) => type === 'end-job' || (type === 'restart' && found.rank !== undefined));
    this.#tell(found, ends ? 'the job is ended' : 'the job goes on');
    if (ends) this.#init.endJob(found.error.message);
  }

  /**
   * A host, or the job's session agent there, is lost: `agent`, as its root agent says. Returns the failure of the
   * ranks that are not started again.
   */
  lose(loss: HostFailure, agent?: SessionFailure): Failure | undefined {
    const { session, hosts, front, exited, onHostLost } = this.#init;
    const ledger = this.#init.ledger();
    const { host, kind } = loss;
    if (host >= ledger.spec.hosts.length) return undefined;
    const afterLoss = agent?.isReplaced === true ? 'its root agent starts another' : undefined;
    if (agent?.launch === 0) { // It waited for ranks: none is lost with it.
      hosts.countLoss(host);
      this.#tell(this.#recorded(loss, []), afterLoss ?? 'another is started with its ranks');
    }
    if (hosts.isLost(host) || (agent?.launch ?? Infinity) < this.#launchOf(host)) return undefined;
    const isOthers = session.stays && localSize(ledger.map.hosts[host]!) === 0;
    hosts.onLost(host);
    onHostLost(host);
    if (isOthers) return undefined;
    if (kind === 'session-lost') hosts.countLoss(host);
    const ranks = this.#ranksAt(host);
    const found = this.#recorded(loss, ranks);
    if (afterLoss !== undefined) this.#tell(found, afterLoss);
    const isRestarted = this.#restart(found);
    const isMoved = !isRestarted && this.#startElsewhere(found);
    front.onHostLost(host, isMoved ? ranks : []);
    if (isRestarted || isMoved || (ranks.length === 0 && ledger.openRanks(host).length > 0)) return undefined;
    const isNew = ledger.agentLost(found, ranks);
    for (const rank of ranks) exited(rank);
    return isNew ? found : undefined;
  }

  /** The loss that has just been counted, with its id. */
  #recorded(loss: HostFailure, ranks: readonly Rank[]): HostFailure {
    const { session, job, hosts } = this.#init;
    const failure = session.failures.onRanksLost(job, loss, ranks, hosts.losses(loss.host));
    return { ...loss, error: { ...loss.error, failure } };
  }

  /** Ranks of the host that have no outcome, but those that wait to be started elsewhere. */
  #ranksAt(host: HostIndex): readonly Rank[] {
    return this.#init.ledger().openRanks(host).filter((rank) => this.#relocation?.isWaiting(rank) !== true);
  }

  /** Whether the ranks of a lost agent are started again. */
  #restart(found: Failure): boolean {
    const ledger = this.#init.ledger();
    const ranks = this.#ranksAt(found.host as HostIndex);
    if (this.#init.phase() === 'ending' || ranks.length === 0) return false;
    const action = this.#decide(found, Math.max(...ranks.map((rank) => ledger.attempt(rank))))
      .find((each): each is RestartAction => each.type === 'restart');
    if (action === undefined) return false;
    this.#tell(found, 'its ranks are started again');
    this.#startAgain(ranks, found, action.afterMs);
    return true;
  }

  /**
   * Whether the ranks of a lost host are started on others, whatever the error manager would do about their loss: none
   * of them is known to have run, no rank has been told where others are, and there is room for all. The job is still
   * being launched.
   */
  #startElsewhere(found: Failure): boolean {
    const ledger = this.#init.ledger();
    const ranks = this.#ranksAt(found.host as HostIndex);
    const isUnstarted = (rank: Rank): boolean =>
      !ledger.isRunning(rank) && ledger.attempt(rank) === 1 && (this.#places.get(rank) ?? 1) < PLACES_MAX;
    if (found.kind !== 'agent-lost' || this.#init.phase() !== 'launching' || !ranks.every(isUnstarted)) return false;
    if (this.#init.params.int('errmgr.elsewhere') === 0 || this.#init.hasServices()) return false;
    if (ranks.length === 0 || !this.#relocationOf(ledger).hasRoom(ranks)) return false;
    for (const rank of ranks) this.#places.set(rank, 1 + (this.#places.get(rank) ?? 1));
    this.#tell(found, 'its ranks had not started: they are started on other hosts');
    const what = `its ranks had not started, and are started on other hosts: ${foldRanks(ranks)}`;
    this.#init.front.emit({ type: 'warning', text: `${found.error.message}; ${what}` });
    this.#relocationOf(ledger).add(ranks, found, this.#endMs(found));
    return true;
  }

  /** Those have neither run nor an outcome yet. */
  get isPlacing(): boolean {
    const ledger = this.#init.ledger();
    return [...this.#places.keys()].some((rank) =>
      ledger.attempt(rank) === 1 && !ledger.isRunning(rank) && ledger.rankReport(rank) === undefined);
  }

  #startAgain(ranks: readonly Rank[], found: Failure, leastMs: number): void {
    const afterMs = Math.max(leastMs, this.#endMs(found));
    for (const rank of ranks) {
      this.#again({ rank, pid: 0, outcome: 'lost', error: found.error, leftovers: 0 }, afterMs);
    }
    this.#relocationOf(this.#init.ledger()).add(ranks, found, afterMs);
  }

  #relocationOf(ledger: Ledger): RankRelocation {
    return (this.#relocation ??= this.#makeRelocation(ledger));
  }

  /**
   * Ranks that their session agent starts again, or lets go. Throws STCI_MESSAGE_INVALID where the error manager would
   * not have it so: each start costs an entry of the ledger, and events.
   */
  onRestarting(host: HostIndex, ends: readonly RestartingEnd[]): void {
    // Each after the one before is counted: a message may name a rank twice.
    for (const { afterMs, moves = false, ...end } of ends) {
      const { rank } = end;
      const attempt = this.#init.ledger().attempt(rank);
      if (this.#init.ledger().rankReport(rank) !== undefined) continue; // It is late: nothing is counted.
      if (moves && this.#init.phase() === 'ending') {
        this.#init.onExited(host, end); // Its agent has let it go, and no other starts it.
        continue;
      }
      const found = this.#restarted(host, end, attempt);
      if (found !== undefined) {
        const { session, job } = this.#init;
        session.failures.onRankFailed(job, found, end, attempt);
        this.#tell(found, moves ? 'it is to be started elsewhere' : 'its session agent starts it again');
        this.#again({ ...end, failure: found.error.failure }, afterMs, moves ? undefined : host);
        if (moves) this.#relocationOf(this.#init.ledger()).leave(rank, host, found, afterMs);
      } else if (!this.#init.hosts.isLost(host)) {
        const text = `Expected restarts as the error manager allows, got one after attempt ${attempt} of rank ${rank}`;
        throw new StciError('STCI_MESSAGE_INVALID', text);
      }
    }
  }

  /** The failure for which a rank may be started again by its session agent. */
  #restarted(host: HostIndex, end: RankEnd, attempt: number): Failure | undefined {
    const { errorManager, job, ledger } = this.#init;
    const place = { index: host, name: ledger().map.hosts[host]!.name };
    const failure = failureOf(end, place, { job, attempt }, end.endWallMs ?? 0);
    const mayRestart = failure && errorManager.local?.(failure, { of: 'tool', attempt }).type === 'restart';
    return mayRestart === true ? failure : undefined;
  }

  /** An attempt has ended, and another follows; on the same host where one is given. */
  #again(end: RankEnd, afterMs: number, host?: HostIndex): void {
    const { ledger, front, onRestarting } = this.#init;
    const report = ledger().again(end);
    if (report === undefined) return;
    const attempt = ledger().attempt(end.rank);
    front.emit({ type: 'restarting', report, ...(host !== undefined && { host }), attempt, afterMs });
    onRestarting(report);
  }

  /**
   * Within this time the tools of a lost agent have ended: by their guardian if the agent has, else by the agent,
   * which gives them the grace period. Before, no other attempt may run.
   */
  #endMs({ kind, host }: Failure): number {
    const { session, graceMs } = this.#init;
    const hasEnded = kind === 'session-lost' || session.members.get(host as HostIndex).state === 'failed';
    return GUARDIAN_MS + (hasEnded ? 0 : graceMs);
  }

  /** Number of the launch that the session agent there has been given. */
  #launchOf(host: HostIndex): number {
    return this.#relocation?.launchOf(host) ?? 1;
  }

  /** Slots there that the job has: of ranks without an outcome, and kept ones. */
  slotsOn(host: HostIndex): number {
    if (host >= this.#init.ledger().map.hosts.length) return 0;
    return this.#relocation?.slotsOn(host) ?? this.#init.ledger().openRanks(host).length;
  }

  /** A rank waits for a slot that another job has. */
  get lacksRoom(): boolean {
    return this.#relocation?.lacksRoom === true;
  }

  /** ... and for nothing else. */
  get isStuck(): boolean {
    return this.#relocation?.isStuck === true;
  }

  /** Whether all ranks that wait would get slots if other jobs had only these, by host. */
  fitsBeside(taken: readonly number[]): boolean {
    return this.#relocation?.fitsBeside(taken) !== false;
  }

  /** Hosts or slots came, or are not awaited any more. */
  place(): void {
    this.#relocation?.place();
  }

  /** The job ends: nothing is started again. */
  giveUp(): void {
    const ranks = this.#relocation?.giveUp();
    if (ranks !== undefined) this.#giveUpRanks(ranks);
  }

  /** The launches by which session agents were started on the hosts that `isMeant` accepts. */
  launches(first: Launch, isMeant: (host: HostIndex) => boolean): Launch[] {
    const again = (this.#relocation?.launches ?? []).filter(({ hosts }) => hosts.some(([host]) => isMeant(host)));
    const isFirst = (host: HostIndex): boolean => isMeant(host) && this.#relocation?.startedAgain(host) !== true;
    return [{ ...first, hosts: first.hosts.filter(([host]) => isFirst(host)) }, ...again];
  }

  /** Whether a session agent that has drained had got all that it was sent. */
  hasAll(host: HostIndex, restarts: number): boolean {
    return this.#relocation === undefined || this.#relocation.sentTo(host) === restarts;
  }

  #tell(found: Failure, text: string): void {
    const { errorManager, session } = this.#init;
    const policy = errorManager.policyOf?.(found) ?? errorManager.policy;
    session.failures.onDecision(found.error.failure, `${policy}: ${text}`);
  }

  #decide(found: Failure, attempt: number): readonly Action[] {
    const { errorManager, phase } = this.#init;
    const { ranksAlive, failureCount } = this.#init.ledger();
    const now = phase();
    return errorManager.decide(found, {
      of: 'job', phase: now === 'over' ? 'ending' : now, ranksAlive, failuresBefore: failureCount - 1, attempt,
    });
  }

  #makeRelocation(ledger: Ledger): RankRelocation {
    const { session, holds, job, hosts, front } = this.#init;
    return new RankRelocation({
      session, holds, job, ledger,
      launchNow: () => this.#init.launchNow(),
      hasFirstAgent: (host) => this.#init.hasFirstAgent(host),
      isLost: (host) => hosts.isLost(host),
      onStarting: (host, isNew) => {
        hosts.onStarting(host);
        if (isNew) front.onHostJoined(host);
        this.#checkPlaced();
      },
      onUnsent: (error) => front.check(error),
      ranksMax: this.#init.params.int('errmgr.aside'),
      onSetAside: (host, ranks) => front.emit({ type: 'warning', text: asideText(ledger, host, ranks) }),
      onMapped: (map) => front.emit({ type: 'mapped', map }),
      onAwaitingSlots: (ranks) => {
        this.#awaitsSlots = true;
        this.#init.onAwaitingSlots();
        front.emit({ type: 'warning', text: awaitingText(ranks) });
      },
      onNoRoom: (ranks) => {
        this.#giveUpRanks(ranks);
        this.#checkPlaced();
        for (const found of new Set(ranks.values())) this.apply(found, Number.MAX_SAFE_INTEGER);
        this.#init.checkOver();
      },
    });
  }

  #checkPlaced(): void {
    if (!this.#awaitsSlots || this.lacksRoom) return;
    this.#awaitsSlots = false;
    this.#init.onPlaced();
  }

  /** The ranks are not started again: the failures for which they were to be count. */
  #giveUpRanks(ranks: ReadonlyMap<Rank, Failure>): void {
    const { ledger, exited, record } = this.#init;
    for (const [rank, found] of ranks) {
      ledger().giveUp(rank, found.error);
      exited(rank);
      record(found);
    }
  }
}

function awaitingText(ranks: readonly Rank[]): string {
  const [who, verb] = ranks.length === 1 ? ['rank', 'waits'] : ['ranks', 'wait'];
  return `${who} ${foldRanks([...ranks])} ${verb} for slots that other jobs of the session have`;
}

function asideText({ spec }: Ledger, host: HostIndex, ranks: Iterable<Rank>): string {
  return `host ${spec.hosts[host]?.name ?? host} is set aside: ranks ${foldRanks([...ranks])} failed there soon after `
    + 'each start (errmgr.aside)';
}
