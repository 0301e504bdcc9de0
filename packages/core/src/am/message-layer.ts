/**
 * Message layer (STCI paper, II-E.2b): routed messages between any two agents, one-way or as request and reply with
 * a deadline. Frames for others are passed on at once, by their header alone; frames for this agent are put on its
 * dispatch queue and handled at its own pace.
 */

import {
  NEIGHBOUR,
  StciError,
  addressName,
  assert,
  fromErrorRecord,
  toErrorRecord,
  type Address,
  type Clock,
  type ErrorRecord,
  type ErrorCode,
  type EventDomain,
  type Timer,
} from '@stci/interface';
import { decode, encode } from '../codec/cbor.js';
import {
  FLAG,
  LAYER,
  frameDestination,
  frameLayer,
  frameSource,
  spendHop,
  type Frame,
  type FrameHeader,
} from '../codec/frame.js';
import type { Link } from '../bootcom/link.js';
import { Reassembly, cut } from './fragments.js';
import { Inbox, type Received } from './inbox.js';
import { errorRecord } from './job-shapes.js';
import {
  checkBody, checkReply, checkSender, messageId, messageName, type MessageBody, type MessageName,
} from './messages.js';
import type { Router } from './router.js';

/** Destination of a frame that every agent at and below the receiver is to have. */
export const SUBTREE: Address = 0xffff_fffe;

/** Errors that whoever sent the message is to blame for, whatever happens here. */
const MALFORMED: readonly ErrorCode[] = [
  'STCI_CODEC_INVALID', 'STCI_MESSAGE_INVALID', 'STCI_MESSAGE_UNKNOWN', 'STCI_STREAM_CREDIT',
];

/** Errors by which an agent on the way answers a request that it can't pass on. */
const BOUNCED: readonly ErrorCode[] = ['STCI_MESSAGE_UNROUTABLE', 'STCI_MESSAGE_TTL'];

/** Requests that may wait for their reply at once. */
const REQUESTS_MAX = 65_536;

/**
 * What is made of peers that have proved who they are and break the rules all the same. Without one, nothing but
 * `onFault` follows.
 */
export interface PeerGuard {
  /** Whether a frame that says to be from its source may have come over this link. */
  admits(link: Link, frame: Frame): boolean;
  /** What `source` sent, over `from`, is not what its type promises. */
  onMalformed(source: Address, from: Link, error: StciError): void;
}

export interface MessageLayerInit {
  readonly router: Router;
  readonly clock: Clock;
  readonly limits: { readonly ttl: number; readonly messageBytesMax: number; readonly requestTimeoutMs: number };
  /** Messages of one agent far away that may wait; default: any number. */
  readonly waitingMax?: number;
  /** Told of each message that waits in the inbox. */
  readonly domain: EventDomain<{ received: Received }>;
  /** Frames of the stream layer for this agent. */
  onStreamFrame(frame: Frame, from: Link): void;
  /** Something that arrived could not be used: told once each, and dropped. */
  onFault(error: StciError): void;
}

/** What a handler may ask about the message it is given. */
export interface MessageContext {
  readonly source: Address;
  /** The neighbour that handed it over; undefined for a message to oneself. */
  readonly from: Link | undefined;
}

type Handler = (body: never, context: MessageContext) => unknown;

interface PendingRequest {
  readonly name: MessageName;
  readonly timer: Timer;
  readonly destination: Address;
  done(error: StciError | undefined, reply: unknown): void;
}

export class MessageLayer {
  readonly #init: MessageLayerInit;
  readonly #handlers = new Map<MessageName, Handler>();
  readonly #requests = new Map<number, PendingRequest>();
  readonly #reassembly: Reassembly;
  readonly inbox: Inbox;
  #guard: PeerGuard | undefined;
  #sequence = 0;

