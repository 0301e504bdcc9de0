import { defined } from '@stci/interface';
import { assert, suite } from '@stci/testkit';

suite('fields that have a value', (test) => {
  test('what is undefined is left out, and nothing else', () => {
    const fields = { a: undefined, b: 0, c: '', d: false, e: null };
    assert.equal(Object.keys(defined(fields)), ['b', 'c', 'd', 'e']);
  });
});
