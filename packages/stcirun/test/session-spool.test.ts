/** The spool of a session's job: order, bounds, what slow readers miss, a disk that is full. */

import {
  closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync, writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spool, type SpoolCursor, type SpoolFile, type SpoolParams } from '@stci/core/resident';
import type { RecordBatch, SpoolOutput } from '@stci/core/session';
import { spoolDirectory } from '@stci/stcirun/internal';
import { assert, eventually, suite } from '@stci/testkit';
import { happens } from './session-help.js';

const KIB = 1024;

interface Sized {
  readonly spool: Spool;
  readonly released: () => number;
  /** Output of one rank of so many bytes, the chunk filled with its number. */
  write(chunks: number, bytes: number, rank?: number): void;
}

function withSpool(params: Partial<SpoolParams>, body: (sized: Sized, directory: string) => Promise<void>) {
  return async (): Promise<void> => {
    const base = mkdtempSync(join(tmpdir(), 'stci-spool-'));
    const directory = join(base, '7');
    const spool = new Spool({ files: spoolDirectory(directory), bytesMax: 1024 * KIB, ...params });
    let released = 0;
    let written = 0;
    const write = (chunks: number, bytes: number, rank = 0): void => {
      for (let i = 0; i < chunks; i += 1) {
        spool.output(rank, 'stdout', new Uint8Array(bytes).fill(written++ % 251), 5, () => (released += 1));
      }
    };
    try {
      await body({ spool, write, released: () => released }, directory);
    } finally {
      spool.close();
      assert.is(existsSync(directory), false);
      rmSync(base, { recursive: true });
    }
  };
}

interface Seen {
  readonly chunks: SpoolOutput[];
  readonly events: string[];
  missed: number;
}

function read(cursor: SpoolCursor, bytesMax: number): Promise<RecordBatch> {
  return new Promise((resolve) => cursor.read(bytesMax, resolve));
}

/** Reads until there is no more. */
async function drain(cursor: SpoolCursor, seen: Seen = { chunks: [], events: [], missed: 0 }): Promise<Seen> {
  while (!cursor.isAtEnd) {
    const { records, missed } = await read(cursor, 256 * KIB);
    for (const bytes of missed.values()) seen.missed += bytes;
    for (const record of records) {
      if ('event' in record) seen.events.push(`${record.event.type} after ${seen.chunks.length}`);
      else seen.chunks.push(record);
    }
    if (records.length === 0) break;
  }
  return seen;
}

const bytesOf = ({ chunks }: Seen): number => chunks.reduce((sum, { chunk }) => sum + chunk.length, 0);

