/**
 * Message layer (STCI paper, II-E.2b): routed messages between any two agents, one-way or as request and reply with a
 * deadline. Frames for other agents are forwarded at once, by their header alone; messages for this agent are queued
 * and handled in turn.
 */

import {
  NEIGHBOUR, StciError, addressName, assert, caught, type Address, type ErrorCode, type EventDomain, type JobId,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { LIST_MAX } from '../codec/bounds.js';
import { encode } from '../codec/cbor.js';
import {
  FLAG, LAYER, frameJob, frameLayer, frameSource, type Frame, type FrameHeader,
} from '../codec/frame.js';
import {
  checkBody, checkHost, checkLength, checkSender, isLate, messageId, messageName, type MessageBody, type MessageName,
} from '../messages/messages.js';
import { Answer, Later } from './answer.js';
import { DispatchQueue, type Received, type ReceivedFrame } from './dispatch-queue.js';
import { Reassembly, cut } from './fragments.js';
import { LazyHandlers } from './lazy-handlers.js';
import { PendingRequests, bounded, decodeBody, encodeBody, type RequestDone, type RequestOptions } from './requests.js';
import { SUBTREE, Transport, type TransportInit } from './transport.js';
import { Waits, type WaitObserver } from './waits.js';

/** Errors that are always the sender's fault. */
const SENDER_FAULTS: readonly ErrorCode[] = [
  'STCI_CODEC_INVALID', 'STCI_MESSAGE_INVALID', 'STCI_MESSAGE_UNKNOWN', 'STCI_STREAM_CREDIT',
];

/** Handles authenticated peers that break the protocol. Without one, errors only go to `onFault`. */
export interface PeerGuard {
  /** Whether a frame with this source may arrive over this link. */
  admits(link: Link, frame: Frame): boolean;
  /** `source`, of `job` if it is a session agent, sent a message over `from` that does not fit its type. */
  onMalformed(source: Address, job: JobId, from: Link, error: StciError): void;
}

export interface MessageLayerInit extends Pick<TransportInit, 'router' | 'clock' | 'holds' | 'limits'> {
  /** Of this agent; default: 0. */
  readonly incarnation?: number;
  /** Waiting messages of one distant agent; default: unbounded. */
  readonly waitingMax?: number;
  /** Triggered for each message that is queued. */
  readonly domain: EventDomain<{ received: Received | ReceivedFrame }>;
  /** Whether to take a frame of the stream layer now; else its source sends it again. */
  hasRoom(frame: Frame): boolean;
  /** Frames of the stream layer for this agent. */
  onStreamFrame(frame: Frame, from: Link): void;
  /** A destination is gone for good: what was sent to it is lost. */
  onGone(destination: Address, job: JobId | undefined): void;
  /** Called once for each message that is dropped for an error: a received one, or `unsent`. */
  onFault(fault: unknown, unsent?: MessageName): void;
}

/** What a handler may know of its message besides the body. */
export interface MessageContext {
  readonly source: Address;
  /** The job that it is about; that of the source if that is a session agent. */
  readonly job: JobId;
  /** The link it arrived over; undefined for a message to oneself. */
  readonly from: Link | undefined;
}

type Sender = Pick<FrameHeader, 'source' | 'job'>;
type Handler = (body: never, context: MessageContext) => unknown;

/** Handlers of agents that have no other. */
const DEFAULTS: { readonly [Name in MessageName]?: Handler } = { 'agent.echo': (body) => body };

export class MessageLayer {
  readonly #init: MessageLayerInit;
  readonly #handlers = new Map<MessageName, Handler>();
  readonly #requests: PendingRequests;
  readonly #reassembly: Reassembly;
  readonly transport: Transport;
  readonly received: DispatchQueue;
  readonly waits = new Waits();
  /** Handlers that are set when the first message for one of them comes. */
  readonly lazy = new LazyHandlers((received, failed) => this.#dispatch(received, failed));
  guard: PeerGuard | undefined;
  #sequence = 0;

  constructor(init: MessageLayerInit) {
    this.#init = init;
    const { router, clock, holds, limits, incarnation = 0 } = init;
    const { messageBytesMax, requestTimeoutMs } = limits;
    this.#reassembly = new Reassembly(clock, messageBytesMax, requestTimeoutMs, (error) => init.onFault(error));
    this.#requests = new PendingRequests(clock, holds, this.waits);
    this.transport = new Transport({
      router, clock, holds, limits, incarnation, waits: this.waits,
      hasRoom: (frame) => frameLayer(frame) !== LAYER.stream || init.hasRoom(frame),
      onLocal: (frame, from) => this.#local(frame, from),
      onUnforwarded: (request, error) => this.#answer(request).fail(error),
      onGone: (isGone, error, agent, job) => {
        this.#requests.fail((request) => isGone(request.destination, request.job), error);
        init.onGone(agent, job);
      },
      onFault: (error) => init.onFault(error),
    });
    holds.atEnd(() => this.#requests.close(`${addressName(router.self)} has ended`));
    this.received = new DispatchQueue();
    init.domain.observe('received', () => this.#dispatch(this.received.take()));
  }

  /** The job of a session agent; else 0. */
  get ownJob(): JobId {
    return this.#init.router.job;
  }

  observeWaits(observer: WaitObserver): void {
    this.waits.observe(observer, this.transport.delivery.waits);
  }

  /** One handler per type. It returns the reply if one is requested, or Later; what it throws is the error reply. */
  on<Name extends MessageName>(
    name: Name, handler: (body: MessageBody<Name>, context: MessageContext) => unknown,
  ): void {
    assert(!this.#handlers.has(name), `message ${name} has one handler`);
    this.#handlers.set(name, handler as Handler);
  }

  /**
   * One-way. As all that sends without an answer, it throws nothing, because timers and turns send, too: what cannot be
   * sent is logged with its name, and the error returned to who answers for it. STCI_MESSAGE_UNROUTABLE, where no link
   * leads to the destination, needs nobody: the loss of the destination is told by itself.
   */
  send<Name extends MessageName>(
    destination: Address, name: Name, body: MessageBody<Name>, job: JobId = this.ownJob,
  ): StciError | undefined {
    return this.#try(name, () => this.#emit(this.#header(destination, job, messageId(name)), encodeBody(name, body)));
  }

  /** One-way, unnumbered: lost where a link on the way breaks, or none leads on. In order on one route. */
  post<Name extends MessageName>(destination: Address, name: Name, body: MessageBody<Name>): StciError | undefined {
    const header = this.#header(destination, this.ownJob, messageId(name));
    return this.#try(name, () => this.transport.post(header, bounded(encodeBody(name, body), this.#init.limits)));
  }

  /** To one neighbour, independent of its address. */
  sendNeighbour<Name extends MessageName>(
    link: Link, name: Name, body: MessageBody<Name>, job: JobId = this.ownJob,
  ): StciError | undefined {
    const header = this.#header(NEIGHBOUR, job, messageId(name));
    return this.#try(name, () => this.#emit(header, encodeBody(name, body), link));
  }

  /** To every agent below this one, but session agents of other jobs; agents forward it without decoding it. */
  sendSubtree<Name extends MessageName>(
    name: Name, body: MessageBody<Name>, job: JobId = this.ownJob,
  ): StciError | undefined {
    return this.send(SUBTREE, name, body, job);
  }

  /** As `send`, of a list that may be too long for one message: in as many as it takes. */
  sendList<Name extends MessageName, Item>(
    destination: Address, name: Name, items: readonly Item[], bodyOf: (items: readonly Item[]) => MessageBody<Name>,
    job: JobId = this.ownJob,
  ): StciError | undefined {
    const half = items.length >>> 1;
    const body = encode(bodyOf(items));
    if (half === 0 || (items.length <= LIST_MAX && body.length <= this.#init.limits.messageBytesMax)) {
      return this.#try(name, () => this.#emit(this.#header(destination, job, messageId(name)), body));
    }
    return this.sendList(destination, name, items.slice(0, half), bodyOf, job)
      ?? this.sendList(destination, name, items.slice(half), bodyOf, job);
  }

  /**
   * Calls `done` once: with the reply, the destination's error, or STCI_REQUEST_TIMEOUT. One whose type is answered
   * late has no deadline but the loss of the destination.
   */
  request<Name extends MessageName>(
    destination: Address, name: Name, body: MessageBody<Name>, done: RequestDone,
    { timeoutMs, job = this.ownJob, onPart, link }: RequestOptions = {},
  ): void {
    const waitMs = timeoutMs ?? (isLate(name) ? Infinity : this.#init.limits.requestTimeoutMs);
    const header = this.#header(link === undefined ? destination : NEIGHBOUR, job, messageId(name), FLAG.request);
    if (!this.#requests.add(header.sequence, { name, destination, job, done, onPart, link }, waitMs)) return;
    caught(
      () => this.#emit(header, encodeBody(name, body), link), (error) => this.#requests.settle(header.sequence, error));
  }

  /** A link has closed: what the neighbour there was asked over it fails. */
  onClosed(link: Link): void {
    this.#requests.failOver(link);
  }

  /** Takes every frame of every link. */
  onFrame(link: Link, frame: Frame): void {
    if (this.guard?.admits(link, frame) === false) return;
    this.transport.onFrame(link, frame);
  }

  #local(frame: Frame, link: Link): void {
    if (frameLayer(frame) === LAYER.stream) return this.#onStreamFrame(frame, link);
    try {
      const whole = this.#reassembly.take(frame);
      if (whole === undefined) return;
      const { source, job } = whole.header;
      const waiting = this.received.waitingOf(source, job, link);
      if (waiting < (this.#init.waitingMax ?? Infinity)) return this.#enqueue({ ...whole, from: link });
      throw new StciError('STCI_MESSAGE_INVALID', `Expected at most ${waiting} waiting messages, got more`);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      this.malformed(frame, link, fault);
    }
  }

  /** Messages that came before may say whose stream it is, such as another map of the job. */
  #onStreamFrame(frame: Frame, from: Link): void {
    if (this.received.isBusy(from, frameSource(frame), frameJob(frame))) this.#enqueue({ frame, from });
    else this.#init.onStreamFrame(frame, from);
  }

  #enqueue(received: Received | ReceivedFrame): void {
    this.received.push(received);
    this.#init.domain.trigger('received', received);
  }

  /** Reports a message of a peer that does not fit its type. */
  malformed(frame: Frame, from: Link, error: StciError): void {
    this.#onMalformed({ source: frameSource(frame), job: frameJob(frame) }, from, error);
  }

  #onMalformed(header: Sender, from: Link | undefined, error: StciError): void {
    this.#init.onFault(error);
    this.#notifyGuard(header, from, error);
  }

  #notifyGuard({ source, job }: Sender, from: Link | undefined, error: StciError): void {
    const isSenders = SENDER_FAULTS.includes(error.code) || error.data['tooLong'] === true;
    if (from !== undefined && isSenders) this.guard?.onMalformed(source, job, from, error);
  }

  #dispatch(received: Received | ReceivedFrame | undefined, failed?: StciError): void {
    if (received === undefined) return; // Its source was dropped meanwhile.
    if ('frame' in received) return this.#init.onStreamFrame(received.frame, received.from);
    const { header, body, from } = received;
    try {
      if ((header.flags & FLAG.reply) !== 0) {
        this.#requests.onReply(header, body, (error) => this.#onMalformed(header, from, error));
      } else this.#handle(received, failed);
    } catch (fault) {
      if (fault instanceof StciError) this.#onMalformed(header, from, fault);
      else this.#init.onFault(fault);
    }
  }

  #handle({ header, body, from }: Received, error?: StciError): void {
    const answer = (header.flags & FLAG.request) === 0 ? undefined : this.#answer(header);
    try {
      if (error !== undefined) throw error;
      const name = messageName(header.type);
      const handler = name === undefined ? undefined : this.#handlers.get(name) ?? DEFAULTS[name];
      if (name !== undefined && this.guard !== undefined && from !== undefined) { // Else it is to oneself.
        checkSender(name, header.source, from.role === 'parent' ? from.peer : undefined);
      }
      if (name !== undefined && handler === undefined && this.lazy.hold(name, { header, body, from })) return;
      if (name === undefined || handler === undefined) {
        const agent = addressName(this.#init.router.self);
        throw new StciError('STCI_MESSAGE_UNKNOWN', `${agent} has no handler for message ${name ?? header.type}`);
      }
      checkLength(name, body.length);
      const checked = checkBody(name, decodeBody(name, header.source, body));
      if (this.guard !== undefined && from !== undefined) checkHost(name, checked, header.source);
      const reply = handler(checked as never, { source: header.source, job: header.job, from });
      if (!(reply instanceof Later)) answer?.done(reply as never);
      else if (answer !== undefined) reply.begin(answer);
      else throw new StciError('STCI_MESSAGE_INVALID', `Expected ${name} as a request`);
    } catch (fault) {
      if (answer === undefined) throw fault;
      answer.fail(fault);
      if (fault instanceof StciError) this.#notifyGuard(header, from, fault);
    }
  }

  #answer({ source, job, type, sequence }: FrameHeader): Answer {
    return new Answer((flags, body) => {
      const kind = (flags & FLAG.part) === 0 ? 'reply' : 'part';
      const encoded = (flags & FLAG.error) === 0
        ? encodeBody(messageName(type) as MessageName, body, kind)
        : encode({ agent: addressName(this.#init.router.self), ...(body as object) });
      this.#emit(this.#header(source, job, type, flags, sequence), encoded);
    });
  }

  #try(name: MessageName, send: () => void): StciError | undefined {
    return caught<StciError | undefined>(() => void send(), (error) => {
      this.#init.onFault(error, name);
      return error;
    });
  }

  /** `link`: to the neighbour there. */
  #emit(header: FrameHeader, body: Uint8Array, link?: Link): void {
    bounded(body, this.#init.limits);
    if (link !== undefined) cut(header, [body], (pieces) => link.send(pieces));
    else if (this.#init.router.isSelf(header.destination, header.job)) this.#enqueue({ header, body, from: undefined });
    else this.transport.send(header, [body]);
  }

  #header(destination: Address, job: JobId, type: number, flags = 0, sequence = this.#nextSequence()): FrameHeader {
    const { router: { self: source }, limits: { ttl } } = this.#init;
    return { layer: LAYER.message, type, flags, ttl, stream: 0, source, destination, job, sequence };
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return this.#sequence;
  }
}
