/** The factor that makes deadlines longer. */

import { assert, suite } from '@stci/testkit';
import { patienceOf } from '../dist/kit/patience.js';

suite('patience', (test) => {
  test('a number from 1 to 100; none is 1', () => {
    assert.equal([undefined, '', '1', '2.5', '100'].map(patienceOf), [1, 1, 1, 2.5, 100]);
  });

  for (const text of ['0', '0.5', '101', '-1', 'x', 'NaN', 'Infinity']) {
    test(`refused: ${text}`, () => {
      assert.throws(() => patienceOf(text), /STCI_TEST_PATIENCE is ".*", not a number from 1 to 100/u);
    });
  }
});
