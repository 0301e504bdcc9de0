/**
 * Output of one host's tools on the stream of their job: they share its window of credit. What they have
 * written waits here for credit, in order. A chunk is cut where the credit ends, so that what is under way to the
 * front-end never exceeds this host's share of the window; what is left stays on this host. While credit is used up,
 * no tool is read; when it returns, they are resumed in the order in which they were stopped, a few at a time, so that
 * a loud rank cannot starve the others.
 */

import { holdBuffer, releaseBuffer, type Clock } from '@stci/interface';
import { soonOnce } from '../event/soon-once.js';
import { CHUNK_COST_BYTES } from '../am/credit.js';
import { encodeWithTail } from '../codec/cbor.js';
import type { Tool } from './tool.js';

/** Credit that one resumed tool is expected to use at once: a full read of its pipe. */
const READ_BYTES = 64 * 1024;

export interface HostOutputInit {
  readonly clock: Pick<Clock, 'soon'>;
  /** Bytes of one window. */
  readonly creditBytes: number;
  /** The part of the stream's endpoint that is needed here. */
  readonly stream: {
    readonly upCreditBytes: number;
    upPieces(pieces: readonly Uint8Array[]): boolean;
  };
}

interface Chunk {
  /** Rank, stream, time. */
  readonly head: readonly number[];
  /** Empty: the end of this output. */
  readonly bytes: Uint8Array;
}

export class HostOutput {
  readonly #init: HostOutputInit;
  readonly #waiting: Chunk[] = [];
  readonly #reading = new Set<Tool>();
  readonly #stopped = new Set<Tool>();
  #isDiscarding = false;
  readonly #schedule: () => void;

  constructor(init: HostOutputInit) {
    this.#init = init;
    this.#schedule = soonOnce(init.clock, () => this.#resumeSome());
  }

  /** Nothing waits for credit. */
  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Registers a tool that has just been started. */
  add(tool: Tool): void {
    if (this.#isDiscarding || this.#isOpen) this.#resume(tool);
    else this.#stopped.add(tool);
  }

  remove(tool: Tool): void {
    this.#reading.delete(tool);
    this.#stopped.delete(tool);
  }

  push(head: readonly number[], bytes: Uint8Array): void {
    if (this.#isDiscarding) return;
    this.#waiting.push({ head, bytes });
    holdBuffer(bytes);
    if (this.#waiting.length === 1) this.#send();
    if (this.#isOpen) return;
    for (const tool of this.#reading) {
      tool.readable(false);
      this.#stopped.add(tool);
    }
    this.#reading.clear();
  }

  /** Credit has returned: half a window, as the receiver grants it. */
  onCredit(): void {
    this.#send();
    this.#resumeSome();
  }

  /** There is no receiver any more: what waits is dropped, and the tools are still read, so that they can end. */
  discard(): void {
    this.#isDiscarding = true;
    for (const { bytes } of this.#waiting.splice(0)) releaseBuffer(bytes);
    for (const tool of this.#stopped) this.#resume(tool);
  }

  /** Whether more may be read. */
  get #isOpen(): boolean {
    return this.isEmpty && this.#roomBytes > 0;
  }

  get #roomBytes(): number {
    return this.#init.stream.upCreditBytes - CHUNK_COST_BYTES;
  }

  /** Sends what there is credit for. */
  #send(): void {
    let sent = 0;
    for (const { head, bytes } of this.#waiting) {
      const room = this.#roomBytes;
      if (room <= 0) break;
      this.#init.stream.upPieces(encodeWithTail(head, bytes.length <= room ? bytes : bytes.subarray(0, room)));
      if (bytes.length > room) {
        this.#waiting[sent] = { head, bytes: bytes.subarray(room) };
        break;
      }
      releaseBuffer(bytes);
      sent += 1;
    }
    this.#waiting.splice(0, sent);
  }

  /** What the resumed leave of the credit goes to the next after a turn: no more would return for what nobody uses. */
  #resumeSome(): void {
    if (this.#stopped.size === 0 || !this.#isOpen) return;
    this.#schedule();
    let count = Math.max(1, Math.floor(this.#init.creditBytes / 2 / READ_BYTES));
    for (const tool of this.#stopped) {
      if (count === 0) return;
      count -= 1;
      this.#resume(tool);
    }
  }

  #resume(tool: Tool): void {
    this.#stopped.delete(tool);
    this.#reading.add(tool);
    tool.readable(true);
  }
}
