/**
 * Overlay: how the controller and the root agents reach each other (STCI paper, II-B and II-E): by the boot tree, and
 * over links beside it, where a service adds them. Position 0 is the controller, host + 1 its root agent, as in the
 * boot tree.
 */

import type { LinkCloseReason, MemberId, Position, StciError, Topology } from '@stci/interface';
import type { MemberChange, MemberView } from '../members/view.js';
import type { MessageBody, MessageName } from '../messages/messages.js';

export interface OverlayEvents {
  /** A link of any role to this member came up; those that are up at the start come first. */
  onUp(peer: MemberId): void;
  onClosed(peer: MemberId, reason: LinkCloseReason, text: string): void;
}

export interface Overlay {
  readonly self: MemberId;
  /**
   * As this agent knows them; before they are named, itself alone. Routes avoid one that somebody says is dead; its
   * links stay, so that the controller can ask it. Once it is gone its links close, and nothing is kept for it.
   */
  readonly members: MemberView;
  /** Of the overlay as the user chose it; undefined: there is none, and messages follow the boot tree. */
  readonly topology: Topology | undefined;
  /** Links to members are told from now on. */
  set events(events: OverlayEvents);
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
  /** A detector of this agent did not hear one that lives: a link of the overlay to it that brings no answer is cut. */
  checkLink(to: Position): void;
}

/** Links beside the boot tree, and routes over them, which a service adds to an agent. */
export interface OverlayWays {
  readonly topology: Topology;
  /** As Overlay.whenOpen. */
  whenOpen(call: () => void): void;
  isLinked(to: Position): boolean;
  /** Whether a link to this agent is being opened: then `send` is called once it is up, or is not coming up. */
  wait(to: Position, send: () => void): boolean;
  checkLink(to: Position): void;
  /** The links above have changed: what is on its way is sent again, where these links lead on. */
  detour(): void;
  onMember(change: MemberChange): void;
  /** A first link of any role to this agent is up, or the last has closed. */
  onLinked(position: Position, isUp: boolean): void;
}
