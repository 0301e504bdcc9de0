/** Pending requests: each is settled once, by its reply, an error or its deadline. */

import { StciError, addressKind, addressName, agentKey, agentName, fromErrorRecord, caught } from '@stci/interface';
import type { Address, Clock, ErrorCode, JobId, Timer } from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { ITEMS_MAX, OPAQUE_ITEMS_MAX } from '../codec/bounds.js';
import { decode, encode } from '../codec/cbor.js';
import { FLAG, type FrameHeader } from '../codec/frame.js';
import { check } from '../codec/shape.js';
import type { Scope } from '../event/scope.js';
import { errorRecord } from '../messages/job-shapes.js';
import { checkLength, checkReply, type BodyKind, type MessageName } from '../messages/messages.js';
import type { Waits } from './waits.js';

const REQUESTS_MAX = 65_536;

/** Errors of a message without a way; a forwarding agent may reply with them in the destination's name. */
export const BOUNCED: readonly ErrorCode[] = ['STCI_MESSAGE_UNROUTABLE', 'STCI_MESSAGE_TTL'];

/** What was sent is lost although its destination may be there: whoever sent it answers for that. */
export function needsOwner(error: StciError | undefined): error is StciError {
  return error !== undefined && !BOUNCED.includes(error.code);
}

export interface RequestOptions {
  /** Infinity: until the destination is lost. */
  readonly timeoutMs?: number;
  /** Called for each part of the reply before the rest. */
  readonly onPart?: ((part: unknown) => void) | undefined;
  /** The job that it is about; of a destination that is a session agent, its job. Default: this agent's own. */
  readonly job?: JobId;
  /** To the neighbour there, and over this link only: it fails when the link closes. */
  readonly link?: Link | undefined;
}

export type RequestDone = (error: StciError | undefined, reply: unknown) => void;

interface Request {
  readonly name: MessageName;
  readonly destination: Address;
  readonly job: JobId;
  readonly done: RequestDone;
  readonly onPart?: RequestOptions['onPart'];
  readonly link?: RequestOptions['link'];
}

export class PendingRequests {
  readonly #clock: Clock;
  readonly #waits: Waits;
  /** By sequence number. */
  readonly #pending = new Map<number, Request & { readonly timer: Timer | undefined }>();

  constructor(clock: Clock, holds: Scope, waits: Waits) {
    this.#clock = clock;
    holds.holdAll(() => [...this.#pending.values()].map(({ name, destination, job }) =>
      `request ${name} to ${agentName(destination, job)}`));
    this.#waits = waits;
  }

  /** Returns false if there are too many: `done` has been called then. */
  add(sequence: number, request: Request, timeoutMs: number): boolean {
    const { name, destination, done } = request;
    if (this.#pending.size >= REQUESTS_MAX) {
      done(new StciError('STCI_REQUEST_LIMIT', `${REQUESTS_MAX} requests are pending already`), undefined);
      return false;
    }
    const text = `No reply of ${addressName(destination)} to ${name} in ${timeoutMs} ms`;
    const onTimeout = (): void => this.settle(sequence, new StciError('STCI_REQUEST_TIMEOUT', text));
    const timer = timeoutMs === Infinity ? undefined : this.#clock.after(timeoutMs, onTimeout);
    this.#pending.set(sequence, { ...request, timer });
    this.#waits.begin('request', sequence, destination);
    return true;
  }

  /** Does nothing if it is settled already. */
  settle(sequence: number, error: StciError | undefined, reply?: unknown): void {
    const pending = this.#pending.get(sequence);
    if (pending === undefined) return;
    this.#pending.delete(sequence);
    pending.timer?.cancel();
    this.#waits.end('request', sequence);
    pending.done(error, reply);
  }

  /** Fails the requests that `isMeant` accepts. */
  fail(isMeant: (request: Request) => boolean, error: StciError): void {
    for (const [sequence, request] of this.#pending) if (isMeant(request)) this.settle(sequence, error);
  }

  /** Fails those to the neighbour at a link, which has closed. */
  failOver(link: Link): void {
    const error = new StciError('STCI_LINK_CLOSED', `The link to ${addressName(link.peer)} is closed`);
    this.fail((request) => request.link === link, error);
  }

  /** Fails all requests, and cancels their deadlines. */
  close(reason: string): void {
    for (const sequence of [...this.#pending.keys()]) {
      this.settle(sequence, new StciError('STCI_LINK_CLOSED', reason));
    }
  }

  /** A reply that cannot be decoded settles its request, too; its error is passed to `onMalformed`. */
  onReply(header: FrameHeader, body: Uint8Array, onMalformed: (error: StciError) => void): void {
    const pending = this.#pending.get(header.sequence);
    if (pending === undefined) return; // After its deadline.
    const kind: BodyKind = (header.flags & FLAG.part) === 0 ? 'reply' : 'part';
    let value: unknown;
    const error = caught<StciError | undefined>(() => {
      const isError = (header.flags & FLAG.error) !== 0;
      if (!isError) checkLength(pending.name, body.length, kind);
      value = decodeBody(pending.name, header.source, body);
      if (isError) return fromErrorRecord(check(errorRecord, value, 'error reply'));
      return void checkReply(pending.name, value, kind);
    }, (fault) => {
      onMalformed(fault);
      return fault;
    });
    const isOwn = agentKey(header.source, header.job) === agentKey(pending.destination, pending.job);
    // An agent that cannot forward a request answers in the destination's name; nobody forwards one over a link.
    const isBounced = pending.link === undefined && error !== undefined && BOUNCED.includes(error.code);
    if (isOwn && error === undefined && kind === 'part') pending.onPart?.(value);
    else if (isOwn || isBounced) this.settle(header.sequence, error, value);
  }
}

export function lostError(agent: Address): StciError {
  return new StciError('STCI_AGENT_LOST', `${addressName(agent)} is lost`);
}

/** Throws STCI_MESSAGE_TOO_LARGE. */
export function bounded(body: Uint8Array, { messageBytesMax }: { readonly messageBytesMax: number }): Uint8Array {
  if (body.length <= messageBytesMax) return body;
  const text = `Expected a message of at most ${messageBytesMax} bytes (message.bytes.max), got ${body.length}`;
  throw new StciError('STCI_MESSAGE_TOO_LARGE', text);
}

/** A message of this type, or what answers one. Throws STCI_MESSAGE_TOO_LARGE for one that no agent would take. */
export function encodeBody(name: MessageName, body: unknown, kind: BodyKind = 'body'): Uint8Array {
  const encoded = body === undefined ? new Uint8Array(0) : encode(body);
  try {
    checkLength(name, encoded.length, kind);
  } catch (fault) {
    throw new StciError('STCI_MESSAGE_TOO_LARGE', (fault as StciError).message);
  }
  return encoded;
}

/** Types with values of any form. */
const OPAQUE: readonly MessageName[] = ['agent.echo', 'detector.message', 'notifier.message'];

/** What the session's own process sends is as long as the session is large. */
function itemsMax(name: MessageName, source: Address): number {
  if (OPAQUE.includes(name)) return OPAQUE_ITEMS_MAX;
  const kind = addressKind(source);
  return kind === 'root' || kind === 'session' ? ITEMS_MAX : Infinity;
}

/** Of a message of this type from this agent, or of what answers one. Throws STCI_CODEC_INVALID. */
export function decodeBody(name: MessageName, source: Address, body: Uint8Array): unknown {
  return body.length === 0 ? undefined : decode(body, itemsMax(name, source));
}
