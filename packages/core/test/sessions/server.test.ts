/** The end of a session, for its front-ends: each gets what there is for it, and is waited for until it has that. */

import type { FrontEnd, FrontEndEvents } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { SessionServer } from '../../dist/sessions/server.js';
import { SessionClient } from '../../dist/sessions/client.js';
import type { RecordBatch } from '../../dist/sessions/contracts.js';
import type { SessionJobs } from '../../dist/sessions/session-jobs.js';
import { makeSessionKey } from '../../dist/sessions/session-link.js';
import { resolved } from '../assembly.js';
import { testPlace } from '../world.js';

/** A session with one job, of which so many records are left; and its front-ends. */
function play(count: number) {
  const place = testPlace();
  const { world, platform } = place;
  const { params } = resolved({});
  const key = makeSessionKey(platform);
  let left = count;
  const reader = {
    get isAtEnd() {
      return left === 0;
    },
    read: (_bytesMax: number, done: (batch: RecordBatch) => void): void => {
      left -= 1;
      const record = { sequence: left, rank: 0, stream: 'stdout', wallMs: 0, chunk: new Uint8Array(8) } as const;
      place.platform.clock.soon(() => done({ records: [record], missed: new Map() }));
    },
    acknowledge: () => undefined, close: () => undefined,
  };
  const service = {
    session: { holds: new Scope('session') },
    job: (job: number) => ({
      job, stdin: { to: 'none' }, map: { size: 0, hosts: [], apps: [] }, isWriter: () => false, follow: () => reader,
    }),
  } as unknown as SessionJobs;
  const server = new SessionServer({ platform, params, key, service });
  let path = '';
  server.listen((_error, opened) => (path = opened));
  place.until(() => path !== '', 'the socket');
  const shown: number[] = [];
  const connect = (): FrontEnd => {
    const channel = platform.network.connectPrivate(path, 1000);
    const client = new SessionClient({ platform, params, channel, key, name: 's' });
    let isAccepted = false;
    client.call('client.attach', { job: 1, all: true, input: false }, () => (isAccepted = true));
    place.until(() => isAccepted, 'the job');
    const onOutput: FrontEndEvents['onOutput'] = (_rank, _stream, _chunk, _wallMs, release) => {
      shown.push(world.nowMs);
      release();
    };
    return client.follow({ onOutput, onStopped: () => undefined } as FrontEndEvents, () => undefined);
  };
  const end: { startMs: number; doneMs?: number } = { startMs: 0 };
  const disconnect = (): void => {
    end.startMs = world.nowMs;
    server.disconnect(() => (end.doneMs = world.nowMs));
  };
  return { ...place, connect, disconnect, end, shown };
}

suite('end of a session', (test) => {
  test('who has all is left at once, who reads when it has; the session waits for nothing else', () => {
    const { connect, disconnect, end, shown, run, until, world } = play(3);
    const frontEnd = connect();
    disconnect();
    run(5);
    assert.is(end.doneMs, undefined, 'three records are left');
    frontEnd.submit({} as never); // It reads from now on.
    until(() => end.doneMs !== undefined, 'the end');
    assert.is(shown.length, 3);
    const lateMs = world.nowMs - (shown.at(-1) as number);
    assert.ok(lateMs < 5, `${lateMs} ms after the last record`);
    const idle = play(0);
    idle.connect();
    idle.disconnect();
    idle.until(() => idle.end.doneMs !== undefined, 'the end');
    assert.ok((idle.end.doneMs ?? 0) - idle.end.startMs < 5);
  });

  test('one that does not read is left after ten seconds; without any it is over at once', () => {
    const { connect, disconnect, end, until } = play(3);
    connect();
    disconnect();
    until(() => end.doneMs !== undefined, 'the end');
    assert.is((end.doneMs ?? 0) - end.startMs, 10_000);
    const nobody = play(0);
    nobody.disconnect();
    assert.is(nobody.end.doneMs, nobody.end.startMs);
  });
});
