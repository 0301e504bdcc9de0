/** What a child that was cut off gets with its new link. */

import { PROGRAM_PARTS_BYTES_MAX } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Broadcasts, KEPT_BYTES_MAX } from '../../dist/am/broadcasts.js';
import { CREDIT_BYTES_MAX } from '../../dist/am/credit.js';
import { FRAGMENT_BYTES_MAX, HEADER_BYTES } from '../../dist/codec/frame.js';

const bodyOf = ([, body]: readonly Uint8Array[]): number => body?.[0] ?? 0;

suite('broadcasts that are kept', (test) => {
  test('the longest decision, and a window of input after it; not for ever', () => {
    const broadcasts = new Broadcasts();
    const keep = (what: number, bytes: number): number => {
      const frames = Math.ceil(bytes / FRAGMENT_BYTES_MAX);
      for (let i = 0; i < frames; i++) {
        broadcasts.keep(new Uint8Array(HEADER_BYTES + FRAGMENT_BYTES_MAX).fill(what, HEADER_BYTES));
      }
      return frames;
    };
    const decision = keep(1, PROGRAM_PARTS_BYTES_MAX + FRAGMENT_BYTES_MAX);
    const input = keep(2, CREDIT_BYTES_MAX);
    assert.equal([...broadcasts.kept()].map(bodyOf), [...Array(decision).fill(1), ...Array(input).fill(2)] as number[]);
    keep(3, 2 * KEPT_BYTES_MAX);
    assert.ok(broadcasts.keptBytes <= KEPT_BYTES_MAX, `${broadcasts.keptBytes} bytes`);
    assert.equal([...new Set([...broadcasts.kept()].map(bodyOf))], [3]);
  });
});
