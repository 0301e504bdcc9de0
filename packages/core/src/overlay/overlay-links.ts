/**
 * Links of the overlay, at one agent: it listens, connects to its neighbours, at once or when there is something to
 * send, and again after a pause where that fails. At the start the lower position connects, and the other if it does
 * not. Whichever end connects first makes the link; if both do, that of the lower position stays. Peers prove that they
 * know the key of their pair, which names both incarnations.
 */

import {
  type Address, type Bootcom, type Channel, type ErrorRecord, type LinkCloseReason, type Position, type Timer,
} from '@stci/interface';
import { keyFor } from '../bootcom/encryption.js';
import { Gate, linkListenOptions, type Watch } from '../bootcom/gate.js';
import { SECRET_BYTES, type HandshakeInit } from '../bootcom/handshake.js';
import { Link } from '../bootcom/link.js';
import { Backoff, type BackoffBounds } from '../event/backoff.js';
import { heldTimer } from '../event/timers.js';
import { ADDRESSES_MAX } from '../launcher/host-login.js';
import { addressAt, positionOf } from '../members/positions.js';
import { isLiving, type MemberChange, type MemberView } from '../members/view.js';
import type { Neighbour, OverlayLinkKind } from '../messages/neighbour.js';
import type { AgentNode } from '../node/node.js';
import { probeMs } from '../peers/probe-time.js';

/** Pause before the next attempt; it doubles up to the longest. */
const PAUSE: BackoffBounds = { firstMs: 50, maxMs: 5000 };

/** An attempt that takes longer, which began while they were cut off, does not keep the other end from connecting. */
const LATE_MS = 1000;

/**
 * So often in so long what is kept for a neighbour is sent again at once as its link is lost or replaced. Each time may
 * cost as much as its window: where it closes its links more often, a probe finds what has not arrived.
 */
const RESENDS_MAX = 2;
const RESENDS_MS = 1000;

interface Peer {
  readonly neighbour: Neighbour;
  link: Link | undefined;
  /** The connection that this agent has made, which may be the link. It counts as up before the other end takes it. */
  attempt: Link | undefined;
  /** Addresses that were tried since the last pause. */
  tried: number;
  readonly backoff: Backoff;
  timer: Timer | undefined;
  /** The timer runs for the other end to connect: this one connects at once where there is something to send. */
  isYielding: boolean;
  /** A link was up, or a first attempt has failed. */
  isSettled: boolean;
  /** When the first of its addresses was tried. */
  attemptAtMs: number;
  /** When what is kept for it was sent again, the last times. */
  resentAtMs: readonly number[];
  waiting: Waiting[];
}

interface Waiting {
  send(): void;
  timer: Timer | undefined;
}

export interface OverlayLinksInit {
  readonly node: AgentNode;
  /** One that is gone has no link, for as long as nobody says otherwise. */
  readonly members: MemberView;
  readonly kind: OverlayLinkKind;
  readonly bootcom: Bootcom | undefined;
  /** Of the listener; undefined: its connections are not encrypted. */
  readonly tls: Uint8Array | undefined;
  /** Whether this agent has another link to that one: then none of the overlay is opened at once. */
  isLinked(position: Position): boolean;
  /** A link is up, or a first attempt at one has failed. */
  onSettled(): void;
}

export class OverlayLinks {
  readonly #init: OverlayLinksInit;
  readonly #peers = new Map<Position, Peer>();
  readonly #gate: Gate;
  /** Links that are to bring an answer. */
  readonly #checked = new Set<Link>();
  readonly #isEager: boolean;
  readonly #queueMax: number;

