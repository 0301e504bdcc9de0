/**
 * Collectives of libraries on several hosts, at the controller: each is decided once, when the agents of all members
 * that live have said that theirs have come. Pure but for what is sent.
 */

import { StciError, type HostIndex, type JobId, type Rank } from '@stci/interface';
import type { MessageBody } from '../messages/messages.js';
import {
  areMixed, collectiveKey, isOfInit, ranksOfRanges, type CollectiveResult,
  type ProcessSet, type Range,
} from './contracts.js';

/** A job that takes part. */
export interface CollectingJob {
  readonly job: JobId;
  has(rank: Rank): boolean;
  /** Undefined: the rank is not awaited. */
  awaitedAt(rank: Rank): HostIndex | undefined;
  /** Throws STCI_MESSAGE_INVALID for a rank that is not there. */
  checkRank(host: HostIndex, rank: Rank): void;
  sets(): readonly ProcessSet[];
  /** This rank waits in MPI_Init for one that is gone; undefined: for one of another library. */
  onSplit(rank: Rank, absent: Rank | undefined): void;
  /** Return why it cannot be sent, where somebody has to answer for that. */
  send(host: HostIndex, result: MessageBody<'pmi.done'>): StciError | undefined;
  sendAll(result: MessageBody<'pmi.done'>): StciError | undefined;
}

interface Agent {
  readonly job: JobId;
  readonly host: HostIndex;
  /** Members there that are awaited, until it has answered. */
  readonly awaited: Set<Rank>;
  hasCome: boolean;
}

interface Collective {
  readonly id: MessageBody<'pmi.enter'>['id'];
  readonly agents: Map<string, Agent>;
  readonly data: (readonly [JobId, Rank, readonly (readonly [string, Uint8Array])[]])[];
}

/** Collectives of all jobs that may be open at a time, and members of all of them together. */
const OPEN_MAX = 4096;
const MEMBERS_MAX = 4 * 0x10_0000;
const CONTEXT_STEP = 2;

export class Collectives {
  readonly #jobs: ReadonlyMap<JobId, CollectingJob>;
  readonly #open = new Map<string, Collective>();
  #members = 0;
  #context = 0;

  constructor(jobs: ReadonlyMap<JobId, CollectingJob>) {
    this.#jobs = jobs;
  }

  /** Throws STCI_MESSAGE_INVALID for members that are none, and for one that does not run at the sender's host. */
  onEnter(job: CollectingJob, { host, id, data }: Omit<MessageBody<'pmi.enter'>, 'lost'>): void {
    for (const [rank] of data) job.checkRank(host, rank);
    const key = collectiveKey(id);
    const collective = this.#open.get(key) ?? this.#begin(key, job, host, id);
    const agent = collective?.agents.get(nameOf(job.job, host));
    if (collective === undefined || agent === undefined || agent.hasCome) return;
    agent.hasCome = true;
    for (const [rank, pairs] of data) collective.data.push([job.job, rank, pairs]);
    this.#check(key, collective);
  }

  #begin(key: string, job: CollectingJob, host: HostIndex, id: Collective['id']): Collective | undefined {
    const problem = this.#problemOf(id.members);
    if (problem !== undefined) {
      job.send(host, { id, problem, context: 0, data: [], sets: [] });
      return undefined;
    }
    if ([...this.#open.values()].some((open) => areMixed(open.id, id))) {
      const rank = ranksOfRanges(id.members, job.job).find((each) => job.awaitedAt(each) === host);
      if (rank !== undefined) job.onSplit(rank, undefined);
      return undefined;
    }
    const agents = new Map<string, Agent>();
    for (const [of, first, last] of id.members) {
      for (let rank = first; rank <= last; rank++) {
        const at = this.#jobs.get(of)?.awaitedAt(rank);
        if (at === undefined) continue;
        const name = nameOf(of, at);
        const agent = agents.get(name) ?? { job: of, host: at, awaited: new Set(), hasCome: false };
        agents.set(name, agent);
        agent.awaited.add(rank);
      }
    }
    if (!agents.has(nameOf(job.job, host))) {
      // Its members were lost meanwhile, or it has none.
      const isMember = id.members.some(([of]) => of === job.job);
      if (!isMember) throw new StciError('STCI_MESSAGE_INVALID', `Expected a member on host ${host}, got none`);
      agents.set(nameOf(job.job, host), { job: job.job, host, awaited: new Set(), hasCome: false });
    }
    const collective = { id, agents, data: [] };
    this.#open.set(key, collective);
    this.#members += countOf(id.members);
    return collective;
  }

