/** Output on the screen of a job that begins with one rank and gets further ones. */

import { assert, suite } from '@stci/testkit';
import { createScreenSink } from '../dist/output/screen-sink.js';
import type { Terminal } from '../dist/output/terminal.js';

/** A sink to a file or a pipe; `shown`: what came there since the last call. */
function play() {
  let text = '';
  const writer = {
    write: (bytes: Uint8Array) => void (text += Buffer.from(bytes).toString()), after: (done: () => void) => done(),
  };
  const terminal = { out: writer, err: writer, shared: true, isTerminal: () => false } as unknown as Terminal;
  const job = { size: 1 };
  const sink = createScreenSink({ terminal, size: () => job.size, lineBytesMax: 1000, prefix: undefined });
  const shown = (rank: number, bytes: string): string => {
    sink.push(rank, 'stdout', Buffer.from(bytes), 0, () => undefined);
    const all = text;
    text = '';
    return all;
  };
  return { job, sink, shown };
}

suite('output on the screen', (test) => {
  test('bytes of a rank pass as they are until there is another; from then on by lines', () => {
    const { job, shown } = play();
    assert.equal([shown(0, 'a'), shown(0, 'b\nc')], ['a', 'b\nc']);
    job.size = 3;
    assert.equal([shown(1, 'd'), shown(0, 'e'), shown(1, 'f\n'), shown(0, '\n')], ['\n', '', 'df\n', 'e\n']);
    const whole = play();
    assert.is(whole.shown(0, 'a\n'), 'a\n');
    whole.job.size = 2;
    assert.is(whole.shown(1, 'b\n'), 'b\n', 'no line was open');
  });
});
