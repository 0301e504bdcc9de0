/** A rank on its host: attempts after attempts, not before the controller knows of the start before, one output. */

import type { ErrorManager, ProcessEvents, SpawnSpec } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { HostedRank, type RankPlace } from '../../dist/tools/hosted-rank.js';
import type { ToolEnd } from '../../dist/tools/tool.js';
import { testPlace } from '../world.js';
import { fakeProcess, type FakeProcess } from './fake-tool.js';

const PAUSE_MS = 10;
const RANK = 3;

const restart: ErrorManager['local'] = () => ({ type: 'restart', afterMs: PAUSE_MS });

interface Options {
  readonly local?: ErrorManager['local'] | null;
  /** Failures in succession after which it leaves. */
  readonly failures?: number;
  readonly stdin?: 'all' | 'none';
  /** It is started as soon as it is queued. */
  readonly starts?: boolean;
}

/** Rank 3 of a job; what is done and told, in order. */
function play({ local = restart, failures = 0, stdin = 'none', starts = true }: Options = {}) {
  const test = testPlace();
  const log: string[] = [];
  const pauses: number[] = [];
  const ends: ToolEnd[] = [];
  const processes: FakeProcess[] = [];
  let [told, noted, done] = [0, 0, 0];
  const spawn = ({ env }: SpawnSpec, events: ProcessEvents): FakeProcess => {
    const process = fakeProcess(10 + processes.length, events);
    processes.push(process);
    log.push(`start ${env['STCI_ATTEMPT']}`);
    return process;
  };
  const ints: Record<string, number> = {
    'tool.grace': 1000, 'iof.drain': 300, 'errmgr.elsewhere': failures, 'errmgr.quick': 100,
  };
  const place = {
    platform: { ...test.platform, processes: { ...test.platform.processes, spawn } },
    holds: new Scope('agent'),
    params: { int: (name: string) => ints[name] },
    launch: { apps: [{ program: 'p', args: [], env: {} }], env: {}, wdir: '/', size: 4, stdin: { to: stdin } },
    context: { job: 1, session: 's', size: 4, node: 0, nodes: 1, hostMap: { host: 0, name: 'a', runs: [] } },
    mark: 'm', errorManager: local === null ? {} : { local },
    binding: { of: () => undefined, report: () => undefined },
    services: {
      add: () => ({}), remove: () => undefined, socketOf: () => undefined, complaintOf: () => undefined,
      defaults: () => ({}),
    },
    watch: { onEnded: () => undefined },
    reports: {
      started: () => undefined, flushStarted: () => undefined, isNoted: (report: number) => report <= noted,
      followed: ({ attempt }: ToolEnd, afterMs: number, moves?: true) => {
        if (moves) log.push(`leaves after ${attempt}, in ${afterMs}`);
        else pauses.push(afterMs);
        return moves ? told : (told += 1);
      },
      ended: (end: ToolEnd) => (ends.push(end), log.push(`last ${end.attempt}`)),
    },
    output: {
      add: () => undefined, remove: () => undefined,
      push: ([rank, stream]: number[], bytes: Uint8Array) => {
        assert.is(rank, RANK);
        output.push(`${stream} ${JSON.stringify(Buffer.from(bytes).toString())}`);
      },
    },
    feed: Object.fromEntries(['add', 'onStarted', 'onDrain', 'remove', 'forget'].map((name) =>
      [name, (of: number | { rank: number }) => input.push(`${name} ${typeof of === 'number' ? of : of.rank}`)])),
    onQueued: (queued: HostedRank) => void queue.push(queued),
    onDone: () => void (done += 1),
  } as unknown as RankPlace;
  const [output, input, queue]: [string[], string[], HostedRank[]] = [[], [], []];
  const turn = (): void => queue.splice(0).forEach((queued) => queued.start());
  const rank = new HostedRank(place, { rank: RANK, host: 0, app: 0, localRank: 0 }, 1);
  if (starts) turn();
  const of = (attempt: number): FakeProcess => processes[attempt - 1] as FakeProcess;
  const endOutput = (attempt: number): void => {
    for (const stream of ['stdout', 'stderr'] as const) of(attempt).events.onOutputEnd(stream);
  };
  /** Its process ends; `isGone`: with all of its group and output. */
  const exit = (attempt: number, { status = 1, isGone = true, afterMs = 0 } = {}): void => {
    test.run(afterMs);
    if (isGone) of(attempt).group = 0;
    of(attempt).events.onExit({ status });
    if (isGone) endOutput(attempt);
    if (starts) turn();
  };
  return {
    rank, log, pauses, ends, output, input, of, turn, exit, endOutput,
    gone: (attempt: number) => ((of(attempt).group = 0), endOutput(attempt), starts && turn()),
    note: () => ((noted += 1), rank.check(), turn()),
    run: (ms: number) => (test.run(ms), starts && turn()),
    done: () => done > 0,
    isQuiet: () => test.world.scheduler.queue.pending().length === 0,
  };
}

