/** Once: each id the first time, in bounded memory. */

import { assert, suite } from '@stci/testkit';
import { Once } from '../../dist/event/once.js';

suite('once', (test) => {
  test('is true for the first time, and forgets the oldest', () => {
    const once = new Once<string>(2);
    assert.equal(['a', 'b', 'a', 'b'].map((id) => once.add(id)), [true, true, false, false]);
    assert.ok(once.add('c'));
    assert.equal(['a', 'b', 'c'].map((id) => once.has(id)), [false, true, true]);
    assert.ok(once.add('a'));
    assert.not.ok(once.has('b'));
  });
});
