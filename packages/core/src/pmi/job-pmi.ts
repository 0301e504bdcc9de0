/**
 * What the controller does for MPI libraries: it tells which processes there are, decides collectives of several hosts,
 * and has the names by which jobs of a session find each other.
 */

import {
  StciError, rankRanges, sessionAddress, type HostIndex, type JobId, type Rank, type RankReport, type RankRun,
} from '@stci/interface';
import { Later, type Answer } from '../am/answer.js';
import { needsOwner } from '../am/requests.js';
import { ranksOf } from '../job/placement.js';
import { launchedSize, spawnOf } from '../job/spawn.js';
import { checkRanks } from '../job/rank-checks.js';
import type { MessageBody, MessageReply } from '../messages/messages.js';
import type { ControllerPlace, JobAtController, JobHooks, OpenService, ServiceCode } from '../service/contracts.js';
import { Collectives } from './collectives.js';
import type { ProcessSet } from './contracts.js';
import { Names } from './names.js';
import { nspaceName } from './nspace.js';
import { isTolerant } from './policy.js';

const ABSENT_TEXT = 'which has ended: all ranks of a job are to call it, or none. Start programs that are not of MPI '
  + 'as a job of their own';
const MIXED_TEXT = 'waits in MPI_Init for ranks of another MPI library. Start programs of several libraries as a job '
  + 'each';

/** What jobs of a session share. */
export class SessionPmi {
  readonly jobs = new Map<JobId, JobPmi>();
  readonly names = new Names();
  readonly collectives = new Collectives(this.jobs);
}

export class JobPmi implements JobHooks {
  readonly #of: JobAtController;
  readonly #session: SessionPmi;
  /** Hosts whose agents are told. */
  readonly #open = new Set<HostIndex>();
  /** Agents that have asked which processes there are. */
  readonly #waiting: Answer<'pmi.open'>[] = [];
  /** Of which the user was told. */
  readonly #protocols = new Set<string>();
  readonly #gone = new Set<Rank>();
  readonly #lost = new Set<Rank>();
  /** They ended well, and nobody has what they put. */
  readonly #silent = new Set<Rank>();
  readonly #isTolerant: boolean;
  #split: readonly [waiting: Rank, absent: Rank] | undefined;

  constructor(of: JobAtController, session: SessionPmi) {
    this.#of = of;
    this.#session = session;
    this.#isTolerant = isTolerant(of.params);
    const { ledger, job, holds } = of;
    session.jobs.set(job, this);
    for (let rank = 0; rank < ledger.map.size; rank++) {
      const report = ledger.rankReport(rank);
      if (report !== undefined) this.#add(report);
    }
    holds.atEnd(() => {
      session.jobs.delete(job);
      session.names.onJobEnded(job);
      session.collectives.onJobEnded(job);
    });
  }

  get job(): JobId {
    return this.#of.job;
  }

  has(rank: Rank): boolean {
    return rank < this.#of.ledger.map.size;
  }

  /** Where a rank is, of which a part in a collective is awaited; undefined: none is. */
  awaitedAt(rank: Rank): HostIndex | undefined {
    return this.#gone.has(rank) ? undefined : this.#of.ledger.placements.host(rank);
  }

