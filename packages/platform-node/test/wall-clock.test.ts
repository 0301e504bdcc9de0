/** Wall-clock time with fractions, by made-up clocks and this machine's. */

import { assert, suite } from '@stci/testkit';
import { WallClock } from '../dist/system/wall-clock.js';

const EPOCH = 1_800_000_000_000;

/** Each look at a clock takes a microsecond, of the true time. */
class Machine {
  trueMs = 0.3;
  setByMs = 0;
  /** Of the next look at the system's clock. */
  interruptionMs = 0;
  readonly wall = new WallClock(() => this.#system(), () => this.#tick(0) + 77.7);

  get systemMs(): number {
    return EPOCH + this.trueMs + this.setByMs;
  }

  #tick(ms: number): number {
    this.trueMs += 0.001 + ms;
    return this.trueMs;
  }

  #system(): number {
    this.#tick(this.interruptionMs);
    this.interruptionMs = 0;
    return Math.floor(this.systemMs);
  }

  /** By how much a reading is off. */
  offMs(): number {
    return this.wall.read() - this.systemMs;
  }
}

suite('wall clock', (test) => {
  test('microseconds from whole milliseconds', () => {
    const machine = new Machine();
    for (let i = 0; i < 1000; i += 1) {
      machine.trueMs += i * 0.37;
      const off = machine.offMs();
      assert.ok(Math.abs(off) < 0.01, `${off} ms off at ${machine.trueMs}`);
    }
  });

  test('a clock that is set is followed at once, and exact again from the next reading', () => {
    for (const step of [3_600_000.4, -5000.7, 1.5, -2.2]) {
      const machine = new Machine();
      machine.offMs();
      machine.setByMs = step;
      assert.ok(Math.abs(machine.offMs()) <= 1, `at once, by ${step}`);
      assert.ok(Math.abs(machine.offMs()) < 0.01, `then, by ${step}`);
    }
  });

  test('an interruption within a reading changes nothing for the next', () => {
    const machine = new Machine();
    machine.offMs();
    for (const ms of [0.4, 7.3, 20.9]) {
      machine.interruptionMs = ms;
      machine.wall.read();
      assert.ok(Math.abs(machine.offMs()) < 0.01, `after ${ms} ms`);
    }
  });

  test('this machine: within the millisecond of Date.now, never back', () => {
    const wall = new WallClock(Date.now, () => performance.now(), performance.timeOrigin);
    let last = 0;
    let fractions = 0;
    for (let i = 0; i < 10_000; i += 1) {
      const [before, ms, after] = [Date.now(), wall.read(), Date.now()];
      assert.ok(ms >= before && ms < after + 1 && ms >= last, `${before} ${ms} ${after}, before it ${last}`);
      if (!Number.isInteger(ms)) fractions += 1;
      last = ms;
    }
    assert.ok(fractions > 9000);
  });
});
