/** Calls of a front-end to its session: each gets its own answer, and a refusal concerns one. */

import { StciError, type FrontEndEvents, type JobEvent, type JobReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import type { Session } from '../../dist/controller/session.js';
import { Scope } from '../../dist/event/scope.js';
import type { HostsChanged } from '../../dist/hosts/elastic-hosts.js';
import type { SessionFaults } from '../../dist/injection/fault-contracts.js';
import type { GatheredMetrics } from '../../dist/scrape/contracts.js';
import { SessionClient } from '../../dist/sessions/client.js';
import { SessionConnection } from '../../dist/sessions/connection.js';
import type { RecordBatch } from '../../dist/sessions/contracts.js';
import { CREDIT_BYTES, INPUT_BYTES } from '../../dist/sessions/session-front-end.js';
import type { SessionJobs } from '../../dist/sessions/session-jobs.js';
import { makeSessionKey } from '../../dist/sessions/session-link.js';
import { resolved } from '../assembly.js';
import { testPlace } from '../world.js';

const report = (job: number): JobReport =>
  ({ job, exitCode: 0, failures: [], ranks: [], daemons: [], submitWallMs: 0, endWallMs: 0 });

/** A client that is connected to a session whose answers the test gives. */
function play() {
  const place = testPlace();
  const { platform } = place;
  const { params } = resolved({ 'message.bytes.max': '64KiB' });
  const ends = new Map<number, (report: JobReport) => void>();
  const changes: HostsChanged[] = [];
  const gathered: GatheredMetrics[] = [];
  const given: number[] = [];
  const uses: Parameters<Session['useFaults']>[0][] = [];
  let sequence = 0;
  const read = (_bytes: number, done: (batch: RecordBatch) => void): void => {
    sequence += 1;
    const record = { sequence, rank: 0, stream: 'stdout' as const, wallMs: 0, chunk: new Uint8Array(1024) };
    place.platform.clock.soon(() => done({ records: [record], missed: new Map() }));
  };
  const service = {
    job: (job: number) => ({
      job, stdin: { to: 'all' }, map: { size: 0, hosts: [], apps: [] },
      onEnd: (done: (report: JobReport) => void) => (ends.set(job, done), () => void ends.delete(job)),
      isWriter: () => true,
      follow: () => ({ isAtEnd: false, read, acknowledge: () => undefined, close: () => undefined }),
      writeStdin: (_by: unknown, { length }: Uint8Array) => {
        given.push(length);
        return false;
      },
    }),
    addHosts: (hosts: readonly unknown[], done: HostsChanged) => {
      if (hosts.length === 0) throw new StciError('STCI_SESSION_REFUSED', 'no hosts');
      changes.push(done);
    },
    session: {
      gatherMetrics: (one: GatheredMetrics) => void gathered.push(one),
      useFaults: (done: (typeof uses)[number]) => void uses.push(done),
    },
  } as unknown as SessionJobs;
  const [ours, theirs] = memoryChannel(platform.clock, 'session', 'client');
  const key = makeSessionKey(platform);
  const onClosed = (): void => undefined;
  const holds = new Scope('front-end');
  const connection = new SessionConnection({ platform, params, channel: theirs, holds, key, service, onClosed });
  const client = new SessionClient({ platform, params, channel: ours, key, name: 's' });
  const told: string[] = [];
  const tell = (what: string) => (error: StciError | undefined, answer?: unknown): void => {
    told.push(`${what}: ${error?.code ?? JSON.stringify(answer)}`);
    assert.ok(error === undefined || answer === undefined, 'either an error or an answer');
  };
  place.run();
  return { ...place, client, connection, told, tell, ends, changes, gathered, given, uses, reads: () => sequence };
}

const HOST = { name: 'h', slots: 1, slotsBound: false, origin: 't' };

const TERMS = { leaseMs: 1000, ownsSession: false, allow: [], victimsMax: 1, keepRanks: [], keepHosts: [] };

/** Fault injection that notes what is asked; it answers at once. */
function faultsOf(log: string[]): SessionFaults {
  return {
    begin: () => void log.push('begin'), inject: () => void log.push('inject'), leave: () => log.push('leave') > 0,
    undo: (_owner, _id, done) => (log.push('undo'), done([])), clocks: (done) => (log.push('clocks'), done([])),
  };
}

suite('calls of a front-end', (test) => {
  test('two of a kind at once each get their own answer, whichever is first', () => {
    const { client, told, tell, ends, changes, gathered, run } = play();
    for (const job of [1, 2]) client.call('client.wait', { job }, (error, end) => tell(`wait ${job}`)(error, end?.job));
    for (const name of ['a', 'b']) client.call('client.add', { hosts: [{ ...HOST, name }] }, tell(`add ${name}`));
    for (const n of [1, 2]) {
      client.call('client.metrics', {}, tell(`metrics ${n}`), ({ agent }) => void told.push(`${n} ${agent}`));
    }
    run();
    ends.get(2)?.(report(2));
    ends.get(1)?.(report(1));
    changes[1]?.([{ name: 'b', error: undefined }]);
    changes[0]?.([{ name: 'a', error: undefined }]);
    gathered[1]?.onAgent('root:1', []);
    gathered[1]?.onDone([]);
    gathered[0]?.onDone(['root:2']);
    run();
    assert.equal(told, [
      'wait 2: 2', 'wait 1: 1', 'add b: [{"name":"b"}]', 'add a: [{"name":"a"}]', '2 root:1', 'metrics 2: []',
      'metrics 1: ["root:2"]',
    ]);
  });

  test('a refusal, or an answer that is too large, fails the call that it names, and no other', () => {
    const { client, told, tell, ends, changes, gathered, run } = play();
    client.call('client.wait', { job: 1 }, (error, ended) => tell('wait')(error, ended?.job));
    client.call('client.add', { hosts: [] }, tell('add nothing'));
    client.call('client.add', { hosts: [HOST] }, tell('add'));
    client.call('client.metrics', {}, tell('metrics'));
    run();
    assert.equal(told.splice(0), ['add nothing: STCI_SESSION_REFUSED']);
    changes[0]?.([{ name: 'x'.repeat(70_000), error: undefined }]);
    run();
    assert.equal(told.splice(0), ['add: STCI_MESSAGE_TOO_LARGE']);
    gathered[0]?.onDone([]);
    ends.get(1)?.(report(1));
    run();
    assert.equal(told, ['metrics: []', 'wait: 1']);
  });

  test('what cannot be sent fails at once; the end of the connection fails all that wait', () => {
    const { client, told, tell, run } = play();
    client.call('client.add', { hosts: [{ ...HOST, name: 'x'.repeat(70_000) }] }, tell('large'));
    assert.equal(told.splice(0), ['large: STCI_MESSAGE_TOO_LARGE']);
    client.call('client.wait', { job: 1 }, tell('wait'));
    client.call('client.metrics', {}, tell('metrics'));
    run();
    client.close();
    run();
    assert.equal(told, ['wait: STCI_SESSION_LOST', 'metrics: STCI_SESSION_LOST']);
    client.call('client.wait', { job: 2 }, tell('late'));
    assert.is(told.at(-1), 'late: STCI_SESSION_LOST');
  });

  test('a session that ends with an error tells it to whoever waits, and to the job that is followed', () => {
    const { client, connection, told, tell, run } = play();
    const events: string[] = [];
    const hears = { onJobEvent: ({ type }: JobEvent) => events.push(type) } as unknown as FrontEndEvents;
    client.follow(hears, () => undefined).submit({} as never);
    client.call('client.wait', { job: 1 }, tell('wait'));
    run();
    connection.fail(new StciError('STCI_ALLOCATION_ENDED', 'CANCELLED'));
    run();
    assert.equal([told, events], [['wait: STCI_ALLOCATION_ENDED'], ['failure', 'ended']]);
  });

  test('that nobody reads input any longer is told to whoever follows, before and after', () => {
    for (const isBefore of [true, false]) {
      const { client, connection, run } = play();
      let told = 0;
      const hears = { onStdinClosed: () => (told += 1) } as unknown as FrontEndEvents;
      const frontEnd = client.follow(hears, () => undefined);
      if (isBefore) connection.onStdinClosed();
      run();
      frontEnd.submit({} as never);
      run();
      assert.is(told, isBefore ? 1 : 0);
      connection.onStdinClosed();
      run();
      assert.is(told, isBefore ? 2 : 1);
    }
  });

  test('input beyond what may be under way waits, to the byte; the end of the connection ends the job followed', () => {
    const { client, run } = play();
    const events: string[] = [];
    const frontEnd = client.follow({
      onJobEvent: ({ type }: JobEvent) => events.push(type), onStopped: () => events.push('stopped'),
    } as unknown as FrontEndEvents, () => undefined);
    // Each counts for 64 bytes more than it has.
    const chunk = new Uint8Array(INPUT_BYTES / 8 - 64);
    for (let i = 0; i < 7; i += 1) assert.is(frontEnd.writeStdin(chunk), true);
    assert.equal([chunk.subarray(65), chunk.subarray(0, 1)].map((part) => frontEnd.writeStdin(part)), [true, false]);
    client.close();
    run();
    assert.equal(events, ['failure', 'ended', 'stopped']);
  });

  test('so many calls of a kind as wait for answers are refused, however numbered, until one has come', () => {
    const { client, told, ends, changes, gathered, run } = play();
    const codes: (string | undefined)[] = [];
    const done = (error: StciError | undefined): void => void codes.push(error?.code);
    for (let i = 0; i < 500; i += 1) client.call('client.metrics', {}, done);
    for (let i = 0; i < 500; i += 1) client.call('client.add', { hosts: [HOST] }, done);
    run();
    assert.equal([gathered.length, changes.length], [16, 64]);
    assert.equal([codes.length, new Set(codes)], [1000 - 16 - 64, new Set(['STCI_SESSION_REFUSED'])]);
    for (let job = 0; job < 2000; job += 1) client.call('client.wait', { job }, done);
    run(1000);
    assert.is(ends.size, 1024);
    for (const { onDone } of gathered.splice(0)) onDone([]);
    client.call('client.metrics', {}, done);
    run();
    assert.equal([gathered.length, codes.at(-1), told], [1, undefined, []]);
    client.close();
    run();
    assert.is(ends.size, 0, 'nobody waits any more');
  });

  test('the first call of an experiment has fault injection loaded; calls wait for that, in order', () => {
    const { client, told, tell, uses, run } = play();
    const log: string[] = [];
    client.experiment.open(TERMS, tell('open'));
    client.experiment.clocks(tell('clocks'));
    client.call('client.wait', { job: 1 }, tell('wait'));
    run();
    assert.equal([uses.length, told], [1, []]);
    uses[0]?.(faultsOf(log));
    run();
    client.experiment.undo('', tell('undo'));
    run();
    assert.equal([log, told], [['begin', 'clocks', 'undo'], ['open: undefined', 'clocks: []', 'undo: []']]);
    client.close();
    run();
    assert.equal([log.at(-1), uses.length], ['leave', 1]);
  });

  test('fault injection that cannot be loaded; one that comes when the front-end has left is left at once', () => {
    const { client, told, tell, uses, run } = play();
    client.experiment.onEnd = (error) => void told.push(`reports: ${error.code}`);
    client.experiment.open(TERMS, tell('open'));
    run();
    uses[0]?.(undefined, new StciError('STCI_INTERNAL', 'no such file'));
    run();
    client.experiment.clocks(tell('clocks'));
    run();
    assert.equal(told, ['reports: STCI_INTERNAL', 'open: STCI_INTERNAL', 'clocks: STCI_INTERNAL']);
    const left = play();
    const log: string[] = [];
    left.client.experiment.open(TERMS, left.tell('open'));
    left.run();
    left.client.close();
    left.run();
    left.uses[0]?.(faultsOf(log));
    left.run();
    assert.equal([log, left.told], [['begin', 'leave'], ['open: STCI_SESSION_LOST']]);
  });

  test('a front-end that sends input without room loses its connection; what is kept of it is bounded', () => {
    const { client, given, run } = play();
    client.call('client.attach', { job: 1, all: false, input: true }, () => undefined);
    const events: string[] = [];
    const frontEnd = client.follow({
      onJobEvent: ({ type }: JobEvent) => events.push(type), onStopped: () => events.push('stopped'),
    } as unknown as FrontEndEvents, () => undefined);
    for (let i = 0; i < 1000; i += 1) {
      frontEnd.writeStdin(new Uint8Array(32 * 1024));
      if (i % 10 === 0) run();
    }
    run();
    assert.equal(given.reduce((sum, bytes) => sum + bytes, 0), 16 * INPUT_BYTES);
    assert.equal(events, ['failure', 'ended', 'stopped']);
  });

  test('one that grants more credit than a front-end has gets so much at most before it shows something', () => {
    const { client, reads, run } = play();
    const records: unknown[] = [];
    client.call('client.attach', { job: 1, all: false, input: false }, () => undefined);
    client.follow({
      onOutput: (...output: unknown[]) => records.push(output), // Never released.
    } as unknown as FrontEndEvents, () => undefined).submit({} as never);
    for (let i = 0; i < 100; i += 1) client.tell('client.credit', { bytes: CREDIT_BYTES, shown: 0 });
    for (let i = 0; i < 100; i += 1) run();
    assert.equal([records.length, reads()], [965, 965], 'one MiB of records of 1024 + 64 bytes, and the first');
  });
});
