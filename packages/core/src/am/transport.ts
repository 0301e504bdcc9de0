/**
 * Transport: the frames of messages and streams, from this agent and through it. It forwards frames for other agents by
 * their header alone, delivers those between two agents once and in order (delivery-layer.ts), and passes those for
 * this agent on. What has no route is kept by its source until it has one, unless the destination is gone for good.
 */

import {
  CONTROLLER, NEIGHBOUR, StciError, addressKind, addressName, agentKey, fromErrorRecord, joinBytes, toErrorRecord,
  type Address, type JobId,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { decode, encode } from '../codec/cbor.js';
import {
  FLAG, LAYER, decodeHeader, frameDestination, frameFlags, frameJob, frameLayer, frameNumber, frameType, spendHop,
  writeDelivery, type Frame, type FrameHeader,
} from '../codec/frame.js';
import { check } from '../codec/shape.js';
import { errorRecord } from '../messages/job-shapes.js';
import { messageId } from '../messages/messages.js';
import { Broadcasts, KEPT_ALL_BYTES_MAX, withOwnHeader, type MissedBroadcasts } from './broadcasts.js';
import { DeliveryLayer, type DeliveryInit } from './delivery-layer.js';
import type { AgentTest } from './delivery.js';
import { Reassembly, cut } from './fragments.js';
import { lostError } from './requests.js';
import type { Router } from './router.js';

/** Destination of a frame for every agent at and below the receiver. */
export const SUBTREE: Address = 0xffff_fffe;

const NOTICE = messageId('notifier.message');
/** Holds for session agents that come up later, too; other broadcasts are for those that run. */
const END = messageId('job.end');

export interface MessageLimits {
  readonly ttl: number;
  readonly messageBytesMax: number;
  readonly requestTimeoutMs: number;
  /** Bytes kept for one destination until it has acknowledged them. */
  readonly windowBytes: number;
  /** Of what is sent again over a new link, and may be more than its queue takes, so much at once; default: all. */
  readonly resendBytes?: number;
}

export interface TransportInit extends Pick<DeliveryInit, 'router' | 'clock' | 'holds' | 'incarnation' | 'waits'> {
  readonly limits: MessageLimits;
  /** Whether to take a frame for this agent now. */
  hasRoom(frame: Frame): boolean;
  /** A frame for this agent. */
  onLocal(frame: Frame, from: Link): void;
  /** A request, whole, that cannot be forwarded. */
  onUnforwarded(request: FrameHeader, error: StciError): void;
  /** An agent is gone for good; without `job`, those of all jobs with this address. */
  onGone(isGone: AgentTest, error: StciError, agent: Address, job: JobId | undefined): void;
  onFault(error: StciError): void;
}

export class Transport {
  readonly #init: TransportInit;
  readonly #router: Router;
  readonly delivery: DeliveryLayer;
  readonly #broadcasts = new Broadcasts();
  /** What children with new links are still to get. */
  readonly #missed = new WeakMap<Link, MissedBroadcasts>();
  #keepsBroadcasts = false;
  /** Of messages that cannot be forwarded. */
  readonly #reassembly: Reassembly;
  /** Whether a destination without a route is gone for good. An agent without a parent knows all routes there are. */
  isGone: AgentTest;

  constructor(init: TransportInit) {
    const { router, clock, holds, limits, incarnation, waits } = init;
    const { messageBytesMax, requestTimeoutMs } = limits;
    this.#init = init;
    this.#router = router;
    this.isGone = () => router.self === CONTROLLER;
    this.#reassembly = new Reassembly(clock, messageBytesMax, requestTimeoutMs, (error) => init.onFault(error));
    this.delivery = new DeliveryLayer({
      router, clock, holds, incarnation, waits, ttl: limits.ttl, windowBytes: limits.windowBytes,
      resendBytes: limits.resendBytes,
      onUndeliverable: (destination, job, body) =>
        this.drop(destination, job, fromErrorRecord(check(errorRecord, decode(body), 'undeliverable frame'))),
      onAhead: (frame, from) => this.#onAhead(frame, from),
    });
  }

  /** Bytes kept until they are acknowledged, and to be repeated to new children. */
  get keptBytes(): { readonly unacknowledged: number; readonly broadcasts: number } {
    return { unacknowledged: this.delivery.keptBytes, broadcasts: this.#broadcasts.keptBytes };
  }

  /**
   * Sends the frames of one message to another agent, or to all below. Throws STCI_MESSAGE_UNROUTABLE if the
   * destination is gone for good.
   */
  send(header: FrameHeader, body: readonly Uint8Array[]): void {
    const { destination, job } = header;
    const { router } = this.#init;
    if (destination === SUBTREE) {
      return cut(header, body, (pieces) => {
        const frame = joinBytes(pieces);
        this.#broadcasts.number(frame, this.#init.incarnation);
        this.#spread(frame, undefined);
      });
    }
    const hasRoute = router.next(destination, job) !== undefined;
    if (!hasRoute && this.isGone(destination, job)) throw this.#unroutable(destination);
    cut(header, body, (pieces) => this.delivery.send(header, pieces));
  }

  /** Sends a message that may be lost. */
  post(header: FrameHeader, body: Uint8Array): void {
    const { destination, job } = header;
    cut(header, [body], (pieces) => this.#router.forward(destination, job, pieces));
  }

  /** Takes every frame of every link. */
  onFrame(link: Link, frame: Frame): void {
    const router = this.#router;
    const destination = frameDestination(frame);
    if (destination === NEIGHBOUR) this.#local(frame, link);
    else if (destination === SUBTREE) {
      if (frameNumber(frame) !== 0 && !this.#broadcasts.take(frame)) return;
      if (spendHop(frame)) this.#spread(frame, link);
      this.#init.onLocal(frame, link);
    } else if (destination === router.self && router.isSelf(destination, frameJob(frame))) this.#local(frame, link);
    else this.#forward(frame, destination, link);
  }

  /** Agents may be linked to this one as children: it keeps from now on what they may have missed. */
  keepBroadcasts(): void {
    this.#keepsBroadcasts = true;
  }

  /** Sends a child over its new link the broadcasts that it may have missed; a session agent, the end of its job. */
  onChild(link: Link): void {
    if (addressKind(link.peer) === 'session') {
      for (const frame of this.#broadcasts.kept(link.job)) if (isEnd(frame)) link.send(withOwnHeader(frame));
      return;
    }
    this.keepBroadcasts();
    this.#missed.set(link, this.#broadcasts.missed());
    this.onDrain(link);
  }

  /** There is room in the link's queue: what is left of these, until it has taken its part. */
  onDrain(link: Link): void {
    const missed = this.#missed.get(link);
    if (missed === undefined) return;
    const { resendBytes = Infinity } = this.#init.limits;
    for (let next = missed.next(); next !== undefined; next = missed.next()) {
      if (!link.send(next) && link.queuedBytes >= resendBytes) return;
    }
    this.#missed.delete(link);
  }

  /** Sends what the agents that `isFor` accepts have not acknowledged again, over the routes as they are now. */
  resend(isFor: AgentTest): void {
    this.delivery.resend(isFor);
  }

  /** An agent is gone for good: requests to it fail, its streams go on without it. Without `job`: those of all jobs. */
  drop(agent: Address, job?: JobId, error = lostError(agent)): void {
    const isGone = (to: Address, toJob: JobId): boolean =>
      to === agent && (job === undefined || agentKey(to, job) === agentKey(to, toJob));
    this.delivery.drop(isGone);
    this.#init.onGone(isGone, error, agent, job);
  }

  get broadcastJobs(): Iterable<JobId> {
    return this.#broadcasts.jobs;
  }

  /** Forgets the session agents of a job that is over. */
  closeJob(job: JobId): void {
    this.delivery.drop((_agent, each) => each === job);
    this.#broadcasts.closeJob(job);
  }

  /** An agent is gone: what is kept for it is not for another incarnation, which may run already. */
  dropKept(agent: Address): void {
    this.delivery.dropKept((to) => to === agent);
  }

  /** Sends a broadcast on to all below, but not to where it came from. */
  #spread(frame: Frame, from: Link | undefined): void {
    const job = frameJob(frame);
    for (const link of this.#router.childLinks(job)) {
      // Behind those of the job that the child has missed, which it would not take any more.
      if (link !== from && this.#missed.get(link)?.has(job) !== true) link.send(withOwnHeader(frame));
    }
    // What is about no job is not repeated.
    const isKept = job !== 0 && (this.#keepsBroadcasts || isEnd(frame));
    const cut = isKept ? this.#broadcasts.keep(frame) : undefined;
    if (cut === undefined) return;
    const text = `Broadcasts of all jobs take over ${KEPT_ALL_BYTES_MAX} bytes: the oldest of job ${cut} are not kept. `
      + 'Agents that are cut off now may miss them';
    this.#init.onFault(new StciError('STCI_MESSAGE_WINDOW', text));
  }

  #local(frame: Frame, link: Link): void {
    if (frameLayer(frame) === LAYER.delivery) this.delivery.onFrame(frame);
    else if (frameNumber(frame) === 0) this.#init.onLocal(frame, link);
    else if (this.#init.hasRoom(frame) && this.delivery.accepts(frame, link)) {
      this.#init.onLocal(frame, link);
      const next = this.delivery.next(frame);
      if (next !== undefined) this.#local(next.frame, next.from);
    }
  }

  /**
   * A notifier's message counts as soon as it comes, and does no harm again in its turn: notifiers take copies over
   * all routes. What is missing before it may be a command that waits until the tree is mended.
   */
  #onAhead(frame: Frame, from: Link): void {
    const isWhole = (frameFlags(frame) & (FLAG.more | FLAG.rest)) === 0;
    if (frameLayer(frame) !== LAYER.message || frameType(frame) !== NOTICE || !isWhole) return;
    const copy = frame.slice();
    writeDelivery(copy, { number: 0, incarnation: 0, generation: 0 });
    this.#init.onLocal(copy, from);
  }

  #forward(frame: Frame, destination: Address, from: Link): void {
    if (!spendHop(frame)) this.#bounce(frame, 'ttl');
    else if (!this.#router.forward(destination, frameJob(frame), [frame], from)) this.#bounce(frame, 'unroutable');
  }

  /** Reports a frame that cannot be forwarded, to its source if that can use it. */
  #bounce(frame: Frame, why: 'unroutable' | 'ttl'): void {
    const layer = frameLayer(frame);
    if (layer === LAYER.delivery) return;
    if (why === 'unroutable' && frameNumber(frame) !== 0) return this.#undeliverable(frame);
    // Credit for an agent that has just ended is no fault; the loss of an agent is reported by its link.
    if (why === 'unroutable' && layer === LAYER.stream) return;
    const received = this.#reassembly.take(frame);
    if (received === undefined) return;
    const { header } = received;
    if (why === 'unroutable' && (header.flags & FLAG.request) === 0) return; // It may be lost.
    const error =
      why === 'ttl'
        ? new StciError('STCI_MESSAGE_TTL', `A message to ${addressName(header.destination)} ran out of hops`)
        : this.#unroutable(header.destination);
    if ((header.flags & FLAG.request) !== 0) this.#init.onUnforwarded(header, error);
    else this.#init.onFault(error);
  }

  /** A frame without a route is sent again by its source when there is one, unless there never will be one. */
  #undeliverable(frame: Frame): void {
    const { destination, job, layer, flags } = decodeHeader(frame);
    if (!this.isGone(destination, job)) return;
    const error = this.#unroutable(destination);
    if (layer === LAYER.message && (flags & FLAG.request) === 0) this.#init.onFault(error);
    this.delivery.bounce(frame, encode(toErrorRecord(error)));
  }

  #unroutable(destination: Address): StciError {
    const router = this.#router;
    return new StciError(
      'STCI_MESSAGE_UNROUTABLE',
      `No route to ${addressName(destination)}; ${router.describe()}`,
      { agent: addressName(router.self) },
    );
  }
}

function isEnd(frame: Frame): boolean {
  return frameLayer(frame) === LAYER.message && frameType(frame) === END;
}
