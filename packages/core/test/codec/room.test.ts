/** Chunks with room in front: labelled and framed without a copy, once. */

import { assert, suite } from '@stci/testkit';
import { markRoom, ROOM_BYTES } from '@stci/interface';
import { cut } from '../../dist/am/fragments.js';
import { decode, encodeWithTail } from '../../dist/codec/cbor.js';
import { decodeHeader, frameBody, type FrameHeader } from '../../dist/codec/frame.js';

const HEADER: FrameHeader = {
  layer: 3, type: 1, flags: 0, ttl: 9, stream: 1, source: 5, destination: 6, job: 1, sequence: 7,
};

suite('room in front', (test) => {
  const frames = (body: readonly Uint8Array[]): Uint8Array[][] => {
    const sent: Uint8Array[][] = [];
    cut(HEADER, body, (pieces) => sent.push(pieces));
    return sent;
  };

  test('a chunk with room becomes one piece, in its own memory; the same bytes as without', () => {
    const chunk = new Uint8Array(ROOM_BYTES + 20_000).subarray(ROOM_BYTES).fill(7);
    const plain = Buffer.concat(frames(encodeWithTail([3, 1, 12.5], chunk))[0] ?? []);
    markRoom(chunk);
    const body = encodeWithTail([3, 1, 12.5], chunk);
    const [[frame, ...more] = []] = frames(body);
    assert.ok(frame !== undefined && more.length === 0 && frame.buffer === chunk.buffer);
    assert.ok(plain.equals(frame));
    assert.is(decodeHeader(frame).sequence, 7);
    assert.equal(decode(frameBody(frame)), [3, 1, 12.5, chunk]);
    // What is sent may wait to be written: its room is used once.
    assert.is(frames(body)[0]?.length, 2);
  });
});
