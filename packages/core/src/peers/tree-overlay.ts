/**
 * Overlay as every agent has it: messages follow the boot tree, and other ways where a service has added them. It costs
 * nothing until somebody sends, and knows the members once the controller has named them. Links to members are told of;
 * those to others are not.
 */

import {
  CONTROLLER, addressKind, entryOf, type LinkCloseReason, type MemberId, type Position, type StciError, type Topology,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { addressAt, positionOf } from '../members/positions.js';
import { MemberView, isLiving, type MemberChange } from '../members/view.js';
import type { MessageBody, MessageName } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { Overlay, OverlayEvents, OverlayWays } from './contracts.js';

interface Linked {
  /** Links of any role; of two, both count. */
  readonly links: Set<Link>;
  /** As it was reported. */
  member: MemberId | undefined;
}

export class TreeOverlay implements Overlay {
  readonly members: MemberView;
  readonly #node: AgentNode;
  #events: OverlayEvents | undefined;
  #ways: OverlayWays | undefined;
  /** Who waits for links that the parameters ask for, as long as the code of the service is being loaded. */
  readonly #opening: (() => void)[] = [];
  /** Agents to which a link is up. */
  readonly #linked = new Map<Position, Linked>();

  constructor(node: AgentNode) {
    const { self, incarnation = 0 } = node.identity;
    this.members = new MemberView({ position: positionOf(self) as Position, incarnation });
    this.#node = node;
    for (const link of node.router.links()) this.#add(link);
    node.linkObserver = {
      onUp: (link) => this.#onUp(link),
      onClosed: (link, reason, text) => this.#onClosed(link, reason, text),
    };
    this.members.observe((change) => this.#onMember(change));
  }

  get self(): MemberId {
    return this.members.self;
  }

  /** The parent is reported as dead, and nobody has refuted that. */
  get isParentDoubted(): boolean {
    const parent = positionOf(this.#node.router.parentLink?.peer ?? CONTROLLER);
    return parent !== undefined && this.members.isLost(parent);
  }

  /** There are other ways from now on. */
  extend(ways: OverlayWays): void {
    this.#ways = ways;
    for (const call of this.#opening.splice(0)) ways.whenOpen(call);
  }

  get topology(): Topology | undefined {
    return this.#ways?.topology;
  }

  set events(events: OverlayEvents) {
    this.#events = events;
    for (const position of this.#linked.keys()) this.#report(position);
  }

  checkLink(to: Position): void {
    this.#ways?.checkLink(to);
  }

  whenOpen(call: () => void): void {
    if (this.#ways !== undefined) this.#ways.whenOpen(call);
    else if (this.#node.params.string('overlay.topology') === '') call();
    else this.#opening.push(call);
  }

  isLinked(to: Position): boolean {
    return this.#ways?.isLinked(to) ?? this.#linked.has(to);
  }

  send<Name extends MessageName>(to: Position, name: Name, body: MessageBody<Name>): StciError | undefined {
    const post = (): StciError | undefined => this.#node.messages.post(addressAt(to), name, body);
    return this.#ways?.wait(to, post) === true ? undefined : post();
  }

  sendReliably<Name extends MessageName>(to: Position, name: Name, body: MessageBody<Name>): StciError | undefined {
    return this.#node.messages.send(addressAt(to), name, body);
  }

  /** The links above have changed: what is on its way is sent again, where other ways lead on. */
  detour(): void {
    this.#ways?.detour();
  }

  #onMember(change: MemberChange): void {
    const { member: { position }, state } = change;
    if (isLiving(state)) this.#report(position);
    if (state === 'gone') this.#node.messages.transport.dropKept(addressAt(position));
    this.#ways?.onMember(change);
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
    this.#ways?.onLinked(position, true);
    this.#report(position);
  }

  #add(link: Link): Position | undefined {
    const position = peerPosition(link);
    if (position === undefined) return undefined;
    entryOf(this.#linked, position, () => ({ links: new Set<Link>(), member: undefined })).links.add(link);
    return position;
  }

  #onClosed(link: Link, reason: LinkCloseReason, text: string): void {
    const position = peerPosition(link);
    const linked = position === undefined ? undefined : this.#linked.get(position);
    if (position === undefined || linked?.links.delete(link) !== true || linked.links.size > 0) return;
    this.#linked.delete(position);
    this.#ways?.onLinked(position, false);
    if (linked.member !== undefined) this.#events?.onClosed(linked.member, reason, text);
  }
}

/** Undefined: its peer is no agent of the overlay. */
function peerPosition({ peer }: Link): Position | undefined {
  const kind = addressKind(peer);
  return kind === 'controller' || kind === 'root' ? positionOf(peer) : undefined;
}
