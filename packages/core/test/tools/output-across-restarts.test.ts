/** Output of ranks that may be started again: one end for each stream of a rank, behind its last attempt. */

import type { Rank } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { OutputAcrossRestarts } from '../../dist/tools/output-across-restarts.js';
import type { Tool } from '../../dist/tools/tool.js';

const tool = (rank: Rank, ended = false): Tool => ({ rank, ended }) as unknown as Tool;

function play(isOn = true) {
  const log: string[] = [];
  const output = new OutputAcrossRestarts((rank, stream, chunk, wallMs) =>
    void log.push(`${rank} ${stream} ${JSON.stringify(Buffer.from(chunk).toString())} ${wallMs}`));
  output.isOn = isOn;
  const push = (rank: Rank, text: string, stream: 'stdout' | 'stderr' = 'stdout'): void =>
    output.push(rank, stream, Buffer.from(text), 7);
  return { output, push, told: () => log.splice(0) };
}

suite('output of attempts', (test) => {
  test('where no rank is started again, streams end at once', () => {
    const { output, push, told } = play(false);
    const one = tool(1);
    push(1, 'ab');
    output.onOutputEnd(one, 'stdout', 8);
    assert.equal(told(), ['1 stdout "ab" 7', '1 stdout "" 8']);
    output.onEnded(one, false);
    assert.equal(told(), []);
  });

  test('the ends of an attempt wait for the end of its tool, in order, and come once', () => {
    const { output, push, told } = play();
    const [one, two] = [tool(1), tool(2)];
    push(1, 'ab');
    output.onOutputEnd(one, 'stdout', 8);
    output.onOutputEnd(one, 'stderr', 9);
    output.onOutputEnd(two, 'stdout', 9);
    assert.equal(told(), ['1 stdout "ab" 7']);
    output.onEnded(one, false);
    assert.equal(told(), ['1 stdout "" 8', '1 stderr "" 9'], 'not those of another tool');
    output.onEnded(one, false);
    assert.equal(told(), []);
    output.onEnded(two, false);
    assert.equal(told(), ['2 stdout "" 9']);
  });

  test('an end after that of its tool is told at once', () => {
    const { output, told } = play();
    const one = tool(1, true);
    output.onEnded(one, false);
    output.onOutputEnd(one, 'stdout', 8);
    assert.equal(told(), ['1 stdout "" 8']);
  });

  test('an attempt that is followed ends its unfinished line, only that, and no stream', () => {
    const { output, push, told } = play();
    const first = tool(1);
    push(1, 'ab\n');
    push(1, 'cd', 'stderr');
    push(2, 'of another');
    told();
    output.onOutputEnd(first, 'stdout', 8);
    output.onEnded(first, true);
    assert.equal(told(), [], 'its line was finished');
    const stderrs = tool(1);
    output.onOutputEnd(stderrs, 'stderr', 9);
    output.onEnded(stderrs, true);
    assert.equal(told(), ['1 stderr "\\n" 9']);
    const next = tool(1);
    output.onOutputEnd(next, 'stderr', 10);
    output.onEnded(next, true);
    assert.equal(told(), [], 'once');
  });

  test('a line that goes on and ends later is finished; that of the last attempt is left as it is', () => {
    const { output, push, told } = play();
    const [first, last] = [tool(1), tool(1)];
    push(1, 'ab');
    push(1, 'c\n');
    output.onOutputEnd(first, 'stdout', 8);
    output.onEnded(first, true);
    push(1, 'd');
    told();
    output.onOutputEnd(last, 'stdout', 9);
    output.onEnded(last, false);
    assert.equal(told(), ['1 stdout "" 9']);
  });
});
