/**
 * Which broadcasts were seen, in memory that does not grow with their number: for each source, the latest of each
 * remainder of its numbers. What is older than the window counts as seen.
 */

import { entryOf } from '@stci/interface';
import type { MemberId, Position } from '@stci/interface';

/** Broadcasts of one source that may be under way at a time. */
export const DUPLICATE_WINDOW = 256;
/** Incarnations of one position that are kept: the newest. Broadcasts of the last one may still be under way. */
const INCARNATIONS_MAX = 2;

export class DuplicateFilter {
  /** By position and incarnation; a slot holds the number + 1, 0 for none. */
  readonly #sources = new Map<Position, Map<number, Uint32Array>>();

  /** True if it had not been seen before. */
  add(source: MemberId, number: number): boolean {
    const slots = this.#slotsOf(source);
    const slot = number % DUPLICATE_WINDOW;
    if (slots === undefined || slots[slot]! > number) return false;
    slots[slot] = number + 1;
    return true;
  }

  #slotsOf({ position, incarnation }: MemberId): Uint32Array | undefined {
    const known = entryOf(this.#sources, position, () => new Map());
    const slots = known.get(incarnation);
    if (slots !== undefined) return slots;
    if (known.size >= INCARNATIONS_MAX) {
      const oldest = Math.min(...known.keys());
      if (incarnation < oldest) return undefined;
      known.delete(oldest);
    }
    const made = new Uint32Array(DUPLICATE_WINDOW);
    known.set(incarnation, made);
    return made;
  }
}
