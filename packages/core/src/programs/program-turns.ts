/**
 * Turns of the programs of one host: what they ask is taken one request after another, of each connection in turn, and
 * after so much of it the agent goes on with all else first. A request that costs much, by what it names, is followed
 * by a rest as long as itself: the agent spends at most half of its time on such.
 */

import { assert, type Clock } from '@stci/interface';

/** Positions of a topology that is built while all of the agent waits: a tenth of a second, for the slowest kinds. */
export const PROGRAM_TOPOLOGY_SIZE_MAX = 0x10_0000;

/** About what requests cost, in microseconds: each, each position of a topology that is built, each byte. */
export const REQUEST_COST_US = 10;
export const POSITION_COST_US = 0.1;
export const BYTE_COST_US = 0.001;

/** What is taken in one turn; a request that costs more is the last of its turn. */
export const TURN_COST_US = 5000;

/** What costs more is followed by a rest. */
const REST_COST_US = 200;

const US_PER_MS = 1000;

/** Longest that a turn may hold up the agent: with the shortest lease a link sends every 50 ms, and bears 3 less. */
const HELD_US_MAX = 150 * US_PER_MS;

assert(REQUEST_COST_US < REST_COST_US && REST_COST_US < TURN_COST_US, 'a turn takes many plain requests');
assert(
  TURN_COST_US + PROGRAM_TOPOLOGY_SIZE_MAX * POSITION_COST_US <= HELD_US_MAX,
  'the most expensive request holds up no sign of life',
);

/** A connection with requests that wait. */
export interface TurnTaker {
  /** What the next request costs, in microseconds; undefined: none is to be taken now. */
  nextCostUs(): number | undefined;
  takeNext(): void;
}

export class ProgramTurns {
  readonly #clock: Clock;
  /** In the order in which they are served. */
  readonly #waiting = new Set<TurnTaker>();
  /** Those whose next request waits for the end of the rest. */
  readonly #resting = new Set<TurnTaker>();
  #restUntilMs = -Infinity;
  #sinceMs = -Infinity;
  #spentUs = 0;
  #isRunning = false;
  #isScheduled = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** There is a request to be taken: now, unless the turn is over or others wait. */
  enter(taker: TurnTaker): void {
    if (!this.#resting.has(taker)) this.#waiting.add(taker);
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#sinceMs >= TURN_COST_US / US_PER_MS) this.#begin(nowMs);
    if (!this.#isRunning && !this.#isScheduled) this.#run();
  }

  #begin(nowMs: number): void {
    this.#sinceMs = nowMs;
    this.#spentUs = 0;
  }

  #run(): void {
    this.#isRunning = true;
    // Those that enter meanwhile, or have more, are served after the others.
    for (const taker of this.#waiting) {
      if (this.#spentUs >= TURN_COST_US) break;
      this.#waiting.delete(taker);
      this.#serve(taker);
    }
    this.#isRunning = false;
    if (this.#waiting.size > 0) this.#goOn();
  }

  #serve(taker: TurnTaker): void {
    const costUs = taker.nextCostUs();
    if (costUs === undefined) return;
    const nowMs = this.#clock.nowMs();
    if (costUs > REST_COST_US && nowMs < this.#restUntilMs) return this.#rest(taker, this.#restUntilMs - nowMs);
    taker.takeNext();
    const afterMs = this.#clock.nowMs();
    const takenUs = Math.max(costUs, (afterMs - nowMs) * US_PER_MS); // A plugin's topology may take longer.
    this.#spentUs += takenUs;
    if (takenUs > REST_COST_US) this.#restUntilMs = afterMs + takenUs / US_PER_MS;
    if (taker.nextCostUs() !== undefined) this.#waiting.add(taker);
  }

  /** The first one that has to wait for the end of the rest wakes the others. */
  #rest(taker: TurnTaker, restMs: number): void {
    this.#resting.add(taker);
    if (this.#resting.size > 1) return;
    this.#clock.after(restMs, () => {
      const rested = [...this.#resting];
      this.#resting.clear();
      for (const each of rested) this.enter(each);
    });
  }

  /** When the loop has polled all else. */
  #goOn(): void {
    this.#isScheduled = true;
    this.#clock.soon(() => {
      this.#isScheduled = false;
      this.#begin(this.#clock.nowMs());
      this.#run();
    });
  }
}
