/**
 * Link: a channel whose peer is authenticated (STCI paper, II-E.1). States connecting → up ⇄ suspect → closed; each
 * change is reported. A goodbye distinguishes an intended end from a failure. Frames sent before the link is up wait in
 * order. A link whose queue exceeds its bound is closed: a peer that does not read must not fill our memory.
 */

import {
  StciError,
  addressName,
  type Address,
  type Channel,
  type ChannelEvents,
  type Clock,
  type Impairment,
  type JobId,
  type LinkCloseReason,
  type LinkFacts,
  type LinkState,
  type Timer,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { afterRunning } from '../event/running-timer.js';
import { FrameDecoder } from '../codec/frame-decoder.js';
import {
  FRAGMENT_BYTES_MAX,
  LAYER,
  frameBody,
  frameLayer,
  frameSource,
  frameType,
  readU32,
  writeU32,
  type Frame,
} from '../codec/frame.js';
import {
  HANDSHAKE_BODY_BYTES_MAX,
  Handshake,
  LINK_FRAME,
  ascii,
  handshakeOver,
  linkFrame,
  reasonOf,
  refusalOf,
  type HandshakeInit,
} from './handshake.js';
import { ImpairedChannel, type ImpairmentDeps } from './impairment.js';
import { Lease } from './lease.js';

/** Body of a keepalive: the silence that may follow, ms. */
const ALIVE_BYTES = 4;

export interface LinkLimits {
  /** Largest frame body from an authenticated peer. */
  readonly frameBytesMax: number;
  /** Largest send queue in bytes. */
  readonly queueBytesMax: number;
  /** Deadline of the handshake. */
  readonly handshakeMs: number;
  /** Silence after which the link is lost; undefined: no lease, as inside one process. */
  readonly leaseMs?: number;
}

/** What the peer is to this agent. */
export type LinkRole = 'parent' | 'child' | 'overlay';

export interface LinkInit {
  readonly role: LinkRole;
  readonly channel: Channel;
  readonly clock: Clock;
  readonly handshake: HandshakeInit;
  readonly limits: LinkLimits;
  /** Told once which agent the peer says it is, before it has proved it. */
  onNamed?(link: Link, peer: Address): void;
}

export interface LinkEvents {
  onUp(link: Link): void;
  /** A frame of layer message or stream. The receiver owns its memory. */
  onFrame(link: Link, frame: Frame): void;
  /** There is room after `send` returned false. */
  onDrain(link: Link): void;
  /** Called once. `text` is for messages. */
  onClosed(link: Link, reason: LinkCloseReason, text: string): void;
}

export class Link {
  #channel: Channel;
  /** What the channel's events go to: this link, or an impairment of it. */
  #receiver: ChannelEvents;
  readonly #init: LinkInit;
  readonly #events: LinkEvents;
  readonly #handshake: Handshake;
  readonly #decoder: FrameDecoder;
  #timer: Timer | undefined;
  #lease: Lease | undefined;
  #state: LinkState = 'connecting';
  #sinceMs: number;
  #peer: Address = 0;
  #job: JobId = 0;
  #closing: { reason: LinkCloseReason; text: string } | undefined;
  #early: Uint8Array[] = [];
  #earlyBytes = 0;
  #isReading = true;
  #isNamed = false;
  /** The peer was named in this chunk, and an impairment holds what it sent. */
  #isHeld = false;
  #framesIn = 0;
  #framesOut = 0;
  #bytesIn = 0;
  #bytesOut = 0;

  constructor(init: LinkInit, events: LinkEvents) {
    this.#init = init;
    this.#channel = init.channel;
    this.#events = events;
    this.#sinceMs = init.clock.nowMs();
    this.#handshake = new Handshake(handshakeOver(init.channel, init.handshake));
    this.#decoder = new FrameDecoder(HANDSHAKE_BODY_BYTES_MAX, (frame) => this.#onFrame(frame));
    this.#timer = afterRunning(init.clock, init.limits.handshakeMs, () =>
      this.#fail('timeout', `no handshake within ${formatDuration(init.limits.handshakeMs)}`),
    );
    this.#receiver = {
      onData: (chunk) => this.#onData(chunk),
      onDrain: () => this.#state !== 'closed' && events.onDrain(this),
      onClose: (reason) => this.#onClose(reason),
    };
    this.#channel.bind({
      onData: (chunk) => this.#receiver.onData(chunk),
      onDrain: () => this.#receiver.onDrain(),
      onClose: (reason) => this.#receiver.onClose(reason),
    });
    this.#transmit(this.#handshake.begin());
  }

  get state(): LinkState {
    return this.#state;
  }

  /** How long it has been in this state. */
  get inStateMs(): number {
    return this.#init.clock.nowMs() - this.#sinceMs;
  }

  /** The authenticated peer; 0 before the link is up. */
  get peer(): Address {
    return this.#peer;
  }

  /** The job of a peer that is a session agent; else 0. */
  get job(): JobId {
    return this.#job;
  }

  get role(): LinkRole {
    return this.#init.role;
  }

  /** Bytes that wait to be sent. */
  get queuedBytes(): number {
    return this.#channel.queuedBytes;
  }

  /** The peer has named the session, which only its members know; see Handshake. */
  get isIntroduced(): boolean {
    return this.#handshake.isIntroduced;
  }

  get facts(): LinkFacts {
    return {
      peer: this.#peer, kind: this.#channel.kind, state: this.#state,
      framesIn: this.#framesIn, framesOut: this.#framesOut, bytesIn: this.#bytesIn, bytesOut: this.#bytesOut,
    };
  }

  /** Sends one frame, in pieces. Returns false if the sender should wait for `onDrain`. */
  send(pieces: readonly Uint8Array[]): boolean {
    if (this.#state === 'closed' || this.#closing !== undefined) return true;
    this.#framesOut += 1;
    if (this.#state === 'connecting') {
      this.#early.push(...pieces);
      for (const piece of pieces) this.#earlyBytes += piece.length;
      this.#checkQueue(this.#earlyBytes);
      return true;
    }
    return this.#transmit(pieces);
  }

  /** Pauses and resumes reading: back-pressure on the peer. */
  readable(on: boolean): void {
    this.#isReading = on;
    this.#lease?.listening(on);
    this.#channel.readable(on);
  }

  /** A fault of this end; undefined: it is over. Returns what holds the bytes meanwhile; undefined: nothing does. */
  impair(how: Impairment | undefined, deps: ImpairmentDeps): ImpairedChannel | undefined {
    if (how !== undefined && this.#state !== 'closed') this.#interpose(deps);
    if (!(this.#channel instanceof ImpairedChannel)) return undefined;
    const impaired = this.#channel;
    impaired.impair(how);
    return impaired === this.#channel ? impaired : undefined;
  }

  #interpose(deps: ImpairmentDeps): void {
    const [below, events] = [this.#channel, this.#receiver];
    if (below instanceof ImpairedChannel) return;
    const impaired = new ImpairedChannel(below, deps, { events, isReading: this.#isReading });
    this.#channel = this.#receiver = impaired;
    impaired.onIdle = () => void ([this.#channel, this.#receiver] = [below, events]);
  }

  /** Marks a peer as suspect for the lease or a detector, or clears the mark. */
  suspect(isSuspect: boolean): void {
    const state = isSuspect ? 'suspect' : 'up';
    if (this.#state === state || (this.#state !== 'up' && this.#state !== 'suspect')) return;
    this.#state = state;
    this.#sinceMs = this.#init.clock.nowMs();
  }

  /** Tells the connecting end that this one takes the link as up; see HandshakeInit.isConfirmed. */
  confirm(): void {
    this.#sendKeepalive(0);
  }

  /** Announces silence of this length that is no failure, for an agent that is about to be stopped (SIGTSTP). */
  announceSilence(silenceMs: number): void {
    if (this.#lease !== undefined) this.#sendKeepalive(silenceMs);
  }

  /** Closes the link after sending what is queued and a goodbye, with the cause if there is one. */
  close(cause = ''): void {
    if (this.#state === 'closed' || this.#closing !== undefined) return;
    if (this.#state !== 'connecting') {
      this.#transmit([linkFrame(LINK_FRAME.goodbye, this.#init.handshake.self, ascii(cause))]);
    }
    this.#closing = { reason: 'local', text: 'closed by this agent' };
    this.#channel.close();
  }

  /** Closes the link at once; what is queued is lost. */
  destroy(text: string, reason: LinkCloseReason = 'local'): void {
    this.#fail(reason, text);
  }

  #makeLease(): Lease | undefined {
    const { leaseMs } = this.#init.limits;
    if (leaseMs === undefined) return undefined;
    return new Lease(
      { clock: this.#init.clock, leaseMs },
      {
        sendKeepalive: () => this.#sendKeepalive(0),
        suspect: (isSuspect) => this.suspect(isSuspect),
        expire: (silentMs) => this.#fail('silent', `no data for ${formatDuration(silentMs)} (bootcom.lease)`),
      },
    );
  }

  #sendKeepalive(silenceMs: number): void {
    const body = new Uint8Array(ALIVE_BYTES);
    writeU32(body, 0, silenceMs);
    this.#transmit([linkFrame(LINK_FRAME.alive, this.#init.handshake.self, body)]);
  }

  #transmit(pieces: readonly Uint8Array[]): boolean {
    if (pieces.length === 0) return true;
    for (const piece of pieces) this.#bytesOut += piece.length;
    this.#lease?.onSent();
    const room = this.#channel.send(pieces);
    this.#checkQueue(this.#channel.queuedBytes);
    return room;
  }

  #checkQueue(queuedBytes: number): void {
    const { queueBytesMax } = this.#init.limits;
    if (queuedBytes <= queueBytesMax) return;
    const text = `${queuedBytes} bytes are queued for ${this.#peerName}, over bootcom.queue.max = ${queueBytesMax}`;
    this.#fail('lost', `${text}: the peer does not read`);
  }

  get #peerName(): string {
    return this.#state === 'connecting' ? this.#channel.label : addressName(this.#peer);
  }

  #onData(chunk: Uint8Array): void {
    if (this.#state === 'closed') return;
    this.#lease?.heard();
    this.#bytesIn += chunk.length;
    try {
      this.#decoder.push(chunk);
    } catch (fault) {
      this.#onInvalid(fault);
    }
    this.#isHeld = false;
  }

  #onInvalid(fault: unknown): void {
    if (!(fault instanceof StciError)) throw fault;
    if (fault.data['refuse'] === true) {
      this.#transmit([linkFrame(LINK_FRAME.refuse, this.#init.handshake.self, ascii(fault.message))]);
      this.#closing = { reason: 'refused', text: fault.message };
      this.#channel.close();
    } else {
      this.#fail(fault.code === 'STCI_AUTH_FAILED' ? 'refused' : 'protocol', fault.message);
    }
  }

  /** A frame that was held with the chunk in which the peer was named. */
  #onHeldFrame(frame: Frame): void {
    try {
      this.#onFrame(frame);
    } catch (fault) {
      this.#onInvalid(fault);
    }
  }

  #onFrame(frame: Frame): void {
    if (this.#state === 'closed' || this.#closing !== undefined) return;
    if (this.#state === 'connecting') {
      if (!this.#isNamed) this.#onNamed(frameSource(frame));
      if (!this.#isHeld) return this.#onHandshake(frame);
      (this.#channel as ImpairedChannel).hold(() => this.#onHeldFrame(frame));
    } else if (frameLayer(frame) !== LAYER.link) {
      this.#framesIn += 1;
      this.#events.onFrame(this, frame);
    } else if (frameType(frame) === LINK_FRAME.alive) {
      this.#onAlive(frameBody(frame));
    } else if (frameType(frame) === LINK_FRAME.goodbye) {
      const cause = reasonOf(frame);
      this.#closing = { reason: 'goodbye', text: cause === '' ? 'exited' : `exited: ${cause}` };
      this.#channel.close();
    } else if (frameType(frame) === LINK_FRAME.refuse) {
      // The accepting end decides last: the connecting end has its proof already and considers itself up.
      throw refusalOf(frame);
    } else {
      throw new StciError('STCI_FRAME_INVALID', `Expected no handshake after the handshake, type ${frameType(frame)}`);
    }
  }

  #onNamed(peer: Address): void {
    const before = this.#channel;
    this.#isNamed = true;
    this.#init.onNamed?.(this, peer);
    const after = this.#channel;
    this.#isHeld = after !== before && after instanceof ImpairedChannel && after.isHolding;
  }

  #onAlive(body: Uint8Array): void {
    if (body.length !== ALIVE_BYTES) throw new StciError('STCI_FRAME_INVALID', 'Expected 4 bytes in a keepalive');
    this.#lease?.announce(readU32(body, 0));
  }

  #onHandshake(frame: Frame): void {
    if (frameLayer(frame) !== LAYER.link) {
      throw new StciError('STCI_AUTH_FAILED', 'Expected a handshake before anything else');
    }
    const step = this.#handshake.receive(frame);
    this.#transmit(step.send);
    if (step.peer === undefined) return;
    this.#peer = step.peer;
    this.#job = step.job ?? 0;
    this.#state = 'up';
    this.#sinceMs = this.#init.clock.nowMs();
    this.#timer?.cancel();
    this.#lease = this.#makeLease();
    // Fragments of messages always fit, whatever bootcom.frame.max is.
    this.#decoder.bodyBytesMax = Math.max(this.#init.limits.frameBytesMax, FRAGMENT_BYTES_MAX);
    const early = this.#early;
    this.#early = [];
    this.#transmit(early);
    this.#events.onUp(this);
  }

  #fail(reason: LinkCloseReason, text: string): void {
    if (this.#state === 'closed') return;
    this.#closing ??= { reason, text };
    this.#channel.destroy(text);
  }

  #onClose(reason: string): void {
    if (this.#state === 'closed') return;
    const cut = this.#decoder.midFrame ? ', in the middle of a frame' : '';
    const when = this.#state === 'connecting' ? 'before the handshake was over' : 'without goodbye';
    const text = `the connection to ${this.#channel.label} closed ${when}: ${reason}${cut}`;
    const end = this.#closing ?? { reason: 'lost' as const, text };
    this.#state = 'closed';
    this.#early = [];
    this.#timer?.cancel();
    this.#lease?.stop();
    this.#events.onClosed(this, end.reason, end.text);
  }
}
