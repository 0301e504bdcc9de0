/** Values of every type: read, refused, printed. */

import { assert, suite, seeded } from '@stci/testkit';
import { expectedForm, formatBounds, formatValue, parseValue } from '@stci/registry';
import type { ParamSpec, ParamType, ParamValue } from '@stci/interface';

const DEFAULTS: Record<ParamType, ParamValue> = {
  int: 1, bool: false, string: '', enum: 'a', duration: 0, size: 0, list: [],
};

function spec(type: ParamType, more: Partial<ParamSpec> = {}): ParamSpec {
  return { type, default: DEFAULTS[type], help: 'test', ...(type === 'enum' && { values: ['a', 'bb'] }), ...more };
}

const GOOD: readonly (readonly [ParamType, string, ParamValue])[] = [
  ['int', '0', 0],
  ['int', '-7', -7],
  ['int', ' 12 ', 12],
  ['int', '9007199254740991', 9007199254740991],
  ['bool', 'true', true],
  ['bool', 'false', false],
  ['string', '', ''],
  ['string', ' a = b # c ', ' a = b # c '],
  ['enum', 'bb', 'bb'],
  ['duration', '0', 0],
  ['duration', '0s', 0],
  ['duration', '250ms', 250],
  ['duration', '2s', 2000],
  ['duration', '1m', 60_000],
  ['duration', '1h', 3_600_000],
  ['size', '0', 0],
  ['size', '65536', 65_536],
  ['size', '65536B', 65_536],
  ['size', '64KiB', 65_536],
  ['size', '1MiB', 1_048_576],
  ['size', '2GiB', 2_147_483_648],
  ['size', '3kB', 3000],
  ['size', '1MB', 1_000_000],
  ['size', '1GB', 1_000_000_000],
  ['list', '', []],
  ['list', '  ', []],
  ['list', 'a', ['a']],
  ['list', 'a, b ,c', ['a', 'b', 'c']],
  ['list', '^a,b', ['^a', 'b']],
];

const BAD: readonly (readonly [ParamType, string, string])[] = [
  ['int', '', 'not an integer'],
  ['int', '1.5', 'not an integer'],
  ['int', '1e3', 'not an integer'],
  ['int', '0x10', 'not an integer'],
  ['int', '+1', 'not an integer'],
  ['int', '1_000', 'not an integer'],
  ['int', '9007199254740992', 'safe integer'],
  ['int', 'NaN', 'not an integer'],
  ['bool', 'yes', 'not true or false'],
  ['bool', 'TRUE', 'not true or false'],
  ['bool', '1', 'not true or false'],
  ['bool', '', 'not true or false'],
  ['enum', 'c', 'not one of the values'],
  ['enum', '', 'not one of the values'],
  ['duration', '10', 'write 10ms or 10s'],
  ['duration', '1.5s', 'not a duration'],
  ['duration', '-1s', 'not a duration'],
  ['duration', '1 s', 'not a duration'],
  ['duration', '1d', 'no unit d'],
  ['duration', '1S', 'no unit S'],
  ['duration', '99999999999999999s', 'safe integer'],
  ['size', '1TB', 'no unit TB'],
  ['size', '1kib', 'no unit kib'],
  ['size', '-1', 'not a size'],
  ['size', 'KiB', 'not a size'],
  ['list', 'a,,b', 'empty item'],
  ['list', ',', 'empty item'],
];

suite('parameter values', (test) => {
  for (const [type, text, value] of GOOD) {
    test(`${type} reads ${JSON.stringify(text)}`, () => {
      assert.equal(parseValue(spec(type), text), { ok: true, value });
    });
  }

  for (const [type, text, words] of BAD) {
    test(`${type} refuses ${JSON.stringify(text)}`, () => {
      const parsed = parseValue(spec(type), text);
      assert.is(parsed.ok, false);
      if (!parsed.ok) assert.match(parsed.problem, words);
    });
  }

  test('bounds are inclusive', () => {
    const bounded = spec('int', { min: 1, max: 8 });
    for (const [text, isGood] of [['0', false], ['1', true], ['8', true], ['9', false]] as const) {
      assert.is(parseValue(bounded, text).ok, isGood, text);
    }
    const window = spec('size', { min: 65_536, max: 2 ** 30 });
    assert.is(parseValue(window, '64KiB').ok, true);
    assert.is(parseValue(window, '63KiB').ok, false);
    assert.is(parseValue(window, '1GiB').ok, true);
    assert.is(parseValue(window, '1073741825').ok, false);
  });

  test('bounds and forms in words', () => {
    assert.is(formatBounds(spec('int', { min: 1, max: 8 })), '1..8');
    assert.is(formatBounds(spec('duration', { min: 10 })), 'at least 10ms');
    assert.is(formatBounds(spec('size', { max: 65_536 })), 'at most 64KiB');
    assert.is(formatBounds(spec('enum')), 'a|bb');
    assert.is(formatBounds(spec('bool')), '');
    assert.match(expectedForm(spec('enum')), 'one of a|bb');
    assert.match(expectedForm(spec('int', { min: 1, max: 8 })), 'an integer, within 1..8');
    assert.match(expectedForm(spec('size', { min: 1024 })), 'at least 1KiB');
  });

  test('what is printed is read back as the same value', () => {
    const random = seeded(20_201);
    const factors = [1, 1000, 1024, 60_000, 3_600_000, 2 ** 20, 1e6, 2 ** 30];
    for (let round = 0; round < 3000; round += 1) {
      const type = random.pick<ParamType>(['int', 'duration', 'size']);
      const value = random.below(5000) * random.pick(factors);
      assert.equal(parseValue(spec(type), formatValue(spec(type), value)), { ok: true, value }, `${type} ${value}`);
    }
    for (const items of [[], ['a'], ['^a', 'b']]) {
      assert.equal(parseValue(spec('list'), formatValue(spec('list'), items)), { ok: true, value: items });
    }
  });

  test('no text makes the parser throw', () => {
    const random = seeded(7);
    const letters = '0123456789-+.,^ abcKMGiBmsh=#\u0000é';
    const types = Object.keys(DEFAULTS) as ParamType[];
    for (let round = 0; round < 3000; round += 1) {
      const text = Array.from({ length: random.below(8) }, () => letters[random.below(letters.length)]).join('');
      const parsed = parseValue(spec(random.pick(types)), text);
      assert.type(parsed.ok, 'boolean');
    }
  });
});
