/** bfrops v41: bytes of known values, round trips of random ones, and what is refused. */

import {
  PMIX_TYPE, Packer, Unpacker, decodeValue, encodeValue, type PmixData, type PmixTypeName, type PmixValue,
} from '@stci/pmi';
import { assert, seeded, suite, type Seeded } from '@stci/testkit';
import { hex, unhex } from './dialogues.js';

function packed<K extends PmixTypeName>(value: Extract<PmixValue, { type: K }>, form: 1 | 2 = 1): string {
  const packer = new Packer(form);
  packer.pack(value.type, value.data as never);
  return hex(packer.finish());
}

const U64 = (draw: Seeded): bigint => {
  const bits = (BigInt(draw.below(2 ** 32)) << 32n) + BigInt(draw.below(2 ** 32));
  return BigInt.asUintN(draw.pick([1, 7, 8, 14, 49, 50, 56, 57, 63, 64]), bits);
};
const S64 = (draw: Seeded): bigint => BigInt.asIntN(64, U64(draw)) * (draw.below(2) === 0 ? 1n : -1n);
const word = (draw: Seeded): string =>
  Array.from({ length: draw.below(9) }, () => String.fromCharCode(1 + draw.below(255))).join('');
const octets = (draw: Seeded): Uint8Array => Uint8Array.from({ length: draw.below(20) }, () => draw.below(256));
const list = <T>(draw: Seeded, make: () => T): T[] => Array.from({ length: draw.below(4) }, make);
const nullable = (draw: Seeded): string | null => (draw.below(4) === 0 ? null : word(draw));
const proc = (draw: Seeded) => ({ nspace: word(draw), rank: draw.below(2 ** 32) });

/** A random datum of a type; `depth` is what may be nested in it. */
function datum(draw: Seeded, type: PmixTypeName, depth: number): PmixData {
  const value = (): PmixValue => anyValue(draw, depth - 1);
  const infos = () => list(draw, () => ({ key: word(draw), value: value() }));
  switch (type) {
    case 'undef': case 'pointer': return undefined;
    case 'bool': return draw.below(2) === 0;
    case 'string': case 'nspace': return nullable(draw);
    case 'size': case 'uint64': case 'time': case 'devType': return U64(draw);
    case 'int64': return BigInt.asIntN(64, S64(draw));
    case 'int': case 'int32': case 'status': return draw.below(2 ** 32) - 2 ** 31;
    case 'int16': return draw.below(2 ** 16) - 2 ** 15;
    case 'int8': return draw.below(256) - 128;
    case 'uint16': case 'dataType': case 'iofChannel': case 'locType': return draw.below(2 ** 16);
    case 'uint': case 'uint32': case 'rank': case 'infoDirectives': case 'pid': return draw.below(2 ** 32);
    case 'float': case 'double': return draw.below(2 ** 30) / 64 - 1000;
    case 'timeval': return { seconds: 1_790_000_000n, microseconds: -1n };
    case 'byteObject': case 'compressed': return octets(draw);
    case 'proc': return proc(draw);
    case 'value': return value();
    case 'info': return { key: word(draw), directives: 1 + draw.below(9), value: value() };
    case 'kval': return { key: word(draw), bytes: encodeValue(value()) };
    case 'pdata': return { proc: proc(draw), key: word(draw), value: value() };
    case 'buffer': return { form: 2, bytes: octets(draw) };
    case 'app': return {
      command: nullable(draw), args: list(draw, () => word(draw)), env: list(draw, () => word(draw)),
      cwd: nullable(draw), processesMax: draw.below(100) - 1, infos: infos(),
    };
    case 'procInfo': return {
      proc: proc(draw), host: nullable(draw), program: nullable(draw), pid: draw.below(2 ** 22), state: 5,
    };
    case 'query': return { keys: list(draw, () => word(draw)), qualifiers: infos() };
    case 'envar': return { name: nullable(draw), value: nullable(draw), separator: draw.below(256) };
    case 'regattr': return {
      name: nullable(draw), key: nullable(draw), type: draw.below(60), descriptions: list(draw, () => word(draw)),
    };
    case 'dataArray': {
      const item = depth <= 0 ? 'uint32' : draw.pick(TYPES.filter((each) => each !== 'undef'));
      return { type: item, items: list(draw, () => datum(draw, item, depth - 1)) };
    }
    default: return draw.below(256);
  }
}

const TYPES = Object.keys(PMIX_TYPE) as PmixTypeName[];
const PLAIN: readonly PmixTypeName[] = ['undef', 'bool', 'string', 'uint32', 'int64', 'proc', 'byteObject'];

