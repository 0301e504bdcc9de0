/** Output pump and standard input of a host's tools: fairness under credit, and a slow reader that stops the input. */

import { assert, suite } from '@stci/testkit';
import { creditBytes } from '../../dist/jobs/job-launch.js';
import { OutputPump } from '../../dist/tools/output-pump.js';
import { StdinFeed } from '../../dist/tools/stdin-feed.js';
import type { Tool } from '../../dist/tools/tool.js';
import { resolved } from '../assembly.js';

const KIB = 1024;
const text = (value: string): Uint8Array => Uint8Array.from(value, (c) => c.charCodeAt(0));

class FakeTool {
  reading = false;
  pid = 0;
  room = true;
  readonly written: string[] = [];

  readable(on: boolean): void {
    this.reading = on;
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

function pumping(count: number, window = 256 * KIB) {
  let available = true;
  const turns: (() => void)[] = [];
  const pump = new OutputPump({ creditBytes: window, available: () => available, soon: (call) =>
    void turns.push(call) });
  const tools = Array.from({ length: count }, () => new FakeTool());
  for (const tool of tools) pump.add(asTool(tool));
  const reading = (): number[] => tools.flatMap((tool, i) => (tool.reading ? [i] : []));
  return { pump, tools, reading, turns, credit: (on: boolean) => void (available = on) };
}

suite('output pump', (test) => {
  test('all are read while there is credit; none without', () => {
    const { pump, reading, credit } = pumping(4);
    assert.equal(reading(), [0, 1, 2, 3]);
    credit(false);
    pump.stopAll();
    assert.equal(reading(), []);
    pump.resumeSome();
    assert.equal(reading(), [], 'without credit nobody is resumed');
    const late = new FakeTool();
    pump.add(asTool(late));
    assert.not.ok(late.reading);
  });

  test('loud tools do not starve the others: each gets its turn', () => {
    const { pump, tools, reading, credit } = pumping(9);
    const turns = tools.map(() => 0);
    credit(false);
    pump.stopAll();
    for (let round = 0; round < 90; round++) {
      credit(true);
      pump.resumeSome();
      assert.equal(reading().length, 2, 'half a window of 256 KiB is two reads');
      for (const i of reading()) turns[i] = (turns[i] as number) + 1;
      credit(false);
      pump.stopAll();
    }
    assert.equal([...new Set(turns)], [20]);
  });

  test('credit that nobody of the resumed uses goes to the next ones', () => {
    const { pump, reading, credit, turns } = pumping(7);
    credit(false);
    pump.stopAll();
    credit(true);
    pump.resumeSome();
    for (let i = 0; turns.length > 0 && i < 20; i++) turns.shift()?.();
    assert.is(reading().length, 7);
    assert.is(turns.length, 0, 'no turn without work');
  });

  test('a tool that is gone is not touched any more; when all is discarded, all are read', () => {
    const { pump, tools, reading, credit } = pumping(3);
    credit(false);
    pump.remove(asTool(tools[1] as FakeTool));
    pump.stopAll();
    assert.equal(reading(), [1]);
    pump.discard();
    assert.equal([reading(), pump.discarding], [[0, 1, 2], true]);
    pump.stopAll();
    assert.equal(reading(), [0, 1, 2]);
  });
});

suite('standard input of a host', (test) => {
  const feeding = (count: number, started = true) => {
    const unread: number[] = [];
    const feed = new StdinFeed(() => void unread.push(1));
    const tools = Array.from({ length: count }, () => new FakeTool());
    for (const tool of tools) {
      if (started) tool.pid = 1;
      feed.add(asTool(tool));
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
    const { feed, tools, unread } = feeding(2);
    feed.remove(asTool(tools[0] as FakeTool));
    feed.remove(asTool(tools[0] as FakeTool));
    assert.is(unread.length, 0);
    feed.remove(asTool(tools[1] as FakeTool));
    feed.remove(asTool(tools[1] as FakeTool));
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
    for (const tool of tools) {
      tool.pid = 1;
      feed.onStarted(asTool(tool));
    }
    assert.equal(tools.map(({ written }) => written.join('')), ['abEND', 'abEND']);
    assert.equal(released, ['', 'a', 'b']);
  });

  test('a start that fills the pipe gives the credit back at the drain', () => {
    const { feed, tools, released, push } = feeding(1, false);
    push('a');
    const [tool] = tools as [FakeTool];
    tool.room = false;
    tool.pid = 1;
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
    feed.remove(asTool(gone));
    assert.equal(released, ['a']);
    push('b');
    assert.equal([gone.written.length, other.written], [1, ['a', 'b']]);
    feed.remove(asTool(other));
    push('c');
    assert.equal(released, ['a', 'b', 'c'], 'with nobody left, input flows to nowhere');
  });
});

suite('credit of a host', (test) => {
  test('is its share of the window, which all shares together never exceed', () => {
    const { params } = resolved({ 'iof.window': '64MiB' });
    const of = (hosts: number): number => creditBytes(params, hosts);
    assert.equal([of(1), of(16), of(32), of(100_000)], [4096 * KIB, 4096 * KIB, 2048 * KIB, 671]);
    let before = Infinity;
    for (let hosts = 1; hosts < 2000; hosts++) {
      assert.ok(of(hosts) <= before && Number.isInteger(of(hosts)), `${hosts} hosts`);
      assert.ok(hosts * of(hosts) <= 65_536 * KIB, `${hosts} hosts`);
      before = of(hosts);
    }
    assert.throwsCode('STCI_PARAM_INVALID', () => of(200_000));
  });
});
