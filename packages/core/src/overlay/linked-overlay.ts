/**
 * Overlay with links of its own, at the controller or a root agent: along a topology of any component. It gives the
 * router the ways around agents that are gone, and takes from these links what a peer may send over them.
 */

import { addressKind, type Address, type MemberId, type Position, type Timer, type Topology } from '@stci/interface';
import type { OverlayRouting } from '../am/router.js';
import type { Link } from '../bootcom/link.js';
import { frameDestination, frameJob, frameSource, type Frame } from '../codec/frame.js';
import { heldTimer } from '../event/timers.js';
import { addressAt, positionOf } from '../members/positions.js';
import { isLiving, type MemberChange } from '../members/view.js';
import type { Neighbour, OverlayLinkKind } from '../messages/neighbour.js';
import { isCommandFrame } from '../node/command.js';
import type { OverlayWays } from '../peers/contracts.js';
import type { TreeOverlay } from '../peers/tree-overlay.js';
import type { RootPlace } from '../service/contracts.js';
import { overlayTls } from './keys.js';
import { OverlayLinks } from './overlay-links.js';
import { OverlayRoutes } from './routes.js';

/** What another way leads to as well waits so long for a link that is being opened: its other end may be cut off. */
const WAIT_MS = 200;

/** How long the links that are opened at the start are waited for: the way to all agents and back, and the attempt. */
const OPEN_HANDSHAKES = 2;

/** `overlay`: of this agent, to which this is added. */
type LinkedPlace = Pick<RootPlace, 'node' | 'overlay' | 'scope'>;

export class LinkedOverlay implements OverlayWays, OverlayRouting {
  readonly overlay: TreeOverlay;
  readonly #place: LinkedPlace;
  #links: OverlayLinks | undefined;
  #routes: OverlayRoutes;
  /** The last link to it has closed, and none came up since. */
  readonly #unlinked = new Set<Position>();
  /** Who waits for the links of the start. */
  #opening: { readonly timer: Timer; readonly call: () => void } | undefined;
  #isConnected = false;

  constructor(place: LinkedPlace, size: number) {
    this.#place = place;
    this.overlay = place.overlay;
    this.#routes = this.#routesOver(size);
    const { messages, router } = place.node;
    this.overlay.extend(this);
    router.overlay = this;
    router.keepsToTree = isCommandFrame;
    if (this.self.position === 0) return;
    messages.on('overlay.open', ({ kind }) => this.listen(kind, (addresses, problem) => {
      const { position, incarnation } = this.self;
      messages.send(addressAt(0), 'overlay.opened', { host: position - 1, incarnation, addresses, problem });
    }));
    messages.on('overlay.links', ({ size, neighbours }) => this.connect(size, neighbours));
  }

  get topology(): Topology {
    return this.#routes.topology;
  }

  get self(): MemberId {
    return this.overlay.self;
  }

