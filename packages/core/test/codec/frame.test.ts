/** Frame header and decoder: extreme values, every split, and every error. */

import { JOB_MAX, StciError } from '@stci/interface';
import { assert, seededIntegers, suite, type IntegerSource } from '@stci/testkit';
import { FrameDecoder } from '../../dist/codec/frame-decoder.js';
import {
  FRAME_VERSION,
  HEADER_BYTES,
  decodeHeader,
  encodeHeader,
  frameBody,
  spendHop,
  type Frame,
  type FrameHeader,
} from '../../dist/codec/frame.js';

const BODY_MAX = 4096;

const ZERO: FrameHeader = {
  layer: 0, type: 0, flags: 0, ttl: 0, stream: 0, source: 0, destination: 0, job: 0, sequence: 0,
};

const LARGEST: FrameHeader = {
  layer: 3, type: 0xffff, flags: 0xff, ttl: 0xff, stream: 0xffff, source: 0xffff_ffff, destination: 0xffff_ffff,
  job: JOB_MAX, sequence: 0xffff_ffff,
};

/** Bodies are anywhere in it: bytes drawn for each took most of these tests' time. */
const drawn = seededIntegers(1);
const RANDOM = Uint8Array.from({ length: 2 * BODY_MAX }, () => drawn(256));

function frameOf(next: IntegerSource, bodyBytes: number): Frame {
  const frame = new Uint8Array(HEADER_BYTES + bodyBytes);
  const layer = next(4);
  const big = (): number => next(0xffff_ffff);
  const header: FrameHeader = {
    layer, type: next(0x1_0000), flags: next(256), ttl: next(256), stream: next(0x1_0000), source: big(),
    destination: big(), job: next(JOB_MAX + 1), sequence: big(),
  };
  frame.set(encodeHeader(header, bodyBytes));
  frame.set(RANDOM.subarray(next(BODY_MAX)).subarray(0, bodyBytes), HEADER_BYTES);
  return frame;
}

/** Cuts `bytes` into chunks of 0..largest bytes. */
function chunks(bytes: Uint8Array, next: IntegerSource, largest: number): Uint8Array[] {
  const cut: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = next(largest + 1);
    cut.push(bytes.slice(at, at + length));
    at += length;
  }
  return cut;
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/** Feeds chunks; whole frames as copies, and the code of what ended it. */
function feed(pieces: readonly Uint8Array[]): { frames: Uint8Array[]; code: string | undefined; midFrame: boolean } {
  const frames: Uint8Array[] = [];
  const decoder = new FrameDecoder(BODY_MAX, (frame) => frames.push(frame.slice()));
  let code: string | undefined;
  try {
    for (const piece of pieces) decoder.push(piece);
  } catch (fault) {
    if (!(fault instanceof StciError)) throw fault;
    code = fault.code;
  }
  return { frames, code, midFrame: decoder.midFrame };
}

suite('frame header', (test) => {
  test('what is kept of a frame retains nothing else of a chunk that is a Buffer, as sockets read it', () => {
    const one = frameOf(seededIntegers(3), 16);
    const chunk = Buffer.alloc(512 * 1024);
    for (const at of [0, one.length]) chunk.set(one, at);
    const kept: Frame[] = [];
    const decoder = new FrameDecoder(BODY_MAX, (frame) => void kept.push(frame.slice()));
    decoder.push(chunk.subarray(0, one.length + 5));
    decoder.push(chunk.subarray(one.length + 5, 2 * one.length));
    assert.equal(kept.map((frame) => [frame.buffer.byteLength, [...frame]]), [0, 1].map(() => [one.length, [...one]]));
  });

  test('comes back whole for the least and the largest values, and for seeded ones', () => {
    const next = seededIntegers(3);
    const random = Array.from({ length: 500 }, () => decodeHeader(frameOf(next, 0)));
    for (const header of [ZERO, LARGEST, ...random]) assert.equal(decodeHeader(encodeHeader(header, 7)), header);
  });

  test('each field has its place: a change of one changes no other', () => {
    for (const name of Object.keys(ZERO) as (keyof FrameHeader)[]) {
      const header = { ...ZERO, [name]: LARGEST[name] };
      assert.equal(decodeHeader(encodeHeader(header, 0xffff_ffff)), header, name);
    }
  });

  test('hops are spent down to the last one', () => {
    const frame = encodeHeader({ ...LARGEST, ttl: 3 }, 0);
    assert.equal([spendHop(frame), spendHop(frame), spendHop(frame), decodeHeader(frame).ttl], [true, true, false, 1]);
    assert.not.ok(spendHop(encodeHeader(ZERO, 0)));
  });
});

