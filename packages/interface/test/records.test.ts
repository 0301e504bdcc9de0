import { defined, entryOf } from '@stci/interface';
import { assert, suite } from '@stci/testkit';

suite('entry of a map', (test) => {
  test('one is made for a key that has none, and only then', () => {
    const map = new Map<string, number[]>();
    let made = 0;
    const make = (): number[] => {
      made += 1;
      return [];
    };
    for (const number of [1, 2, 3]) entryOf(map, 'a', make).push(number);
    assert.equal([...map], [['a', [1, 2, 3]]]);
    assert.is(made, 1);
  });
});

suite('fields that have a value', (test) => {
  test('what is undefined is left out, and nothing else', () => {
    const fields = { a: undefined, b: 0, c: '', d: false, e: null };
    assert.equal(Object.keys(defined(fields)), ['b', 'c', 'd', 'e']);
  });
});