  /** Calls `done` with the addresses at which it listens; a second time with none. */
  listen(kind: OverlayLinkKind, done: (addresses: readonly string[], problem?: string) => void): void {
    if (this.#links !== undefined) return;
    const { node, scope } = this.#place;
    const tls = kind === 'ws' ? overlayTls(node.platform.secrets, node.identity.secret, node.params) : undefined;
    const chosen = kind === 'ws' ? scope.bootcom('ws') : undefined;
    this.#links = new OverlayLinks({
      node, members: this.overlay.members, kind, bootcom: chosen, tls,
      isLinked: (position) => this.#treeLink(position) !== undefined,
      onSettled: () => this.#checkOpen(),
    });
    this.#links.listen(done);
  }

  /** The overlay has so many positions, and these of its neighbours there take part. */
  connect(size: number, neighbours: readonly Neighbour[]): void {
    if (this.topology.size !== size) this.#routes = this.#routesOver(size);
    for (const { position } of neighbours) this.#unlinked.delete(position);
    this.#routes.onChange();
    this.#links?.setNeighbours(neighbours);
    this.#isConnected = true;
    this.#checkOpen();
  }

  whenOpen(call: () => void): void {
    const { node } = this.#place;
    if (node.params.string('overlay.open') === 'lazy') return call();
    const boundMs = OPEN_HANDSHAKES * node.params.int('bootcom.handshake');
    const timer = heldTimer(node.holds, node.platform.clock, 'overlay opening', boundMs, () => this.#opened());
    this.#opening = { timer, call };
    this.#checkOpen();
  }

  isLinked(to: Position): boolean {
    return this.#linkTo(to) !== undefined;
  }

  wait(to: Position, send: () => void): boolean {
    return this.#linkTo(to) === undefined && this.#links?.wait(to, send, WAIT_MS) === true;
  }

  checkLink(to: Position): void {
    this.#links?.check(to);
  }

  direct(destination: Address): Link | undefined {
    const kind = addressKind(destination);
    if (kind !== 'root' && kind !== 'controller') return undefined;
    return this.#links?.linkTo(positionOf(destination) as Position);
  }

  next(destination: Address, from: Link | undefined): Link | undefined {
    for (const way of this.#ways(destination, from)) {
      const link = this.#linkTo(way);
      if (link !== undefined) return link;
      this.#links?.want(way);
    }
    return undefined;
  }

  hold(destination: Address, from: Link | undefined, send: () => void): boolean {
    return this.#ways(destination, from).some((way) => this.#links?.wait(way, send) === true);
  }

  /**
   * Not a command; of the peer, or of an agent that the tree or the overlay reaches over it, and from the parent of any
   * other: agents above can speak for all. One of this host may come back: the tree took it to where the overlay's
   * route begins.
   */
  admits(link: Link, frame: Frame): boolean {
    const source = frameSource(frame);
    if (isCommandFrame(frame)) return false;
    if (source === link.peer) return true;
    const [from, peer] = [positionOf(source), positionOf(link.peer)];
    if (from === undefined || peer === undefined) return false;
    if (from === this.self.position) return positionOf(frameDestination(frame)) !== from;
    return link.role === 'parent' || this.#place.node.router.leadsTo(source, frameJob(frame), link)
      || this.#routes.isBeyond(from, peer);
  }

  detour(): void {
    const { node } = this.#place;
    const { messages, router } = node;
    if (router.parentLink === undefined) for (const at of this.#routes.neighbours ?? []) this.#links?.want(at);
    node.resendUp();
    for (const link of router.links()) if (link.role === 'child') messages.sendNeighbour(link, 'overlay.detour', {});
  }

  close(): void {
    this.#opening?.timer.cancel();
    this.#opening = undefined;
    this.#links?.close();
  }

  onMember(change: MemberChange): void {
    if (isLiving(change.state)) this.#unlinked.delete(change.member.position);
    this.#routes.onChange();
    this.#links?.onMember(change);
  }

  onLinked(position: Position, isUp: boolean): void {
    if (isUp) this.#unlinked.delete(position);
    else this.#unlinked.add(position);
    this.#routes.onChange();
    if (!isUp) this.#links?.onOtherClosed(position);
    const { router } = this.#place.node;
    if (isUp && this.self.position !== 0 && router.parentLink === undefined) this.detour();
  }

  #checkOpen(): void {
    if (this.#isConnected && this.#links?.isOpening !== true) this.#opened();
  }

  #opened(): void {
    const opening = this.#opening;
    this.#opening = undefined;
    opening?.timer.cancel();
    opening?.call();
  }

  #routesOver(size: number): OverlayRoutes {
    const { members } = this.overlay;
    const isAvoided = (position: Position): boolean => this.#unlinked.has(position) || members.isLost(position);
    const { node, scope } = this.#place;
    const topology = scope.topologyOf(node.params.string('overlay.topology'), size);
    return new OverlayRoutes(topology, this.self.position, isAvoided);
  }

  #ways(destination: Address, from: Link | undefined): readonly Position[] {
    const target = positionOf(destination);
    const ways = target === undefined ? undefined : this.#routes.ways(target);
    const back = from === undefined ? undefined : positionOf(from.peer);
    return ways?.filter((way) => way !== back) ?? [];
  }

  #linkTo(position: Position): Link | undefined {
    return this.#links?.linkTo(position) ?? this.#treeLink(position);
  }

  #treeLink(position: Position): Link | undefined {
    return this.#place.node.router.link(addressAt(position));
  }
}
