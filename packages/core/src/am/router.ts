/**
 * Router: destination → link. A destination is an agent: an address and, for a session agent, its job. An explicit
 * route takes precedence over the rule of the agent's place in the boot tree, and that over the default route, the
 * parent (STCI paper, II-E.1). It holds links by neighbour and does not deal with messages.
 */

import { addressName, agentKey, isSessionAddress, type Address, type JobId } from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { isByOverlay, setByOverlay, type Frame } from '../codec/frame.js';

/** The neighbour towards a destination according to the agent's place; undefined: the default route. */
export type RouteRule = (destination: Address) => Address | undefined;

/** Routes beside the tree's; see overlay/. */
export interface OverlayRouting {
  /** The link of the overlay itself to an agent. */
  direct(destination: Address): Link | undefined;
  /** The link over which the overlay leads to an agent, other than `from`. */
  next(destination: Address, from: Link | undefined): Link | undefined;
  /** Calls `send` when the link that is being opened on the way to an agent is up, or fails. False: none is. */
  hold(destination: Address, from: Link | undefined, send: () => void): boolean;
  /** Whether this frame may arrive over a link, by the overlay. */
  admits(link: Link, frame: Frame): boolean;
}

export class Router {
  readonly self: Address;
  /** Job of a session agent; else 0. */
  readonly job: JobId;
  /** Links to session agents are apart, by the agent's key: forwarding looks for others, by their address. */
  readonly #links = new Map<Address, Link>();
  readonly #sessionLinks = new Map<number, Link>();
  /** Not of the tree. */
  readonly #overlayLinks = new Set<Link>();
  readonly #routes = new Map<Address, Address>();
  /** Cache of `leadsTo`: the link below over which the agents with an address are reached. */
  readonly #reachable = new Map<Address, Link>();
  /** Undefined: there is no overlay. */
  overlay: OverlayRouting | undefined;
  /** Whether a frame goes by the tree only. */
  keepsToTree: (frame: Frame) => boolean = () => false;
  #rule: RouteRule = () => undefined;
  #parentLink: Link | undefined;

  constructor(self: Address, job: JobId = 0) {
    this.self = self;
    this.job = job;
  }

  /** The default route; undefined at the controller and before the link to the parent is made. */
  get parentLink(): Link | undefined {
    return this.#parentLink;
  }

  set rule(rule: RouteRule) {
    this.#rule = rule;
    this.clearReachable();
  }

