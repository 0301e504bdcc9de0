/**
 * One endpoint of a job's stream: the controller's, or that of a session agent. It sends under credit, and receives.
 * The layer (stream-layer.ts) has the endpoints and passes them their frames.
 */

import { CONTROLLER, StciError, addressName, assert, type Address, type Clock, type JobId } from '@stci/interface';
import { CHUNK_COST_BYTES, OVERDRAFT_BYTES_MAX } from '../am/credit.js';
import type { MessageLayer } from '../am/message-layer.js';
import { SUBTREE } from '../am/transport.js';
import { OPAQUE_ITEMS_MAX } from '../codec/bounds.js';
import { decode, encode } from '../codec/cbor.js';
import { HEADER_BYTES, LAYER, readU32, writeU32, type FrameHeader } from '../codec/frame.js';
import type { Scope } from '../event/scope.js';
import { ReceiveWindow, SendWindow } from '../event/window.js';

/** Frame types of the layer `stream`. */
const STREAM_FRAME = { up: 1, down: 2, creditUp: 3, creditDown: 4 } as const;

/** Number of the stream in frames: a job has one. */
export const STREAM = 1;

/** Body of a credit frame: one number, the bytes granted. */
const GRANT_BYTES = 4;

/** What the layer and its endpoints share. */
export interface StreamLayerInit {
  readonly self: Address;
  readonly clock: Clock;
  /** Of this agent. */
  readonly holds: Scope;
  readonly messages: MessageLayer;
  readonly limits: { readonly ttl: number; readonly messageBytesMax: number; readonly requestTimeoutMs: number };
  onFault(error: StciError): void;
}

/** Checks received data. Throws STCI_MESSAGE_INVALID if `source` may not send it. */
export type StreamCheck = (data: unknown, source: Address) => void;

export interface StreamOptions {
  /** Default: the agent's own. */
  readonly job?: JobId;
  /** At the controller: the others. */
  readonly members?: readonly Address[];
  /** Window of each sender, bytes. */
  readonly creditBytes: number;
  readonly check: StreamCheck;
}

export interface StreamEvents {
  /**
   * At the controller: data of a member. `release` returns the credit to it: to be called when the data is consumed;
   * the sender stops while too much is unreleased.
   */
  onUp(data: unknown, release: () => void): void;
  /** At a member: data of the controller. `release` as above. */
  onDown(data: unknown, release: () => void): void;
  /** `upPieces` or `down` may be called again after returning false. */
  onCredit(): void;
}

export class StreamEndpoint {
  readonly job: JobId;
  readonly #init: StreamLayerInit;
  readonly #options: StreamOptions;
  readonly #events: StreamEvents;
  readonly #isRoot: boolean;
  /** Who may send to this endpoint; at the controller, those that have left included. */
  readonly #sources: Set<Address>;
  readonly #onClose: () => void;
  readonly #upCredit: SendWindow;
  /** At the controller: credit left for each member. */
  readonly #downCredit = new Map<Address, SendWindow>();
  /** At the controller: members whose credit a call of `down` waits for. */
  readonly #awaited = new Set<Address>();
  #allAwaited = false;
  /** Bytes consumed of each source and not granted again yet. */
  readonly #consumed = new Map<Address, ReceiveWindow>();
  #sequence = 0;
  #closed = false;

  constructor(init: StreamLayerInit, options: StreamOptions, events: StreamEvents, onClose: () => void) {
    const { job = init.messages.ownJob, members = [], creditBytes } = options;
    this.job = job;
    this.#init = init;
    this.#options = options;
    this.#events = events;
    this.#onClose = onClose;
    this.#isRoot = init.self === CONTROLLER;
    this.#sources = new Set(this.#isRoot ? members : [CONTROLLER]);
    this.#upCredit = sendWindow(creditBytes);
    for (const member of members) this.#downCredit.set(member, sendWindow(creditBytes));
  }