  /** Those that were launched with the job, and those that have been spawned. */
  sets(): ProcessSet[] {
    const { map, spawns } = this.#of.ledger;
    const launched = { first: 0, count: launchedSize(map, spawns) };
    return [launched, ...spawns].map((each) => this.#set(each));
  }

  /** `parent`: of a spawn. */
  #set({ first, count, parent }: { readonly first: Rank; readonly count: number; readonly parent?: Rank }): ProcessSet {
    const { ledger: { map, spec, spawns }, job } = this.#of;
    const isIn = (rank: Rank): boolean => rank >= first && rank < first + count;
    const apps = new Map<number, [first: Rank, size: number]>();
    for (const { runs } of map.hosts) {
      for (const { app, first: least, count: size } of runs) {
        if (!isIn(least)) continue;
        const [known, others] = apps.get(app) ?? [least, 0];
        apps.set(app, [Math.min(least, known), others + size]);
      }
    }
    const hosts = map.hosts.map((place) => {
      const ranks = [...ranksOf(place)].filter(isIn).sort((a, b) => a - b);
      return [place.host, place.name, rankRanges(ranks)] as const;
    });
    const above = parent === undefined ? undefined : spawnOf(spawns, parent)?.first ?? 0;
    return {
      nspace: this.#nspace(first), job, first, size: count,
      universe: Math.max(map.size, spec.hosts.reduce((sum, { slots }) => sum + slots, 0)),
      hosts: hosts.filter(([, , ranks]) => ranks.length > 0),
      apps: [...apps].sort(([a], [b]) => a - b).map(([, each]) => each),
      ...(parent !== undefined && above !== undefined && { parent: [this.#nspace(above), parent - above] as const }),
    };
  }

  #nspace(first: Rank): string {
    const { node, job } = this.#of;
    return nspaceName(node.sessionName, job, node.tokenOf(job), first);
  }

  /** By which others know the rank. */
  processOf(rank: Rank): readonly [nspace: string, process: number] {
    const first = spawnOf(this.#of.ledger.spawns, rank)?.first ?? 0;
    return [this.#nspace(first), rank - first];
  }

  onSpawn({ host, request }: MessageBody<'pmi.spawn'>): MessageReply<'pmi.spawn'> {
    this.checkRank(host, request.parent);
    let reply: MessageReply<'pmi.spawn'> = { problem: 'the job cannot get further ranks', sets: [] };
    // What the user has given the program with -x is for those that it starts, too.
    const { map, spec } = this.#of.ledger;
    const runs = map.hosts.flatMap((place) => place.runs);
    const app = runs.find((run) => hasRank(run, request.parent))?.app ?? 0;
    const env = spec.apps[app]?.env;
    const apps = request.apps.map((each) => ({ ...each, env: { ...env, ...each.env } }));
    this.#of.spawn({ ...request, apps }, (spawn, problem = '') => {
      reply = spawn === undefined ? { problem, sets: [] } : { problem: '', sets: [this.#set(spawn)] };
    });
    return reply;
  }

  onOpen({ host, protocol, version }: MessageBody<'pmi.open'>, answer: Answer<'pmi.open'>): void {
    this.#open.add(host);
    const isNews = version !== '' && !this.#protocols.has(protocol);
    if (isNews) this.#of.front.emit({ type: 'mpi', protocol, version });
    if (version !== '') this.#protocols.add(protocol);
    this.#waiting.push(answer);
    this.#answer();
  }

  /** Nobody is told a place of a rank at which it will not be. */
  #answer(): void {
    if (this.#of.isPlacing()) return;
    for (const answer of this.#waiting.splice(0)) answer.done(this.#state());
  }

  #state(): MessageReply<'pmi.open'> {
    return { sets: this.sets(), lost: [...this.#lost], silent: [...this.#silent] };
  }

  onStarted(): void {
    this.#answer();
  }

  checkRank(host: HostIndex, rank: Rank): void {
    const { placements, map } = this.#of.ledger;
    checkRanks(placements, map, host, [rank]);
  }

  send(host: HostIndex, result: MessageBody<'pmi.done'>): StciError | undefined {
    return owned(this.#of.node.messages.send(sessionAddress(host), 'pmi.done', result, this.job));
  }

  sendAll(result: MessageBody<'pmi.done'>): StciError | undefined {
    return owned(this.#of.node.messages.sendSubtree('pmi.done', result, this.job));
  }

  onNotify({ host, rank, status, event }: MessageBody<'pmi.notify'>): void {
    this.checkRank(host, rank);
    const [nspace, process] = this.processOf(rank);
    const body = { rank, nspace, process, status, event };
    this.#of.front.check(this.#of.node.messages.sendSubtree('pmi.event', body, this.job));
  }

  onSplit(rank: Rank, absent: Rank | undefined): void {
    // How it has ended is told before.
    if (absent !== undefined && !this.#gone.has(absent)) return void (this.#split = [rank, absent]);
    const code = 'STCI_MPI_WORLD';
    const { exitCode } = new StciError(code, '');
    const message = absent === undefined ? MIXED_TEXT : `waits in MPI_Init for rank ${absent}, ${ABSENT_TEXT}`;
    this.#of.abort({ rank, host: this.#of.ledger.placements.host(rank), code, exitCode, message });
  }

  onAbort({ host, rank, cause, exitCode, message }: MessageBody<'pmi.abort'>): void {
    this.checkRank(host, rank);
    if (cause === 'restart') {
      const { exitCode: own } = new StciError('STCI_MPI_RESTART', '');
      return this.#of.abort({ rank, host, code: 'STCI_MPI_RESTART', exitCode: own, message });
    }
    // A library without a text says so.
    const said = message === '' || message === 'N/A' ? '' : `: ${message}`;
    const code = Math.min(255, Math.max(1, exitCode));
    const text = `called MPI_Abort: exit code ${code}${said}`;
    this.#of.abort({ rank, host, code: 'STCI_MPI_ABORT', exitCode: code, message: text });
  }

  /** An agent goes on without these ranks of its host; that they have ended may not have been told yet. */
  onLost(host: HostIndex, ranks: readonly Rank[]): void {
    for (const rank of ranks) this.checkRank(host, rank);
    const news = ranks.filter((rank) => !this.#lost.has(rank));
    for (const rank of news) {
      this.#lost.add(rank);
      this.#gone.add(rank);
    }
    this.#tell(news);
  }

  onEnded(report: RankReport): void {
    const isNews = !this.#lost.has(report.rank);
    this.#add(report);
    this.#answer();
    if (report.rank === this.#split?.[1]) this.onSplit(...this.#split);
    if (isNews) this.#tell([report.rank]);
  }

  onRestarting({ rank }: RankReport): void {
    this.#gone.add(rank);
    this.#lost.add(rank);
    this.#answer();
    this.#tell([rank]);
  }

  /** What ranks that have ended well there have put is lost with their agent. */
  onHostLost(host: HostIndex): void {
    this.#open.delete(host);
    this.#session.names.forget({ job: this.job, host });
    const { ledger } = this.#of;
    const ended = [...ranksOf(ledger.map.hosts[host]!)].filter((rank) =>
      ledger.rankReport(rank) !== undefined && !this.#lost.has(rank));
    for (const rank of ended) this.#silent.add(rank);
    if (ended.length > 0) this.#news([], ended);
  }

  #news(ranks: readonly Rank[], silent: readonly Rank[]): void {
    if (this.#open.size === 0) return;
    this.#of.front.check(this.#of.node.messages.sendSubtree('pmi.lost', { ranks, silent }, this.job));
  }

  #add(report: RankReport): void {
    const isLost = report.outcome !== 'exited' || report.end?.status !== 0 || report.error !== undefined;
    if (isLost) this.#lost.add(report.rank);
    // Where losses are no news, the job is about to end, and nobody is to go on as if all had come.
    if (!isLost || this.#isTolerant) this.#gone.add(report.rank);
  }

  #tell(ranks: readonly Rank[]): void {
    const lost = ranks.filter((rank) => this.#lost.has(rank));
    if (this.#isTolerant && lost.length > 0) this.#news(lost, []);
    this.#session.collectives.onGone(this.job, ranks.filter((rank) => this.#gone.has(rank)));
  }
}

function hasRank({ first, count, stride }: RankRun, rank: Rank): boolean {
  const at = (rank - first) / stride;
  return Number.isInteger(at) && at >= 0 && at < count;
}

function owned(error: StciError | undefined): StciError | undefined {
  return needsOwner(error) ? error : undefined;
}

export const code: ServiceCode = { controller: listen };

/** Messages of session agents to the service at the controller; those of a job that is over are late. */
function listen({ node: { messages }, jobOf }: ControllerPlace): OpenService {
  const session = new SessionPmi();
  const of = (job: JobId): JobPmi | undefined =>
    jobOf(job)?.service('pmi', (own) => new JobPmi(own, session));
  const open = (job: JobId): JobPmi => {
    const found = of(job);
    if (found === undefined) throw new StciError('STCI_MESSAGE_INVALID', `Expected a job that runs, got ${job}`);
    return found;
  };
  messages.on('pmi.open', (opening, { job }) => new Later<'pmi.open'>((answer) => open(job).onOpen(opening, answer)));
  messages.on('pmi.enter', (entry, { job }) => {
    const own = open(job);
    own.onLost(entry.host, entry.lost);
    session.collectives.onEnter(own, entry);
  });
  messages.on('pmi.split', ({ host, rank, absent }, { job }) => {
    const owner = of(job);
    owner?.checkRank(host, rank);
    owner?.onSplit(rank, absent);
  });
  messages.on('pmi.abort', (abort, { job }) => of(job)?.onAbort(abort));
  messages.on('pmi.sets', ({ nspaces }, { job }) => {
    const { job: own } = open(job);
    const sets = [...session.jobs.values()].flatMap((each) => each.sets());
    return { sets: sets.filter((set) => set.job === own || nspaces.includes(set.nspace)) };
  });
  messages.on('pmi.spawn', (spawn, { job }) => open(job).onSpawn(spawn));
  messages.on('pmi.notify', (event, { job }) => of(job)?.onNotify(event));
  messages.on('pmi.publish', ({ host, rank, persistence, pairs }, { job }) => {
    const owner = open(job);
    owner.checkRank(host, rank);
    const [nspace, process] = owner.processOf(rank);
    return { taken: session.names.publish({ job, rank: process, nspace, persistence }, pairs) };
  });
  messages.on('pmi.unpublish', ({ host, rank, keys }, { job }) => {
    open(job).checkRank(host, rank);
    return { missing: session.names.unpublish(job, keys) };
  });
  messages.on('pmi.lookup', ({ host, number, keys, waits }, { job }) => new Later<'pmi.lookup'>((answer) => {
    const seeker = { job: open(job).job, host, number };
    session.names.lookup(seeker, keys, waits, (found) => answer.done({ found }));
  }));
  messages.on('pmi.forget', ({ host, number }, { job }) => session.names.forget({ job, host, number }));
  return { stop: () => undefined };
}
