/**
 * Frames that overtook others on a faster route: kept until those before them have come, so that nobody has to send
 * them again. Beyond the bounds, which are for all sources together, they are dropped, and sent again.
 */

import { agentKey } from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import type { Frame } from '../codec/frame.js';
import type { AgentTest, Incoming } from './delivery.js';

const FRAMES_MAX = 256;
const BYTES_MAX = 1024 * 1024;

export interface AheadFrame {
  readonly frame: Frame;
  readonly from: Link;
}

interface Kept {
  readonly pair: Incoming;
  readonly frames: Map<number, AheadFrame>;
}

export class AheadFrames {
  /** By the key of their source. */
  readonly #kept = new Map<number, Kept>();
  #frames = 0;
  #bytes = 0;

  get isEmpty(): boolean {
    return this.#frames === 0;
  }

  keep(pair: Incoming, number: number, { frame, from }: AheadFrame): void {
    const { frames } = this.#of(pair);
    if (frames.has(number) || this.#frames >= FRAMES_MAX || this.#bytes + frame.length > BYTES_MAX) return;
    frames.set(number, { frame: frame.slice(), from }); // Not the whole chunk it arrived in.
    this.#frames += 1;
    this.#bytes += frame.length;
  }

  take(pair: Incoming, number: number): AheadFrame | undefined {
    const { frames } = this.#of(pair);
    const found = frames.get(number);
    if (found === undefined) return undefined;
    frames.delete(number);
    this.#forget([found]);
    return found;
  }

  /** Forgets those of sources that are gone. */
  drop(isGone: AgentTest): void {
    for (const [key, { pair, frames }] of this.#kept) {
      if (!isGone(pair.source, pair.job)) continue;
      this.#kept.delete(key);
      this.#forget(frames.values());
    }
  }

  /** Frames of a pair that has begun again are of no use. */
  #of(pair: Incoming): Kept {
    const key = agentKey(pair.source, pair.job);
    const known = this.#kept.get(key);
    if (known?.pair === pair) return known;
    if (known !== undefined) this.#forget(known.frames.values());
    const kept = { pair, frames: new Map<number, AheadFrame>() };
    this.#kept.set(key, kept);
    return kept;
  }

  #forget(frames: Iterable<AheadFrame>): void {
    for (const { frame } of frames) {
      this.#frames -= 1;
      this.#bytes -= frame.length;
    }
  }
}
