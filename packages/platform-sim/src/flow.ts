/**
 * A flow: bytes in one direction, ordered and reliable, with a finite buffer. Pipes and both halves of a connection
 * are flows. Writers have a queue of their own (memory of the process: lost with it); what has left the queue is under
 * way and arrives whatever becomes of the writer. The buffer counts what is under way or not yet read: when it is
 * full, writers wait. When the last writer has gone, the end follows the last byte.
 */

import { SimEvent, type EventOwner } from './event-queue.js';
import type { Link } from './link.js';
import type { SimRandom } from './random.js';
import { CallEvent, CODE, type Scheduler } from './scheduler.js';

/** Longest piece that travels at once: what one read of a pipe gives. */
const PIECE_BYTES_MAX = 65_536;
/** Small chunks in a queue are joined up to this length. */
const GATHER_BYTES_MAX = 8192;

export interface FlowSink {
  onBytes(chunk: Uint8Array): void;
  onEnd(): void;
}

export type FlowUse = 'pipe' | 'channel';

export interface FlowInit {
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly link: Link;
  readonly capacityBytes: number;
  /** `pipe`: a tool's standard stream. `channel`: half of a connection between agents. */
  readonly use: FlowUse;
  readonly onMade?: (flow: Flow) => void;
}

/** A piece of data, or the end, on its way. */
class Packet extends SimEvent {
  readonly code = CODE.packet;
  readonly flow: Flow;
  readonly chunk: Uint8Array | undefined;

  constructor(flow: Flow, chunk: Uint8Array | undefined) {
    super(flow.reader);
    this.flow = flow;
    this.chunk = chunk;
  }

  fire(): void {
    this.flow.arrive(this);
  }

  override orphaned(): void {
    if (this.flow.isSilent()) this.flow.arrive(this);
  }
}

export class Flow {
  readonly scheduler: Scheduler;
  readonly #random: SimRandom;
  readonly link: Link;
  readonly #capacityBytes: number;
  readonly use: FlowUse;
  /** Who reads: packets wait while it is paused. */
  reader: EventOwner | undefined;
  /** False: nothing leaves the writers' queues yet (a connection that does not stand). */
  isOpen = true;
  /** True where the reading end fell silent for ever, as a crashed host does. */
  isSilent: () => boolean = () => false;
  /** Told when data was held up for the link's timeout. */
  onTimeout: (() => void) | undefined;
  /** Told of every piece that arrives: checkers inspect the wire. */
  onPiece: ((chunk: Uint8Array) => void) | undefined;
  /** Tests break a world with it: the piece that arrives instead, or undefined for none. */
  tamper: ((chunk: Uint8Array) => Uint8Array | undefined) | undefined;
  deliveredBytes = 0;
  deliveredChunks = 0;
  #busyBytes = 0;
  #lastArrivalMs = 0;
  #freeAtMs = 0;
  #writers = new Set<FlowWriter>();
  #arrived: Uint8Array[] = [];
  #sink: FlowSink | undefined;
  #isReading = false;
  #wakePending = false;
  #isReaderGone = false;
  #isEndSent = false;
  #isEndArrived = false;
  #isEnded = false;
  #stalled: Packet[] = [];
  #stallCount = 0;

  constructor(init: FlowInit, reader: EventOwner | undefined) {
    this.scheduler = init.scheduler;
    this.#random = init.random;
    this.link = init.link;
    this.#capacityBytes = init.capacityBytes;
    this.use = init.use;
    this.reader = reader;
    init.onMade?.(this);
  }

  get isReaderGone(): boolean {
    return this.#isReaderGone;
  }

  /** True when the end has been told to the reader. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  // Reading end.

  /** The one reader; delivery begins with `setReading`. */
  setSink(sink: FlowSink): void {
    this.#sink = sink;
  }