suite('spool of a session\'s job', (test) => {
  test('a short job touches no disk, and events keep their place', withSpool({}, async (sized, directory) => {
    const { spool, write, released } = sized;
    spool.event({ type: 'running' });
    write(2, 10);
    spool.event({ type: 'ending', reason: 'over' });
    const seen = await drain(spool.open());
    assert.equal(seen.events, ['running after 0', 'ending after 2']);
    assert.is(bytesOf(seen), 20);
    assert.is(released(), 2);
    assert.is(existsSync(directory), false);
  }));

  test('marks beyond the bound of events are not kept, which is told; others are', withSpool({}, async ({ spool }) => {
    const mark = { type: 'mark', rank: 0, host: 0, name: 'm'.repeat(1 << 20), wallMs: 1 } as const;
    for (let i = 0; i < 40; i += 1) spool.event(mark);
    spool.event({ type: 'ending', reason: 'over' });
    const { events } = await drain(spool.open());
    assert.equal([events.length, events.slice(-2)], [34, ['warning after 0', 'ending after 0']]);
    assert.ok(spool.eventBytes < 34 << 20, `${spool.eventBytes} bytes`);
  }));

  test('what exceeds the memory comes from files, whole and in order, between writes', withSpool({}, async (sized) => {
    const { spool, write, released } = sized;
    const cursor = spool.open();
    const seen: Seen = { chunks: [], events: [], missed: 0 };
    for (let round = 1; round <= 20; round += 1) {
      write(10, 4 * KIB);
      if (round % 5 === 0) spool.event({ type: 'running' });
      if (round % 3 === 0) await read(cursor, 20 * KIB).then(({ records }) => {
        for (const record of records) if ('chunk' in record) seen.chunks.push(record);
      });
      await eventually(() => released() === round * 10, { deadlineMs: 2000, what: 'room' });
    }
    await drain(cursor, seen);
    assert.is(seen.missed, 0);
    assert.equal(seen.chunks.map(({ chunk }) => chunk[0]), Array.from({ length: 200 }, (_, i) => i % 251));
    assert.is(seen.chunks.every(({ chunk }) => chunk.every((byte) => byte === chunk[0])), true);
    const late = await drain(spool.open());
    assert.is(late.chunks.length, 200);
    assert.equal(late.events, [50, 100, 150, 200].map((count) => `running after ${count}`));
  }));

  // A write takes 256 records or 1 MiB: at these numbers one more write is needed, or just not.
  for (const [chunks, bytes] of [[255, 1000], [256, 1000], [257, 1000], [513, 1000], [16, 65_536], [17, 65_536]]) {
    test(`${chunks} records of ${bytes} bytes, written and read again, are whole, each once and in order`,
      withSpool({ bytesMax: 64 * 1024 * KIB }, async ({ spool, write, released }) => {
        write(chunks as number, bytes as number);
        await eventually(() => released() === chunks, { what: 'room for more' });
        const seen = await drain(spool.open());
        const all = Array.from({ length: chunks as number }, (_, i) => i);
        assert.equal(seen.chunks.map(({ sequence }) => sequence), all);
        assert.ok(seen.chunks.every(({ chunk }, i) => chunk.length === bytes && chunk.every((one) => one === i % 251)));
        assert.is(seen.missed, 0);
      }));
  }

  test('a reader that goes on at any record begins with that one, wherever it is by now', withSpool({},
    async ({ spool, write, released }) => {
      write(200, 1000);
      await eventually(() => released() === 200, { what: 'room for more' });
      for (let position = 0; position < 200; position++) {
        const seen = await drain(spool.openAt({ position, missed: new Map() }));
        assert.equal([seen.chunks[0]?.sequence, seen.chunks.length, seen.missed], [position, 200 - position, 0]);
      }
    }));

  test('at the bound the oldest is dropped: a reader that stands still learns it', withSpool({ bytesMax: 64 * KIB },
    async ({ spool, write, released }, directory) => {
      const still = spool.open();
      for (let round = 1; round <= 100; round += 1) {
        write(1, 8 * KIB, round % 2);
        await eventually(() => released() === round, { deadlineMs: 2000, what: 'room' });
      }
      const dropped = [...spool.dropped.values()].reduce((sum, bytes) => sum + bytes, 0);
      const onDisk = readdirSync(directory).length;
      assert.is(onDisk <= 10, true, `${onDisk} files`);
      for (const cursor of [still, spool.open()]) {
        const seen = await drain(cursor);
        assert.is(seen.missed, dropped);
        assert.is(bytesOf(seen) + seen.missed, 800 * KIB);
        assert.is(seen.chunks.at(-1)?.chunk[0], 99);
      }
      assert.equal([...spool.dropped.keys()].sort(), [0, 2]);
    }));

  test('one that is in the middle of a file that is dropped reads it to its end', withSpool({ bytesMax: 64 * KIB },
    async ({ spool, write, released }) => {
      const cursor = spool.open();
      const seen: Seen = { chunks: [], events: [], missed: 0 };
      let round = 0;
      for (const target of [12, 60]) {
        for (; round < target; round += 1) {
          write(1, 4 * KIB);
          await eventually(() => released() === round + 1, { deadlineMs: 2000, what: 'room' });
        }
        const { records, missed } = await read(cursor, 1);
        for (const record of records) if ('chunk' in record) seen.chunks.push(record);
        for (const bytes of missed.values()) seen.missed += bytes;
      }
      await drain(cursor, seen);
      assert.is(bytesOf(seen) + seen.missed, 240 * KIB);
      assert.is(seen.chunks[1]?.chunk[0], 1);
      assert.is(seen.missed > 0, true);
    }));

  test('a reader that leaves while a file is read has been given nothing', async () => {
    const base = mkdtempSync(join(tmpdir(), 'stci-spool-'));
    const files = spoolDirectory(join(base, '7'));
    const places: number[] = [];
    const next = (): SpoolFile => {
      const file = files.next();
      return { ...file, read: (...args) => (places.push(cursor.place.position), file.read(...args)) };
    };
    const spool = new Spool({ files: { ...files, next }, bytesMax: 1024 * KIB });
    const cursor = spool.open();
    for (let i = 0; i < 200; i += 1) spool.output(0, 'stdout', new Uint8Array(4 * KIB), 5, () => undefined);
    await eventually(() => spool.diskBytes > 600 * KIB, { deadlineMs: 2000, what: 'output on disk' });
    await read(cursor, 600 * KIB);
    assert.ok(places.length > 2);
    assert.equal(new Set(places), new Set([0]));
    spool.close();
    rmSync(base, { recursive: true });
  });

  test('a slow disk holds up the tools, not the memory', async () => {
    const base = mkdtempSync(join(tmpdir(), 'stci-spool-'));
    const files = spoolDirectory(join(base, '7'));
    const writes: (() => void)[] = [];
    const next = (): SpoolFile => {
      const file = files.next();
      return { ...file, write: (...args) => void writes.push(() => file.write(...args)) };
    };
    const spool = new Spool({ files: { ...files, next }, bytesMax: 1024 * KIB });
    let released = 0;
    const write = (): void => spool.output(0, 'stdout', new Uint8Array(4 * KIB), 5, () => (released += 1));
    for (let i = 0; i < 40; i += 1) write();
    const beforeWrite = released;
    assert.ok(beforeWrite < 20, `${beforeWrite} chunks released without a write`);
    await eventually(() => (writes.shift()?.(), released === 40), { deadlineMs: 2000, what: 'room' });
    assert.is(bytesOf(await drain(spool.open())), 160 * KIB);
    spool.close();
    rmSync(base, { recursive: true });
  });

  test('while a front-end is waited for, nothing is dropped and the tools get no room', async () => {
    let waits = true;
    await withSpool({ bytesMax: 64 * KIB, mayWait: () => waits }, async ({ spool, write, released }) => {
      let round = 0;
      for (; round === released(); round += 1) {
        write(1, 16 * KIB);
        await happens(() => released() === round + 1, 500);
      }
      assert.is(spool.dropped.size, 0);
      waits = false;
      spool.advance();
      await eventually(() => released() === round, { deadlineMs: 2000, what: 'room' });
      assert.is(spool.dropped.size, 1);
    })();
  });

  test('what is kept has no holes: with output that was shown, what is older goes, too', async () => {
    const shown = { before: 0, isFollowed: false, sent: 0 };
    await withSpool({ shown: () => shown }, async ({ spool, write, released }) => {
      write(40, 4 * KIB);
      await eventually(() => released() === 40, { deadlineMs: 2000, what: 'room' });
      assert.ok(spool.diskBytes > 0);
      Object.assign(shown, { before: 60, isFollowed: true });
      write(40, 4 * KIB);
      const { chunks, missed } = await drain(spool.open());
      const first = chunks[0]?.sequence ?? 0;
      assert.ok(first > 40);
      assert.equal(chunks.map(({ sequence }) => sequence), Array.from({ length: 80 - first }, (_, i) => first + i));
      assert.equal([missed, spool.diskBytes], [0, 0]);
    })();
  });

  test('output that cannot be written is counted, and the job goes on', withSpool({}, async (sized, directory) => {
    const { spool, write, released } = sized;
    mkdirSync(join(directory, '..'), { recursive: true });
    writeFileSync(directory, 'a file where the directory should be');
    const cursor = spool.open();
    write(10, 16 * KIB);
    await eventually(() => released() === 10, { deadlineMs: 2000, what: 'room' });
    write(1, 1 * KIB);
    const seen = await drain(cursor);
    assert.is(seen.missed > 0, true);
    assert.is(bytesOf(seen) + seen.missed, 161 * KIB);
    rmSync(directory);
  }));

  test('on a full disk the oldest goes, as at the bound', async () => {
    let waits = false;
    let left = 200 * KIB;
    let refused = 0;
    const base = mkdtempSync(join(tmpdir(), 'stci-spool-'));
    const files = spoolDirectory(join(base, '7'));
    const next = (): SpoolFile => {
      const file = files.next();
      let own = 0;
      const write: SpoolFile['write'] = (offset, pieces, done) => {
        const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
        if (bytes > left) return void (refused += 1, done(Object.assign(new Error('full'), { code: 'ENOSPC' })));
        left -= bytes;
        own += bytes;
        file.write(offset, pieces, done);
      };
      return { ...file, write, remove: () => ((left += own), file.remove()) };
    };
    const spool = new Spool({ files: { ...files, next }, bytesMax: 400 * KIB, mayWait: () => waits });
    let released = 0;
    const room = async (chunks: number): Promise<void> => {
      for (let i = 0; i < chunks; i += 1) {
        const wanted = released + 1;
        spool.output(0, 'stdout', new Uint8Array(8 * KIB), 5, () => (released += 1));
        await eventually(() => released >= wanted, { deadlineMs: 2000, what: 'room' });
      }
    };
    await room(60);
    const { chunks, missed } = await drain(spool.open());
    assert.is(chunks.at(-1)?.sequence, 59);
    assert.equal(chunks.map(({ sequence }) => sequence), Array.from(chunks, (_, i) => 60 - chunks.length + i));
    assert.is(missed, (60 - chunks.length) * 8 * KIB);
    waits = true; // Then the tools wait, until the reader is given up.
    const before = refused;
    for (let i = 0; i < 60; i += 1) spool.output(0, 'stdout', new Uint8Array(8 * KIB), 5, () => (released += 1));
    await eventually(() => refused > before, { deadlineMs: 2000, what: 'a write that does not fit' });
    assert.is([...spool.dropped.values()][0], missed);
    waits = false;
    spool.advance();
    await eventually(() => spool.dropped.get(0) !== missed, { deadlineMs: 2000, what: 'the oldest to go' });
    spool.close();
    rmSync(base, { recursive: true });
  });

  for (const [what, value] of [['no number', Number.NaN], ['huge', 1e300]] as const) {
    test(`a record in a file whose sequence is ${what} is missed, and no more than its file`,
      withSpool({ bytesMax: 256 * KIB }, async ({ spool, write, released }, directory) => {
        write(30, 8 * KIB);
        await eventually(() => released() === 30, { deadlineMs: 2000, what: 'room' });
        const [first] = readdirSync(directory) as [string];
        const file = openSync(join(directory, first), 'r+');
        const sequence = Buffer.alloc(8);
        sequence.writeDoubleBE(value);
        writeSync(file, sequence, 0, 8, 5 * (8 * KIB + 24) + 16);
        closeSync(file);
        const seen = await drain(spool.open());
        const sequences = seen.chunks.map((chunk) => chunk.sequence);
        assert.equal(sequences.slice(0, 6), [0, 1, 2, 3, 4, sequences[5]]);
        assert.ok((sequences[5] as number) > 5 && sequences.at(-1) === 29, sequences.join());
        assert.ok(bytesOf(seen) + seen.missed >= 240 * KIB, `${seen.missed} bytes missed`);
      }));
  }
});
