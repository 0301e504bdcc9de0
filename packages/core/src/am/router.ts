/**
 * Router: destination → link. An explicit route beats the rule of the agent's place in the boot tree, which beats
 * the default route, the parent (STCI paper, II-E.1). It holds links by neighbour and knows nothing of messages.
 */

import { FRONT_END, addressName, type Address } from '@stci/interface';
import type { Link } from '../bootcom/link.js';

/** The neighbour towards a destination, by the agent's place; undefined: the default route. */
export type RouteRule = (destination: Address) => Address | undefined;

export class Router {
  readonly self: Address;
  readonly #links = new Map<Address, Link>();
  readonly #routes = new Map<Address, Address>();
  /** By which link below an agent is reached, as far as it was asked: see `leadsTo`. */
  readonly #below = new Map<Address, Link>();
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
    this.forgetWays();
  }

  /** The rule answers otherwise from now on. */
  forgetWays(): void {
    this.#below.clear();
  }

  /** Explicit route, or its removal with undefined. */
  route(destination: Address, neighbour: Address | undefined): void {
    if (neighbour === undefined) this.#routes.delete(destination);
    else this.#routes.set(destination, neighbour);
    this.forgetWays();
  }

  addLink(link: Link): void {
    this.#links.set(link.peer, link);
    this.forgetWays();
  }

  /** A link that this agent is making: what is sent waits in it until its handshake is over. */
  addEarlyLink(peer: Address, link: Link): void {
    this.#links.set(peer, link);
  }

  /** Only if it is still the one that is known for its peer. */
  removeLink(link: Link): void {
    this.forgetWays();
    if (this.#links.get(link.peer) === link) this.#links.delete(link.peer);
  }

  link(neighbour: Address): Link | undefined {
    return this.#links.get(neighbour);
  }

  /**
   * Links to the agents below: all but the parent's and, at the controller, the front-end's. All agents are below the
   * front-end, by way of the controller.
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
   * Whether an agent is on the far side of a link: beyond a link below are the agents that are reached by it alone,
   * beyond the parent's all others.
   */
  leadsTo(agent: Address, link: Link): boolean {
    if (agent === link.peer || this.#below.get(agent) === link) return true;
    if (agent === this.self) return false;
    const way = this.#links.get(agent) ?? this.#linkBelow(agent);
    if (link.peer === this.#parent) return way === undefined || way === link;
    if (way !== link) return false;
    this.#below.set(agent, link);
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
