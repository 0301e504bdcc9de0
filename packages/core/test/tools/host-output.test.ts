/**
 * Output of a host's tools under credit: what waits is cut where the credit ends, in order, to the last byte of it, and
 * tools are read by turns.
 */

import { markRoom, whenReleased } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { CHUNK_COST_BYTES } from '../../dist/am/credit.js';
import { decode } from '../../dist/codec/cbor.js';
import { HostOutput } from '../../dist/tools/host-output.js';
import type { Tool } from '../../dist/tools/tool.js';

const KIB = 1024;

/** A stream that has credit for so many bytes of chunks, each of which costs something besides; `count` tools. */
function play({ bytes = 1, count = 0 } = {}) {
  const sent: string[] = [];
  const turns: (() => void)[] = [];
  const stream = {
    upCreditBytes: CHUNK_COST_BYTES + bytes,
    upPieces(pieces: readonly Uint8Array[]): boolean {
      const [, chunk] = decode(Buffer.concat(pieces)) as [number, Uint8Array];
      sent.push(Buffer.from(chunk).toString());
      this.upCreditBytes -= CHUNK_COST_BYTES + chunk.length;
      return true;
    },
  };
  const output = new HostOutput({ clock: { soon: (call) => void turns.push(call) }, creditBytes: 256 * KIB, stream });
  const add = () => {
    const tool = { reading: false, readable: (on: boolean) => void (tool.reading = on) };
    output.add(tool as unknown as Tool);
    return tool;
  };
  const tools = Array.from({ length: count }, add);
  return {
    output, sent, turns, tools, add,
    push: (text: string) => output.push([0], Buffer.from(text)),
    credit: (more: number) => ((stream.upCreditBytes += more), output.onCredit()),
    reading: () => tools.flatMap(({ reading }, i) => (reading ? [i] : [])),
    /** The credit is used up to the last byte, by a chunk. */
    use: () => output.push([0], new Uint8Array(stream.upCreditBytes - CHUNK_COST_BYTES)),
  };
}

suite('output that waits for credit', (test) => {
  test('a chunk is cut where the credit ends; the rest goes with the next byte of it, before what came later', () => {
    const { output, push, sent, credit, reading } = play({ bytes: 3, count: 1 });
    push('abcde');
    push('f');
    assert.equal([sent, output.isEmpty, reading()], [['abc'], false, []]);
    credit(CHUNK_COST_BYTES);
    assert.equal(sent, ['abc']);
    credit(1);
    assert.equal(sent, ['abc', 'd']);
    credit(2 * CHUNK_COST_BYTES + 2);
    assert.equal([sent, output.isEmpty, reading()], [['abc', 'd', 'e', 'f'], true, []]);
    credit(CHUNK_COST_BYTES + 1);
    assert.equal(reading(), [0]);
  });

  test('what is discarded is not sent, nor what comes later, and its buffers are free again', () => {
    const { output, sent, push, credit } = play({ bytes: 0 });
    const chunk = new Uint8Array(8);
    markRoom(chunk);
    output.push([0], chunk);
    let isFree = false;
    whenReleased(chunk.buffer, () => (isFree = true));
    assert.is(isFree, false);
    output.discard();
    push('x');
    credit(1000);
    assert.equal([isFree, output.isEmpty, sent], [true, true, []]);
  });

  test('all of it goes where there is credit for it, and more is read only with credit for more', () => {
    for (const [bytes, isRead] of [[6, false], [6 + CHUNK_COST_BYTES, false], [7 + CHUNK_COST_BYTES, true]] as const) {
      const { output, sent, push, reading } = play({ bytes, count: 1 });
      push('abcdef');
      assert.equal([sent, output.isEmpty, reading().length], [['abcdef'], true, isRead ? 1 : 0], String(bytes));
    }
  });

  test('the buffer of a chunk is free when the last of it has been sent, not before', () => {
    const { output, credit } = play({ bytes: 3 });
    const chunk = new Uint8Array(8);
    markRoom(chunk);
    output.push([0], chunk);
    let isFree = false;
    whenReleased(chunk.buffer, () => (isFree = true));
    assert.is(isFree, false);
    credit(CHUNK_COST_BYTES + 5);
    assert.equal([isFree, output.isEmpty], [true, true]);
  });
});

suite('which tools of a host are read', (test) => {
  const WINDOW = 256 * KIB;

  test('all while there is credit; none without', () => {
    const { reading, use, credit, add } = play({ bytes: WINDOW, count: 4 });
    assert.equal(reading(), [0, 1, 2, 3]);
    use();
    assert.equal(reading(), []);
    credit(0);
    assert.equal(reading(), [], 'without credit nobody is resumed');
    assert.not.ok(add().reading);
  });

  test('loud tools do not starve the others: each gets its turn', () => {
    const { tools, reading, use, credit } = play({ bytes: WINDOW, count: 9 });
    const turns = tools.map(() => 0);
    use();
    for (let round = 0; round < 90; round++) {
      credit(WINDOW / 2);
      assert.equal(reading().length, 2, 'half a window of 256 KiB is two reads');
      for (const i of reading()) turns[i] = (turns[i] as number) + 1;
      use();
    }
    assert.equal([...new Set(turns)], [20]);
  });

  test('credit that nobody of the resumed uses goes to the next ones', () => {
    const { reading, use, credit, turns } = play({ bytes: WINDOW, count: 7 });
    use();
    credit(WINDOW / 2);
    for (let i = 0; turns.length > 0 && i < 20; i++) turns.shift()?.();
    assert.is(reading().length, 7);
    assert.is(turns.length, 0, 'no turn without work');
  });

  test('a tool that is gone is not touched any more; when all is discarded, all are read', () => {
    const { output, tools, reading, use, push } = play({ bytes: WINDOW, count: 3 });
    output.remove(tools[1] as unknown as Tool);
    use();
    assert.equal(reading(), [1]);
    output.discard();
    assert.equal(reading(), [0, 1, 2]);
    push('x');
    assert.equal(reading(), [0, 1, 2]);
  });
});
