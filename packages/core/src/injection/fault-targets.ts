/** Where faults are injected: what their plans, terms and ways need to know of the session's hosts and tree. */

import {
  CONTROLLER, bootHost, bootPosition, type FaultPlace, type HostIndex, type JobId, type Position, type Rank,
} from '@stci/interface';
import { harmOf, type KeptPlace } from '../fault/terms.js';
import type { SessionPlaces } from '../service/contracts.js';
import type { OpenOrder, OrderPart } from './fault-orders.js';

export class FaultTargets implements KeptPlace {
  readonly #session: SessionPlaces;

  readonly #network: string | undefined;

  /** `network`: of the controller. */
  constructor(session: SessionPlaces, network: string | undefined) {
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
      hostOf: (rank) => this.#session.hostOf(job, rank),
      depth: (position) => (position === 0 ? 0 : this.pathOf(bootHost(position)).length - 1),
      parent: (position) => (position === 0 ? undefined : this.pathOf(bootHost(position))[1]),
    };
  }

  hostsOf(rank: Rank, job: JobId): readonly HostIndex[] {
    const jobs = job === 0 ? this.#session.jobs : [job];
    return jobs.map((each) => this.#session.hostOf(each, rank)).filter((host) => host !== undefined);
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