  /**
   * From a member: sends data that is CBOR already, in pieces that are not copied. As all that sends, it does so in any
   * case; false asks the caller to wait for `onCredit`.
   */
  upPieces(pieces: readonly Uint8Array[]): boolean {
    assert(!this.#isRoot, 'data goes up from members');
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#send(STREAM_FRAME.up, CONTROLLER, pieces);
    return this.#upCredit.spend(bytes + HEADER_BYTES);
  }

  /** Credit left for `upPieces`: for data and a header for each piece of it. */
  get upCreditBytes(): number {
    return this.#upCredit.leftBytes;
  }

  /** From the controller, to all members, or to one of them. Data for a closed stream is dropped. */
  down(data: unknown, to?: Address): boolean {
    assert(this.#isRoot, 'only the controller sends down');
    if (this.#closed) return true;
    const body = encode(data);
    this.#send(STREAM_FRAME.down, to ?? SUBTREE, [body]);
    const bytes = body.length + HEADER_BYTES;
    if (to !== undefined) {
      const available = this.#downCredit.get(to)?.spend(bytes) ?? true;
      if (!available) this.#awaited.add(to);
      return available;
    }
    for (const credit of this.#downCredit.values()) credit.spend(bytes);
    this.#allAwaited = !this.#allDownAvailable();
    return !this.#allAwaited;
  }

  /** At the controller: a member has left, and its missing credit no longer blocks the others. */
  drop(member: Address): void {
    this.#downCredit.delete(member);
    this.#consumed.delete(member);
    this.#onMemberCredit(member);
  }

  /** At the controller: an agent becomes a member, or another takes the place of one that has left. */
  admit(member: Address): void {
    assert(this.#isRoot, 'the controller admits members');
    this.#sources.add(member);
    this.#consumed.delete(member);
    this.#downCredit.set(member, sendWindow(this.#options.creditBytes));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onClose();
  }

  /**
   * Throws StciError if its source may not send this frame; returns the delivery, whose errors are not the source's.
   */
  receive(header: FrameHeader, body: Uint8Array): () => void {
    if (this.#closed) return () => undefined;
    const { type, source } = header;
    const isForRoot = type === STREAM_FRAME.up || type === STREAM_FRAME.creditDown;
    if (isForRoot !== this.#isRoot || !this.#sources.has(source)) {
      throw malformed(`${addressName(source)} may not send frames of type ${type} on the stream of job ${this.job}`);
    }
    switch (type) {
      case STREAM_FRAME.up:
        return this.#onData(source, body, STREAM_FRAME.creditUp, (data, release) => this.#events.onUp(data, release));
      case STREAM_FRAME.down:
        return this.#onData(source, body, STREAM_FRAME.creditDown, (data, release) =>
          this.#events.onDown(data, release));
      case STREAM_FRAME.creditUp: {
        const resumed = this.#upCredit.grant(grantOf(body));
        return () => resumed && this.#events.onCredit();
      }
      case STREAM_FRAME.creditDown: {
        const resumed = this.#downCredit.get(source)?.grant(grantOf(body)) === true;
        return () => resumed && this.#onMemberCredit(source);
      }
      default:
        throw malformed(`A stream has no frames of type ${type}`);
    }
  }

  #onData(
    source: Address, body: Uint8Array, credit: number, deliver: (data: unknown, release: () => void) => void,
  ): () => void {
    const data = decode(body, OPAQUE_ITEMS_MAX);
    this.#options.check(data, source);
    const release = this.#releaser(source, body.length + HEADER_BYTES, credit);
    return () => deliver(data, release);
  }

  /** `member` has credit again, or has left. Data to several members waits for the credit of all of them. */
  #onMemberCredit(member: Address): void {
    const one = this.#awaited.delete(member);
    const all = this.#allAwaited && this.#allDownAvailable();
    if (all) this.#allAwaited = false;
    if (one || all) this.#events.onCredit();
  }

  #allDownAvailable(): boolean {
    for (const credit of this.#downCredit.values()) if (!credit.available) return false;
    return true;
  }

  #releaser(source: Address, bytes: number, type: number): () => void {
    const credit = this.#consumed.get(source) ?? new ReceiveWindow(this.#options.creditBytes, OVERDRAFT_BYTES_MAX);
    this.#consumed.set(source, credit);
    credit.receive(bytes);
    let released = false;
    return () => {
      // Another agent may have the address of one that was dropped.
      if (released || this.#closed || this.#consumed.get(source) !== credit) return;
      released = true;
      const grant = credit.consume(bytes);
      if (grant === 0) return;
      const body = new Uint8Array(GRANT_BYTES);
      writeU32(body, 0, grant);
      this.#send(type, source, [body]);
    };
  }

  #send(type: number, destination: Address, body: readonly Uint8Array[]): void {
    const { messages, limits: { ttl }, self: source } = this.#init;
    this.#sequence = (this.#sequence + 1) >>> 0;
    const header: FrameHeader = {
      layer: LAYER.stream, type, flags: 0, ttl, stream: STREAM, source, destination, job: this.job,
      sequence: this.#sequence,
    };
    try {
      messages.transport.send(header, body);
    } catch (fault) {
      // Where the receiver is gone, the agent that had the link to it reports the failure.
      if (!(fault instanceof StciError)) throw fault;
      this.#init.onFault(fault);
    }
  }
}

/** Less than the cost of one chunk is no credit. */
function sendWindow(bytes: number): SendWindow {
  return new SendWindow(bytes, CHUNK_COST_BYTES);
}

/** Bytes of credit granted. */
function grantOf(body: Uint8Array): number {
  if (body.length !== GRANT_BYTES) throw malformed(`Expected ${GRANT_BYTES} bytes of credit, got ${body.length}`);
  return readU32(body, 0);
}

function malformed(text: string): StciError {
  return new StciError('STCI_MESSAGE_INVALID', text);
}
