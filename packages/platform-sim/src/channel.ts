/**
 * A channel is two flows. An end closes when the flow towards it has ended, when it was closed or destroyed at this
 * end, or when the link was silent for too long. When an end's process dies, its queue is lost; data in flight still
 * arrives at the other end, then the close.
 */

import type { Channel, ChannelEvents } from '@stci/interface';
import { Flow, FlowWriter, type FlowInit } from './flow.js';
import { CallEvent, CODE, type Scheduler } from './scheduler.js';
import type { Task } from './task.js';

export class SimChannel implements Channel {
  readonly kind: string;
  label: string;
  readonly outgoing: Flow;
  readonly incoming: Flow;
  #task: Task;
  readonly #scheduler: Scheduler;
  readonly #writer: FlowWriter;
  #events: ChannelEvents | undefined;
  #isReading = true;
  #isClosing = false;
  #closeReason: string | undefined;

  constructor(kind: string, label: string, task: Task, outgoing: Flow, incoming: Flow, markBytes: number) {
    this.kind = kind;
    this.label = label;
    this.#task = task;
    this.outgoing = outgoing;
    this.incoming = incoming;
    this.#scheduler = outgoing.scheduler;
    this.#writer = new FlowWriter(outgoing, task, markBytes);
    this.#writer.setSource({
      onSpace: () => this.#events?.onDrain(),
      onBroken: () => this.#finish('broken pipe'),
      onFlushed: () => this.#closeSoon('closed', 2 * outgoing.link.params.latencyMs),
    });
    incoming.setSink({
      onBytes: (chunk) => this.#events?.onData(chunk),
      onEnd: () => this.#finish('end of file'),
    });
    task.own(this);
  }

  get queuedBytes(): number {
    return this.#writer.queuedBytes;
  }

  get isClosed(): boolean {
    return this.#closeReason !== undefined;
  }

  bind(events: ChannelEvents): void {
    if (this.#events !== undefined) throw new Error(`Channel ${this.label} is bound already`);
    this.#events = events;
    if (this.#closeReason !== undefined) this.#notifyClosed(this.#closeReason);
    else this.incoming.setReading(this.#isReading);
  }

  send(chunks: readonly Uint8Array[]): boolean {
    if (this.#closeReason !== undefined || this.#isClosing) return false;
    return this.#writer.send(chunks);
  }

  readable(on: boolean): void {
    this.#isReading = on;
    if (this.#events !== undefined && this.#closeReason === undefined) this.incoming.setReading(on);
  }

  close(): void {
    if (this.#isClosing || this.#closeReason !== undefined) return;
    this.#isClosing = true;
    this.#writer.end();
  }

  destroy(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.#isClosing = true;
    this.#shut(reason);
    if (this.#events !== undefined) this.#notifyClosed(reason);
  }

  /** Sets the owner of an accepted connection's end. */
  adopt(task: Task): void {
    this.#task = task;
    this.incoming.reader = task;
    this.#writer.owner = task;
    task.own(this);
  }

  /** The connection is established: sends the queue. */
  opened(): void {
    this.#writer.pump();
    this.#writer.spaceSoon();
  }

  /** The connection failed: the link is silent, or there is no listener. */
  fail(reason: string): void {
    this.#closeSoon(reason, 0);
  }

  /** The process has died: none of its callbacks is called any more. */
  release(): void {
    this.#closeReason ??= 'process ended';
    this.#writer.drop();
    this.incoming.closeReader();
  }

  #closeSoon(reason: string, delayMs: number): void {
    this.#scheduler.after(new CallEvent(this.#task, () => this.#finish(reason), CODE.close), delayMs);
  }

  #shut(reason: string): void {
    this.#closeReason = reason;
    this.#writer.drop();
    this.incoming.closeReader();
    this.#task.disown(this);
  }

  #finish(reason: string): void {
    if (this.#closeReason !== undefined) return;
    this.#shut(reason);
    this.#events?.onClose(reason);
  }

  #notifyClosed(reason: string): void {
    this.#scheduler.turn(new CallEvent(this.#task, () => this.#events?.onClose(reason), CODE.close));
  }
}

export interface ChannelPair {
  readonly left: SimChannel;
  readonly right: SimChannel;
}

export interface ChannelEnd {
  readonly kind: string;
  readonly label: string;
  readonly task: Task;
}

/** Two connected ends. With `isOpen` false, nothing is sent until both flows are opened. */
export function joinChannels(init: FlowInit, markBytes: number, left: ChannelEnd, right: ChannelEnd): ChannelPair {
  const toRight = new Flow(init, right.task);
  const toLeft = new Flow(init, left.task);
  const pair = {
    left: new SimChannel(left.kind, left.label, left.task, toRight, toLeft, markBytes),
    right: new SimChannel(right.kind, right.label, right.task, toLeft, toRight, markBytes),
  };
  closeBothOnTimeout(pair);
  toRight.isSilent = () => right.task.isSilent;
  toLeft.isSilent = () => left.task.isSilent;
  return pair;
}

/** Closes both ends of a connection when data in either direction is stalled for too long. */
export function closeBothOnTimeout(pair: ChannelPair): void {
  const giveUp = (): void => {
    pair.left.fail('connection timed out');
    pair.right.fail('connection timed out');
  };
  pair.left.outgoing.onTimeout = giveUp;
  pair.right.outgoing.onTimeout = giveUp;
}
