/**
 * Pace of what is sent again: a queue on the way must take it, and it may be more than any takes. So only so much is
 * under way at once, the rest follows as acknowledgements come; what is sent for the first time waits behind it. Each
 * destination gets a part, and one whose acknowledgements do not come leaves its part to the others. Pure.
 */

/** Part of what may be under way to all destinations that one gets. */
const PAIR_PART = 1 / 4;

/** A destination, and the frames that are kept for it. */
export interface Resent {
  /** Until they are acknowledged, in order. */
  readonly kept: readonly { readonly charge: number }[];
  /** How many of them have been sent since they were last to be sent again. */
  sent: number;
  /** How many of these count as under way, and what they are charged together. */
  underway: number;
  underwayCharge: number;
  /** The receiver was asked what it has got: until it answers nothing more is sent again. */
  isAsked: boolean;
}

export class ResendPace<Pair extends Resent> {
  readonly #bytesMax: number;
  /** Pairs that get something again; the one that got something last is the last. */
  readonly #pairs = new Set<Pair>();
  /** Of all that is under way. */
  #charge = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get pairs(): Pair[] {
    return [...this.#pairs];
  }

  /** All that is kept is to be sent again. */
  begin(pair: Pair): void {
    this.#forget(pair);
    [pair.sent, pair.isAsked] = [0, false];
    this.#pairs.add(pair);
  }

  /** Whether the next kept frame is to be sent again now; it counts as sent then. */
  take(pair: Pair): boolean {
    const next = pair.kept[pair.sent];
    if (next === undefined && pair.underway === 0) this.#pairs.delete(pair);
    if (next === undefined || pair.isAsked || !this.#pairs.has(pair) || !this.#hasRoom(pair)) return false;
    pair.sent += 1;
    pair.underway = pair.sent;
    this.#count(pair, next.charge);
    this.#pairs.delete(pair);
    this.#pairs.add(pair);
    return true;
  }

  /** The first kept frames are acknowledged. */
  onAcknowledged(pair: Pair, count: number): void {
    const counted = pair.kept.slice(0, Math.min(count, pair.underway));
    this.#count(pair, -counted.reduce((sum, { charge }) => sum + charge, 0));
    pair.underway -= counted.length;
    pair.sent = Math.max(0, pair.sent - count);
  }

  /** An acknowledgement is overdue, and was asked for. */
  onAsked(pair: Pair): void {
    if (!this.#pairs.has(pair)) return;
    this.#forget(pair);
    pair.isAsked = true;
  }

  /** Nothing is kept for it any more. */
  end(pair: Pair): void {
    this.#forget(pair);
    this.#pairs.delete(pair);
  }

  #forget(pair: Pair): void {
    this.#count(pair, -pair.underwayCharge);
    pair.underway = 0;
  }

  #hasRoom({ underwayCharge }: Pair): boolean {
    return this.#charge < this.#bytesMax && underwayCharge < this.#bytesMax * PAIR_PART;
  }

  #count(pair: Pair, charge: number): void {
    this.#charge += charge;
    pair.underwayCharge += charge;
  }
}
