/**
 * Delivery layer: sends numbered frames, acknowledges those that arrive, and sends again what was lost (delivery.ts).
 * What was lost is found by the receiver, at the next frame; by `resend`, when a route has changed; or by a probe, when
 * an acknowledgement is overdue. A probe follows the frames on their route, so what its answer does not acknowledge is
 * lost.
 */

import { CONTROLLER, isSessionAddress, type Address, type Clock, type JobId } from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import {
  LAYER, decodeHeader, encodeHeader, frameBody, frameJob, frameSource, frameType, readDelivery, writeDelivery,
  type DeliveryMark, type Frame, type FrameHeader,
} from '../codec/frame.js';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import { AheadFrames, type AheadFrame } from './ahead-frames.js';
import { Receiver, Sender, isAckDue } from './delivery.js';
import type { AgentTest, Incoming, Outgoing, SenderInit } from './delivery.js';
import type { Router } from './router.js';

/** Frame types of the layer: all carry the mark of the pair; its number is the last one taken, or sent in a probe. */
export const DELIVERY_FRAME = {
  ack: 1,
  /** An acknowledgement that asks for all frames after it again. */
  missing: 2,
  probe: 3,
  /** From the controller, with an error as its body: the destination in the header's sequence is gone for good. */
  undeliverable: 4,
} as const;

/** Longest delay of an acknowledgement. */
const ACK_MS = 100;

/** Interval at which overdue acknowledgements are looked for. */
const PROBE_TICK_MS = 500;

export interface DeliveryInit extends SenderInit {
  readonly router: Router;
  readonly clock: Clock;
  /** Of this agent: timers end with it. */
  readonly holds: Scope;
  /** The controller says that a destination is gone for good: it is to be dropped. */
  onUndeliverable(destination: Address, job: JobId, body: Uint8Array): void;
  /** A frame has come before its turn, and waits for it. */
  onAhead?(frame: Frame, from: Link): void;
}

export class DeliveryLayer {
  readonly #init: DeliveryInit;
  readonly #sender: Sender;
  readonly #receiver = new Receiver();
  readonly #ahead = new AheadFrames();
  /** To be acknowledged. */
  readonly #unacknowledged = new Set<Incoming>();
  readonly #timers: Timers<'ack' | 'probe'>;

  constructor(init: DeliveryInit) {
    this.#init = init;
    this.#timers = new Timers(init.clock, init.holds);
    this.#sender = new Sender(init);
  }

  get keptBytes(): number {
    return this.#sender.keptBytes;
  }

  /** Pairs of which something is known, in both directions. */
  get pairs(): number {
    return this.#sender.size + this.#receiver.size;
  }

  get waits(): Iterable<readonly [key: string, on: Address]> {
    return this.#sender.waits();
  }

  /** Sends a frame, or keeps it until there is a route. Throws STCI_MESSAGE_WINDOW. */
  send({ destination, job }: FrameHeader, pieces: readonly Uint8Array[]): void {
    const { router, clock } = this.#init;
    if (this.#sender.keep(destination, job, pieces, clock.nowMs())) router.forward(destination, job, pieces);
    this.#timers.ensure('probe', PROBE_TICK_MS, () => this.#probe());
  }

  /** Sends what is not acknowledged again, over the routes as they are now. */
  resend(isFor: AgentTest): void {
    this.#sender.resend(isFor);
    this.#sendAgain();
  }

  /** What may be sent again now. A link that closes at that may have more resent, or have destinations dropped. */
  #sendAgain(): void {
    const { router } = this.#init;
    for (const pair of this.#sender.resending) {
      for (let next = this.#sender.nextAgain(pair); next !== undefined; next = this.#sender.nextAgain(pair)) {
        if (!router.forward(pair.destination, pair.job, next)) break;
      }
    }
  }

  /** Gives up what is kept for agents that are gone. */
  dropKept(isGone: AgentTest): void {
    this.#sender.drop(isGone);
  }

