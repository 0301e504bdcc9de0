/** CBOR: plain values encoded and decoded, chunks labelled without a copy, and hostile bytes. */

import { StciError } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { decode, encode, encodeWithTail } from '../../dist/codec/cbor.js';

function hex(text: string): Uint8Array {
  return Uint8Array.from(text.replaceAll(' ', '').match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(pieces.flatMap((piece) => [...piece]));
}

const VALUES: readonly unknown[] = [
  0, 1, 23, 24, 255, 256, 65_535, 65_536, 0xffff_ffff, 2 ** 40, Number.MAX_SAFE_INTEGER, -1, -(2 ** 40), 1.5, -0.25,
  Infinity, 1_767_225_600_000.125, true, false, null, '', 'a', 'ä€😀', 'x'.repeat(70_000), [], [[]], [1, [2, [3]]], {},
  { a: 1, b: [true, null], c: { d: 'e' } }, Array.from({ length: 300 }, (_, i) => i),
];

suite('cbor', (test) => {
  test('plain values come back', () => {
    for (const value of VALUES) assert.equal(decode(encode(value)), value);
    const bytes = Uint8Array.of(1, 2, 3);
    const back = decode(encode({ bytes })) as { bytes: Uint8Array };
    assert.ok(back.bytes instanceof Uint8Array);
    assert.equal([...back.bytes], [1, 2, 3]);
  });

  test('a key __proto__ comes back as a property of its own, and changes no prototype', () => {
    const text = '{"a":1,"__proto__":"x","b":[{"__proto__":{"polluted":true}}],"__proto_":"y"}';
    const back = decode(encode(JSON.parse(text))) as { b: object[] };
    assert.is(JSON.stringify(back), text);
    assert.is(Object.getPrototypeOf(back.b[0]), Object.prototype);
    assert.is(({} as { polluted?: boolean }).polluted, undefined);
    assert.equal(decode(encode({ after: 1 })), { after: 1 });
  });

  test('is plain CBOR: no tags, no record extensions, the shortest heads', () => {
    assert.equal([...encode({ a: 1, b: 'x' })], [...hex('a2 61 61 01 61 62 61 78')]);
    assert.equal([...encode([Uint8Array.of(9), true])], [...hex('82 41 09 f5')]);
  });

  test('the same object twice in a row gives the same bytes', () => {
    const value = { rank: 3, text: 'x', list: [{ rank: 1 }, { rank: 2 }] };
    const first = [...encode(value)];
    encode({ other: 1 });
    assert.equal([...encode(value)], first);
  });

  test('an array with a tail of bytes is the same array, and its tail is not copied', () => {
    const sizes = [0, 1, 2, 22, 23, 24, 255, 256, 257, 4095, 4096, 65_535, 65_536, 65_537, 70_000];
    const head = [7, 1, 1_767_225_600_000.5];
    for (const size of sizes) {
      const tail = Uint8Array.from({ length: size }, (_, i) => i % 251);
      const pieces = encodeWithTail(head, tail);
      assert.is(pieces[1], tail);
      const back = decode(Buffer.concat(pieces)) as [number, number, number, Uint8Array];
      assert.equal([back.slice(0, 3), back[3].length, Buffer.compare(back[3], tail)], [head, size, 0], `${size} bytes`);
    }
  });

  test('every size of a tail up to 2048, every length of a head up to 22', () => {
    for (let size = 0; size <= 2048; size++) {
      const back = decode(Buffer.concat(encodeWithTail([size], new Uint8Array(size).fill(5)))) as [number, Uint8Array];
      assert.equal([back[0], back[1].length], [size, size]);
    }
    for (let length = 0; length <= 22; length++) {
      const head = Array.from({ length }, (_, i) => i * 1000);
      const back = decode(join(encodeWithTail(head, Uint8Array.of(1)))) as unknown[];
      assert.equal([back.slice(0, -1), back.length], [head, length + 1], `head of ${length}`);
    }
  });

  test('a head that is too long for its form is refused', () => {
    assert.throws(() => encodeWithTail(new Array<number>(23).fill(0), new Uint8Array(1)), /at most 22/);
  });

  test('cut, empty, trailing: each an error with its code', () => {
    for (const value of VALUES) {
      const bytes = encode(value);
      const at = [0, bytes.length - 1, Math.floor(bytes.length / 2)];
      for (const length of at) assert.throwsCode('STCI_CODEC_INVALID', () => decode(bytes.subarray(0, length)));
      assert.throwsCode('STCI_CODEC_INVALID', () => decode(join([bytes, Uint8Array.of(0)])));
    }
  });

  test('lengths that lie cost no memory', () => {
    const lies = ['9a01ffffff', '9a00ffffff', '9a06b90000', '9bffffffffffffffff', '9b0000000100000000', 'ba01ffffff',
      'bbffffffffffffffff', '5affffffff', '5b0000000100000000', '7affffffff', '7b7fffffffffffffff', '9f', 'bf', '5f',
        '7f'];
    const usage = (): number => process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
    for (const lie of lies) {
      const before = usage();
      assert.throwsCode('STCI_CODEC_INVALID', () => decode(hex(lie)));
      const grown = usage() - before;
      assert.ok(grown < 8 * 1024 * 1024, `${lie}: ${grown} bytes`);
    }
  });

  test('items beyond the bound are an error before anything is decoded, keys are items, too', () => {
    assert.equal(decode(encode({ a: [1, 2] }), 5), { a: [1, 2] });
    assert.throwsCode('STCI_CODEC_INVALID', () => decode(encode({ a: [1, 2] }), 4));
  });

  test('deep nesting is an error, not the end of the process', () => {
    for (const open of [0x81, 0x9f, 0xa1, 0xc1]) {
      assert.throwsCode('STCI_CODEC_INVALID', () => decode(new Uint8Array(1_000_000).fill(open)));
    }
    assert.equal(decode(encode({ fine: [1] })), { fine: [1] }, 'the decoder goes on');
  });

  test('no tag is decoded, wherever it stands, nor anything else that agents do not send', () => {
    const bignum = new Uint8Array(1024 * 1024 + 6).fill(0xff);
    bignum.set([0xc2, 0x5a, 0x00, 0x10, 0x00, 0x00]);
    // To decode a bignum of a megabyte would take minutes, and so the test's deadline.
    assert.throwsCode('STCI_CODEC_INVALID', () => decode(bignum));
    const inside = join([Uint8Array.of(0x82, 0x01), bignum.subarray(0, 70_006)]);
    assert.throwsCode('STCI_CODEC_INVALID', () => decode(inside));
    for (let tag = 0; tag < 300; tag++) {
      const head = tag < 24 ? [0xc0 + tag] : tag < 256 ? [0xd8, tag] : [0xd9, tag >> 8, tag & 255];
      for (const inner of ['01', '4101', '6131', '8101', 'a1613101', 'fb3ff0000000000000', '820102']) {
        for (const before of [[], [0x81], [0xa1, 0x61, 0x61]]) {
          const error = assert.throwsCode('STCI_CODEC_INVALID', () => decode(Uint8Array.of(...before, ...head,
            ...hex(inner))));
          assert.match(error.message, /a tag, which agents never send/);
        }
      }
    }
    for (const other of ['a10101', 'a1a001', 'a1f601', 'a1416101', '5f4101ff', '7f6161ff', '9f01ff', 'bf616101ff',
      '1bffffffffffffffff', '3bffffffffffffffff', '1b0020000000000000', 'f0', 'f818', 'f820', 'fc', '1c', '5c', 'ff']) {
      assert.throwsCode('STCI_CODEC_INVALID', () => decode(hex(other)));
    }
  });

  test('values within one another, 64 deep and no more', () => {
    const nested = (depth: number, open: number[]): Uint8Array =>
      Uint8Array.of(...Array.from({ length: depth }, () => open).flat(), 0x01);
    for (const open of [[0x81], [0xa1, 0x61, 0x61]]) {
      decode(nested(64, open));
      assert.throwsCode('STCI_CODEC_INVALID', () => decode(nested(65, open)));
    }
  });

  test('a key cannot change the prototype', () => {
    const value = decode(hex('a1 69 5f5f70726f746f5f5f a1 61 78 01')) as Record<string, unknown>;
    assert.equal([value['x'], ({} as Record<string, unknown>)['x']], [undefined, undefined]);
    assert.is(Object.getPrototypeOf(value), Object.prototype);
  });

  test('random and mutated bytes: a value, or the one typed error', () => {
    let [values, errors] = [0, 0];
    const wellFormed = VALUES.map(encode).filter((bytes) => bytes.length < 500);
    for (let seed = 0; seed < 6000; seed++) {
      const next = seededIntegers(seed);
      let bytes = Uint8Array.from({ length: next(80) }, () => next(256));
      if (seed % 2 === 1) {
        bytes = Uint8Array.from(wellFormed[next(wellFormed.length)] as Uint8Array);
        for (let i = next(4); i >= 0; i--) bytes[next(bytes.length)] = next(256);
      }
      try {
        decode(bytes);
        values += 1;
      } catch (fault) {
        assert.ok(fault instanceof StciError && fault.code === 'STCI_CODEC_INVALID', `seed ${seed}: ${String(fault)}`);
        errors += 1;
      }
    }
    assert.ok(values > 100 && errors > 100, `${values} values, ${errors} errors`);
    assert.equal(decode(encode(VALUES[28])), VALUES[28]);
  });
});
