/** The limit of computations, on expressions that backtrack without end. */

import { assert, suite } from '@stci/testkit';
import { withinLimit } from '../dist/within-limit.js';

suite('a limit of computations', (test) => {
  test('an expression that would take forever is ended, at once after it another is not', () => {
    for (const [pattern, text] of [
      ['^(a+)+$', `${'a'.repeat(300)}b`], ['(a{0,50}){0,50}b', 'a'.repeat(200)], ['(?=(a|a)*$)x', `${'a'.repeat(99)}b`],
    ] as const) {
      const fromMs = performance.now();
      assert.is(withinLimit(50, () => new RegExp(pattern).test(text)), undefined, pattern);
      assert.ok(performance.now() - fromMs < 3000, pattern);
      assert.is(withinLimit(5000, () => /^a/.test(text)), true);
    }
  });

  test('what it throws is thrown', () => {
    assert.throws(() => withinLimit(5000, () => {
      throw new RangeError('its own');
    }), /its own/u);
    assert.is(withinLimit(5000, () => 7), 7);
  });
});
