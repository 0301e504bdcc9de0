/**
 * Dispatch queue: received messages wait in queues that are served round-robin, so that a flood from one sender delays
 * no other. Messages over a link from below share one queue, in order: those of a subtree depend on each other.
 * Messages from above have a queue per source, because all agents that are not below share the link to the parent. A
 * message of an agent to itself is served after all that came before it: it says what became of their senders. So is a
 * frame of a stream that comes while messages wait: they may say whose streams they are. What comes of a source over
 * another link than what waits of it, because its route has changed, waits behind that: a frame behind its messages, a
 * message behind its frames, as they may be the output of ranks whose end it tells.
 */

import { CONTROLLER, agentKey, entryOf, type Address, type JobId } from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { frameJob, frameSource, type Frame, type FrameHeader } from '../codec/frame.js';

export interface Received {
  readonly header: FrameHeader;
  readonly body: Uint8Array;
  readonly from: Link | undefined;
}

/** A frame of the stream layer that came behind messages over the same link. */
export interface ReceivedFrame {
  readonly frame: Frame;
  readonly from: Link;
}

interface Entry {
  readonly received: Received | ReceivedFrame;
  /** Number of the message in this queue. */
  readonly order: number;
  /** Of the last frame of its source that waited when it came. */
  readonly behind: number;
  next: Entry | undefined;
}

/** Key of the frames of streams that came over the link to the parent: they are served in order anyway. */
const FRAMES = -1;

interface Queue {
  first: Entry;
  last: Entry;
  count: number;
}

export class DispatchQueue {
  /** By link, or by the key of the source, or FRAMES; in the order in which they are served. */
  readonly #queues = new Map<number | Link, Queue>();
  readonly #byLink = new Map<Link, number>();
  /** In which queue the messages of a source wait, and how many; by the source's key. */
  readonly #bySource = new Map<number, { readonly queue: number | Link; count: number }>();
  /** Of the frames that wait of a source, by its key: how many, the last, and the last that does not any more. */
  readonly #framesOf = new Map<number, { count: number; last: number; served: number }>();
  #pushed = 0;

  /** Number of waiting messages that came over this link. */
  waiting(link: Link): number {
    return this.#byLink.get(link) ?? 0;
  }

  /** Whether anything waits that came over this link, or of this source over any. */
  isBusy(link: Link, source: Address, job: JobId): boolean {
    const key = agentKey(source, job);
    return this.waiting(link) > 0 || this.#bySource.has(key) || this.#framesOf.has(key);
  }

  /**
   * Number of waiting messages of a source, if it is neither the neighbour nor the controller; 0 for these, which are
   * bounded by their link only.
   */
  waitingOf(source: Address, job: JobId, from: Link): number {
    const isNear = source === from.peer || source === CONTROLLER;
    return isNear || from.role !== 'parent' ? 0 : (this.#queues.get(agentKey(source, job))?.count ?? 0);
  }

  push(received: Received | ReceivedFrame): void {
    const { from } = received;
    const key = this.#queueOf(received);
    this.#pushed += 1;
    const source = sourceOf(received);
    // Where none waits, all that came before are served.
    const frames = this.#framesOf.get(source) ?? { count: 0, last: 0, served: this.#pushed - 1 };
    const entry: Entry = { received, order: this.#pushed, behind: frames.last, next: undefined };
    if ('frame' in received) {
      frames.count += 1;
      frames.last = this.#pushed;
      this.#framesOf.set(source, frames);
    }
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, { first: entry, last: entry, count: 1 });
    else {
      queue.last.next = entry;
      queue.last = entry;
      queue.count += 1;
    }
    this.#count(from, 1);
  }

  /** The oldest message of the next queue. */
  take(): Received | ReceivedFrame | undefined {
    for (const [key, queue] of this.#queues) {
      const { first, first: { received, next } } = queue;
      // The oldest of all waits for none.
      if (this.#waits(first)) continue;
      this.#queues.delete(key);
      if (next !== undefined) {
        queue.first = next;
        queue.count -= 1;
        this.#queues.set(key, queue);
      }
      this.#count(received.from, -1);
      this.#forget(first);
      return received;
    }
    return undefined;
  }

  #waits({ received, order, behind }: Entry): boolean {
    if (received.from === undefined || 'frame' in received) return this.#isPreceded(order);
    return (this.#framesOf.get(sourceOf(received))?.served ?? behind) < behind;
  }

  #isPreceded(order: number): boolean {
    for (const { first } of this.#queues.values()) if (first.order < order) return true;
    return false;
  }

  /** Drops the waiting messages of an agent from which none is accepted any more. */
  drop(source: Address, job: JobId): void {
    const key = agentKey(source, job);
    const queue = this.#queues.get(key);
    this.#queues.delete(key);
    for (let entry = queue?.first; entry !== undefined; entry = entry.next) {
      this.#count(entry.received.from, -1);
      this.#forget(entry);
    }
  }

  /** The queue of its source's messages that wait; frames wait for all that came before them. */
  #queueOf(received: Received | ReceivedFrame): number | Link {
    if ('frame' in received) return keyOf(received);
    const source = sourceOf(received);
    const waiting = entryOf(this.#bySource, source, () => ({ queue: keyOf(received), count: 0 }));
    waiting.count += 1;
    return waiting.queue;
  }

  #forget({ received, order }: Entry): void {
    const source = sourceOf(received);
    const frames = this.#framesOf.get(source);
    if ('frame' in received && frames !== undefined) {
      frames.count -= 1;
      frames.served = order;
      if (frames.count === 0) this.#framesOf.delete(source);
      return;
    }
    const waiting = this.#bySource.get(source);
    if (waiting === undefined) return;
    waiting.count -= 1;
    if (waiting.count === 0) this.#bySource.delete(source);
  }

  #count(link: Link | undefined, by: 1 | -1): void {
    if (link === undefined) return;
    const count = this.waiting(link) + by;
    if (count === 0) this.#byLink.delete(link);
    else this.#byLink.set(link, count);
  }
}

function sourceOf(received: Received | ReceivedFrame): number {
  if ('frame' in received) return agentKey(frameSource(received.frame), frameJob(received.frame));
  const { source, job } = received.header;
  return agentKey(source, job);
}

/** Frames of streams are not counted as messages of their source. */
function keyOf(received: Received | ReceivedFrame): number | Link {
  const { from } = received;
  if (from !== undefined && from.role !== 'parent') return from;
  return 'frame' in received ? FRAMES : sourceOf(received);
}