  /** The same, and forgets what was received of them. */
  drop(isGone: AgentTest): void {
    this.dropKept(isGone);
    this.#receiver.drop(isGone);
    this.#ahead.drop(isGone);
    for (const pair of this.#unacknowledged) if (isGone(pair.source, pair.job)) this.#unacknowledged.delete(pair);
  }

  /** Whether a numbered frame for this agent is the next one; one that comes before its turn is kept for it. */
  accepts(frame: Frame, from: Link): boolean {
    const [source, job] = sourceOf(frame);
    const [verdict, pair] = this.#receiver.receive(source, job, frame);
    if (verdict === 'gap' || verdict === 'early') {
      this.#ahead.keep(pair, readDelivery(frame).number, { frame, from });
      this.#init.onAhead?.(frame, from);
    }
    if (verdict === 'gap') this.#answer(pair, DELIVERY_FRAME.missing);
    else if (verdict === 'stale' || verdict === 'early') return false;
    else if (isAckDue(pair)) this.#answer(pair, DELIVERY_FRAME.ack);
    else {
      this.#unacknowledged.add(pair);
      this.#timers.ensure('ack', ACK_MS, () => this.#acknowledge());
    }
    return verdict === 'take';
  }

  /** The one that follows a frame that was taken, if it has come already: its turn is now. */
  next(taken: Frame): AheadFrame | undefined {
    if (this.#ahead.isEmpty) return undefined;
    const expected = this.#receiver.expected(...sourceOf(taken));
    return expected && this.#ahead.take(...expected);
  }

  /** A frame of this layer, for this agent. */
  onFrame(frame: Frame): void {
    const type = frameType(frame);
    const mark = readDelivery(frame);
    const [source, job] = sourceOf(frame);
    if (type === DELIVERY_FRAME.probe) {
      const pair = this.#receiver.probed(source, job, mark);
      if (pair === undefined) return;
      this.#answer(pair, pair.last === mark.number ? DELIVERY_FRAME.ack : DELIVERY_FRAME.missing);
    } else if (type === DELIVERY_FRAME.undeliverable) {
      const { sequence: destination } = decodeHeader(frame);
      if (source !== CONTROLLER || !this.#sender.isCurrent(destination, frameJob(frame), mark.generation)) return;
      this.#init.onUndeliverable(destination, frameJob(frame), frameBody(frame));
    } else {
      const nowMs = this.#init.clock.nowMs();
      const pair = this.#sender.acknowledge(source, job, mark, nowMs);
      if (pair !== undefined && type === DELIVERY_FRAME.missing && this.#sender.mayResend(pair, nowMs)) {
        this.#sender.resend((...to) => to[0] === pair.destination && to[1] === pair.job);
      }
      this.#sendAgain();
    }
  }

  /** Returns a frame to its source: its destination is gone for good. At the controller. */
  bounce(frame: Frame, body: Uint8Array): void {
    const { source, destination, job } = decodeHeader(frame);
    this.#emit(source, job, DELIVERY_FRAME.undeliverable, readDelivery(frame), destination, body);
  }

  #answer(pair: Incoming, type: number): void {
    this.#unacknowledged.delete(pair);
    pair.frames = 0;
    pair.bytes = 0;
    this.#emit(pair.source, pair.job, type, { ...pair, number: pair.last });
  }

  #acknowledge(): void {
    for (const pair of [...this.#unacknowledged]) this.#answer(pair, DELIVERY_FRAME.ack);
  }

  #probe(): void {
    for (const pair of this.#sender.overdue(this.#init.clock.nowMs())) this.#ask(pair);
    this.#sendAgain();
    if (this.#sender.isOpen) this.#timers.ensure('probe', PROBE_TICK_MS, () => this.#probe());
  }

  #ask(pair: Outgoing): void {
    const { destination, job, generation } = pair;
    const number = this.#sender.lastSent(pair);
    this.#emit(destination, job, DELIVERY_FRAME.probe, { number, incarnation: this.#init.incarnation, generation });
  }

  #emit(
    destination: Address,
    job: JobId,
    type: number,
    mark: DeliveryMark,
    sequence = 0,
    body: Uint8Array = new Uint8Array(0),
  ): void {
    const { router, ttl } = this.#init;
    const header = {
      layer: LAYER.delivery, type, flags: 0, ttl, stream: 0, source: router.self, destination,
      job: router.job === 0 ? job : router.job, sequence,
    };
    const encoded = encodeHeader(header, body.length);
    writeDelivery(encoded, mark);
    router.forward(destination, header.job, body.length === 0 ? [encoded] : [encoded, body]);
  }
}

/** The agent that sent a frame: its address, and its job if it is a session agent. */
function sourceOf(frame: Frame): readonly [Address, JobId] {
  const source = frameSource(frame);
  return [source, isSessionAddress(source) ? frameJob(frame) : 0];
}
