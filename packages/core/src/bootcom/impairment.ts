/**
 * Impairment: an impaired channel lies between a link and its channel while a fault is in force at this end. What it
 * holds comes in order when the fault is over, ends included, as after a cut cable was mended. A channel that its link
 * gives up during a silence is kept here: the other end learns of it when the silence is over.
 */

import { joinBytes } from '@stci/interface';
import type { Channel, ChannelEvents, Clock, Impairment, Random, Timer } from '@stci/interface';
import { HeldQueue } from './held-queue.js';

/** Bytes held at which `send` asks the sender to wait, and at which the channel below is not read. */
const MARK_BYTES = 1024 * 1024;

/** Shortest wait, ms: as of a lease. */
const WAIT_MIN_MS = 0.01;

export interface ImpairmentDeps {
  readonly clock: Clock;
  readonly random: Pick<Random, 'uniform'>;
}

/** Receiver that a channel had before, which passes the events on to the impaired channel from now on. */
export interface BoundBefore {
  readonly events: ChannelEvents;
  readonly isReading: boolean;
}

export class ImpairedChannel implements Channel, ChannelEvents {
  readonly kind: string;
  readonly label: string;
  readonly #below: Channel;
  readonly #deps: ImpairmentDeps;
  readonly #out: HeldQueue;
  readonly #in: HeldQueue;
  #events: ChannelEvents | undefined;
  #timer: Timer | undefined;
  /** `given-up`: for its link it has closed. */
  #state: 'open' | 'given-up' | 'closed' = 'open';
  /** This end closes it, and how. */
  #closing: 'close' | 'destroy' | undefined;
  #isReading = true;
  #isBelowRead = true;
  #hasRoomBelow = true;
  #isFull = false;
  /** Why it was given up, until the link hears of it. */
  #reason: string | undefined;
  /** The channel neither impairs nor holds anything, or has closed. Called each time. */
  onIdle: () => void = () => undefined;

  constructor(below: Channel, deps: ImpairmentDeps, bound?: BoundBefore) {
    this.#below = below;
    this.#deps = deps;
    this.#events = bound?.events;
    this.#isReading = bound?.isReading ?? true;
    this.#isBelowRead = this.#isReading;
    this.kind = below.kind;
    this.label = below.label;
    const random = (): number => deps.random.uniform();
    this.#out = new HeldQueue('out', random);
    this.#in = new HeldQueue('in', random);
  }

