/**
 * A flow: bytes in one direction, ordered and reliable, with a finite buffer. Pipes and both directions of a connection
 * are flows. Each writer has a queue (in its process's memory and lost with it); data that has left the queue is in
 * flight and arrives even if the writer dies. The buffer counts data in flight or unread: when it is full, writers
 * wait. When the last writer is closed, the end follows the last byte.
 */

import { joinBytes } from '@stci/interface';
import { SimEvent, type EventOwner } from './event-queue.js';
import type { Link } from './link.js';
import type { SimRandom } from './random.js';
import { CallEvent, CODE, type Scheduler } from './scheduler.js';

/** Longest piece in flight: as one read of a pipe returns. */
const PIECE_BYTES_MAX = 65_536;
/** Small chunks in a queue are joined up to this length. */
const GATHER_BYTES_MAX = 8192;

export interface FlowSink {
  onBytes(chunk: Uint8Array): void;
  onEnd(): void;
}

export type FlowUse = 'pipe' | 'channel' | 'program';

export interface FlowInit {
  readonly scheduler: Scheduler;
  readonly random: SimRandom;
  readonly link: Link;
  readonly capacityBytes: number;
  /**
   * `pipe`: a tool's standard stream. `channel`: one direction of a connection between agents; `program`: of one
   * between a program and an agent, which has a protocol of its own.
   */
  readonly use: FlowUse;
  readonly onMade?: (flow: Flow) => void;
}

/** A piece of data, or the end, in flight. */
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
  /** The reading task: packets wait while it is paused. */
  reader: EventOwner | undefined;
  /** False: nothing leaves the writers' queues yet (a connection that is not established). */
  isOpen = true;
  /** True if the reading end is silent for ever, like a crashed host. */
  isSilent: () => boolean = () => false;
  /** Called when data was stalled for the link's timeout. */
  onTimeout: (() => void) | undefined;
  /** Called for every piece that arrives: checkers inspect the wire. */
  onPiece: ((chunk: Uint8Array) => void) | undefined;
  /** For tests that inject faults: returns the piece that arrives instead, or undefined for none. */
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

  /** True once the reader has received the end. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  // Reading end.

  /** The only reader; delivery begins with `setReading`. */
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

  /** Closes the reading end: arriving data is lost, and writers are notified. */
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

  /** Removes a writer with its queue; after the last one the end is sent. */
  removeWriter(writer: FlowWriter): void {
    if (!this.#writers.delete(writer) || this.#writers.size > 0 || this.#isEndSent) return;
    this.#isEndSent = true;
    this.#transmit(undefined);
  }

  get roomBytes(): number {
    return this.isOpen && !this.#isReaderGone ? this.#capacityBytes - this.#busyBytes : 0;
  }

  /** Sends the first piece of `chunk`; returns its length. */
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

  /** The link was mended: stalled packets continue, in order. */
  resume(): void {
    this.scheduler.after(new CallEvent(this.reader, () => this.#recover(), CODE.stall), this.link.params.latencyMs);
  }

  /** Packets that arrive meanwhile are queued after the stalled ones. */
  #recover(): void {
    const packets = this.#stalled;
    this.#stalled = [];
    for (const packet of packets) this.arrive(packet);
  }
}

export interface FlowSource {
  /** There is room after `send` returned false. */
  onSpace(): void;
  /** The reader is closed, and data was queued, or was sent afterwards. */
  onBroken(): void;
  /** After `end`: the queue is empty. */
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
  #isBrokenReported = false;

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

  /** Queues all chunks. False: wait for `onSpace`. */
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

  /** The chunk at the head, joined with the next ones if they are small, as a socket does. */
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
    const all = joinBytes(this.#queue.slice(this.#head, end) as Uint8Array[]);
    this.#head = end - 1;
    this.#queue[this.#head] = all;
    return all;
  }

  /** Closes after sending the queue. */
  end(): void {
    if (this.#isEnding || this.#isGone) return;
    this.#isEnding = true;
    if (this.#flow.isReaderGone) this.#flushed();
    else this.pump();
  }

  /** Closes at once; the queue is lost. */
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

  /** The reader has made room; the notification takes one latency. */
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

  /** `isWriting`: data is lost, so the writer is notified. */
  readerGone(isWriting = this.#queuedBytes > 0): void {
    this.#queue = [];
    this.#head = 0;
    this.#queuedBytes = 0;
    if (this.#isEnding && !this.#isGone) this.#flushed();
    if (!isWriting || this.#isBrokenReported) return;
    this.#isBrokenReported = true;
    const broken = new CallEvent(this.owner, () => this.#source?.onBroken(), CODE.close);
    this.#flow.scheduler.after(broken, this.#flow.link.params.latencyMs);
  }
}
