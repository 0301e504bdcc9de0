/** The writer of a descriptor: order, back-pressure, faults. */

import { assert, suite } from '@stci/testkit';
import { makeTerminal, Writer, type WriteBatch } from '@stci/stcirun/internal';

suite('writer', (test) => {
  test('one write at a time, batches in order, marks when theirs is written', () => {
    const batches: string[] = [];
    const dones: (() => void)[] = [];
    const writer = new Writer((batch, done) => {
      batches.push(Buffer.concat(batch).toString());
      dones.push(done);
    }, () => undefined);
    const marks: string[] = [];
    writer.after(() => marks.push('nothing'));
    writer.write(Buffer.from('a'));
    writer.after(() => marks.push('a'));
    writer.write(Buffer.from('b'));
    writer.write(Buffer.from('c'));
    writer.after(() => marks.push('c'));
    assert.equal(batches, ['a']);
    assert.is(writer.queuedBytes, 3);
    dones[0]?.();
    assert.equal(marks, ['nothing', 'a']);
    assert.equal(batches, ['a', 'bc']);
    dones[1]?.();
    assert.equal(marks, ['nothing', 'a', 'c']);
    assert.is(writer.queuedBytes, 0);
  });

  test('one that gathers writes when a turn brings nothing more, or much is there', async () => {
    const batches: number[] = [];
    const write: WriteBatch = (batch, done) => {
      batches.push(Buffer.concat(batch).length);
      setImmediate(done);
    };
    const writer = new Writer(write, () => assert.unreachable(), { gathers: true });
    writer.write(Buffer.from('abc'));
    for (let turn = 0; turn < 3; turn++) {
      writer.write(Buffer.from('abc'));
      assert.equal(batches, []);
      await new Promise(setImmediate);
    }
    await new Promise<void>((resolve) => writer.after(resolve));
    assert.equal(batches, [12]);
    writer.write(Buffer.alloc(1000));
    writer.write(Buffer.alloc(1 << 20));
    assert.equal(batches, [12, 1000 + (1 << 20)]);
  });

  test('messages outlive the output that is abandoned, also while they are waited for', async () => {
    let text = '';
    const write: WriteBatch = (batch, done) => {
      text += Buffer.concat(batch).toString();
      setImmediate(done);
    };
    const out = new Writer(() => undefined, () => assert.unreachable());
    const err = new Writer(write, () => assert.unreachable(), { gathers: true });
    const terminal = makeTerminal(out, err);
    out.write(Buffer.from('a'));
    terminal.message('why');
    const isFlushed = new Promise<void>((resolve) => terminal.flush(resolve));
    terminal.abandon();
    await isFlushed;
    assert.is(text, 'why\n');
  });

  test('after a fault everything is dropped, and nobody waits', () => {
    const faults: string[] = [];
    let fail: ((error: Error) => void) | undefined;
    const writer = new Writer((_batch, done) => (fail = done), (error) => faults.push(error.message));
    let marks = 0;
    writer.write(Buffer.from('a'));
    writer.write(Buffer.from('b'));
    writer.after(() => (marks += 1));
    fail?.(new Error('broken'));
    assert.equal(faults, ['broken']);
    assert.is(marks, 1);
    writer.write(Buffer.from('c'));
    writer.after(() => (marks += 1));
    assert.is(marks, 2);
  });
});
