/** Frames that arrive before their stream is open here: kept for a time, with bounds on their number and bytes. */

import type { Address, JobId } from '@stci/interface';
import { CREDIT_BYTES_MAX } from '../am/credit.js';
import type { Link } from '../bootcom/link.js';
import { frameJob, frameSource, type Frame } from '../codec/frame.js';

/** Bounds for all sources together. */
const FRAMES_MAX = 4096;
/** Fraction of either bound that one source may use. */
const SOURCE_SHARE = 0.125;
/** A source may fill its window, and as much with the headers of its frames. */
const BYTES_MAX = (2 * CREDIT_BYTES_MAX) / SOURCE_SHARE;

export interface EarlyFrame {
  readonly frame: Frame;
  readonly from: Link;
  readonly sinceMs: number;
}

class Room {
  frames = 0;
  bytes = 0;

  has(frame: Frame, share: number): boolean {
    return this.frames < FRAMES_MAX * share && this.bytes + frame.length <= BYTES_MAX * share;
  }

  count(frame: Frame, by: 1 | -1): void {
    this.frames += by;
    this.bytes += by * frame.length;
  }
}

export class EarlyFrames {
  readonly #timeoutMs: number;
  /** Oldest first. */
  #frames: EarlyFrame[] = [];
  readonly #room = new Room();
  readonly #bySource = new Map<Address, Room>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get bytes(): number {
    return this.#room.bytes;
  }

  /** Whether there is room, and the source has not used its fraction. */
  hasRoom(frame: Frame, nowMs: number): boolean {
    this.#dropStale(nowMs);
    return this.#room.has(frame, 1) && (this.#bySource.get(frameSource(frame)) ?? new Room()).has(frame, SOURCE_SHARE);
  }

  keep(early: EarlyFrame): void {
    const { frame } = early;
    const source = frameSource(frame);
    const room = this.#bySource.get(source) ?? new Room();
    this.#bySource.set(source, room);
    this.#frames.push({ ...early, frame: frame.slice() }); // Not the whole chunk it arrived in.
    for (const each of [this.#room, room]) each.count(frame, 1);
  }

  /** Removes and returns the frames of one stream. */
  take(job: JobId, nowMs: number): EarlyFrame[] {
    this.#dropStale(nowMs);
    const isOf = ({ frame }: EarlyFrame): boolean => frameJob(frame) === job;
    const taken = this.#frames.filter(isOf);
    this.#frames = this.#frames.filter((early) => !isOf(early));
    for (const { frame } of taken) this.#forget(frame);
    return taken;
  }

  /** Old frames mostly belong to streams that are closed already. */
  #dropStale(nowMs: number): void {
    const staleMs = nowMs - this.#timeoutMs;
    for (let [first] = this.#frames; first !== undefined && first.sinceMs < staleMs; [first] = this.#frames) {
      this.#frames.shift();
      this.#forget(first.frame);
    }
  }

  #forget(frame: Frame): void {
    const source = frameSource(frame);
    const room = this.#bySource.get(source) as Room;
    for (const each of [this.#room, room]) each.count(frame, -1);
    if (room.frames === 0) this.#bySource.delete(source);
  }
}
