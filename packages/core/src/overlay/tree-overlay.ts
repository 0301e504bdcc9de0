/**
 * Overlay of a session that has none of its own: messages follow the boot tree. It costs nothing until somebody sends,
 * and knows the members once the controller has named them. Links to members are told of; those to others are not.
 */

import {
  addressKind, type LinkCloseReason, type MemberId, type Position, type StciError, type Topology,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { addressAt, positionOf } from '../members/positions.js';
import { MemberView, isLiving, type MemberChange } from '../members/view.js';
import type { MessageBody, MessageName } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { Overlay, OverlayEvents } from './contracts.js';

interface Linked {
  /** Links of any role; of two, both count. */
  readonly links: Set<Link>;
  /** As it was reported. */
  member: MemberId | undefined;
}

export class TreeOverlay implements Overlay {
  readonly members: MemberView;
  protected readonly node: AgentNode;
  #events: OverlayEvents | undefined;
  /** Agents to which a link is up. */
  readonly #linked = new Map<Position, Linked>();

  constructor(node: AgentNode) {
    const { self, incarnation = 0 } = node.identity;
    this.members = new MemberView({ position: positionOf(self) as Position, incarnation });
    this.node = node;
    for (const link of node.router.links()) this.#add(link);
    node.linkObserver = {
      onUp: (link) => this.#onUp(link),
      onClosed: (link, reason, text) => this.#onClosed(link, reason, text),
    };
    this.members.observe((change) => this.onMember(change));
  }

  get self(): MemberId {
    return this.members.self;
  }

  get topology(): Topology | undefined {
    return undefined;
  }

  set events(events: OverlayEvents) {
    this.#events = events;
    for (const position of this.#linked.keys()) this.#report(position);
  }

  checkLink(_to: Position): void {
    return undefined;
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

  protected onMember({ member: { position }, state }: MemberChange): void {
    if (isLiving(state)) this.#report(position);
    if (state === 'gone') this.node.messages.dropKept(addressAt(position));
  }

  /** A first link to this agent is up, or the last has closed. */
  protected onLinked(_position: Position, _isUp: boolean): void {
    return undefined;
  }

  /** Only agents that are known to take part. */
  #report(position: Position): void {
    const linked = this.#linked.get(position);
    const member = this.members.at(position);
    if (this.#events === undefined || linked === undefined || linked.member !== undefined) return;
    if (member === undefined) return;
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
