/**
 * The spool: how many events it keeps; of its files, each that is opened is closed, whoever read it when it was gone.
 */

import type { RankReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { RecordBatch } from '../../dist/sessions/contracts.js';
import type { SpoolFile } from '../../dist/sessions/files.js';
import type { SpoolCursor } from '../../dist/sessions/spool-cursor.js';
import { Spool } from '../../dist/sessions/spool.js';

const KIB = 1024;

/** A spool in memory of 64 KiB on "disk", whose files count how often they are open. */
function play() {
  const opened: number[] = [];
  const next = (): SpoolFile => {
    const index = opened.push(0) - 1;
    let content = Buffer.alloc(0);
    return {
      open: () => void (opened[index] = (opened[index] as number) + 1),
      close: () => void (opened[index] = (opened[index] as number) - 1),
      write: (offset, pieces, done) => {
        content = Buffer.concat([content.subarray(0, offset), ...pieces]);
        done();
      },
      read: (offset, length, done) => done(content.subarray(offset, offset + length)),
      remove: () => undefined,
    };
  };
  const spool = new Spool({ files: { next, remove: () => undefined }, bytesMax: 64 * KIB });
  let written = 0;
  const write = (count: number): void => {
    for (let i = 0; i < count; i += 1) {
      spool.output(0, 'stdout', new Uint8Array(4 * KIB).fill(written++ % 251), 5, () => undefined);
    }
  };
  return { spool, write, opened };
}

function read(cursor: SpoolCursor, bytesMax: number): { numbers: number[]; missed: number } {
  let batch: RecordBatch | undefined;
  cursor.read(bytesMax, (one) => (batch = one));
  const { records, missed } = batch as RecordBatch;
  const numbers = records.flatMap((record) => ('chunk' in record ? [record.sequence] : []));
  return { numbers, missed: [...missed.values()].reduce((sum, bytes) => sum + bytes, 0) };
}

suite('events of a spool', (test) => {
  test('marks and suspicions are kept up to a bound, which is told once; what decides the outcome always is', () => {
    const { spool } = play();
    const wallMs = 5;
    const mark = { type: 'mark', rank: 0, host: 0, name: 'm'.repeat(KIB * KIB), wallMs } as const;
    const suspicion = { type: 'member', host: 0, name: 'h', incarnation: 1, wallMs, change: 'refuted' } as const;
    const exited = { type: 'exited', report: { rank: 0 } as RankReport } as const;
    const failure = { type: 'failure', error: { code: 'STCI_AGENT_LOST', message: 'm' } } as const;
    for (let count = 0; count < 40; count += 1) spool.event(mark);
    for (const event of [suspicion, exited, mark, failure, suspicion] as const) spool.event(event);
    const types = spool.events.map(({ event }) => event.type);
    assert.equal(types, [...Array.from({ length: 32 }, () => 'mark'), 'warning', 'exited', 'failure']);
    const told = spool.events[32]?.event;
    assert.match(told?.type === 'warning' ? told.text : '', 'further marks of its ranks, and suspicions of hosts');
  });
});

suite('files of a spool', (test) => {
  test('what is missed is told again, until what came with it, or the next record, is acknowledged', () => {
    const { spool, write } = play();
    const next = (cursor: SpoolCursor): SpoolCursor => {
      const { place } = cursor;
      cursor.close();
      return spool.openAt(place);
    };
    const killed = spool.open();
    write(100);
    const first = read(killed, 1);
    assert.ok(first.missed > 0 && first.numbers.length === 1);
    const again = next(killed);
    assert.equal(read(again, 1), first, 'nothing of it was acknowledged');
    again.acknowledge(8 * KIB);
    assert.is(read(next(again), 1).missed, 0);
    const behind = spool.open();
    read(behind, 1024 * KIB);
    behind.acknowledge(1024 * KIB);
    write(100);
    assert.ok(read(behind, 0).missed > 0, 'alone');
    behind.acknowledge(0);
    const last = next(behind);
    assert.ok(read(last, 1).missed > 0, 'no record is acknowledged since');
    last.acknowledge(8 * KIB);
    assert.is(read(next(last), 1).missed, 0);
  });

  test('one that goes on where another has not begun is told what was missed, and later not', () => {
    const { spool, write } = play();
    write(100);
    const other = spool.open();
    const both = [spool.openAt(other.unread), other].map((cursor) => read(cursor, 1));
    assert.ok((both[0]?.missed ?? 0) > 0);
    assert.equal(both[0], both[1]);
    assert.equal(read(spool.openAt(other.unread), 1), read(other, 1));
  });

  test('one that is dropped while somebody is in the middle of it is read to its end, and then closed', () => {
    const { spool, write, opened } = play();
    const [reader, still] = [spool.open(), spool.open()];
    write(20);
    assert.equal(read(reader, 1).numbers, [0]);
    const open = opened.findIndex((count) => count > 0);
    write(80);
    const rest = read(reader, 1024 * KIB);
    assert.equal(rest.numbers[0], 1);
    assert.equal([rest.numbers.at(-1), rest.numbers.length + rest.missed / (4 * KIB)], [99, 99]);
    assert.is(new Set(rest.numbers).size, rest.numbers.length);
    const behind = read(still, 1024 * KIB);
    assert.is(behind.numbers.length + behind.missed / (4 * KIB), 100);
    assert.is(opened[open], 0, 'the file that was dropped');
    reader.close();
    still.close();
    assert.equal(opened.slice(0, -1).filter((count) => count > 0), []);
  });
});