  constructor(init: OverlayLinksInit) {
    const { params, platform } = init.node;
    this.#init = init;
    this.#isEager = params.string('overlay.open') === 'eager';
    this.#queueMax = params.int('overlay.queue');
    const accept = (channel: Channel, watch: Watch): Link => this.#accept(channel, watch);
    const { holds } = init.node;
    this.#gate = new Gate({
      holds, of: 'neighbours', platform, pendingMax: params.int('bootcom.pending.max'), accept,
    });
  }

  /** Calls `done` with the addresses at which it listens, or why it does not. */
  listen(done: (addresses: readonly string[], problem: string | undefined) => void): void {
    const { node, kind, bootcom, tls } = this.#init;
    const opened = (error: ErrorRecord | undefined): void =>
      done(this.#gate.addresses.slice(0, ADDRESSES_MAX), error?.message);
    if (kind === 'private') this.#gate.openPrivate('overlay', opened);
    else if (bootcom !== undefined) this.#gate.open(bootcom, linkListenOptions(node.params, tls), opened);
  }

  get #isListening(): boolean {
    return this.#gate.addresses.length > 0;
  }

  /** These are its neighbours now; one that is known stays as it is. */
  setNeighbours(neighbours: readonly Neighbour[]): void {
    const { random } = this.#init.node.platform;
    for (const neighbour of neighbours) {
      const known = this.#peers.get(neighbour.position);
      if (known !== undefined && known.neighbour.incarnation >= neighbour.incarnation) continue;
      if (known !== undefined) this.#drop(known, 'it was started again');
      const peer = {
        neighbour, link: undefined, attempt: undefined, tried: 0, timer: undefined,
        backoff: new Backoff(PAUSE, random), isYielding: false, isSettled: false,
        attemptAtMs: -Infinity, resentAtMs: [], waiting: [],
      };
      this.#peers.set(neighbour.position, peer);
      this.#connectEagerly(peer);
    }
  }

  /** The other link to a neighbour has closed. */
  onOtherClosed(position: Position): void {
    const peer = this.#peers.get(position);
    if (peer !== undefined) this.#connectEagerly(peer);
  }

  /** Links are being opened for the first time. */
  get isOpening(): boolean {
    const { isLinked } = this.#init;
    return this.#isEager && [...this.#peers.values()].some((peer) => {
      const { isSettled, neighbour } = peer;
      const isPossible = this.#isListening || neighbour.addresses.length > 0;
      return isPossible && !this.#isGone(peer) && !isSettled && !isLinked(neighbour.position);
    });
  }

  linkTo(position: Position): Link | undefined {
    return this.#peers.get(position)?.link;
  }

  onMember({ member, state, before }: MemberChange): void {
    const peer = this.#peers.get(member.position);
    if (peer === undefined) return;
    if (state === 'gone' && this.#isGone(peer)) {
      this.#drop(peer, 'it is gone');
      this.#onSettled(peer);
    }
    // It takes part after all.
    if (before === 'gone' && isLiving(state) && !this.#isGone(peer)) this.#connectEagerly(peer);
  }

  /** Its neighbour lives, and was not heard: a link that brings no answer is closed, and not kept for its lease. */
  check(position: Position): void {
    const link = this.linkTo(position);
    if (link === undefined || this.#checked.has(link)) return;
    this.#checked.add(link);
    const { messages, params } = this.#init.node;
    const before = link.facts.bytesIn;
    messages.request(link.peer, 'agent.echo', 0, () => {
      this.#checked.delete(link);
      if (link.facts.bytesIn === before) link.destroy('it brings no answer', 'lost');
    }, { timeoutMs: probeMs(params) });
  }

  /** Opens the link to a neighbour, unless it is being opened; it may be wanted for a route. */
  want(position: Position): void {
    const peer = this.#peers.get(position);
    if (peer !== undefined && peer.link === undefined) this.#connect(peer);
  }

  /**
   * Calls `send` when the link is up, fails, or is not up within some time of the first attempt. False: there is none
   * to wait for. Beyond the bound, it is dropped.
   */
  wait(position: Position, send: () => void, withinMs = Infinity): boolean {
    const peer = this.#peers.get(position);
    if (this.#gate.isClosed || peer === undefined || peer.link !== undefined || !this.#canConnect(peer)) return false;
    this.#connect(peer);
    const { holds, platform: { clock } } = this.#init.node;
    const leftMs = peer.attemptAtMs + withinMs - clock.nowMs();
    if (leftMs <= 0) return false;
    if (peer.waiting.length >= this.#queueMax) return true;
    const waiting: Waiting = { send, timer: undefined };
    peer.waiting.push(waiting);
    if (leftMs < Infinity) waiting.timer = heldTimer(holds, clock, 'detour', leftMs, () => goOn(peer, waiting));
    return true;
  }

  /** Says goodbye to all. */
  close(): void {
    this.#gate.close();
    for (const peer of this.#peers.values()) {
      peer.timer?.cancel();
      for (const { timer } of peer.waiting.splice(0)) timer?.cancel();
      if (peer.attempt !== peer.link) peer.attempt?.destroy('closed by this agent');
      peer.link?.close();
    }
  }

  #isGone({ neighbour }: Peer): boolean {
    const state = this.#init.members.stateOf(neighbour);
    return state === 'gone' || state === 'replaced';
  }

  #canConnect(peer: Peer): boolean {
    const { neighbour, attempt, isYielding, timer } = peer;
    const isPausing = timer !== undefined && !isYielding;
    return !this.#isGone(peer) && (attempt !== undefined || (!isPausing && neighbour.addresses.length > 0));
  }

  #drop(peer: Peer, text: string): void {
    stopTimer(peer);
    peer.tried = 0;
    for (const { timer } of peer.waiting.splice(0)) timer?.cancel();
    peer.attempt?.destroy(text);
    peer.link?.destroy(text);
  }

  /** If both ends did, each link would be made twice. */
  #connectEagerly(peer: Peer): void {
    const { isLinked, node, members } = this.#init;
    const { position } = peer.neighbour;
    if (this.#gate.isClosed || !this.#isEager || this.#isGone(peer) || isLinked(position)) return;
    if (members.self.position < position || !this.#isListening || peer.timer !== undefined) return this.#connect(peer);
    peer.isYielding = true;
    peer.timer = heldTimer(node.holds, node.platform.clock, 'late neighbour', LATE_MS, () => this.#connect(peer));
  }

  /** To the next of its addresses; a pause after the last. */
  #connect(peer: Peer): void {
    const { neighbour, attempt, link } = peer;
    if (peer.isYielding) stopTimer(peer);
    if (this.#gate.isClosed || this.#isGone(peer)) return;
    if (attempt !== undefined || link !== undefined || peer.timer !== undefined) return;
    const address = neighbour.addresses[peer.tried];
    if (address === undefined) return;
    const { node, kind, bootcom } = this.#init;
    const { platform, params } = node;
    const deadlineMs = params.int('bootcom.handshake');
    if (peer.tried === 0) peer.attemptAtMs = platform.clock.nowMs();
    peer.tried += 1;
    const made = kind === 'private'
      ? platform.network.connectPrivate(address, deadlineMs)
      : bootcom?.connect?.(address, deadlineMs, keyFor(address, neighbour.tls));
    if (made === undefined) return;
    const { position } = neighbour;
    const channel = node.linkFaults.channel(addressAt(position), made);
    const admit = (from: Address): string | undefined =>
      from === addressAt(position) ? undefined : 'it is another agent';
    peer.attempt = this.#link(channel, { role: 'connect', secret: neighbour.key, admit }, (ended, reason) => {
      if (peer.attempt === ended) peer.attempt = undefined;
      this.#onEnded(peer, ended, reason);
    });
  }

  #accept(channel: Channel, watch: Watch): Link {
    const { secrets } = this.#init.node.platform;
    const nobody = secrets.bytes(SECRET_BYTES);
    const peerOf = (from: Address): Peer | undefined => this.#peers.get(positionOf(from) ?? -1);
    const secretOf = (from: Address): Uint8Array => {
      const peer = peerOf(from);
      return peer !== undefined && addressAt(peer.neighbour.position) === from ? peer.neighbour.key : nobody;
    };
    const admit: HandshakeInit['admit'] = (from, incarnation, job) => {
      const peer = peerOf(from);
      if (peer === undefined || job !== 0 || incarnation !== peer.neighbour.incarnation) return 'it is no neighbour';
      if (this.#isGone(peer)) return 'it is gone';
      if (peer.attempt === undefined) return peer.link === undefined ? undefined : 'it is linked already';
      const isLate = this.#init.node.platform.clock.nowMs() - peer.attemptAtMs > LATE_MS;
      const isLower = this.#init.members.self.position < peer.neighbour.position;
      return isLower && !isLate ? 'this agent connects to it' : undefined;
    };
    return this.#link(channel, { role: 'accept', secret: nobody, secretOf, admit }, (ended, reason) => {
      const peer = peerOf(ended.peer);
      if (peer?.link === ended) this.#onEnded(peer, ended, reason);
    }, watch);
  }

  #link(
    channel: Channel,
    own: Pick<HandshakeInit, 'role' | 'secret' | 'secretOf' | 'admit'>,
    onClosed: (link: Link, reason: LinkCloseReason) => void,
    watch: Watch | undefined = undefined,
  ): Link {
    const { node, members } = this.#init;
    const { platform, identity } = node;
    const handshake = {
      ...own, self: identity.self, session: identity.session, secrets: platform.secrets,
      start: members.self.incarnation,
    };
    const limits = node.linkLimits(node.params.int('bootcom.handshake'), channel);
    const hooks = { onUp: (link: Link) => this.#onUp(link), onClosed };
    const events = node.linkEvents(watch?.(hooks) ?? hooks);
    const onNamed = (link: Link, peer: Address): void => node.linkFaults.onNamed(link, peer);
    return new Link({ role: 'overlay', channel, clock: platform.clock, handshake, limits, onNamed }, events);
  }

  #onUp(link: Link): void {
    const peer = this.#peers.get(positionOf(link.peer) ?? -1);
    if (peer === undefined) return link.destroy('it is no neighbour');
    const { attempt } = peer;
    peer.link = link;
    if (attempt !== undefined && attempt !== link) {
      peer.attempt = undefined;
      attempt.destroy('the other end has connected');
      // It may have taken messages that the other end does not read.
      this.#resendTo(peer, link.peer);
    }
    stopTimer(peer);
    peer.tried = 0;
    peer.backoff.reset();
    flush(peer);
    this.#onSettled(peer);
  }

  /** A link, or an attempt at one. What waits goes another way after the last address. */
  #onEnded(peer: Peer, link: Link, reason: LinkCloseReason): void {
    const wasUp = peer.link === link;
    if (wasUp) peer.link = undefined;
    const isWanted = !this.#isGone(peer) && this.#peers.get(peer.neighbour.position) === peer;
    if (this.#gate.isClosed || !isWanted || peer.link !== undefined) return;
    if (reason === 'goodbye') return;
    // What it took last has not arrived; news of a failure can't wait for a probe.
    if (wasUp) this.#resendTo(peer, link.peer);
    if (peer.tried > 0 && peer.tried < peer.neighbour.addresses.length) return this.#connect(peer);
    peer.tried = 0;
    stopTimer(peer);
    const { holds, platform: { clock } } = this.#init.node;
    peer.timer = heldTimer(holds, clock, 'next connection', peer.backoff.nextMs(), () => {
      peer.timer = undefined;
      this.#connectEagerly(peer);
    });
    flush(peer);
    this.#onSettled(peer);
  }

  #resendTo(peer: Peer, address: Address): void {
    const { messages, platform } = this.#init.node;
    const nowMs = platform.clock.nowMs();
    const recent = peer.resentAtMs.filter((atMs) => nowMs < atMs + RESENDS_MS);
    if (recent.length >= RESENDS_MAX) return;
    peer.resentAtMs = [...recent, nowMs];
    messages.transport.resend((agent) => agent === address);
  }

  #onSettled(peer: Peer): void {
    if (peer.isSettled) return;
    peer.isSettled = true;
    this.#init.onSettled();
  }
}

function flush(peer: Peer): void {
  for (const waiting of [...peer.waiting]) goOn(peer, waiting);
}

function goOn(peer: Peer, waiting: Waiting): void {
  const at = peer.waiting.indexOf(waiting);
  if (at < 0) return; // It was dropped meanwhile.
  peer.waiting.splice(at, 1);
  waiting.timer?.cancel();
  waiting.send();
}

function stopTimer(peer: Peer): void {
  peer.timer?.cancel();
  peer.timer = undefined;
  peer.isYielding = false;
}
