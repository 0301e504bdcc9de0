/**
 * Held queue: one direction of an impaired link, pure. Bytes and marks go in with the time, and come out in order when
 * the impairment lets them pass: after a delay, at a rate, or when a silence is over.
 */

import type { Impairment } from '@stci/interface';

/** Bytes, or something that happens when all before it have passed. */
export type HeldItem = Uint8Array | (() => void);

interface Entry {
  readonly item: HeldItem;
  /** Not before. */
  readonly passMs: number;
}

/** At a rate, bytes pass in pieces that take so long, so that a slow link is not taken for a silent one. */
const PIECE_MS = 50;

/** Entries at the front that have passed, before the array is cut. */
const PASSED_MAX = 1024;

export class HeldQueue {
  readonly #direction: 'in' | 'out';
  readonly #random: () => number;
  #how: Impairment | undefined;
  #entries: Entry[] = [];
  #first = 0;
  #bytes = 0;
  /** When the last bytes that were let pass have passed at the rate. */
  #freeMs = -Infinity;

  /** `random`: uniform in [0, 1). */
  constructor(direction: 'in' | 'out', random: () => number) {
    this.#direction = direction;
    this.#random = random;
  }

  /** Undefined: this direction is not impaired, and all that is held may pass. */
  impair(how: Impairment | undefined, nowMs: number): void {
    this.#how = how?.direction === this.#direction || how?.direction === 'both' ? how : undefined;
    this.#freeMs = nowMs;
  }

  get isSilent(): boolean {
    return this.#how?.isSilent === true;
  }

  /** What comes now may pass at once. */
  get isOpen(): boolean {
    return this.#how === undefined && this.isEmpty;
  }

  get isEmpty(): boolean {
    return this.#first === this.#entries.length;
  }

  get bytes(): number {
    return this.#bytes;
  }

  push(item: HeldItem, nowMs: number): void {
    const { delayMs = 0, jitterMs = 0 } = this.#how ?? {};
    const drawnMs = jitterMs > 0 ? jitterMs * this.#random() : 0;
    const before = this.#entries.at(-1)?.passMs ?? -Infinity;
    this.#entries.push({ item, passMs: Math.max(before, nowMs + delayMs + drawnMs) });
    this.#bytes += sizeOf(item);
  }

  /** The next that may pass now; undefined: none. */
  next(nowMs: number): HeldItem | undefined {
    const dueMs = this.dueMs;
    const entry = this.#entries[this.#first];
    if (entry === undefined || dueMs === undefined || dueMs > nowMs) return undefined;
    const piece = this.#pieceOf(entry);
    if (this.#how?.bytesPerSecond !== undefined) this.#freeMs = dueMs;
    if (piece === entry.item) this.#drop();
    else this.#entries[this.#first] = { ...entry, item: (entry.item as Uint8Array).subarray(sizeOf(piece)) };
    this.#bytes -= sizeOf(piece);
    return piece;
  }

  /** When the next may pass, which may be over; undefined: there is none, or it waits for the end of a silence. */
  get dueMs(): number | undefined {
    const entry = this.#entries[this.#first];
    if (entry === undefined || this.isSilent) return undefined;
    if (this.#how === undefined) return -Infinity;
    const { bytesPerSecond } = this.#how;
    if (bytesPerSecond === undefined) return entry.passMs;
    return Math.max(entry.passMs, this.#freeMs) + (sizeOf(this.#pieceOf(entry)) / bytesPerSecond) * 1000;
  }

  clear(): void {
    this.#entries = [];
    this.#first = 0;
    this.#bytes = 0;
  }

  #pieceOf({ item }: Entry): HeldItem {
    const bytesPerSecond = this.#how?.bytesPerSecond;
    if (bytesPerSecond === undefined || !(item instanceof Uint8Array)) return item;
    const pieceBytes = Math.max(1, Math.floor((bytesPerSecond * PIECE_MS) / 1000));
    return item.length <= pieceBytes ? item : item.subarray(0, pieceBytes);
  }

  #drop(): void {
    this.#first += 1;
    if (!this.isEmpty && this.#first < PASSED_MAX) return;
    this.#entries.splice(0, this.#first);
    this.#first = 0;
  }
}

function sizeOf(item: HeldItem): number {
  return item instanceof Uint8Array ? item.length : 0;
}