function anyValue(draw: Seeded, depth: number): PmixValue {
  const type = draw.pick(depth <= 0 ? PLAIN : TYPES);
  return { type, data: datum(draw, type, depth) } as PmixValue;
}

suite('bfrops', (test) => {
  test('a lone command is a count and a byte; a described one has types before both', () => {
    assert.is(packed({ type: 'command', data: 4 }), '0204');
    assert.is(packed({ type: 'command', data: 4 }, 2), '09022204');
  });

  test('integers are flex128, signed ones zigzag', () => {
    const wires: readonly (readonly [PmixValue, string])[] = [
      [{ type: 'uint32', data: 0 }, '00'], [{ type: 'uint32', data: 127 }, '7f'],
      [{ type: 'uint32', data: 128 }, '8001'],
      [{ type: 'rank', data: 0xffff_fffe }, 'feffffff0f'], [{ type: 'size', data: 300n }, 'ac02'],
      [{ type: 'uint64', data: 2n ** 64n - 1n }, 'ffffffffffffffffff'],
      [{ type: 'uint64', data: 2n ** 56n }, '808080808080808001'],
      [{ type: 'int32', data: 0 }, '00'], [{ type: 'int32', data: -1 }, '01'], [{ type: 'status', data: -46 }, '5b'],
      [{ type: 'int64', data: -(2n ** 63n) }, 'ffffffffffffffffff'], [{ type: 'int', data: 64 }, '8001'],
    ];
    for (const [value, wire] of wires) assert.is(packed(value), `02${wire}`, `${value.type} ${String(value.data)}`);
  });

  test('strings have their length with NUL; NULL has none; a process number has its type', () => {
    assert.is(packed({ type: 'string', data: 'ab' }), '0206616200');
    assert.is(packed({ type: 'string', data: '' }), '020200');
    assert.is(packed({ type: 'string', data: null }), '0200');
    assert.is(packed({ type: 'pid', data: 5 }), '020e05');
    assert.is(packed({ type: 'double', data: 1.5 }), `0212${Buffer.from('1.500000').toString('hex')}00`);
    assert.is(packed({ type: 'proc', data: { nspace: 'n', rank: 2 } }), '02046e0002');
    const info = { key: 'k', value: { type: 'bool', data: true } } as const;
    assert.is(packed({ type: 'info', data: info }), '02046b00000101');
    assert.is(packed({ type: 'dataArray', data: { type: 'info', items: [info] } }), '021801046b00000101');
  });

  test('random values of all types are what they were', () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 4000; seed++) {
      const draw = seeded(seed);
      const type = TYPES[seed % TYPES.length] as PmixTypeName;
      const value = { type, data: datum(draw, type, 3) } as PmixValue;
      assert.equal(decodeValue(encodeValue(value)), value, `seed ${seed}, ${type}`);
      const form = draw.pick([1, 2] as const);
      const packer = new Packer(form);
      packer.pack('value', value, value);
      assert.equal(new Unpacker(form, packer.finish()).unpack('value', 2), [value, value]);
      seen.add(type);
    }
    assert.is(seen.size, TYPES.length);
  });

  test('each beginning of a value is refused, and none is read beyond its end', () => {
    for (let seed = 0; seed < 300; seed++) {
      const value = anyValue(seeded(seed), 2);
      const wire = encodeValue(value);
      for (let length = 0; length < wire.length; length++) {
        assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeValue(wire.subarray(0, length)));
      }
    }
  });

  test('hostile lengths, counts, types, texts and depths are refused', () => {
    const refused = (wire: string): void => {
      assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeValue(unhex(wire)));
    };
    refused('7f');
    refused('03 feffffff0f 00');
    refused('03 01 00');
    refused('03 04 6162');
    refused('1b ffffffffffffffffff');
    refused('27 0e ffffffffffffffffff');
    refused('27 00 05');
    refused('08 ffff07');
    refused('17 0000 01');
    refused('1a 03 00');
    refused('10 08 78797a00');
    refused('01 01 00');
    refused(`${'15'.repeat(40)}0100`);
    refused('27 27 01'.repeat(40));
    const many = new Uint8Array(4_000_000);
    many.set(unhex('270c 8080c001'));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => decodeValue(many));
  });

  test('a pack is of the type and number that is asked for', () => {
    const described = new Packer(2);
    described.pack('uint32', 1, 2);
    assert.equal(new Unpacker(2, described.finish()).unpack('uint32', 2), [1, 2]);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => new Unpacker(2, described.finish()).unpack('rank', 2));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => new Unpacker(2, described.finish()).one('uint32'));
    assert.throwsCode('STCI_MESSAGE_INVALID', () => new Unpacker(1, described.finish()).one('uint32'));
  });
});