  setReading(on: boolean): void {
    this.#isReading = on;
    if (!on || this.#wakePending || this.#isEnded || this.#isReaderGone) return;
    if (this.#arrived.length === 0 && !this.#isEndArrived) return;
    this.#wakePending = true;
    this.scheduler.turn(new CallEvent(this.reader, () => {
      this.#wakePending = false;
      this.#deliver();
    }, CODE.turn));
  }

  /** The reader has gone: what arrives is lost, and who writes learns of it. */
  closeReader(): void {
    if (this.#isReaderGone) return;
    this.#isReaderGone = true;
    this.#arrived = [];
    this.#busyBytes = 0;
    for (const writer of this.#writers) writer.readerGone();
  }

  arrive(packet: Packet): void {
    if (this.#stalled.length > 0 || this.link.isCut || this.isSilent()) {
      this.#stall(packet);
      return;
    }
    if (packet.chunk === undefined) this.#isEndArrived = true;
    else {
      const chunk = this.tamper === undefined ? packet.chunk : this.tamper(packet.chunk);
      this.scheduler.noteBytes(packet.chunk);
      this.onPiece?.(packet.chunk);
      if (chunk === undefined) this.#busyBytes -= packet.chunk.length;
      else if (!this.#isReaderGone) this.#arrived.push(chunk);
    }
    this.#deliver();
  }

  #deliver(): void {
    while (this.#isReading && !this.#isReaderGone) {
      const chunk = this.#arrived.shift();
      if (chunk === undefined) break;
      this.#busyBytes -= chunk.length;
      this.deliveredBytes += chunk.length;
      this.deliveredChunks++;
      this.#sink?.onBytes(chunk);
    }
    for (const writer of this.#writers) writer.spaceSoon();
    if (!this.#isReading || !this.#isEndArrived || this.#isEnded || this.#isReaderGone) return;
    if (this.#arrived.length > 0) return;
    this.#isEnded = true;
    this.#sink?.onEnd();
  }

  // Writing end.

  addWriter(writer: FlowWriter): void {
    this.#writers.add(writer);
  }

  /** Gone with what is in its queue; after the last one comes the end. */
  removeWriter(writer: FlowWriter): void {
    if (!this.#writers.delete(writer) || this.#writers.size > 0 || this.#isEndSent) return;
    this.#isEndSent = true;
    this.#transmit(undefined);
  }

  get roomBytes(): number {
    return this.isOpen && !this.#isReaderGone ? this.#capacityBytes - this.#busyBytes : 0;
  }

  /** Takes the first piece of `chunk`; tells how long it is. */
  take(chunk: Uint8Array): number {
    let bytes = Math.min(chunk.length, this.roomBytes, PIECE_BYTES_MAX);
    const { cutChance } = this.link.params;
    if (cutChance > 0 && bytes > 1 && this.#random.chance(cutChance)) bytes = 1 + this.#random.integer(bytes - 1);
    this.#busyBytes += bytes;
    this.#transmit(bytes === chunk.length ? chunk : chunk.subarray(0, bytes));
    return bytes;
  }

  #transmit(chunk: Uint8Array | undefined): void {
    const { latencyMs, jitterMs, bytesPerMs } = this.link.params;
    let departMs = this.scheduler.nowMs;
    if (bytesPerMs !== Infinity) {
      departMs = Math.max(departMs, this.#freeAtMs) + (chunk?.length ?? 0) / bytesPerMs;
      this.#freeAtMs = departMs;
    }
    let arrivalMs = departMs + latencyMs;
    if (jitterMs > 0) arrivalMs += jitterMs * this.#random.uniform();
    if (arrivalMs < this.#lastArrivalMs) arrivalMs = this.#lastArrivalMs;
    this.#lastArrivalMs = arrivalMs;
    this.scheduler.at(new Packet(this, chunk), arrivalMs);
  }

  // Silence.

  #stall(packet: Packet): void {
    this.#stalled.push(packet);
    if (this.#stalled.length > 1) return;
    const count = ++this.#stallCount;
    this.link.stall(this);
    this.scheduler.after(new CallEvent(undefined, () => {
      if (this.#stallCount === count && this.#stalled.length > 0) this.onTimeout?.();
    }, CODE.stall), this.link.params.timeoutMs);
  }

  /** The link was mended: packets that were held up travel on, in order. */
  resume(): void {
    this.scheduler.after(new CallEvent(this.reader, () => this.#recover(), CODE.stall), this.link.params.latencyMs);
  }

  /** What arrived in the meantime has queued up behind. */
  #recover(): void {
    const packets = this.#stalled;
    this.#stalled = [];
    for (const packet of packets) this.arrive(packet);
  }
}

export interface FlowSource {
  /** More may be sent after `send` returned false. */
  onSpace(): void;
  /** The reader has gone, and something was still to be written, or was written afterwards. */
  onBroken(): void;
  /** After `end`: all has left the queue. */
  onFlushed?(): void;
}

/** One writer of a flow, with its queue. */
export class FlowWriter {
  readonly #flow: Flow;
  /** Owner of the events that it schedules. */
  owner: EventOwner | undefined;
  readonly #markBytes: number;
  #source: FlowSource | undefined;
  #queue: Uint8Array[] = [];
  #head = 0;
  #queuedBytes = 0;
  #wantsSpace = false;
  #spacePending = false;
  #isEnding = false;
  #isGone = false;
  #isBrokenTold = false;

  constructor(flow: Flow, owner: EventOwner | undefined, markBytes: number) {
    this.#flow = flow;
    this.owner = owner;
    this.#markBytes = markBytes;
    flow.addWriter(this);
  }

  get queuedBytes(): number {
    return this.#queuedBytes;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  setSource(source: FlowSource): void {
    this.#source = source;
  }

  /** Takes all. False: wait for `onSpace`. */
  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#isGone || this.#isEnding) return true;
    if (this.#flow.isReaderGone) {
      this.readerGone(true);
      return true;
    }
    for (const chunk of chunks) {
      if (chunk.length === 0) continue;
      this.#queue.push(chunk);
      this.#queuedBytes += chunk.length;
    }
    this.pump();
    if (this.#queuedBytes <= this.#markBytes) return true;
    this.#wantsSpace = true;
    return false;
  }

  /** Moves what fits from the queue into the flow. */
  pump(): void {
    while (this.#head < this.#queue.length && this.#flow.roomBytes > 0) {
      const chunk = this.#gather();
      const bytes = this.#flow.take(chunk);
      this.#queuedBytes -= bytes;
      if (bytes < chunk.length) this.#queue[this.#head] = chunk.subarray(bytes);
      else this.#head++;
    }
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
      if (this.#isEnding && this.#flow.isOpen) this.#flushed();
    } else if (this.#head > 256) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
  }

  /** The chunk at the head, small ones joined with those behind, as a socket does. */
  #gather(): Uint8Array {
    const first = this.#queue[this.#head] as Uint8Array;
    let bytes = 0;
    let end = this.#head;
    while (end < this.#queue.length) {
      const length = (this.#queue[end] as Uint8Array).length;
      if (bytes + length > GATHER_BYTES_MAX) break;
      bytes += length;
      end++;
    }
    if (end - this.#head < 2) return first;
    const joined = new Uint8Array(bytes);
    let offset = 0;
    for (let index = this.#head; index < end; index++) {
      const chunk = this.#queue[index] as Uint8Array;
      joined.set(chunk, offset);
      offset += chunk.length;
    }
    this.#head = end - 1;
    this.#queue[this.#head] = joined;
    return joined;
  }

  /** Sends what is queued, then goes. */
  end(): void {
    if (this.#isEnding || this.#isGone) return;
    this.#isEnding = true;
    if (this.#flow.isReaderGone) this.#flushed();
    else this.pump();
  }

  /** Goes at once; the queue is lost. */
  drop(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#queue = [];
    this.#head = 0;
    this.#queuedBytes = 0;
    this.#flow.removeWriter(this);
  }

  #flushed(): void {
    this.drop();
    this.#source?.onFlushed?.();
  }

  /** Room was made at the far end; the notice takes one latency. */
  spaceSoon(): void {
    if (this.#spacePending || (this.#queuedBytes === 0 && !this.#wantsSpace)) return;
    this.#spacePending = true;
    const space = new CallEvent(this.owner, () => this.#space(), CODE.space);
    this.#flow.scheduler.after(space, this.#flow.link.params.latencyMs);
  }

  #space(): void {
    this.#spacePending = false;
    if (this.#isGone) return;
    this.pump();
    if (!this.#wantsSpace || this.#queuedBytes > this.#markBytes) return;
    this.#wantsSpace = false;
    this.#source?.onSpace();
  }

  /** `isWriting`: something was to be written, so that the writer is told. */
  readerGone(isWriting = this.#queuedBytes > 0): void {
    this.#queue = [];
    this.#head = 0;
    this.#queuedBytes = 0;
    if (this.#isEnding && !this.#isGone) this.#flushed();
    if (!isWriting || this.#isBrokenTold) return;
    this.#isBrokenTold = true;
    const broken = new CallEvent(this.owner, () => this.#source?.onBroken(), CODE.close);
    this.#flow.scheduler.after(broken, this.#flow.link.params.latencyMs);
  }
}