suite('restarts of a rank on its host', (test) => {
  test('the first is ahead of the controller, the next waits for its answer to the one before', () => {
    const { run, log, pauses, exit, note } = play();
    exit(1);
    run(PAUSE_MS - 1);
    assert.equal([log, pauses], [['start 1'], [PAUSE_MS]]);
    run(1);
    assert.equal(log, ['start 1', 'start 2']);
    exit(2);
    run(1000);
    assert.equal(log, ['start 1', 'start 2'], 'it has not answered');
    note();
    assert.equal(log, ['start 1', 'start 2', 'start 3']);
  });

  test('a rank that fails soon after so many starts leaves, once all of it has ended; a longer run begins anew', () => {
    const { rank, run, log, exit, note, done, output } = play({ failures: 2 });
    for (const [attempt, afterMs] of [[1, 0], [2, 100], [3, 0]] as const) {
      exit(attempt, { afterMs });
      run(PAUSE_MS);
      note();
    }
    assert.equal(log, ['start 1', 'start 2', 'start 3', 'start 4']);
    exit(4);
    assert.equal([log.slice(4), rank.isOver, done()], [[`leaves after 4, in ${PAUSE_MS}`], true, true]);
    run(1000);
    rank.stop(false, false);
    assert.equal([log.length, output], [5, []], 'it is no longer its concern, and its streams go on elsewhere');
    const slow = play({ failures: 1 });
    slow.exit(1, { isGone: false });
    assert.equal([slow.log, slow.done()], [['start 1'], false]);
    slow.gone(1);
    assert.equal([slow.log.length, slow.done()], [2, true]);
    const ended = play({ failures: 1 });
    ended.exit(1, { isGone: false });
    ended.rank.stop(false, false);
    assert.equal([ended.log, ended.done()], [['start 1', 'last 1'], false]);
    ended.gone(1);
    assert.equal([ended.log.length, ended.done(), ended.output], [2, true, ['1 ""', '2 ""']], 'the job ends before');
  });

  test('when the job ends, the attempt that failed was the last, once, and none is started', () => {
    const { rank, run, log, exit, note, output, done, isQuiet } = play();
    exit(1);
    rank.stop(false, false);
    rank.stop(true, false);
    note();
    run(1000);
    assert.equal([log, output, done(), isQuiet()], [['start 1', 'last 1'], ['1 ""', '2 ""'], true, true]);
    const due = play({ starts: false });
    due.turn();
    due.exit(1);
    due.run(PAUSE_MS);
    due.rank.stop(false, false);
    assert.equal([due.log, due.output, due.done()], [log, output, true], 'also where the next is queued already');
  });

  test('nothing follows a good end, nor where the error manager does not restart, or decides nothing here', () => {
    const report = (): { type: 'report' } => ({ type: 'report' });
    for (const [options, status] of [[{}, 0], [{ local: report }, 1], [{ local: null }, 1]] as const) {
      const { rank, run, log, pauses, exit, done } = play(options);
      exit(1, { status });
      rank.stop(false, false);
      run(1000);
      assert.equal([log, pauses, done()], [['start 1', 'last 1'], [], true]);
    }
  });

  test('nothing follows an end while the job ends', () => {
    const { rank, log, exit, of, ends } = play();
    rank.stop(false, false);
    assert.equal(of(1).log, ['SIGTERM group', 'SIGCONT group']);
    exit(1);
    assert.equal([log, ends.map(({ outcome }) => outcome)], [['start 1', 'last 1'], ['ended']]);
    const outside = play();
    outside.rank.stop(false, true);
    assert.equal([outside.of(1).log, outside.rank.running?.attempt], [[], 1]);
  });

  test('the next attempt waits for the last process of the one before, and for its pause', () => {
    for (const isGoneFirst of [true, false]) {
      const { rank, run, log, exit, gone } = play();
      exit(1, { isGone: false });
      assert.equal([rank.running, rank.attempt], [undefined, 2]);
      if (isGoneFirst) gone(1);
      run(isGoneFirst ? PAUSE_MS - 1 : 1000);
      assert.equal(log, ['start 1']);
      if (isGoneFirst) run(1);
      else gone(1);
      assert.equal([log, rank.running?.attempt], [['start 1', 'start 2'], 2]);
      rank.stop(false, false);
      assert.equal(log.length, 2, 'the one that runs is not given up');
    }
  });

  test('one that was not started, and one that cannot be, end as such, with both streams', () => {
    const skipped = play({ starts: false });
    skipped.rank.stop(false, false);
    assert.equal(skipped.ends, [{
      rank: RANK, pid: 0, outcome: 'not-started', attempt: 1, endWallMs: skipped.ends[0]?.endWallMs, leftovers: 0,
    }]);
    const refused = play({ starts: false });
    refused.rank.refuse({ code: 'STCI_PROGRAM_SPAWN', message: 'no' });
    assert.equal(refused.ends.map(({ outcome, error }) => [outcome, error?.rank]), [['failed-start', RANK]]);
    for (const { output, done, rank } of [skipped, refused]) {
      assert.equal([output, done(), rank.hadProcesses], [['1 ""', '2 ""'], true, false]);
    }
  });

  test('the controller starts it again, also while something is left of the attempt before', () => {
    const { rank, log, exit, gone, turn, done, output, run } = play({ local: null });
    exit(1, { isGone: false });
    rank.restart(7);
    turn();
    assert.equal([log, rank.attempt, rank.hadProcesses], [['start 1', 'last 1', 'start 7'], 7, false]);
    gone(1);
    run(50);
    assert.equal([rank.hadProcesses, rank.isOver, done(), output], [true, false, false, ['1 ""', '2 ""']]);
    exit(2, { status: 0 });
    assert.equal([log.slice(3), done(), output.length], [['last 7'], true, 4]);
    assert.throws(() => play().rank.restart(2), /a rank that is running permits no event queue/);
  });

  test('input waits for the next attempt; a rank that leaves is forgotten, one that is over removed', () => {
    const { rank, exit, run, input, of } = play({ stdin: 'all' });
    assert.equal(input.splice(0), ['add 3', 'onStarted 3']);
    exit(1);
    of(1).events.onStdinClosed();
    assert.equal(input.splice(0), ['add 3'], 'that of the attempt before has no say');
    run(PAUSE_MS);
    of(2).events.onStdinClosed();
    rank.stop(false, false);
    exit(2);
    assert.equal(input, ['onStarted 3', 'remove 3', 'remove 3']);
    const leaving = play({ stdin: 'all', failures: 1 });
    leaving.exit(1);
    assert.equal(leaving.input.slice(2), ['forget 3']);
  });
});

