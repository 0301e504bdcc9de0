/** Durations as messages show them. */

import { formatDuration } from '@stci/registry';
import { assert, suite } from '@stci/testkit';

const SHOWN: readonly (readonly [number, string])[] = [
  [0, '0 ms'], [0.4, '0 ms'], [250, '250 ms'], [999.4, '999 ms'], [999.6, '1 s'], [1000, '1 s'], [1250, '1.3 s'],
  [9949, '9.9 s'], [9951, '10 s'], [14_000, '14 s'], [14_499, '14 s'], [90_000, '90 s'], [120_000, '120 s'],
  [121_000, '2 min 1 s'], [180_000, '3 min'], [3_599_000, '59 min 59 s'], [3_599_900, '1 h'], [3_600_000, '1 h'],
  [5_400_000, '1 h 30 min'], [86_400_000, '24 h'],
];

suite('durations for people', (test) => {
  test('one or two units, none of them 60', () => {
    for (const [ms, text] of SHOWN) assert.is(formatDuration(ms), text);
  });
});