  constructor(init: MessageLayerInit) {
    this.#init = init;
    const { messageBytesMax, requestTimeoutMs } = init.limits;
    this.#reassembly = new Reassembly(init.clock, messageBytesMax, requestTimeoutMs, (error) => init.onFault(error));
    this.inbox = new Inbox(() => init.router.parent);
    init.domain.observe('received', () => this.#dispatch(this.inbox.take()));
    this.on('agent.echo', (body) => body);
  }

  set guard(guard: PeerGuard) {
    this.#guard = guard;
  }

  /** One handler a type. What it returns is the reply where one is awaited; what it throws is the error reply. */
  on<Name extends MessageName>(
    name: Name,
    handler: (body: MessageBody<Name>, context: MessageContext) => unknown,
  ): void {
    this.#handlers.set(name, handler as Handler);
  }

  /** One-way. Throws STCI_MESSAGE_UNROUTABLE where no link leads to the destination. */
  send<Name extends MessageName>(destination: Address, name: Name, body: MessageBody<Name>): void {
    this.#emit(destination, messageId(name), 0, this.#nextSequence(), encode(body));
  }

  /** To one neighbour, whatever its address. */
  sendNeighbour<Name extends MessageName>(link: Link, name: Name, body: MessageBody<Name>): void {
    const header = this.#header(NEIGHBOUR, messageId(name), 0, this.#nextSequence());
    cut(header, [encode(body)], (pieces) => link.send(pieces));
  }

  /** To every agent below this one, passed on without being decoded. */
  sendSubtree<Name extends MessageName>(name: Name, body: MessageBody<Name>): void {
    const header = this.#header(SUBTREE, messageId(name), 0, this.#nextSequence());
    const encoded = encode(body);
    for (const link of this.#init.router.childLinks()) cut(header, [encoded], (pieces) => link.send(pieces));
  }

  /** `done` is called once: with the reply, the error that the far end threw, or STCI_REQUEST_TIMEOUT. */
  request<Name extends MessageName>(
    destination: Address,
    name: Name,
    body: MessageBody<Name>,
    done: (error: StciError | undefined, reply: unknown) => void,
    timeoutMs: number = this.#init.limits.requestTimeoutMs,
  ): void {
    if (this.#requests.size >= REQUESTS_MAX) {
      done(new StciError('STCI_REQUEST_LIMIT', `${REQUESTS_MAX} requests wait for replies already`), undefined);
      return;
    }
    const sequence = this.#nextSequence();
    const timer = this.#init.clock.after(timeoutMs, () =>
      this.#settle(
        sequence,
        new StciError('STCI_REQUEST_TIMEOUT', `No reply of ${addressName(destination)} to ${name} in ${timeoutMs} ms`),
      ),
    );
    this.#requests.set(sequence, { name, timer, destination, done });
    try {
      this.#emit(destination, messageId(name), FLAG.request, sequence, encode(body));
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      this.#settle(sequence, fault);
    }
  }

