/**
 * At another time and with other luck: what a component reads besides its input, the clock of this process or its
 * random numbers, is different in each call. What is pure answers the same.
 */

import type { Topology } from '@stci/interface';
import * as assert from './assert.js';
import { seededIntegers } from './seeded.js';

/** Half a day and a little: another hour, weekday in time, remainder. */
const SHIFT_MS = 43_200_001;

let calls = 0;

/** Runs `body`, which is synchronous. */
export function elsewhere<Result>(body: () => Result): Result {
  const random = seededIntegers(++calls);
  const { Date: date } = globalThis;
  const { now: monotonic } = performance;
  const { random: uniform } = Math;
  let shiftMs = calls * SHIFT_MS;
  // Each look at a clock is a little later.
  const wallMs = (): number => date.now() + ++shiftMs;
  class ShiftedDate extends date {
    constructor(...given: unknown[]) {
      super(...(given.length === 0 ? [wallMs()] : given) as [number]);
    }

    static override now(): number {
      return wallMs();
    }
  }
  globalThis.Date = ShiftedDate as DateConstructor;
  performance.now = () => monotonic.call(performance) + ++shiftMs;
  Math.random = () => random(0x4000_0000) / 0x4000_0000;
  try {
    return body();
  } finally {
    globalThis.Date = date;
    performance.now = monotonic;
    Math.random = uniform;
  }
}

type TopologyOf = (size: number) => Topology;

/** Topology of one session, asked by nobody else: a module that keeps it has a wrong one for the next session. */
export function ownTopology(make: TopologyOf | undefined, state: { readonly isOver: boolean }): TopologyOf | undefined {
  return make && ((size) => new Proxy(make(size), {
    get: (made, name: keyof Topology) => {
      assert.ok(!state.isOver, 'it asks the topology of another session, which is over');
      const found: unknown = made[name];
      return typeof found === 'function' ? found.bind(made) as unknown : found;
    },
  }));
}
