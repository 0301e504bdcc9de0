/** Buffers of pipes are read into again when their bytes are written, and nobody may send them again. */

import { holdBuffer, releaseBuffer } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { PipeBuffer, reuse } from '../dist/channels/read-buffers.js';

suite('read buffers', (test) => {
  test('are used again when they are written, and released as often as they were held', () => {
    const pipe = new PipeBuffer();
    const chunk = pipe.take(64 * 1024);
    const isUsedAgain = (): boolean => {
      const seen = [pipe.next];
      while (seen.length < 70) {
        pipe.take(64 * 1024);
        seen.push(pipe.next);
      }
      return seen.some(({ buffer }) => buffer === chunk.buffer);
    };
    holdBuffer(chunk);
    holdBuffer(chunk.subarray(100));
    reuse([chunk]);
    assert.not.ok(isUsedAgain(), 'held twice');
    releaseBuffer(chunk);
    assert.not.ok(isUsedAgain(), 'held once');
    releaseBuffer(chunk);
    assert.ok(isUsedAgain());
  });
});