  /** Fails every waiting request; their deadlines are cancelled. */
  close(reason: string): void {
    for (const sequence of [...this.#requests.keys()]) {
      this.#settle(sequence, new StciError('STCI_LINK_CLOSED', reason));
    }
  }

  /** Every frame of every link comes in here. */
  onFrame(link: Link, frame: Frame): void {
    if (this.#guard?.admits(link, frame) === false) return;
    const destination = frameDestination(frame);
    if (destination === this.#init.router.self || destination === NEIGHBOUR) {
      this.#local(frame, link);
    } else if (destination === SUBTREE) {
      for (const child of this.#init.router.childLinks()) if (child !== link) child.send([frame]);
      this.#local(frame, link);
    } else {
      this.#forward(frame, destination);
    }
  }

  /** Sends for the stream layer, by the same routes, never to oneself. Throws STCI_MESSAGE_UNROUTABLE. */
  sendRouted(header: FrameHeader, body: readonly Uint8Array[]): void {
    if (header.destination === SUBTREE) {
      for (const link of this.#init.router.childLinks()) cut(header, body, (pieces) => link.send(pieces));
      return;
    }
    const link = this.#linkTo(header.destination);
    assert(link !== undefined, 'a stream frame is not for its own sender');
    cut(header, body, (pieces) => link.send(pieces));
  }

  #forward(frame: Frame, destination: Address): void {
    const next = this.#init.router.next(destination);
    if (next !== undefined && spendHop(frame)) {
      next.send([frame]);
      return;
    }
    this.#bounce(frame, next === undefined ? 'unroutable' : 'ttl');
  }

  /** Tells the source of a request that it went nowhere; anything else is reported here. */
  #bounce(frame: Frame, why: 'unroutable' | 'ttl'): void {
    // Credit that is still on its way to an agent that has ended is no fault; what is lost of an agent, its link tells.
    if (why === 'unroutable' && frameLayer(frame) === LAYER.stream) return;
    const received = this.#reassembly.take(frame);
    if (received === undefined) return;
    const { header } = received;
    const error =
      why === 'ttl'
        ? new StciError('STCI_MESSAGE_TTL', `A message to ${addressName(header.destination)} ran out of hops`)
        : this.#unroutable(header.destination);
    if ((header.flags & FLAG.request) !== 0) this.#replyError(header, toErrorRecord(error));
    else this.#init.onFault(error);
  }

  #local(frame: Frame, link: Link): void {
    if (frameLayer(frame) === LAYER.stream) {
      this.#init.onStreamFrame(frame, link);
      return;
    }
    try {
      const whole = this.#reassembly.take(frame);
      if (whole === undefined) return;
      const waiting = this.inbox.waitingOf(whole.header.source, link);
      if (waiting < (this.#init.waitingMax ?? Infinity)) return this.#enqueue({ ...whole, from: link });
      throw new StciError('STCI_MESSAGE_INVALID', `Expected no flood, ${waiting} of its messages wait already`);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      this.malformed(frameSource(frame), link, fault);
    }
  }

  #enqueue(received: Received): void {
    this.inbox.push(received);
    this.#init.domain.trigger('received', received);
  }

  /** Tells of what came of a peer and can't be used. */
  malformed(source: Address, from: Link | undefined, error: StciError): void {
    this.#init.onFault(error);
    this.#blame(source, from, error);
  }

  #blame(source: Address, from: Link | undefined, error: StciError): void {
    const isSenders = MALFORMED.includes(error.code) || error.data['tooLong'] === true;
    if (from !== undefined && isSenders) this.#guard?.onMalformed(source, from, error);
  }

  #dispatch(received: Received | undefined): void {
    if (received === undefined) return; // It was dropped.
    const { header, body, from } = received;
    try {
      if ((header.flags & FLAG.reply) !== 0) this.#onReply(header, body, from);
      else this.#handle(header, body, from);
    } catch (fault) {
      if (fault instanceof StciError) this.malformed(header.source, from, fault);
      else this.#init.onFault(new StciError('STCI_INTERNAL', describe(fault), { cause: fault }));
    }
  }

