/**
 * Recovery of one job, at the controller: asks the error manager about each failure and carries out what it decides.
 * Ranks of a lost agent that are started again are no failure of the job yet: they are if that is given up.
 */

import {
  StciError, type Action, type ErrorManager, type Failure, type HostIndex, type Rank, type RestartAction,
} from '@stci/interface';
import { foldRanks } from '../iof/fold.js';
import { failureOf, type HostFailure } from '../job/exit-rule.js';
import type { RankEnd } from '../job/ledger.js';
import { localSize } from '../job/placement.js';
import type { SessionFailure } from '../messages/failure-shapes.js';
import type { Launch } from '../messages/messages.js';
import type { RecoveringJob } from './job-session.js';
import { RankRelocation } from './rank-relocation.js';

/** Hosts on which a rank is to start before it counts as lost with them. */
const PLACES_MAX = 4;
/** Longest time from the end of an agent to that of its tools. */
const GUARDIAN_MS = 500;

/** An attempt that has ended; `moves`: the next one is not its session agent's to start. */
export type RestartingEnd = RankEnd & { readonly afterMs: number; readonly moves?: boolean };

export class JobRecovery {
  readonly #job: RecoveringJob;
  readonly #errorManager: ErrorManager;
  readonly relocation: RankRelocation;
  /** On how many hosts ranks were to start that lost the first before. */
  readonly #places = new Map<Rank, number>();
  /** Ranks were told to wait for slots, and not all of them have some. */
  #awaitsSlots = false;

  constructor(job: RecoveringJob) {
    this.#job = job;
    this.#errorManager = job.session.scope.errorManager(job.params);
    this.relocation = new RankRelocation(job, {
      onStarting: (host, isNew) => {
        job.hosts.onStarting(host);
        if (isNew) job.front.onHostJoined(host);
        this.#checkPlaced();
      },
      onAwaitingSlots: (ranks) => {
        this.#awaitsSlots = true;
        job.awaitSlots(true);
        job.front.emit({ type: 'warning', text: awaitingText(ranks) });
      },
      onNoRoom: (ranks) => {
        this.#giveUpRanks(ranks);
        this.#checkPlaced();
        for (const found of new Set(ranks.values())) this.apply(found, Number.MAX_SAFE_INTEGER);
        job.checkOver();
      },
    });
  }

  /** Reaction to a failure that the ledger has. `attempt`: starts so far of what failed. */
  apply(found: Failure, attempt = found.rank === undefined ? 0 : this.#job.ledger.attempt(found.rank)): void {
    const actions = this.#decide(found, attempt);
    // A tool is started again by its session agent, or not at all.
    const ends = actions.some(({ type }) => type === 'end-job' || (type === 'restart' && found.rank !== undefined));
    this.#tell(found, ends ? 'the job is ended' : 'the job goes on');
    if (ends) this.#job.end(found.error);
  }

  /**
   * A host, or the job's session agent there, is lost: `agent`, as its root agent says. Returns the failure of the
   * ranks that are not started again.
   */
  lose(loss: HostFailure, agent?: SessionFailure): Failure | undefined {
    const { session, hosts, front, services, ledger } = this.#job;
    const { host, kind } = loss;
    if (host >= ledger.spec.hosts.length) return undefined;
    const afterLoss = agent?.isReplaced === true ? 'its root agent starts another' : undefined;
    if (agent?.launch === 0) { // It waited for ranks: none is lost with it.
      hosts.countLoss(host);
      this.#tell(this.#recorded(loss, []), afterLoss ?? 'another is started with its ranks');
    }
    if (hosts.isLost(host) || (agent?.launch ?? Infinity) < this.relocation.launchOf(host)) return undefined;
    const isOthers = session.stays && localSize(ledger.map.hosts[host]!) === 0;
    hosts.onLost(host);
    services.onHostLost(host);
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
    for (const rank of ranks) this.#job.tellExit(rank);
    return isNew ? found : undefined;
  }

