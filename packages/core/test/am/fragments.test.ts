/** Fragments: a body of any size arrives whole, at and about the sizes at which one more frame is needed. */

import { rootAddress } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Reassembly, cut } from '../../dist/am/fragments.js';
import { FRAGMENT_BYTES_MAX, LAYER, type Frame } from '../../dist/codec/frame.js';
import { testPlace } from '../world.js';

const header = {
  layer: LAYER.message, type: 4, flags: 0, ttl: 9, stream: 0, job: 0, sequence: 7,
  source: rootAddress(1), destination: rootAddress(2),
};

/** The frames of a body of so many bytes, in pieces of several sizes. */
function framesOf(bytes: number): readonly Frame[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes; at += 50_000) {
    pieces.push(Uint8Array.from({ length: Math.min(50_000, bytes - at) }, (_, i) => (at + i) % 251));
  }
  const frames: Frame[] = [];
  cut(header, pieces, (parts) => frames.push(Uint8Array.from(parts.flatMap((part) => [...part])) as Frame));
  return frames;
}

suite('fragments', (test) => {
  for (const count of [1, 2, 3]) {
    for (const more of [-1, 0, 1]) {
      const bytes = count * FRAGMENT_BYTES_MAX + more;
      test(`a body of ${bytes} bytes is whole`, () => {
        const frames = framesOf(bytes);
        assert.is(frames.length, Math.ceil(bytes / FRAGMENT_BYTES_MAX));
        const reassembly = new Reassembly(testPlace().platform.clock, 2 ** 24, 1000, () => assert.unreachable());
        const taken = frames.map((frame) => reassembly.take(frame));
        assert.equal(taken.slice(0, -1), frames.slice(1).map(() => undefined));
        const body = taken.at(-1)?.body ?? new Uint8Array();
        assert.is(body.length, bytes);
        assert.ok(body.every((byte, at) => byte === at % 251), 'each byte is in its place');
        assert.is(reassembly.pending, 0);
      });
    }
  }
});
