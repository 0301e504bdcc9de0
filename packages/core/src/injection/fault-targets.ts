/** Where faults are injected: what their plans, terms and ways need to know of the session's hosts and tree. */

import {
  CONTROLLER, bootHost, bootPosition, type FaultOrder, type FaultPlace, type HostIndex, type JobId, type Position,
  type Rank,
} from '@stci/interface';
import { harmOf, positionsOf, type KeptPlace } from '../fault/terms.js';
import type { ControllerPlace } from '../service/contracts.js';
import type { OpenOrder, OrderPart } from './fault-orders.js';

export class FaultTargets implements KeptPlace {
  readonly #session: ControllerPlace['session'];

  readonly #network: string | undefined;

  /** `network`: of the controller. */
  constructor(session: ControllerPlace['session'], network: string | undefined) {
    this.#session = session;
    this.#network = network;
  }

  get hosts(): number {
    return this.#session.table?.size ?? 0;
  }

  /** For orders to this job. */
  of(job: JobId): FaultPlace {
    const { table } = this.#session;
    return {
      hosts: this.hosts,
      network: this.#network,
      isUp: (host) => table !== undefined && host < table.size && table.get(host).state === 'up',
      hostOf: (rank) => this.#session.jobOf(job)?.hostOf(rank),
      depth: (position) => (position === 0 ? 0 : this.pathOf(bootHost(position)).length - 1),
      parent: (position) => (position === 0 ? undefined : this.pathOf(bootHost(position))[1]),
    };
  }

  hostsOf(rank: Rank, job: JobId): readonly HostIndex[] {
    const jobs = job === 0 ? this.#session.jobs : [job];
    return jobs.map((each) => this.#session.jobOf(each)?.hostOf(rank)).filter((host) => host !== undefined);
  }

  /** Why the order's job has nothing to do with the victim; undefined: it has, or the order is of no job. */
  outsideProblem({ job, victim }: Pick<FaultOrder, 'job' | 'victim'>): string | undefined {
    const positions = positionsOf(victim);
    const of = this.#session.jobOf(job);
    const hasRanks = (position: Position): boolean => position > 0 && (of?.ranksOn(bootHost(position)) ?? 0) > 0;
    if (job === 0 || positions.length === 0 || positions.some(hasRanks)) return undefined;
    const all = Array.from({ length: this.hosts }, (_, host) => host);
    const isBelow = (host: HostIndex): boolean => harmOf(victim, host, this.pathOf(host)) !== undefined;
    if (all.some((host) => hasRanks(bootPosition(host)) && isBelow(host))) return undefined;
    const names = positions.filter((position) => position > 0)
      .map((position) => this.#session.hostName(bootHost(position)));
    return `job ${job} has no ranks on ${names.join(' or ')}, nor on hosts below in the tree of agents`;
  }

  pathOf(host: HostIndex): readonly Position[] {
    const { table } = this.#session;
    const path: Position[] = [];
    for (let at: HostIndex | undefined = host; at !== undefined && table !== undefined; at = table.get(at).parent) {
      path.push(bootPosition(at));
    }
    return [...path, 0];
  }

  /** Of the agent of a part: that of a session agent is below the root agent of its host. */
  depthOf({ body: { at: { role, host } } }: OrderPart): number {
    if (role === 'controller') return 0;
    return (host < this.hosts ? this.pathOf(host).length : 1) + (role === 'session' ? 1 : 0);
  }

  /** How long the faults of other orders may keep the way to these parts of `open` closed; 0: they do not. */
  heldUpMs(open: OpenOrder, parts: readonly OrderPart[], orders: readonly OpenOrder[]): number {
    const ways = parts.filter(({ agent }) => agent !== CONTROLLER).map(({ body: { at: { host } } }) =>
      ({ host, path: this.pathOf(host) }));
    const onWay = orders.filter((other) => other !== open
      && ways.some(({ host, path }) => harmOf(other.order.victim, host, path) !== undefined));
    return Math.max(0, ...onWay.map(({ order: { durationMs = 0 } }) => durationMs));
  }
}
