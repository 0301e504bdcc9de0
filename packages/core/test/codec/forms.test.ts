/** Examples and mutants of shapes: a check that does not keep to a shape is noticed, wherever in a message it is. */

import { assert, suite } from '@stci/testkit';
import {
  any, bool, bytes, choice, fields, integer, list, narrowed, none, num, oneOf, optional, record, str, tuple, u32,
  variant, wallTime, type Shape,
} from '../../dist/codec/shape.js';
import { deviations } from './forms.js';

const text = str(3);
const numbers = list(u32, 2);

const SHAPES: Readonly<Record<string, Shape<unknown>>> = {
  u32, num, wallTime, bool, numbers, text, bytes: bytes(3), integer: integer(-2, 2), oneOf: oneOf('a', 'b'),
  record: record(u32, 2, 3), fields: fields({ a: u32, b: optional(bool) }), tuple: tuple(u32, text),
  variant: variant<'a', { a: 'x' } | { a: 'y' }>('a', { x: fields({ a: oneOf('x') }), y: fields({ a: oneOf('y') }) }),
  choice: choice([text, numbers], (value) => (typeof value === 'string' ? text : numbers)),
  narrowed: narrowed(text, (found) => (found === 'no' ? 'Expected yes' : undefined), { good: ['yes'], bad: ['no'] }),
  none: none('nothing'),
};

const within = (shape: Shape<unknown>): Shape<unknown> => fields({ all: list(tuple(bool, shape), 5) });

suite('forms', (test) => {
  for (const [name, shape] of Object.entries(SHAPES)) {
    test(`${name} is kept to; what accepts all, or nothing, is noticed`, () => {
      const found = (judge: Shape<unknown>): string[] => deviations(place, 'm', within(optional(judge)));
      const place = within(optional(shape));
      assert.equal(found(shape), []);
      assert.ok(found(any(9)).length > 0, 'all');
      if (name !== 'none') assert.ok(found(none('?')).length > 0, 'nothing');
    });
  }

  test('a bound that is looser or tighter by one', () => {
    const pairs: readonly (readonly [Shape<unknown>, ...Shape<unknown>[]])[] = [
      [text, str(4), str(2)], [numbers, list(u32, 3), list(u32, 1)], [bytes(3), bytes(4), bytes(2)],
      [integer(0, 9), integer(0, 10), integer(0, 8), integer(-1, 9), integer(1, 9)], [oneOf('a'), oneOf('a', 'a!')],
      [record(u32, 2, 3), record(u32, 3, 3), record(u32, 1, 3), record(u32, 2, 4), record(u32, 2, 2)],
      [u32, integer(0, 2 ** 32), integer(0, 2 ** 32 - 2), wallTime], [tuple(u32), tuple(u32, optional(u32))],
      [fields({ a: u32 }), fields({ a: optional(u32) }), fields({})], [optional(u32), u32],
    ];
    for (const [shape, ...others] of pairs) {
      for (const other of others) {
        const found = deviations(within(shape), 'm', within(other));
        assert.ok(found.length > 0, JSON.stringify([shape, other]));
      }
    }
  });

  test('what is said of it names the place and the value', () => {
    const listOf = (item: Shape<string>): Shape<unknown> => fields({ a: list(item, 9) });
    assert.equal(deviations(listOf(text), 'm', listOf(str(4))), ["m: { a: [ 'xxxx' ] } is accepted"]);
  });
});
