/** Ends of the streams of a rank's output. */

import { assert, suite } from '@stci/testkit';
import { StreamEndTracker } from '../../dist/jobs/stream-end-tracker.js';

suite('ends of output', (test) => {
  const make = () => {
    const told: string[] = [];
    let released = 0;
    const order = new StreamEndTracker((rank, stream, chunk, _wallMs, release) => {
      told.push(`${rank} ${stream} ${chunk.length}`);
      release();
    });
    const output = (rank: number, stream: 'stdout' | 'stderr', bytes: number): void =>
      order.output(rank, stream, new Uint8Array(bytes), 0, () => (released += 1));
    return { told, order, output, released: () => released };
  };

  test('a lost host ends its open streams, each once; what comes later is dropped and released', () => {
    const { told, order, output, released } = make();
    for (const rank of [0, 1, 2]) output(rank, 'stdout', 5);
    output(1, 'stdout', 0);
    told.length = 0;
    for (let count = 0; count < 2; count++) order.lost((rank) => rank !== 2, () => false);
    assert.equal(told, ['0 stdout 0']);
    output(0, 'stdout', 9);
    assert.equal([told, released()], [['0 stdout 0'], 5]);
  });

  test('streams of ranks that are started again go on, behind the end of their unfinished line', () => {
    const { told, order, output } = make();
    output(0, 'stdout', 5);
    told.length = 0;
    for (let count = 0; count < 2; count++) order.lost(() => true, () => true);
    assert.equal(told, ['0 stdout 1']);
    output(0, 'stdout', 9);
    assert.equal(told, ['0 stdout 1', '0 stdout 9']);
  });

  test('at the end of the job all is ended, once', () => {
    const { told, order, output, released } = make();
    output(0, 'stdout', 3);
    order.over();
    order.over();
    output(0, 'stdout', 3);
    assert.equal([told, released()], [['0 stdout 3', '0 stdout 0'], 2]);
  });

  test('a finished line, of one byte too, needs no end; chunks and times are passed as they are', () => {
    const told: [number, string, string, number][] = [];
    const order = new StreamEndTracker((rank, stream, chunk, wallMs) =>
      void told.push([rank, stream, Buffer.from(chunk).toString(), wallMs]));
    const output = (rank: number, text: string, wallMs: number): void =>
      order.output(rank, 'stdout', Buffer.from(text), wallMs, () => undefined);
    output(0, 'ab\n', 5);
    output(1, '\n', 6);
    output(2, 'a\nb', 7);
    output(3, 'c', 8);
    told.length = 0;
    order.lost((rank) => rank < 3, () => true);
    assert.equal(told, [[2, 'stdout', '\n', 7]]);
    order.over();
    assert.equal(told.slice(1), [0, 1, 2, 3].map((rank) => [rank, 'stdout', '', 0]));
  });

  test('after the end of the job all is released, also of streams and ranks that are new', () => {
    const { told, order, output, released } = make();
    order.over();
    output(0, 'stdout', 3);
    output(1, 'stderr', 3);
    assert.equal([told, released()], [[], 2]);
  });
});