  /** The loss that has just been counted, with its id. */
  #recorded(loss: HostFailure, ranks: readonly Rank[]): HostFailure {
    const { session, job, hosts } = this.#job;
    const failure = session.failures.onRanksLost(job, loss, ranks, hosts.losses(loss.host));
    return { ...loss, error: { ...loss.error, failure } };
  }

  /** Ranks of the host that have no outcome, but those that wait to be started elsewhere. */
  #ranksAt(host: HostIndex): readonly Rank[] {
    return this.#job.ledger.openRanks(host).filter((rank) => !this.relocation.isWaiting(rank));
  }

  /** Whether the ranks of a lost agent are started again. */
  #restart(found: Failure): boolean {
    const ledger = this.#job.ledger;
    const ranks = this.#ranksAt(found.host as HostIndex);
    if (this.#job.phase === 'ending' || ranks.length === 0) return false;
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
    const ledger = this.#job.ledger;
    const ranks = this.#ranksAt(found.host as HostIndex);
    const isUnstarted = (rank: Rank): boolean =>
      !ledger.isRunning(rank) && ledger.attempt(rank) === 1 && (this.#places.get(rank) ?? 1) < PLACES_MAX;
    if (found.kind !== 'agent-lost' || this.#job.phase !== 'launching' || !ranks.every(isUnstarted)) return false;
    if (this.#job.params.int('errmgr.elsewhere') === 0 || this.#job.services.size > 0) return false;
    if (ranks.length === 0 || !this.relocation.hasRoom(ranks)) return false;
    for (const rank of ranks) this.#places.set(rank, 1 + (this.#places.get(rank) ?? 1));
    this.#tell(found, 'its ranks had not started: they are started on other hosts');
    const what = `its ranks had not started, and are started on other hosts: ${foldRanks(ranks)}`;
    this.#job.front.emit({ type: 'warning', text: `${found.error.message}; ${what}` });
    this.relocation.add(ranks, found, this.#endMs(found));
    return true;
  }

  /** Those have neither run nor an outcome yet. */
  get isPlacing(): boolean {
    const ledger = this.#job.ledger;
    return [...this.#places.keys()].some((rank) =>
      ledger.attempt(rank) === 1 && !ledger.isRunning(rank) && ledger.rankReport(rank) === undefined);
  }

  #startAgain(ranks: readonly Rank[], found: Failure, leastMs: number): void {
    const afterMs = Math.max(leastMs, this.#endMs(found));
    for (const rank of ranks) {
      this.#again({ rank, pid: 0, outcome: 'lost', error: found.error, leftovers: 0 }, afterMs);
    }
    this.relocation.add(ranks, found, afterMs);
  }

  /**
   * Ranks that their session agent starts again, or lets go. Throws STCI_MESSAGE_INVALID where the error manager would
   * not have it so: each start costs an entry of the ledger, and events.
   */
  onRestarting(host: HostIndex, ends: readonly RestartingEnd[]): void {
    // Each after the one before is counted: a message may name a rank twice.
    for (const { afterMs, moves = false, ...end } of ends) {
      const { rank } = end;
      const attempt = this.#job.ledger.attempt(rank);
      if (this.#job.ledger.rankReport(rank) !== undefined) continue; // It is late: nothing is counted.
      if (moves && this.#job.phase === 'ending') {
        this.#job.onExited(host, [end]); // Its agent has let it go, and no other starts it.
        continue;
      }
      const found = this.#restarted(host, end, attempt);
      if (found !== undefined) {
        const { session, job } = this.#job;
        session.failures.onRankFailed(job, found, end, attempt);
        this.#tell(found, moves ? 'it is to be started elsewhere' : 'its session agent starts it again');
        this.#again({ ...end, failure: found.error.failure }, afterMs, moves ? undefined : host);
        if (moves) this.relocation.leave(rank, host, found, afterMs);
      } else if (!this.#job.hosts.isLost(host)) {
        const text = `Expected restarts as the error manager allows, got one after attempt ${attempt} of rank ${rank}`;
        throw new StciError('STCI_MESSAGE_INVALID', text);
      }
    }
  }

  /** The failure for which a rank may be started again by its session agent. */
  #restarted(host: HostIndex, end: RankEnd, attempt: number): Failure | undefined {
    const { job, ledger } = this.#job;
    const place = { index: host, name: ledger.map.hosts[host]!.name };
    const failure = failureOf(end, place, { job, attempt }, end.endWallMs ?? 0);
    const mayRestart = failure && this.#errorManager.local?.(failure, { of: 'tool', attempt }).type === 'restart';
    return mayRestart === true ? failure : undefined;
  }

  /** An attempt has ended, and another follows; on the same host where one is given. */
  #again(end: RankEnd, afterMs: number, host?: HostIndex): void {
    const { ledger, front, services } = this.#job;
    const report = ledger.again(end);
    if (report === undefined) return;
    const attempt = ledger.attempt(end.rank);
    front.emit({ type: 'restarting', report, ...(host !== undefined && { host }), attempt, afterMs });
    services.onRestarting(report);
  }

  /**
   * Within this time the tools of a lost agent have ended: by their guardian if the agent has, else by the agent,
   * which gives them the grace period. Before, no other attempt may run. A session agent that is a process of its own
   * outlives its root agent.
   */
  #endMs({ kind, host }: Failure): number {
    const { session, params } = this.#job;
    const isWithin = session.node.params.string('launcher.session.method') !== 'process';
    const hasEnded = kind === 'session-lost' || (isWithin && session.members.get(host as HostIndex).state === 'failed');
    return GUARDIAN_MS + (hasEnded ? 0 : params.int('tool.grace'));
  }

  /** The job ends: nothing is started again. */
  giveUp(): void {
    this.#giveUpRanks(this.relocation.giveUp());
  }

  /** The launches by which session agents were started on the hosts that `isMeant` accepts. */
  launches(first: Launch, isMeant: (host: HostIndex) => boolean): Launch[] {
    const again = this.relocation.launches.filter(({ hosts }) => hosts.some(([host]) => isMeant(host)));
    const isFirst = (host: HostIndex): boolean => isMeant(host) && !this.relocation.startedAgain(host);
    return [{ ...first, hosts: first.hosts.filter(([host]) => isFirst(host)) }, ...again];
  }

  #tell(found: Failure, text: string): void {
    const policy = this.#errorManager.policyOf?.(found) ?? this.#errorManager.policy;
    this.#job.session.failures.onDecision(found.error.failure, `${policy}: ${text}`);
  }

  #decide(found: Failure, attempt: number): readonly Action[] {
    const { phase, ledger: { ranksAlive, failureCount } } = this.#job;
    return this.#errorManager.decide(found, {
      of: 'job', phase: phase === 'over' ? 'ending' : phase, ranksAlive, failuresBefore: failureCount - 1, attempt,
    });
  }

  #checkPlaced(): void {
    if (!this.#awaitsSlots || this.relocation.lacksRoom) return;
    this.#awaitsSlots = false;
    this.#job.awaitSlots(false);
  }

  /** The ranks are not started again: the failures for which they were to be count. */
  #giveUpRanks(ranks: ReadonlyMap<Rank, Failure>): void {
    for (const [rank, found] of ranks) {
      this.#job.ledger.giveUp(rank, found.error);
      this.#job.tellExit(rank);
      this.#job.record(found);
    }
  }
}

function awaitingText(ranks: readonly Rank[]): string {
  const [who, verb] = ranks.length === 1 ? ['rank', 'waits'] : ['ranks', 'wait'];
  return `${who} ${foldRanks([...ranks])} ${verb} for slots that other jobs of the session have`;
}
