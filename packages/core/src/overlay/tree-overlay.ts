/**
 * Overlay of a session that has none of its own: messages follow the boot tree. It costs nothing until somebody sends,
 * and knows the members once the controller has named them.
 */

import {
  addressKind, type LinkCloseReason, type MemberId, type Position, type StciError, type Topology,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import type { MessageBody, MessageName } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { Overlay, OverlayEvents } from './contracts.js';
import { Members, addressAt, positionOf } from './members.js';

interface Linked {
  /** Links of any role; of two, both count. */
  readonly links: Set<Link>;
  /** As it was reported. */
  member: MemberId | undefined;
}

export class TreeOverlay implements Overlay {
  readonly self: MemberId;
  protected readonly node: AgentNode;
  #members: Members;
  #events: OverlayEvents | undefined;
  #hasStarted = false;
  /** Agents to which a link is up. */
  readonly #linked = new Map<Position, Linked>();

  constructor(node: AgentNode) {
    const { self, incarnation = 0 } = node.identity;
    this.self = { position: positionOf(self) as Position, incarnation };
    this.node = node;
    this.#members = new Members([this.self]);
    for (const link of node.router.links()) this.#add(link);
    node.linkObserver = {
      onUp: (link) => this.#onUp(link),
      onClosed: (link, reason, text) => this.#onClosed(link, reason, text),
    };
  }

  get topology(): Topology | undefined {
    return undefined;
  }

  get members(): readonly MemberId[] {
    return this.#members.all;
  }

  set events(events: OverlayEvents) {
    this.#events = events;
    if (this.#hasStarted) this.#reportAll();
  }

  start(members: readonly MemberId[]): void {
    if (this.#hasStarted) return;
    this.#members = new Members(members);
    this.#hasStarted = true;
    this.#reportAll();
  }

  joined(member: MemberId): void {
    if (this.#hasStarted && this.#members.join(member)) this.#report(member.position);
  }

  reported(member: MemberId): void {
    this.#members.leave(member);
  }

  checkLink(_to: Position): void {
    return undefined;
  }

  gone(member: MemberId): void {
    this.#members.leave(member);
    const { position } = member;
    if (this.#members.at(position) === undefined) this.node.messages.dropKept(addressAt(position));
  }

  whenOpen(call: () => void): void {
    call();
  }

  isLinked(to: Position): boolean {
    return this.#linked.has(to);
  }

  send<Name extends MessageName>(to: Position, name: Name, body: MessageBody<Name>): StciError | undefined {
    return this.node.messages.post(addressAt(to), name, body);
  }

  sendReliably<Name extends MessageName>(to: Position, name: Name, body: MessageBody<Name>): StciError | undefined {
    return this.node.messages.send(addressAt(to), name, body);
  }

  /** The links above have changed: what is on its way is sent again, where the overlay leads on. */
  detour(): void {
    return undefined;
  }

  close(): void {
    return undefined;
  }

  /** A first link to this agent is up, or the last has closed. */
  protected onLinked(_position: Position, _isUp: boolean): void {
    return undefined;
  }

  #reportAll(): void {
    for (const position of this.#linked.keys()) this.#report(position);
  }

  /** Only agents that are known to take part. */
  #report(position: Position): void {
    const linked = this.#linked.get(position);
    const member = this.#members.at(position);
    if (this.#events === undefined || linked === undefined || linked.member !== undefined) return;
    if (member === undefined || !this.#hasStarted) return;
    linked.member = member;
    this.#events.onUp(member);
  }

  #onUp(link: Link): void {
    const position = this.#add(link);
    if (position === undefined) return;
    this.onLinked(position, true);
    this.#report(position);
  }

  #add(link: Link): Position | undefined {
    const position = peerPosition(link);
    if (position === undefined) return undefined;
    const linked = this.#linked.get(position) ?? { links: new Set<Link>(), member: undefined };
    linked.links.add(link);
    this.#linked.set(position, linked);
    return position;
  }

  #onClosed(link: Link, reason: LinkCloseReason, text: string): void {
    const position = peerPosition(link);
    const linked = position === undefined ? undefined : this.#linked.get(position);
    if (position === undefined || linked?.links.delete(link) !== true || linked.links.size > 0) return;
    this.#linked.delete(position);
    this.onLinked(position, false);
    if (linked.member !== undefined) this.#events?.onClosed(linked.member, reason, text);
  }
}

/** Undefined: its peer is no agent of the overlay. */
function peerPosition({ peer }: Link): Position | undefined {
  const kind = addressKind(peer);
  return kind === 'controller' || kind === 'root' ? positionOf(peer) : undefined;
}
