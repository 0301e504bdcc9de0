/** Keys and names of MPI libraries. */

import { assert, suite } from '@stci/testkit';
import {
  KEYS_OF_RANK_MAX, RANK_BYTES_MAX, VALUE_BYTES_MAX, hasMember, rangesOf, type Pair,
} from '../../dist/pmi/contracts.js';
import { Keys } from '../../dist/pmi/keys.js';
import { Names } from '../../dist/pmi/names.js';

const pair = (key: string, value: number, length = 1): Pair => [key, new Uint8Array(length).fill(value)];
const seeker = (job: number, number = 0) => ({ job, host: 0, number });
const values = (pairs: readonly Pair[] | undefined): string | undefined =>
  pairs?.map(([key, value]) => `${key}=${value[0]}`).join();

suite('keys', (test) => {
  test('are seen by ranks of the host, or of others', () => {
    const keys = new Keys(1);
    keys.add(0);
    assert.is(keys.known(0), undefined);
    keys.put(0, { near: [pair('a', 1), pair('b', 2)], far: [pair('a', 3)] });
    assert.is(values(keys.known(0)), 'a=1,b=2');
    assert.is(values(keys.far(0)), 'a=3');
    keys.tell(1, 5, [pair('c', 4)]);
    keys.tell(2, 0, [pair('d', 5)]);
    assert.equal([...keys.knownRanks()], [0, 5]);
    assert.is(values(keys.known(0, 2)), 'd=5');
    assert.equal([keys.find('b')?.[0], keys.find('c')?.[0], keys.find('d')?.[0]], [2, 4, undefined]);
  });

  test('are awaited until they are put, or the rank is gone', () => {
    const keys = new Keys(1);
    keys.add(0);
    const got: (string | undefined)[] = [];
    keys.await(0, 'b', 'near', (pairs) => got.push(values(pairs)));
    keys.await(0, undefined, 'far', (pairs) => got.push(values(pairs)));
    keys.put(0, { near: [pair('a', 1)], far: [] });
    assert.equal(got.splice(0), ['']);
    keys.put(0, { near: [pair('b', 2)], far: [] });
    assert.equal(got.splice(0), ['a=1,b=2']);
    keys.await(0, 'c', 'near', (pairs) => got.push(values(pairs)));
    keys.await(0, 'c', 'near', () => got.push('cancelled'))?.();
    assert.is(keys.waiting, 1);
    keys.giveUp(0);
    keys.await(7, undefined, 'near', (pairs) => got.push(values(pairs)));
    assert.equal(got, [undefined, undefined]);
  });

  test('of a rank are so many, and so many bytes', () => {
    const keys = new Keys(1);
    keys.add(0);
    for (let i = 0; i < KEYS_OF_RANK_MAX; i++) assert.is(keys.put(0, { near: [pair(`${i}`, 1)], far: [] }), undefined);
    assert.is(keys.put(0, { near: [pair('7', 2)], far: [] }), undefined);
    assert.match(keys.put(0, { near: [pair('x', 1)], far: [] }) ?? '', /at most 4096 keys/);
    keys.add(1);
    const whole = Array.from({ length: RANK_BYTES_MAX / VALUE_BYTES_MAX }, (_, i) =>
      pair(String(i), 1, VALUE_BYTES_MAX - 1));
    assert.is(keys.put(1, { near: whole, far: [] }), undefined);
    assert.is(keys.put(1, { near: whole, far: [] }), undefined);
    assert.match(keys.put(1, { near: [], far: [pair('y', 1)] }) ?? '', new RegExp(`most ${RANK_BYTES_MAX} bytes$`));
    // No message holds it.
    keys.add(2);
    assert.match(keys.put(2, { near: [], far: [pair('x', 1, VALUE_BYTES_MAX + 1)] }) ?? '', /bytes of a value/);
  });
});

suite('names', (test) => {
  const of = (job: number, persistence = 3) => ({ job, rank: 0, nspace: `n${job}`, persistence });
  const found = (names: Names, keys: string[]): string[] => {
    const all: string[] = [];
    names.lookup(seeker(9), keys, false, (list) => all.push(...list.map(([nspace, , key]) => `${nspace} ${key}`)));
    return all;
  };

  test('are published once, and looked up by all jobs', () => {
    const names = new Names();
    assert.equal(names.publish(of(1), [pair('a', 1), pair('b', 1)]), []);
    assert.equal(names.publish(of(2), [pair('a', 2), pair('c', 2)]), ['a']);
    assert.equal(found(names, ['a', 'b', 'c', 'd']), ['n1 a', 'n1 b', 'n2 c']);
    assert.equal(names.unpublish(2, ['a', 'c']), ['a']);
    assert.equal(found(names, ['a', 'c']), ['n1 a']);
    assert.equal(found(names, ['a', 'a', 'a']), ['n1 a']);
  });

  test('are awaited until there are all', () => {
    const names = new Names();
    const got: number[] = [];
    names.lookup(seeker(2), ['a', 'b'], true, (list) => got.push(list.length));
    names.publish(of(1), [pair('a', 1)]);
    assert.equal(got, []);
    names.publish(of(1), [pair('b', 1)]);
    assert.equal(got, [2]);
    names.lookup(seeker(2), ['z'], true, () => got.push(0));
    names.onJobEnded(2);
    names.publish(of(1), [pair('z', 1)]);
    assert.equal(got, [2]);
  });

  test('are awaited no longer by who has gone', () => {
    const names = new Names();
    const got: number[] = [];
    for (const number of [1, 2, 3]) {
      names.lookup(seeker(2, number), ['a', 'a'], true, (list) => got.push(number, list.length));
    }
    names.forget({ job: 2, host: 0, number: 1 });
    names.forget({ job: 2, host: 1 });
    names.publish(of(1), [pair('a', 1)]);
    assert.equal(got, [1, 0, 2, 1, 3, 1]);
    names.lookup(seeker(2), ['b'], true, () => got.push(0));
    names.forget({ job: 2, host: 0 });
    names.publish(of(1), [pair('b', 1)]);
    assert.equal(got, [1, 0, 2, 1, 3, 1, 0]);
  });

  test('end with their job, with their first reader, or with the session', () => {
    const names = new Names();
    names.publish(of(1, 0), [pair('stays', 1)]);
    names.publish(of(1, 1), [pair('once', 1)]);
    names.publish(of(1, 3), [pair('job', 1)]);
    assert.equal([found(names, ['once']), found(names, ['once'])], [['n1 once'], []]);
    names.onJobEnded(1);
    assert.equal(found(names, ['stays', 'job']), ['n1 stays']);
  });
});

suite('members', (test) => {
  test('are ranges, ascending, none twice', () => {
    assert.equal(rangesOf([[2, 1], [1, 3], [1, 1], [1, 2], [2, 1], [1, 7]]), [[1, 1, 3], [1, 7, 7], [2, 1, 1]]);
    assert.equal([hasMember([[1, 1, 3]], 1, 3), hasMember([[1, 1, 3]], 1, 4), hasMember([[1, 1, 3]], 2, 3)],
      [true, false, false]);
  });
});
