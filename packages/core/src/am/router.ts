/**
 * Router: destination → link. An explicit route takes precedence over the rule of the agent's place in the boot tree,
 * and that over the default route, the parent (STCI paper, II-E.1). It holds links by neighbour and does not deal with
 * messages.
 */

import { FRONT_END, addressName, type Address } from '@stci/interface';
import type { Link } from '../bootcom/link.js';

/** The neighbour towards a destination according to the agent's place; undefined: the default route. */
export type RouteRule = (destination: Address) => Address | undefined;

export class Router {
  readonly self: Address;
  readonly #links = new Map<Address, Link>();
  readonly #routes = new Map<Address, Address>();
  /** Cache of `leadsTo`: the link below over which an agent is reached. */
  readonly #reachable = new Map<Address, Link>();
  #rule: RouteRule = () => undefined;
  #parent: Address | undefined;

  constructor(self: Address) {
    this.self = self;
  }

  set parent(address: Address | undefined) {
    this.#parent = address;
  }

  get parent(): Address | undefined {
    return this.#parent;
  }

  set rule(rule: RouteRule) {
    this.#rule = rule;
    this.clearReachable();
  }

  /** To be called when the rule's answers change. */
  clearReachable(): void {
    this.#reachable.clear();
  }

  /** Sets an explicit route; undefined removes it. */
  route(destination: Address, neighbour: Address | undefined): void {
    if (neighbour === undefined) this.#routes.delete(destination);
    else this.#routes.set(destination, neighbour);
    this.clearReachable();
  }

  addLink(link: Link): void {
    this.#links.set(link.peer, link);
    this.clearReachable();
  }

  /** Adds a link whose handshake is not over: the link queues what is sent meanwhile. */
  addEarlyLink(peer: Address, link: Link): void {
    this.#links.set(peer, link);
  }

  /** Only if it is still the link of its peer: a newer one may have replaced it. */
  removeLink(link: Link): void {
    this.clearReachable();
    if (this.#links.get(link.peer) === link) this.#links.delete(link.peer);
  }

  link(neighbour: Address): Link | undefined {
    return this.#links.get(neighbour);
  }

  /**
   * Links to the agents below: all but the parent's and, at the controller, the front-end's. All agents are below the
   * front-end, through the controller.
   */
  childLinks(): Link[] {
    if (this.self === FRONT_END) return this.links();
    const below: Link[] = [];
    for (const [peer, link] of this.#links) if (peer !== this.#parent && peer !== FRONT_END) below.push(link);
    return below;
  }

  get linkCount(): number {
    return this.#links.size;
  }

  links(): Link[] {
    return [...this.#links.values()];
  }

  /** The link that leads to `destination`; undefined where none does. */
  next(destination: Address): Link | undefined {
    const direct = this.#links.get(destination);
    if (direct !== undefined) return direct;
    const neighbour = this.#routes.get(destination) ?? this.#rule(destination) ?? this.#parent;
    return neighbour === undefined || neighbour === this.self ? undefined : this.#links.get(neighbour);
  }

  /**
   * Whether an agent is beyond a link: beyond a link below are the agents that are reached over it, beyond the parent's
   * link all others.
   */
  leadsTo(agent: Address, link: Link): boolean {
    if (agent === link.peer || this.#reachable.get(agent) === link) return true;
    if (agent === this.self) return false;
    const route = this.#links.get(agent) ?? this.#linkBelow(agent);
    if (link.peer === this.#parent) return route === undefined || route === link;
    if (route !== link) return false;
    this.#reachable.set(agent, link);
    return true;
  }

  #linkBelow(agent: Address): Link | undefined {
    const neighbour = this.#routes.get(agent) ?? this.#rule(agent);
    return neighbour === undefined ? undefined : this.#links.get(neighbour);
  }

  describe(): string {
    return `links of ${addressName(this.self)}: ${[...this.#links.keys()].map(addressName).join(', ') || 'none'}`;
  }
}
