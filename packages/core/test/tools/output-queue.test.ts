/** Output of tools that waits for credit: cut where the credit ends, in order, to the last byte of it. */

import { markRoom, whenReleased } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { CHUNK_COST_BYTES } from '../../dist/am/credit.js';
import { decode } from '../../dist/codec/cbor.js';
import { OutputQueue } from '../../dist/tools/output-queue.js';

/** A stream that has credit for so many bytes of chunks, each of which costs something besides. */
function play(bytes: number) {
  const sent: string[] = [];
  const stream = {
    upCreditBytes: CHUNK_COST_BYTES + bytes,
    upPieces(pieces: readonly Uint8Array[]): boolean {
      const [, chunk] = decode(Buffer.concat(pieces)) as [number, Uint8Array];
      sent.push(Buffer.from(chunk).toString());
      this.upCreditBytes -= CHUNK_COST_BYTES + chunk.length;
      return true;
    },
  };
  const grant = (more: number): void => void (stream.upCreditBytes += more);
  return { queue: new OutputQueue(stream), sent, grant };
}

suite('output queue', (test) => {
  test('a chunk is cut where the credit ends; the rest goes with the next byte of it, before what came later', () => {
    const { queue, sent, grant } = play(3);
    assert.is(queue.push([0], Buffer.from('abcde')), false);
    assert.is(queue.push([0], Buffer.from('f')), false);
    assert.equal([sent, queue.isEmpty], [['abc'], false]);
    grant(CHUNK_COST_BYTES);
    assert.is(queue.resume(), false);
    assert.equal(sent, ['abc']);
    grant(1);
    assert.is(queue.resume(), false);
    assert.equal(sent, ['abc', 'd']);
    grant(2 * CHUNK_COST_BYTES + 2);
    assert.is(queue.resume(), false);
    assert.equal([sent, queue.isEmpty, queue.isOpen], [['abc', 'd', 'e', 'f'], true, false]);
    grant(CHUNK_COST_BYTES + 1);
    assert.is(queue.isOpen, true);
  });

  test('what is cleared is not sent, and its buffers are free again', () => {
    const { queue, sent, grant } = play(0);
    const chunk = new Uint8Array(8);
    markRoom(chunk);
    queue.push([0], chunk);
    let isFree = false;
    whenReleased(chunk.buffer, () => (isFree = true));
    assert.is(isFree, false);
    queue.clear();
    grant(1000);
    assert.equal([isFree, queue.isEmpty, queue.resume(), sent], [true, true, true, []]);
  });

  test('all of it goes where there is credit for it, and more may be read only with credit for more', () => {
    for (const [bytes, isOpen] of [[6, false], [6 + CHUNK_COST_BYTES, true]] as const) {
      const { queue, sent } = play(bytes);
      assert.is(queue.push([0], Buffer.from('abcdef')), isOpen && bytes > 6 + CHUNK_COST_BYTES);
      assert.equal([sent, queue.isEmpty], [['abcdef'], true]);
    }
  });

  test('the buffer of a chunk is free when the last of it has been sent, not before', () => {
    const { queue, grant } = play(3);
    const chunk = new Uint8Array(8);
    markRoom(chunk);
    queue.push([0], chunk);
    let isFree = false;
    whenReleased(chunk.buffer, () => (isFree = true));
    assert.is(isFree, false);
    grant(CHUNK_COST_BYTES + 5);
    queue.resume();
    assert.equal([isFree, queue.isEmpty], [true, true]);
  });
});