  /** Undefined: it is over. */
  impair(how: Impairment | undefined): void {
    const nowMs = this.#deps.clock.nowMs();
    this.#out.impair(how, nowMs);
    this.#in.impair(how, nowMs);
    if (this.#state === 'given-up' && !this.#out.isSilent) this.#below.destroy('given up during a fault');
    this.#progress();
  }

  /** What arrives is held. */
  get isHolding(): boolean {
    return !this.#in.isOpen;
  }

  get isGivenUp(): boolean {
    return this.#state === 'given-up';
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** Calls `run` once what has arrived before has passed, and it could have. */
  hold(run: () => void): void {
    this.#in.push(run, this.#deps.clock.nowMs());
    this.#progress();
  }

  /** The other end learns of it after all. */
  discard(): void {
    this.#drop();
    this.#closing = 'destroy';
    this.#below.destroy('too many channels are kept during a fault');
  }

  get queuedBytes(): number {
    return this.#state === 'open' ? this.#out.bytes + this.#below.queuedBytes : 0;
  }

  bind(events: ChannelEvents): void {
    this.#events = events;
    this.#below.bind(this);
    this.#tell();
    this.#progress();
  }

  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#state !== 'open' || this.#closing !== undefined) return false;
    if (this.#out.isOpen) {
      this.#hasRoomBelow = this.#below.send(chunks);
    } else {
      // A copy: buffers are used again when a part of their bytes was written.
      this.#out.push(joinBytes(chunks).slice(), this.#deps.clock.nowMs());
      this.#progress();
    }
    this.#isFull ||= !this.#hasRoomBelow || this.#out.bytes > MARK_BYTES;
    return !this.#isFull;
  }

  readable(on: boolean): void {
    this.#isReading = on;
    this.#progress();
  }

  close(): void {
    if (this.#state !== 'open' || this.#closing !== undefined) return;
    this.#closing = 'close';
    this.#out.push(() => this.#below.close(), this.#deps.clock.nowMs());
    this.#progress();
  }

  destroy(reason: string): void {
    if (this.#state !== 'open' || this.#closing === 'destroy') return;
    this.#closing = 'destroy';
    this.#drop();
    if (!this.#out.isSilent) return this.#below.destroy(reason);
    this.#state = 'given-up';
    this.#reason = reason;
    this.#readBelow();
    this.#tell();
  }

  onData(chunk: Uint8Array): void {
    if (this.#state !== 'open' || this.#closing === 'destroy') return;
    if (this.#in.isOpen && this.#isReading) return this.#events?.onData(chunk);
    this.#in.push(chunk, this.#deps.clock.nowMs());
    this.#progress();
  }

  /** The link may wait for it since before the fault. */
  onDrain(): void {
    this.#hasRoomBelow = true;
    this.#isFull = true;
    this.#progress();
  }

  onClose(reason: string): void {
    const isOwn = this.#closing !== undefined && this.#out.isEmpty;
    if (this.#state !== 'open') this.#closed();
    else if (isOwn) this.#closed(reason); // No news from the other end.
    else {
      this.#in.push(() => this.#closed(reason), this.#deps.clock.nowMs());
      this.#progress();
    }
  }

  #closed(reason?: string): void {
    this.#drop();
    this.#state = 'closed';
    if (reason !== undefined) this.#events?.onClose(reason);
    this.onIdle();
  }

  /** The link hears that it has closed, as from any channel: later. */
  #tell(): void {
    if (this.#reason === undefined || this.#events === undefined) return;
    this.#deps.clock.soon(() => {
      const reason = this.#reason;
      this.#reason = undefined;
      if (reason !== undefined) this.#events?.onClose(reason);
    });
  }

  #drop(): void {
    this.#timer?.cancel();
    this.#out.clear();
    this.#in.clear();
  }

  /** What may be sent now is sent; what may be received now is, in a later turn. */
  #progress(): void {
    if (this.#state !== 'open') return;
    const nowMs = this.#deps.clock.nowMs();
    for (let item = this.#out.next(nowMs); item !== undefined; item = this.#out.next(nowMs)) {
      if (item instanceof Uint8Array) this.#hasRoomBelow = this.#below.send([item]);
      else item();
    }
    this.#readBelow();
    if (this.#isFull && this.#hasRoomBelow && this.#out.bytes <= MARK_BYTES / 2) {
      this.#isFull = false;
      this.#deps.clock.soon(() => this.#state === 'open' && this.#closing === undefined && this.#events?.onDrain());
    }
    this.#arm(nowMs);
    if (this.#in.isOpen && this.#out.isOpen && !this.#isFull && this.#closing === undefined) this.onIdle();
  }

  #receive(): void {
    const nowMs = this.#deps.clock.nowMs();
    while (this.#isReading && this.#state === 'open') {
      const item = this.#in.next(nowMs);
      if (item === undefined) break;
      if (item instanceof Uint8Array) this.#events?.onData(item);
      else item();
    }
    this.#progress();
  }

  #arm(nowMs: number): void {
    const { clock } = this.#deps;
    const inMs = this.#isReading && this.#events !== undefined ? this.#in.dueMs : undefined;
    const dueMs = Math.min(this.#out.dueMs ?? Infinity, inMs ?? Infinity);
    this.#timer?.cancel();
    this.#timer = undefined;
    if (dueMs === Infinity) return;
    this.#timer = clock.after(dueMs > nowMs ? Math.max(WAIT_MIN_MS, dueMs - nowMs) : 0, () => this.#receive());
  }

  /** While it impairs, some is read and held; then the channel below is read as this one is. */
  #readBelow(): void {
    const isHeld = !this.#in.isOpen && this.#in.bytes <= MARK_BYTES;
    const wants = this.#state === 'open' && (isHeld || (this.#in.isOpen && this.#isReading));
    if (this.#isBelowRead === wants) return;
    this.#isBelowRead = wants;
    this.#below.readable(wants);
  }
}
