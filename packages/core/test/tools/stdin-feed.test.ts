/** Standard input of a host's ranks: a slow reader stops the input, and nobody else does. */

import { assert, suite } from '@stci/testkit';
import { StdinFeed } from '../../dist/tools/stdin-feed.js';
import type { Tool } from '../../dist/tools/tool.js';

const text = (value: string): Uint8Array => Uint8Array.from(value, (c) => c.charCodeAt(0));

class FakeTool {
  readonly rank: number;
  room = true;
  readonly written: string[] = [];

  constructor(rank: number) {
    this.rank = rank;
  }

  writeStdin(chunk: Uint8Array): boolean {
    this.written.push(String.fromCharCode(...chunk));
    return this.room;
  }

  closeStdin(): void {
    this.written.push('END');
  }
}

const asTool = (fake: FakeTool): Tool => fake as unknown as Tool;

suite('standard input of a host', (test) => {
  const feeding = (count: number, started = true) => {
    const unread: number[] = [];
    const feed = new StdinFeed(() => void unread.push(1));
    const tools = Array.from({ length: count }, (_, rank) => new FakeTool(rank));
    for (const tool of tools) {
      feed.add(tool.rank);
      if (started) feed.onStarted(asTool(tool));
    }
    const released: string[] = [];
    const push = (what: string): void => feed.push(text(what), () => void released.push(what));
    return { feed, tools, released, push, unread };
  };

  test('goes to each tool, in order; the credit comes back when the slowest has room', () => {
    const { feed, tools, released, push } = feeding(3);
    push('a');
    assert.equal(released, ['a']);
    const slow = tools[1] as FakeTool;
    slow.room = false;
    push('b');
    push('c');
    assert.equal([released, slow.written], [['a'], ['a', 'b']]);
    feed.onDrain(asTool(slow));
    assert.equal([released, slow.written], [['a', 'b'], ['a', 'b', 'c']]);
    feed.onDrain(asTool(slow));
    assert.equal(released, ['a', 'b', 'c']);
    push('');
    assert.equal(tools.map(({ written }) => written.join('')), ['abcEND', 'abcEND', 'abcEND']);
    assert.equal(released, ['a', 'b', 'c', '']);
  });

  test('a tool without room is given no more until it has some, then many small chunks as one, and the end', () => {
    const { feed, tools, released, push } = feeding(2);
    const [slow, other] = tools as [FakeTool, FakeTool];
    slow.room = false;
    for (let i = 0; i < 100_000; i++) push('x');
    assert.equal([slow.written.length, other.written.length, released.length], [1, 100_000, 0]);
    push('');
    assert.is(other.written.at(-1), 'END');
    slow.room = true;
    feed.onDrain(asTool(slow));
    assert.equal([slow.written.map(({ length }) => length), released.length], [[1, 65_536, 34_463, 3], 100_001]);
    assert.is(slow.written.at(-1), 'END');
    for (const tool of tools) feed.onDrain(asTool(tool));
    assert.equal([slow.written.length, released.length], [4, 100_001]);
  });

  test('chunks as large as a pipe are not joined, and not copied', () => {
    const { feed, tools, push } = feeding(1);
    const [tool] = tools as [FakeTool];
    tool.room = false;
    for (const what of ['a', 'b'.repeat(65_536), 'c']) push(what);
    tool.room = true;
    feed.onDrain(asTool(tool));
    assert.equal(tool.written.map(({ length }) => length), [1, 65_536, 1]);
  });

  test('it is told once that nobody reads any more: when the last one has stopped', () => {
    const { feed, unread } = feeding(2);
    feed.remove(0);
    feed.remove(0);
    assert.is(unread.length, 0);
    feed.remove(1);
    feed.remove(1);
    assert.is(unread.length, 1);
  });

  test('two slow tools: both must have room', () => {
    const { feed, tools, released, push } = feeding(2);
    for (const tool of tools) tool.room = false;
    push('a');
    feed.onDrain(asTool(tools[0] as FakeTool));
    feed.onDrain(asTool(tools[0] as FakeTool));
    assert.equal(released, []);
    feed.onDrain(asTool(tools[1] as FakeTool));
    assert.equal(released, ['a']);
  });

  test('what comes before the start is written at the start, then the end', () => {
    const { feed, tools, released, push } = feeding(2, false);
    push('a');
    push('b');
    push('');
    assert.equal([released, tools.map(({ written }) => written.length)], [[''], [0, 0]]);
    for (const tool of tools) feed.onStarted(asTool(tool));
    assert.equal(tools.map(({ written }) => written.join('')), ['abEND', 'abEND']);
    assert.equal(released, ['', 'a', 'b']);
  });

  test('a start that fills the pipe gives the credit back at the drain', () => {
    const { feed, tools, released, push } = feeding(1, false);
    push('a');
    const [tool] = tools as [FakeTool];
    tool.room = false;
    feed.onStarted(asTool(tool));
    assert.equal(released, []);
    feed.onDrain(asTool(tool));
    assert.equal(released, ['a']);
  });

  test('a tool that is gone, started or not, holds back nobody', () => {
    const { feed, tools, released, push } = feeding(2);
    const [gone, other] = tools as [FakeTool, FakeTool];
    gone.room = false;
    push('a');
    feed.remove(gone.rank);
    assert.equal(released, ['a']);
    push('b');
    assert.equal([gone.written.length, other.written], [1, ['a', 'b']]);
    feed.remove(other.rank);
    push('c');
    assert.equal(released, ['a', 'b', 'c'], 'with nobody left, input flows to nowhere');
  });

  test('a rank that starts again gets what comes from its failure on; the tool before has no say any more', () => {
    const { feed, tools, released, push, unread } = feeding(2);
    const [failed, other] = tools as [FakeTool, FakeTool];
    failed.room = false;
    push('a');
    feed.add(failed.rank);
    assert.equal(released, ['a']);
    push('b');
    feed.onDrain(asTool(failed));
    assert.equal([released, failed.written], [['a'], ['a']], 'it waits for the start');
    const next = new FakeTool(failed.rank);
    feed.onStarted(asTool(next));
    assert.equal([released, next.written, other.written], [['a', 'b'], ['b'], ['a', 'b']]);
    for (const { rank } of tools) feed.forget(rank);
    assert.equal(unread, [], 'ranks that go on elsewhere are no news');
  });
});