  /** A reply that can't be read answers its request all the same: with what is wrong with it. */
  #onReply(header: FrameHeader, body: Uint8Array, from: Link | undefined): void {
    const pending = this.#requests.get(header.sequence);
    if (pending === undefined) return; // After its deadline.
    let value: unknown;
    let error: StciError | undefined;
    try {
      value = decodeBody(body);
      if ((header.flags & FLAG.error) !== 0) error = fromErrorRecord(errorRecord(value, 'error reply'));
      else checkReply(pending.name, value);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      error = fault;
      this.malformed(header.source, from, fault);
    }
    // Whoever can't pass a request on says so in the place of whom it is for; nobody else answers for another.
    const isOwn = header.source === pending.destination || pending.destination === NEIGHBOUR;
    if (isOwn || (error !== undefined && BOUNCED.includes(error.code))) this.#settle(header.sequence, error, value);
  }

  #handle(header: FrameHeader, body: Uint8Array, from: Link | undefined): void {
    const wantsReply = (header.flags & FLAG.request) !== 0;
    try {
      const name = messageName(header.type);
      const handler = name === undefined ? undefined : this.#handlers.get(name);
      if (name === undefined || handler === undefined) {
        throw new StciError(
          'STCI_MESSAGE_UNKNOWN',
          `${addressName(this.#init.router.self)} has no handler for message ${name ?? header.type}`,
        );
      }
      const checked = checkBody(name, decodeBody(body));
      if (this.#guard !== undefined) this.#checkSender(name, checked, header.source, from);
      const reply = handler(checked as never, { source: header.source, from });
      if (wantsReply) this.#reply(header, FLAG.reply, reply === undefined ? new Uint8Array(0) : encode(reply));
    } catch (fault) {
      if (!wantsReply) throw fault;
      this.#replyError(header, toErrorRecord(fault));
      if (fault instanceof StciError) this.#blame(header.source, from, fault);
    }
  }

  #checkSender(name: MessageName, body: unknown, source: Address, from: Link | undefined): void {
    if (from === undefined) return; // To oneself.
    const { parent } = this.#init.router;
    checkSender(name, body, source, from.peer === parent ? parent : undefined);
  }

  #replyError(header: FrameHeader, record: ErrorRecord): void {
    const agent = addressName(this.#init.router.self);
    this.#reply(header, FLAG.reply | FLAG.error, encode({ agent, ...record }));
  }

  #reply(request: FrameHeader, flags: number, body: Uint8Array): void {
    try {
      this.#emit(request.source, request.type, flags, request.sequence, body);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      // Else whoever asked is gone: its own deadline tells it.
      if (fault.code === 'STCI_MESSAGE_TOO_LARGE') this.#replyError(request, toErrorRecord(fault));
    }
  }

  #settle(sequence: number, error: StciError | undefined, reply?: unknown): void {
    const pending = this.#requests.get(sequence);
    if (pending === undefined) return; // A reply after the deadline.
    this.#requests.delete(sequence);
    pending.timer.cancel();
    pending.done(error, reply);
  }

  #emit(destination: Address, type: number, flags: number, sequence: number, body: Uint8Array): void {
    if (body.length > this.#init.limits.messageBytesMax) {
      throw new StciError(
        'STCI_MESSAGE_TOO_LARGE',
        `Expected a message of at most ${this.#init.limits.messageBytesMax} bytes (message.bytes.max), ` +
          `got ${body.length}`,
      );
    }
    const header = this.#header(destination, type, flags, sequence);
    const link = this.#linkTo(destination);
    if (link === undefined) this.#enqueue({ header, body, from: undefined });
    else cut(header, [body], (pieces) => link.send(pieces));
  }

  /** The link to use; undefined for a message to oneself. */
  #linkTo(destination: Address): Link | undefined {
    if (destination === this.#init.router.self) return undefined;
    const link = this.#init.router.next(destination);
    if (link === undefined) throw this.#unroutable(destination);
    return link;
  }

  #unroutable(destination: Address): StciError {
    return new StciError(
      'STCI_MESSAGE_UNROUTABLE',
      `No route to ${addressName(destination)}; ${this.#init.router.describe()}`,
      { agent: addressName(this.#init.router.self) },
    );
  }

  #header(destination: Address, type: number, flags: number, sequence: number): FrameHeader {
    return {
      layer: LAYER.message,
      type,
      flags,
      ttl: this.#init.limits.ttl,
      stream: 0,
      source: this.#init.router.self,
      destination,
      job: 0,
      sequence,
    };
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return this.#sequence;
  }
}

function describe(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}

function decodeBody(body: Uint8Array): unknown {
  return body.length === 0 ? undefined : decode(body);
}
