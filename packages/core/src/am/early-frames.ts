/** Frames of streams that are not open here yet: kept until they are, bounded in time, number and bytes. */

import type { Address, StreamId } from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import { decodeHeader, frameSource, type Frame } from '../codec/frame.js';

/** Of all sources together. */
const FRAMES_MAX = 4096;
const BYTES_MAX = 64 * 1024 * 1024;

/** The part of either that one source may have. */
const SOURCE_SHARE = 0.125;

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

  /** False where there is no room, or where its source has had its share. */
  keep(early: EarlyFrame): boolean {
    this.#dropStale(early.sinceMs);
    const { frame } = early;
    const source = frameSource(frame);
    const room = this.#bySource.get(source) ?? new Room();
    if (!this.#room.has(frame, 1) || !room.has(frame, SOURCE_SHARE)) return false;
    this.#bySource.set(source, room);
    this.#frames.push({ ...early, frame: frame.slice() }); // Not the whole chunk that it came in.
    for (const each of [this.#room, room]) each.count(frame, 1);
    return true;
  }

  /** Those of one stream, which are not kept any more. */
  take(id: StreamId, nowMs: number): EarlyFrame[] {
    this.#dropStale(nowMs);
    const isOf = ({ frame }: EarlyFrame): boolean => decodeHeader(frame).stream === id;
    const taken = this.#frames.filter(isOf);
    this.#frames = this.#frames.filter((early) => !isOf(early));
    for (const { frame } of taken) this.#forget(frame);
    return taken;
  }

  /** Most of what is kept for long belongs to streams that are closed. */
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