suite('output of a rank', (test) => {
  type Stream = 'stdout' | 'stderr';
  const say = ({ of }: ReturnType<typeof play>, attempt: number, text: string, stream: Stream = 'stdout'): void =>
    of(attempt).events.onOutput(stream, Buffer.from(text), 7);
  const end = ({ of }: ReturnType<typeof play>, attempt: number, stream: Stream = 'stdout'): void =>
    of(attempt).events.onOutputEnd(stream);

  test('where no rank is started again, streams end at once', () => {
    const p = play({ local: null });
    say(p, 1, 'ab');
    end(p, 1);
    assert.equal(p.output, ['1 "ab"', '1 ""']);
    p.exit(1, { isGone: false });
    assert.equal(p.output.length, 2);
  });

  test('the ends of an attempt wait for the end of its process, in order, and come once; later ones at once', () => {
    const p = play();
    say(p, 1, 'ab');
    end(p, 1);
    assert.equal(p.output, ['1 "ab"']);
    p.exit(1, { status: 0, isGone: false });
    assert.equal(p.output, ['1 "ab"', '1 ""']);
    end(p, 1, 'stderr');
    assert.equal(p.output, ['1 "ab"', '1 ""', '2 ""']);
    p.gone(1);
    assert.is(p.output.length, 3);
  });

  test('an attempt that is followed ends its unfinished line, only that, and no stream', () => {
    const p = play();
    say(p, 1, 'ab\n');
    say(p, 1, 'cd', 'stderr');
    p.output.splice(0);
    end(p, 1);
    p.exit(1, { isGone: false });
    assert.equal(p.output, [], 'its line was finished');
    end(p, 1, 'stderr');
    assert.equal(p.output.splice(0), ['2 "\\n"']);
    p.of(1).group = 0;
    p.run(100);
    say(p, 2, 'x', 'stderr');
    end(p, 2, 'stderr');
    p.exit(2);
    assert.equal(p.output, ['2 "x"', '2 "\\n"'], 'once');
  });

  test('a line that goes on and ends later is finished; that of the last attempt is left as it is', () => {
    const p = play();
    say(p, 1, 'ab');
    say(p, 1, 'c\n');
    p.exit(1);
    p.run(PAUSE_MS);
    say(p, 2, 'd');
    p.output.splice(0);
    p.exit(2, { status: 0 });
    assert.equal(p.output, ['1 ""', '2 ""']);
  });
});
