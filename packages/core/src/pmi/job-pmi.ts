/**
 * What the controller does for MPI libraries: it tells which processes there are, decides collectives of several hosts,
 * and has the names by which jobs of a session find each other.
 */

import {
  StciError, rankRanges, sessionAddress, type HostIndex, type JobId, type Rank, type RankReport,
} from '@stci/interface';
import { Later } from '../am/answer.js';
import { needsOwner } from '../am/requests.js';
import { ranksOf } from '../job/placement.js';
import { checkRanks } from '../job/rank-checks.js';
import type { MessageBody, MessageReply } from '../messages/messages.js';
import type { ControllerPlace, JobAtController, JobHooks, OpenService, ServiceCode } from '../service/contracts.js';
import { Collectives } from './collectives.js';
import type { ProcessSet } from './contracts.js';
import { Names } from './names.js';
import { nspaceName } from './nspace.js';
import { isTolerant } from './policy.js';

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
  /** Of which the user was told. */
  readonly #protocols = new Set<string>();
  readonly #gone = new Set<Rank>();
  readonly #lost = new Set<Rank>();
  readonly #isTolerant: boolean;

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

  set(): ProcessSet {
    const { ledger: { map, spec }, job, node } = this.#of;
    const counts = new Map<number, [first: Rank, size: number]>();
    for (const { runs } of map.hosts) {
      for (const { app, first, count } of runs) {
        const [least, size] = counts.get(app) ?? [first, 0];
        counts.set(app, [Math.min(least, first), size + count]);
      }
    }
    return {
      nspace: nspaceName(node.sessionName, job, node.tokenOf(job)), job, first: 0, size: map.size,
      universe: Math.max(map.size, spec.hosts.reduce((sum, { slots }) => sum + slots, 0)),
      hosts: map.hosts.filter(({ runs }) => runs.length > 0).map((place) =>
        [place.host, place.name, rankRanges([...ranksOf(place)].sort((a, b) => a - b))] as const),
      apps: [...counts].sort(([a], [b]) => a - b).map(([, each]) => each),
    };
  }

  onOpen({ host, protocol, version }: MessageBody<'pmi.open'>): MessageReply<'pmi.open'> {
    this.#open.add(host);
    if (!this.#protocols.has(protocol)) this.#of.front.emit({ type: 'mpi', protocol, version });
    this.#protocols.add(protocol);
    return { sets: [this.set()], lost: [...this.#lost] };
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

  onNotify({ rank, nspace, process, status, event }: MessageBody<'pmi.notify'>): void {
    const body = { rank, nspace, process, status, event };
    this.#of.front.check(this.#of.node.messages.sendSubtree('pmi.event', body, this.job));
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

  onEnded(report: RankReport): void {
    this.#add(report);
    this.#tell([report.rank]);
  }

  onRestarting({ rank }: RankReport): void {
    this.#gone.add(rank);
    this.#lost.add(rank);
    this.#tell([rank]);
  }

  onHostLost(host: HostIndex): void {
    this.#open.delete(host);
  }

  #add(report: RankReport): void {
    const isLost = report.outcome !== 'exited' || report.end?.status !== 0 || report.error !== undefined;
    if (isLost) this.#lost.add(report.rank);
    // Where losses are no news, the job is about to end, and nobody is to go on as if all had come.
    if (!isLost || this.#isTolerant) this.#gone.add(report.rank);
  }

  #tell(ranks: readonly Rank[]): void {
    const lost = ranks.filter((rank) => this.#lost.has(rank));
    if (this.#isTolerant && lost.length > 0 && this.#open.size > 0) {
      this.#of.front.check(this.#of.node.messages.sendSubtree('pmi.lost', { ranks: lost }, this.job));
    }
    this.#session.collectives.onGone(this.job, ranks.filter((rank) => this.#gone.has(rank)));
  }
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
  messages.on('pmi.open', (opening, { job }) => open(job).onOpen(opening));
  messages.on('pmi.enter', (entry, { job }) => session.collectives.onEnter(open(job), entry));
  messages.on('pmi.abort', (abort, { job }) => of(job)?.onAbort(abort));
  messages.on('pmi.sets', ({ nspaces }, { job }) => {
    open(job);
    const sets = [...session.jobs.values()].map((each) => each.set());
    return { sets: sets.filter(({ nspace }) => nspaces.includes(nspace)) };
  });
  messages.on('pmi.notify', (event, { job }) => of(job)?.onNotify(event));
  messages.on('pmi.publish', ({ host, rank, persistence, pairs }, { job }) => {
    const { nspace } = ownerOf(open(job), host, rank);
    return { taken: session.names.publish({ job, rank, nspace, persistence }, pairs) };
  });
  messages.on('pmi.unpublish', ({ host, rank, keys }, { job }) => {
    open(job).checkRank(host, rank);
    return { missing: session.names.unpublish(job, keys) };
  });
  messages.on('pmi.lookup', ({ keys, waits }, { job }) => new Later<'pmi.lookup'>((answer) => {
    const owner = open(job);
    session.names.lookup(owner.job, keys, waits, (found) => answer.done({ found }));
  }));
  return { stop: () => undefined };
}

function ownerOf(pmi: JobPmi, host: HostIndex, rank: Rank): { nspace: string } {
  pmi.checkRank(host, rank);
  return { nspace: pmi.set().nspace };
}
