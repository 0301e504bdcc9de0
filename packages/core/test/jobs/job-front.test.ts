/** What the follower of a job is told, what becomes of input, and of what cannot be sent. */

import { StciError, sessionAddress, type JobEvent, type JobMap, type RankReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { JobFront } from '../../dist/jobs/job-front.js';
import { resolved } from '../assembly.js';
import { testPlace } from '../world.js';

const MAP: JobMap = {
  size: 2,
  hosts: [0, 1].map((host) => ({ host, name: `h${host}`, runs: [{ app: 0, first: host, count: 1, stride: 1 }] })),
};

const REPORT: RankReport = { rank: 1, host: 'h1', app: 0, pid: 9, outcome: 'exited', leftovers: 0 };

function play(to: 'none' | 'all' | number = 'none') {
  const place = testPlace();
  const log: string[] = [];
  const stream = {
    close: () => void log.push('close'),
    drop: (agent: number) => void log.push(`drop ${agent === sessionAddress(1) ? 1 : 0}`),
    admit: () => void log.push('admit'),
    down: (chunk: Uint8Array, agent?: number) => {
      log.push(`input ${chunk.length} ${agent === undefined ? 'all' : agent === sessionAddress(1) ? 1 : 0}`);
      return true;
    },
  };
  let onUp: (data: unknown, release: () => void) => void = () => undefined;
  const attach = (_spec: unknown, events: { onUp: typeof onUp }): typeof stream => {
    onUp = events.onUp;
    return stream;
  };
  const unsent: string[] = [];
  const front = new JobFront({
    node: { platform: place.platform, streams: { attach } } as never, job: 4, params: resolved({}).params,
    spec: { stdin: typeof to === 'number' ? { to: 'rank', rank: to } : { to } } as never,
    onUnsent: ({ code }) => void unsent.push(code),
  });
  front.follow({
    onJobEvent: ({ type }) => void log.push(type),
    onOutput: (rank, name, chunk, _wallMs, release) => {
      log.push(`${rank} ${name} ${chunk.length}`);
      release();
    },
    onStdinDrain: () => void log.push('drain'), onStdinClosed: () => void log.push('unread'),
    onStopped: () => undefined,
  });
  const told = (...events: JobEvent[]): string[] => {
    for (const event of events) front.emit(event);
    return log.splice(0);
  };
  const output = (rank: number, bytes: number): string[] => {
    onUp([rank, 1, 5, new Uint8Array(bytes)], () => void log.push('released'));
    return log.splice(0);
  };
  return { place, front, unsent, told, output, logged: () => log.splice(0) };
}

const started = (rank: number): JobEvent => ({ type: 'started', rank, host: rank, pid: 9, wallMs: 1 });

suite('the front of a job', (test) => {
  test('what its agents cannot be sent is an error of the job, in a later turn; one that has gone is none', () => {
    const { place, front, unsent } = play();
    front.check(new StciError('STCI_MESSAGE_TOO_LARGE', 'not sent'));
    front.check(new StciError('STCI_MESSAGE_UNROUTABLE', 'not sent'));
    front.check(undefined);
    assert.equal(unsent, []);
    place.run(1);
    assert.equal(unsent, ['STCI_MESSAGE_TOO_LARGE']);
  });

  test('output is passed on, and ends with its host or with the job, before the end of the job', () => {
    const { front, told, output, logged } = play();
    told({ type: 'mapped', map: MAP }, started(0), started(1));
    assert.equal([output(0, 3), output(1, 4)], [['0 stdout 3', 'released'], ['1 stdout 4', 'released']]);
    front.onHostLost(1, []);
    assert.equal(logged(), ['drop 1', '1 stdout 0']);
    assert.equal(output(1, 5), ['released']);
    front.tellEnd({
      job: 4, exitCode: 0, failures: [], ranks: [], daemons: [], submitWallMs: 1, endWallMs: 2,
    });
    assert.equal(logged(), ['0 stdout 0', 'close', 'ended']);
  });

  test('input waits until its readers run; that of a rank goes with it to another host', () => {
    const { front, told, logged } = play(1);
    told({ type: 'mapped', map: MAP });
    assert.is(front.writeStdin(new Uint8Array(3)), false);
    assert.equal(told(started(0)), ['started']);
    assert.equal(told(started(1)), ['input 3 1', 'drain', 'started']);
    front.writeStdin(new Uint8Array(0));
    front.onHostLost(1, [1]);
    assert.equal(logged(), ['input 0 1', 'drop 1']);
    const moved: JobMap = { size: 2, hosts: [{ ...MAP.hosts[0]!, runs: [{ app: 0, first: 0, count: 2, stride: 1 }] }] };
    told({ type: 'mapped', map: moved });
    front.onHostJoined(0);
    assert.equal([logged(), told(started(1))], [['admit'], ['input 0 0', 'drain', 'started']]);
    front.onUnread(0);
    assert.equal(logged(), ['unread']);
  });

  test('ranks that are spawned have output, and read no input', () => {
    const { front, told, output, logged } = play('all');
    const one: JobMap = { ...MAP, size: 1, hosts: [MAP.hosts[0]!, { ...MAP.hosts[1]!, runs: [] }] };
    const spawned = { parent: 0, first: 1, count: 1, app: 1 };
    told({ type: 'mapped', map: one }, started(0), { type: 'running' });
    assert.equal(told({ type: 'mapped', map: MAP, spawned }), ['mapped'], 'the stream goes on');
    front.onHostJoined(1);
    assert.equal([logged(), told(started(1)), output(1, 4)], [['admit'], ['started'], ['1 stdout 4', 'released']]);
    front.onHostLost(1, [1]);
    front.onHostJoined(1);
    assert.equal([logged(), told(started(1))], [['drop 1', '1 stdout 1', 'admit'], ['started']], 'it is started again');
    front.onUnread(0);
    assert.equal(logged(), ['unread'], 'of all that read');
    front.onHostLost(1, []);
    assert.equal(logged(), ['drop 1', '1 stdout 0']);
  });

  test('input of all that have ended, or never ran, has no reader', () => {
    const { front, told, logged } = play('all');
    told({ type: 'mapped', map: MAP }, started(0), started(1));
    assert.equal(told({ type: 'running' }), ['drain', 'running']);
    front.writeStdin(new Uint8Array(3));
    front.onUnread(0);
    front.onHostLost(1, []);
    assert.equal(logged(), ['input 3 all', 'drop 1', 'unread']);
    const none = play(1);
    none.told({ type: 'mapped', map: MAP });
    assert.equal(none.told({ type: 'exited', report: REPORT }), ['drain', 'exited']);
    assert.equal([none.front.writeStdin(new Uint8Array(3)), none.logged()], [true, []]);
  });
});
