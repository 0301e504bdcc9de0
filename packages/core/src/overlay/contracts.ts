/**
 * Overlay: the links between the controller and the root agents along a topology, beside the boot tree (STCI paper,
 * II-B and II-E). Position 0 is the controller, host + 1 its root agent, as in the boot tree.
 */

import type { LinkCloseReason, MemberId, Position, StciError, Topology } from '@stci/interface';
import type { MessageBody, MessageName } from '../messages/messages.js';

export interface OverlayEvents {
  /** A link of any role to this member came up; those that are up at the start come first. */
  onUp(peer: MemberId): void;
  onClosed(peer: MemberId, reason: LinkCloseReason, text: string): void;
}

export interface Overlay {
  readonly self: MemberId;
  /** Of the overlay as the user chose it; undefined: there is none, and messages follow the boot tree. */
  readonly topology: Topology | undefined;
  /** Agents that take part, by position, this one included; before the start, this one alone. */
  readonly members: readonly MemberId[];
  set events(events: OverlayEvents);
  /** All agents are up: these take part. Nothing is reported before. */
  start(members: readonly MemberId[]): void;
  /**
   * Calls once, in a later turn or at once: when the links that are opened at the start are up or have failed once, or
   * after a bound. Opening them takes time of the processor, in which an agent answers late.
   */
  whenOpen(call: () => void): void;
  isLinked(to: Position): boolean;
  /**
   * Over the link to this agent if there is one, in order and unnumbered; else one is opened, if overlays are open to
   * that, and messages wait for it, a bounded number; else, or if it does not come up, over the routes. May be lost.
   */
  send<Name extends MessageName>(to: Position, name: Name, body: MessageBody<Name>): StciError | undefined;
  /** As MessageLayer.send: once and in order, over whatever routes there are, until one of both is gone. */
  sendReliably<Name extends MessageName>(to: Position, name: Name, body: MessageBody<Name>): StciError | undefined;
  /** Somebody says that it is dead: routes avoid it. Its links stay, so that the controller can ask it. */
  reported(member: MemberId): void;
  /** It is dead or has left, as the controller has decided: its links are closed, too, and nothing is kept for it. */
  gone(member: MemberId): void;
  /** A detector of this agent did not hear one that lives: a link of the overlay to it that brings no answer is cut. */
  checkLink(to: Position): void;
  /** Another incarnation takes part, or one that was thought gone does after all: it is linked and routed to again. */
  joined(member: MemberId): void;
}
