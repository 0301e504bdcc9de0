/** A job of a session, and its front-ends that come and go: which output is kept for whom, and when it is collected. */

import type { JobEvent, JobReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { JobFrontEnd } from '../../dist/controller/session.js';
import { Scope } from '../../dist/event/scope.js';
import { costOf, toWire } from '../../dist/messages/records.js';
import type { JobFollower, RecordBatch, RecordReader } from '../../dist/sessions/contracts.js';
import { ResidentJob } from '../../dist/sessions/resident-job.js';
import { testPlace } from '../world.js';

const REPORT: JobReport = { job: 1, exitCode: 0, failures: [], ranks: [], daemons: [], submitWallMs: 0, endWallMs: 0 };
const MUCH = 1 << 20;

/** A job whose output stays in memory. */
function play() {
  const place = testPlace();
  const noFile = (): never => {
    throw new Error('a small job has no file');
  };
  let [collected, removed] = [0, 0];
  const job = new ResidentJob({
    clock: place.platform.clock, holds: new Scope('a job'), label: 'a job', stdin: { to: 'none' }, spoolBytesMax: MUCH,
    files: { next: noFile, remove: () => (removed += 1) },
    onAccepted: () => undefined, onEvent: () => undefined, onEnded: () => undefined,
    onCollected: () => (collected += 1),
  });
  job.frontEnd = { job: 1 } as JobFrontEnd;
  const output = (text: string): void =>
    job.onOutput(0, 'stdout', new TextEncoder().encode(text), 5, () => undefined);
  const event = (one: JobEvent): void => job.onJobEvent(one);
  const end = (): void => {
    event({ type: 'mapped', map: { size: 1, hosts: [], apps: [] } as never });
    event({ type: 'ended', report: REPORT });
  };
  return { ...place, job, output, end, collected: () => collected, removed: () => removed };
}

const follower = (): JobFollower =>
  ({ onMore: () => undefined, onStdinDrain: () => undefined, onStdinClosed: () => undefined });

/** Output as text, events by their type, in their order; what was read is acknowledged if `isShown`. */
function read(reader: RecordReader, isShown: boolean, bytesMax = MUCH): string[] {
  let batch: RecordBatch | undefined;
  reader.read(bytesMax, (read) => (batch = read));
  const { records } = batch as RecordBatch;
  if (isShown) reader.acknowledge(records.reduce((sum, record) => sum + costOf(toWire(record)), 0));
  return records.map((record) => 'event' in record ? record.event.type : new TextDecoder().decode(record.chunk));
}

suite('job of a session', (test) => {
  const ALL = ['one', 'mapped', 'ended'];

  test('a front-end that has shown all has collected it: it is kept, and shown again to who asks for all', () => {
    const { job, output, end, collected } = play();
    output('one');
    end();
    const reader = job.follow(follower(), { all: true, input: false });
    assert.equal(read(reader, true), ALL);
    assert.equal([job.isCollected, collected()], [false, 0]);
    reader.close();
    assert.equal([job.isCollected, collected()], [true, 1]);
    for (const again of [1, 2]) {
      const other = job.follow(follower(), { all: true, input: false });
      assert.equal(read(other, true), ALL, String(again));
      other.close();
    }
    assert.equal(read(job.follow(follower(), { all: false, input: false }), true), ['mapped', 'ended']);
  });

  test('of much output the latest is kept; who asks for all is told how much is not', () => {
    const { job, output, end } = play();
    const reader = job.follow(follower(), { all: true, input: false });
    for (let count = 0; count < 100; count += 1) {
      output('x'.repeat(999));
      read(reader, true);
    }
    end();
    read(reader, true);
    reader.close();
    const again = job.follow(follower(), { all: true, input: false });
    const [told, ...rest] = read(again, false);
    const kept = rest.filter((text) => text.startsWith('x')).length;
    assert.equal([told, rest.slice(-2), kept], ['warning', ['mapped', 'ended'], Math.floor(65_536 / (999 + 64))]);
    job.dropOutput();
    assert.is(job.status().droppedBytes, 0, 'it was shown');
    assert.equal(read(job.follow(follower(), { all: true, input: false }), false), ['warning', 'mapped', 'ended']);
  });

  test('one that leaves with all read and not all shown has not: the next gets it', () => {
    const { job, output, end, collected } = play();
    output('one');
    end();
    const reader = job.follow(follower(), { all: true, input: false });
    assert.equal(read(reader, false), ALL);
    assert.is(reader.isAtEnd, true);
    reader.close();
    assert.equal([job.isCollected, collected()], [false, 0]);
    assert.equal(read(job.follow(follower(), { all: false, input: false }), true), ALL);
  });

  test('nor one that leaves with the output shown, before it reads how the job ended', () => {
    const { job, output, end, collected } = play();
    output('one');
    const reader = job.follow(follower(), { all: true, input: false });
    assert.equal(read(reader, true), ['one']);
    end();
    reader.close();
    assert.equal([job.isCollected, collected()], [false, 0]);
    assert.equal(read(job.follow(follower(), { all: true, input: false }), true), ALL);
  });

  test('nor one that leaves before the end of the job', () => {
    const { job, output, end, collected } = play();
    output('one');
    const reader = job.follow(follower(), { all: true, input: false });
    assert.equal(read(reader, true), ['one']);
    reader.close();
    assert.equal([job.isCollected, collected()], [false, 0]);
    end();
    assert.equal(read(job.follow(follower(), { all: true, input: false }), true), ALL);
  });

  test('once it is closed its files are removed, and whoever reads gets no more', () => {
    const { job, output, removed } = play();
    const reader = job.follow(follower(), { all: true, input: false });
    output('one');
    job.close();
    assert.equal([read(reader, true), removed()], [[], 1]);
  });

  test('what one has collected stays while another reads', () => {
    const { job, output, end, collected } = play();
    output('one');
    end();
    const [first, second] = [0, 1].map(() => job.follow(follower(), { all: true, input: false }));
    assert.equal(read(first as RecordReader, true), ALL);
    first?.close();
    assert.equal([job.isCollected, collected()], [true, 1]);
    assert.equal(read(second as RecordReader, false), ALL);
    second?.close();
    assert.equal(read(job.follow(follower(), { all: true, input: false }), true), ALL);
  });
});