suite('frame decoder', (test) => {
  test('gives the same frames however the bytes are cut', () => {
    for (let seed = 0; seed < 300; seed++) {
      const next = seededIntegers(seed);
      const largest = [1, 3, 29, 300, 10_000][seed % 5] as number;
      // Byte by byte long bodies are most of the work; a few are as good as many.
      const bytesMax = largest <= 3 && seed >= 10 ? 100 : BODY_MAX;
      const sizes = Array.from({ length: 1 + next(30) },
        () => [0, next(8), next(60), next(bytesMax + 1)][next(4)] as number);
      const sent = sizes.map((size) => frameOf(next, size));
      const { frames, code, midFrame } = feed(chunks(join(sent), next, largest));
      assert.equal([code, midFrame, frames.length], [undefined, false, sent.length], `seed ${seed}`);
      frames.forEach((frame, i) => assert.ok(same(frame, sent[i] as Frame), `seed ${seed}, frame ${i}`));
    }
  });

  test('a frame within one chunk is a view of it; a body of the bound is taken', () => {
    const chunk = join([frameOf(seededIntegers(1), 10), frameOf(seededIntegers(2), BODY_MAX)]);
    const seen: Frame[] = [];
    new FrameDecoder(BODY_MAX, (frame) => seen.push(frame)).push(chunk);
    assert.equal(seen.map((frame) => [frame.buffer === chunk.buffer, frameBody(frame).length]), [[true, 10],
      [true, BODY_MAX]]);
  });

  test('a frame in chunks that lie one behind the other is a view of them, in whatever pieces they come', () => {
    for (let seed = 0; seed < 100; seed++) {
      const next = seededIntegers(seed);
      const sent = Array.from({ length: 9 }, () => frameOf(next, next(BODY_MAX + 1)));
      const memory = join([new Uint8Array(next(99)), ...sent]);
      const seen: Frame[] = [];
      const decoder = new FrameDecoder(BODY_MAX, (frame) => seen.push(frame));
      let at = memory.length - sent.reduce((sum, { length }) => sum + length, 0);
      while (at < memory.length) {
        const end = Math.min(memory.length, at + next([3, 50, 5000][seed % 3] as number) + 1);
        // Now and then one that lies elsewhere.
        decoder.push(next(9) === 0 ? memory.slice(at, end) : memory.subarray(at, end));
        at = end;
      }
      assert.ok(seen.length === 9 && seen.every((frame, i) => same(frame, sent[i] as Frame)), `seed ${seed}`);
    }
    const memory = join([frameOf(seededIntegers(1), 100), frameOf(seededIntegers(2), 200)]);
    const seen: Frame[] = [];
    const decoder = new FrameDecoder(BODY_MAX, (frame) => seen.push(frame));
    for (let at = 0; at < memory.length; at += 40) decoder.push(memory.subarray(at, at + 40));
    assert.equal(seen.map(({ buffer, length }) => [buffer === memory.buffer, length]), [[true, HEADER_BYTES + 100],
      [true, HEADER_BYTES + 200]]);
  });

  test('a cut frame is known as such at every place', () => {
    const frame = frameOf(seededIntegers(5), 40);
    for (let length = 0; length < frame.length; length++) {
      const { frames, code, midFrame } = feed([frame.subarray(0, length)]);
      assert.equal([frames.length, code, midFrame], [0, undefined, length > 0], `${length} bytes`);
    }
  });

  test('other version, unknown layer, too long: each its error, however it is cut', () => {
    const wrong = (at: number, value: number): Uint8Array => {
      const frame = frameOf(seededIntegers(5), 40);
      frame[at] = value;
      return frame;
    };
    const long = frameOf(seededIntegers(6), 0);
    long.set([0, 0, 0x10, 1], 24);
    const cases: [string, Uint8Array][] = [
      ['STCI_FRAME_VERSION', wrong(0, FRAME_VERSION + 1)],
      ['STCI_FRAME_VERSION', Uint8Array.from('GET / HTTP/1.1\r\n', (c) => c.charCodeAt(0))],
      ['STCI_FRAME_INVALID', wrong(1, 4)],
      ['STCI_FRAME_LENGTH', long],
      ['STCI_FRAME_LENGTH', wrong(24, 0xff)],
    ];
    const good = frameOf(seededIntegers(7), 11);
    for (const [code, bad] of cases) {
      for (const largest of [1, 5, 1000]) {
        const got = feed(chunks(join([good, bad]), seededIntegers(largest), largest));
        assert.equal([got.code, got.frames.length], [code, 1]);
      }
    }
  });

  test('what is no frame is shown, if it is text', () => {
    const said = (text: string): string => {
      const decoder = new FrameDecoder(BODY_MAX, () => undefined);
      return assert.throwsCode('STCI_FRAME_VERSION', () => decoder.push(Buffer.from(text))).message;
    };
    assert.match(said('Welcome to n1\n\u0007'), 'it says "Welcome to n1": a command around an agent must write');
    assert.not.match(said('\u0007\u0007\u0007\u0007'), 'it says');
  });

  test('one byte of another version is enough', () => {
    assert.is(feed([Uint8Array.of(9)]).code, 'STCI_FRAME_VERSION');
  });

  test('after an error nothing is decoded any more', () => {
    let frames = 0;
    const decoder = new FrameDecoder(BODY_MAX, () => (frames += 1));
    const good = frameOf(seededIntegers(7), 11);
    assert.throwsCode('STCI_FRAME_VERSION', () => decoder.push(Uint8Array.of(7, 7, 7)));
    assert.throwsCode('STCI_FRAME_VERSION', () => decoder.push(good));
    assert.is(frames, 0);
  });

  test('a length that lies costs no memory beyond the bound', () => {
    const lying = encodeHeader({ ...ZERO, layer: 2 }, 0xffff_ffff);
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < 200; i++) assert.is(feed([lying.slice(0, 20), lying.slice(20)]).code, 'STCI_FRAME_LENGTH');
    const grown = process.memoryUsage().arrayBuffers - before;
    assert.ok(grown < 1024 * 1024, `${grown} bytes`);
  });

  test('random bytes: a typed error, or whole frames, and nothing else', () => {
    const codes = new Set<string>();
    for (let seed = 0; seed < 5000; seed++) {
      const next = seededIntegers(seed);
      const bytes = Uint8Array.from({ length: next(200) }, () => next(256));
      // A right beginning lets some of them get further.
      if (seed % 2 === 0) bytes.set([FRAME_VERSION].slice(0, bytes.length));
      if (seed % 4 === 0 && bytes.length > 30) bytes.set([FRAME_VERSION, 2], 0);
      if (seed % 8 === 0 && bytes.length > 30) bytes.set([0, 0, 0, next(64)], 24);
      const { frames, code } = feed(chunks(bytes, next, 50));
      codes.add(code ?? 'whole');
      for (const frame of frames) {
        assert.is(new DataView(frame.buffer).getUint32(24), frameBody(frame).length, `seed ${seed}`);
      }
    }
    assert.equal([...codes].sort(), ['STCI_FRAME_INVALID', 'STCI_FRAME_LENGTH', 'STCI_FRAME_VERSION', 'whole']);
  });

  test('stop keeps what follows, exactly', () => {
    for (let seed = 0; seed < 50; seed++) {
      const next = seededIntegers(seed);
      const sent = [frameOf(next, next(90)), frameOf(next, next(90))];
      const rest: Uint8Array[] = [];
      const got: Frame[] = [];
      const decoder = new FrameDecoder(BODY_MAX, (frame) => {
        got.push(frame.slice());
        decoder.stop();
      });
      const pieces = chunks(join(sent), next, 40);
      while (got.length === 0) decoder.push(pieces.shift() as Uint8Array);
      const taken = decoder.takeRest();
      if (taken !== undefined) rest.push(taken);
      assert.equal([...join(got), ...join([...rest, ...pieces])], [...join(sent)], `seed ${seed}`);
      assert.is(decoder.takeRest(), undefined);
    }
  });
});

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