  /** Forgets what is reachable: to be called when the rule's answers change. */
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
    this.addEarlyLink(link.peer, link);
    this.clearReachable();
  }

  /** Adds a link whose handshake is not over: the link queues what is sent meanwhile. */
  addEarlyLink(peer: Address, link: Link): void {
    if (link.role === 'overlay') return void this.#overlayLinks.add(link);
    if (isSessionAddress(peer)) this.#sessionLinks.set(agentKey(peer, link.job), link);
    else this.#links.set(peer, link);
    if (link.role === 'parent') this.#parentLink = link;
  }

  /** Removes the link if it is still that of its peer: a newer one may have replaced it. */
  removeLink(link: Link): void {
    if (this.#overlayLinks.delete(link)) return;
    this.clearReachable();
    const { peer, job } = link;
    if (this.#parentLink === link) this.#parentLink = undefined;
    if (this.link(peer, job) !== link) return;
    if (isSessionAddress(peer)) this.#sessionLinks.delete(agentKey(peer, job));
    else this.#links.delete(peer);
  }

  link(neighbour: Address, job: JobId = 0): Link | undefined {
    return isSessionAddress(neighbour)
      ? this.#sessionLinks.get(agentKey(neighbour, job))
      : this.#links.get(neighbour);
  }

  /** Links to the agents below that a broadcast about `job` goes to: session agents of other jobs are left out. */
  childLinks(job: JobId): Link[] {
    return this.links().filter((link) => link.role === 'child' && (link.job === 0 || link.job === job));
  }

  get linkCount(): number {
    return this.#links.size + this.#sessionLinks.size + this.#overlayLinks.size;
  }

  links(): Link[] {
    return [...this.#links.values(), ...this.#sessionLinks.values(), ...this.#overlayLinks];
  }

  isSelf(destination: Address, job: JobId): boolean {
    return destination === this.self && (job === this.job || !isSessionAddress(destination));
  }

  /**
   * Sends a frame, in pieces, towards an agent; `from`: the link it came over, undefined for this agent's own. False:
   * nothing leads there now. What waits for a link of the overlay counts as sent.
   */
  forward(destination: Address, job: JobId, pieces: readonly Uint8Array[], from?: Link): boolean {
    const { overlay } = this;
    if (overlay !== undefined) return this.#forwardEither(overlay, destination, job, pieces, from);
    const next = this.next(destination, job);
    // Back where it came from: an agent on the way there does not know yet who is reached otherwise.
    if (next === undefined || next === from) return false;
    next.send(pieces);
    return true;
  }

  /**
   * Forwards by the tree, and where that does not lead on by the overlay. A frame that goes by the overlay stays there,
   * because the tree could take it back. Neighbours in the overlay get this agent's own frames at once. Commands keep
   * to the tree.
   */
  #forwardEither(
    overlay: OverlayRouting, destination: Address, job: JobId, pieces: readonly Uint8Array[], from: Link | undefined,
  ): boolean {
    const head = pieces[0] as Frame;
    const direct = this.link(destination, job);
    const isFree = direct === undefined && !this.keepsToTree(head);
    const wasByOverlay = from !== undefined && isByOverlay(head);
    let next = direct;
    if (isFree && from === undefined) next = overlay.direct(destination);
    else if (isFree && wasByOverlay) next = overlay.next(destination, from);
    const planned = next ?? this.next(destination, job);
    // The tree does not lead back: an agent above may not know yet who is reached otherwise.
    const tree = planned === from ? undefined : planned;
    const link = tree ?? (isFree ? overlay.next(destination, from) : undefined);
    if (link === undefined) {
      if (!isFree) return false;
      const kept = pieces.map((piece) => new Uint8Array(piece));
      // By then the tree may lead to its source over other links, where it would be taken for another agent's.
      setByOverlay(kept[0] as Frame, from !== undefined);
      return overlay.hold(destination, from, () => void this.forward(destination, job, kept, from));
    }
    setByOverlay(head, wasByOverlay || link.role === 'overlay' || tree === undefined);
    link.send(pieces);
    return true;
  }

  /** The link of the tree that leads to an agent; undefined where none does. */
  next(destination: Address, job: JobId): Link | undefined {
    const direct = this.link(destination, job);
    if (direct !== undefined) return direct;
    const neighbour = this.#neighbour(destination);
    return neighbour === undefined ? this.#parentLink : this.link(neighbour, job);
  }

  /**
   * Whether an agent is beyond a link: beyond a link below are the agents that are reached over it, beyond the parent's
   * link all others.
   */
  leadsTo(agent: Address, job: JobId, link: Link): boolean {
    if (agent === link.peer) return agentKey(agent, job) === agentKey(agent, link.job);
    if (this.#reachable.get(agent) === link) return true;
    if (this.isSelf(agent, job)) return false;
    const neighbour = this.#neighbour(agent);
    const route = this.link(agent, job) ?? (neighbour === undefined ? undefined : this.link(neighbour, job));
    if (link.role === 'parent') return route === undefined || route === link;
    if (route !== link) return false;
    this.#reachable.set(agent, link);
    return true;
  }

  #neighbour(agent: Address): Address | undefined {
    return this.#routes.get(agent) ?? this.#rule(agent);
  }

  describe(): string {
    const peers = this.links().map(({ peer }) => addressName(peer));
    return `links of ${addressName(this.self)}: ${peers.join(', ') || 'none'}`;
  }
}
