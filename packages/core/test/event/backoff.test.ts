/** Pauses between attempts. */

import { assert, suite } from '@stci/testkit';
import { Backoff, backoffMs } from '../../dist/event/backoff.js';

const BOUNDS = { firstMs: 50, maxMs: 300 };

suite('back-off', (test) => {
  test('each pause is twice as long as the one before, up to the longest', () => {
    assert.equal([1, 2, 3, 4, 100, 5000].map((attempts) => backoffMs(BOUNDS, attempts)), [50, 100, 200, 300, 300, 300]);
    assert.is(backoffMs({ firstMs: 0, maxMs: 300 }, 9), 0);
    assert.is(backoffMs({ firstMs: 500, maxMs: 300 }, 1), 300);
  });

  test('those of one that tries are spread by half, and begin anew after a success', () => {
    const drawn = [0, 0.5, 0.75];
    const backoff = new Backoff(BOUNDS, { uniform: () => drawn.shift() ?? 0.5 } as never);
    assert.equal([backoff.nextMs(), backoff.nextMs(), backoff.nextMs(), backoff.nextMs()], [25, 100, 250, 300]);
    backoff.reset();
    assert.is(backoff.nextMs(), 50);
  });
});
