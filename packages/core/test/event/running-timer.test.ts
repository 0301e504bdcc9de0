/** Timers that count the time in which their process ran. */

import type { Timer } from '@stci/interface';
import { createWorld } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { afterRunning } from '../../dist/event/running-timer.js';

const DELAY_MS = 800;

/** When the timer fires in a process that is stopped for each `[from, to]`, or undefined. */
function firedMs(stops: readonly (readonly [number, number])[], cancelMs?: number): number | undefined {
  const world = createWorld({ seed: 1 });
  let fired: number | undefined;
  let timer: Timer | undefined;
  const process = world.start('h', ['p'], ({ platform }) => {
    timer = afterRunning(platform.clock, DELAY_MS, () => {
      assert.is(fired, undefined, 'once');
      fired = world.nowMs;
    });
  });
  for (const [from, to] of stops) {
    world.at(from, () => world.pauseProcess('h', process.pid));
    world.at(to, () => world.resumeProcess('h', process.pid));
  }
  if (cancelMs !== undefined) world.at(cancelMs, () => timer?.cancel());
  world.run({ untilMs: 100_000 });
  return fired === undefined ? undefined : Math.round(fired);
}

suite('timers that count running time', (test) => {
  test('undisturbed, as any timer', () => {
    const late = (firedMs([]) ?? 0) - DELAY_MS;
    assert.ok(late >= 0 && late <= 2, `${late} ms`);
  });

  test('a stop does not count, at any moment', () => {
    for (const from of [1, 50, 100, 399, 750, 799]) {
      const late = (firedMs([[from, from + 50_000]]) ?? 0) - DELAY_MS - 50_000;
      assert.ok(late > -101 && late < 101, `stopped at ${from}: ${late} ms off`);
    }
    const often = firedMs([[100, 1100], [1250, 9000], [9300, 20_000]]) ?? 0;
    assert.ok(often > 20_000 && often < 20_600, `${often}`);
  });

  test('cancelled, it does not fire', () => {
    assert.is(firedMs([], 700), undefined);
    assert.is(firedMs([[100, 5000]], 3000), undefined);
  });
});
