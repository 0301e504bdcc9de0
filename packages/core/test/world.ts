/** A simulated host for tests that need a clock, secrets and a turn of the loop, and its run to rest. */

import type { Platform } from '@stci/interface';
import { createWorld, type World } from '@stci/platform-sim';
import { assert } from '@stci/testkit';

export interface TestPlace {
  readonly world: World;
  readonly platform: Platform;
  /** Runs `ms` of virtual time; a callback that threw fails the test. */
  run(ms?: number): void;
  /** Runs until `condition` holds, at most a virtual minute. */
  until(condition: () => boolean, what: string): void;
}

export function testPlace(seed: number | string = 1): TestPlace {
  const world = createWorld({ seed });
  const platform = world.platform('h');
  const check = (): void => {
    const [fault] = world.faults;
    if (fault !== undefined) throw fault.error;
  };
  return {
    world,
    platform,
    run: (ms = 100) => {
      const untilMs = world.nowMs + ms;
      world.at(untilMs, () => undefined); // A world in which nothing happens any more stands still.
      world.run({ untilMs, maxEvents: 2_000_000 });
      check();
    },
    until: (condition, what) => {
      if (!condition()) world.run({ untilMs: world.nowMs + 60_000, until: condition, maxEvents: 5_000_000 });
      check();
      assert.ok(condition(), `waited in vain for ${what}`);
    },
  };
}