  #problemOf(members: readonly Range[]): string | undefined {
    if (this.#open.size >= OPEN_MAX) return `at most ${OPEN_MAX} collectives at a time`;
    if (this.#members + countOf(members) > MEMBERS_MAX) return `at most ${MEMBERS_MAX} members of all collectives`;
    const absent = members.find(([of, first, last]) =>
      first > last || this.#jobs.get(of)?.has(last) !== true);
    return absent === undefined ? undefined : `job ${absent[0]} has no process ${absent[2]}, or does not run`;
  }

  /** These ranks are not awaited any longer. */
  onGone(job: JobId, ranks: readonly Rank[]): void {
    for (const [key, collective] of this.#open) {
      for (const agent of collective.agents.values()) {
        if (agent.job !== job) continue;
        for (const rank of ranks) agent.awaited.delete(rank);
      }
      this.#check(key, collective);
    }
  }

  onJobEnded(job: JobId): void {
    for (const [key, collective] of this.#open) {
      for (const agent of collective.agents.values()) if (agent.job === job) agent.awaited.clear();
      this.#check(key, collective);
    }
  }

  #check(key: string, { id, agents, data }: Collective): void {
    for (const { awaited, hasCome } of agents.values()) if (!hasCome && awaited.size > 0) return;
    this.#open.delete(key);
    this.#members -= countOf(id.members);
    if (id.kind === 'group') this.#context += CONTEXT_STEP;
    const jobs = new Set(id.members.map(([job]) => job));
    if (this.#lacks(id)) return;
    const isConnect = id.kind === 'connect';
    const sets = isConnect ? [...jobs].flatMap((job) => this.#jobs.get(job)?.sets() ?? []) : [];
    const result: CollectiveResult = { id, problem: '', context: this.#context, data, sets };
    const unsent = this.#tell(agents.values(), result);
    if (unsent !== undefined) this.#tell(agents.values(), { ...result, problem: unsent.message, data: [], sets: [] });
  }

  /** A rank is missing that a library counts on: no answer comes, but the end of the job. */
  #lacks(id: Collective['id']): boolean {
    const [first] = id.members;
    const job = first && this.#jobs.get(first[0]);
    if (job === undefined || !isOfInit(id, job.sets())) return false;
    const ranks = ranksOfRanges(id.members, job.job);
    const absent = ranks.find((rank) => job.awaitedAt(rank) === undefined);
    const waiting = ranks.find((rank) => job.awaitedAt(rank) !== undefined);
    if (absent !== undefined && waiting !== undefined) job.onSplit(waiting, absent);
    return absent !== undefined;
  }

  #tell(agents: Iterable<Agent>, result: CollectiveResult): StciError | undefined {
    const { members } = result.id;
    const [whole] = members.length === 1 ? members : [];
    const only = whole === undefined ? undefined : this.#jobs.get(whole[0]);
    if (whole?.[1] === 0 && only?.has(whole[2] + 1) === false) return only.sendAll(result);
    for (const { job, host, hasCome } of agents) {
      const unsent = hasCome ? this.#jobs.get(job)?.send(host, result) : undefined;
      if (unsent !== undefined) return unsent;
    }
    return undefined;
  }
}

function countOf(members: readonly Range[]): number {
  return members.reduce((sum, [, first, last]) => sum + Math.max(0, last - first + 1), 0);
}

function nameOf(job: JobId, host: HostIndex): string {
  return `${job} ${host}`;
}
