/** Shapes: values that each accepts and refuses, and the path in the message. */

import { assert, suite } from '@stci/testkit';
import { encode } from '../../dist/codec/cbor.js';
import {
  any, bool, bytes, check, closed, fields, integer, list, num, object, oneOf, optional, plain, record, str, tuple, u32,
  variant, wallTime, type Shape,
} from '../../dist/codec/shape.js';

const OTHERS: readonly unknown[] = [undefined, null, true, 1, -1, 1.5, 'x', [], [1], {}, new Uint8Array(1), 2 ** 32];

interface Case {
  readonly name: string;
  readonly shape: Shape<unknown>;
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

const CASES: readonly Case[] = [
  { name: 'u32', shape: u32, good: [0, 1, 0xffff_ffff], bad: [-1, 1.5, 2 ** 32, NaN, Infinity, '1', null, undefined,
    [1]] },
  { name: 'num', shape: num, good: [0, -1.5, 2 ** 60], bad: [NaN, Infinity, '1', null, undefined, [], {}, true] },
  { name: 'wallTime', shape: wallTime, good: [0, 1.5, 1.8e12, 8.64e15], bad: [-1, 8.7e15, NaN, Infinity, '1',
    null] },
  { name: 'integer', shape: integer(1, 3), good: [1, 2, 3], bad: [0, 4, 1.5, NaN, '1', null, [2]] },
  { name: 'record', shape: record(u32, 2, 3), good: [{}, { a: 1, bcd: 2 }], bad: [{ a: 'x' }, [], null, 'a', new Map(),
    { a: 1, b: 2, c: 3 }, { abcd: 1 }] },
  { name: 'variant', shape: variant<'a', { a: 'x'; n: number } | { a: 'y' }>('a', {
    x: object<{ a: 'x'; n: number }>({ a: oneOf('x'), n: u32 }), y: object<{ a: 'y' }>({ a: oneOf('y') }) }),
  good: [{ a: 'x', n: 1 }, { a: 'y' }], bad: [{ a: 'x' }, { a: 'z' }, { a: '__proto__' }, {}, null, [], 'x'] },
  { name: 'str', shape: str(3), good: ['', 'xyz'], bad: ['xyzw', 1, null, undefined, [], {}, true, new Uint8Array(1)] },
  { name: 'bool', shape: bool, good: [true, false], bad: [0, 1, 'true', null, undefined] },
  { name: 'bytes', shape: bytes(3), good: [new Uint8Array(0), new Uint8Array(3)], bad: [
    new Uint8Array(4), 'x', [1], {}, null, undefined] },
  { name: 'any', shape: any(9), good: OTHERS, bad: [] },
  { name: 'plain', shape: plain(9), good: [{}, { a: 1 }], bad: [null, undefined, [], 1, 'x', true, new Uint8Array(1),
    new Date(0), new Map()] },
  { name: 'list', shape: list(u32, 2), good: [[], [1, 2]], bad: [[1, 2, 3], {}, 'ab', null, undefined, [1, -1],
    [[1]]] },
  { name: 'oneOf', shape: oneOf('a', 'b'), good: ['a', 'b'], bad: ['c', '', 'A', 1, null, undefined, ['a']] },
  { name: 'optional', shape: optional(u32), good: [undefined, null, 3], bad: [-1, 'x', {}] },
  { name: 'fields', shape: fields({ a: u32, b: str(3) }), good: [{ a: 1, b: '' }, { a: 1, b: '', c: 1 }], bad: [{},
    { a: 1 }, { a: '1', b: '' }, null, 1, [], new Map([['a', 1]])] },
  { name: 'tuple', shape: tuple(u32, str(3)), good: [[1, 'x']], bad: [[], [1], [1, 'x', 2], ['x', 1], {}, null] },
];

suite('shapes', (test) => {
  for (const { name, shape, good, bad } of CASES) {
    test(`${name} accepts what it promises and refuses all else, naming the place`, () => {
      for (const value of good) {
        // An optional null is absent.
        const expected = name === 'optional' && value === null ? undefined : value;
        assert.equal(check(shape, value, 'here'), expected);
      }
      for (const value of bad) {
        const error = assert.throwsCode('STCI_MESSAGE_INVALID', () => check(shape, value, 'here'));
        assert.match(error.message, /^Expected .* at here.*, got /);
      }
    });
  }

  test('each knows the most bytes that a value takes', () => {
    const wide = '\uffff'.repeat(300);
    const longest: [Shape<unknown>, unknown][] = [
      [u32, 0xffff_ffff], [num, -1.1e300], [wallTime, 8.64e15], [integer(-9, 2 ** 53 - 1), 2 ** 53 - 1],
      [str(300), wide], [bool, true], [bytes(300), new Uint8Array(300)], [list(str(300), 3), [wide, wide, wide]],
      [record(u32, 2, 300), { [wide]: 0xffff_ffff, [`${wide.slice(1)}x`]: 1 }], [oneOf('a', 'bcd'), 'bcd'],
      [fields({ one: u32, two: tuple(u32, bool) }), { one: 0xffff_ffff, two: [0xffff_ffff, true] }],
      [optional(u32), null],
    ];
    for (const [each, value] of longest) {
      check(each, value, 'here');
      const { length } = encode(value);
      assert.ok(length <= each.bytesMax && each.bytesMax < 40 + 3 * length, `${length} of ${each.bytesMax} bytes`);
    }
  });

  test('the path leads to the innermost place', () => {
    const shape = fields({ hosts: list(tuple(u32, list(fields({ rank: u32 }), 9)), 9) });
    const value = { hosts: [[0, []], [1, [{ rank: 1 }, { rank: 'x' }]]] };
    const error = assert.throwsCode('STCI_MESSAGE_INVALID', () => check(shape, value, 'job.launch'));
    assert.is(error.message, 'Expected an integer in 0..4294967295 at job.launch.hosts[1][1][1].rank, got string');
  });

  test('a closed shape drops fields that it does not name, also where it is a part of another', () => {
    const shape = fields({ items: list(closed({ a: u32, b: optional(u32) }), 2) });
    const value: unknown = { items: [{ a: 1, c: 2, toString: 3 }, { a: 1, b: null }], kept: 1 };
    assert.equal(check(shape, value, 'here'), { items: [{ a: 1 }, { a: 1 }], kept: 1 });
  });
});
