/** Tool agent: a process from its start until nothing of it is left, with its parts ending in every order. */

import { assert, suite } from '@stci/testkit';
import { check } from '../../dist/codec/shape.js';
import { errorRecord } from '../../dist/messages/job-shapes.js';
import { DRAIN_MS, GRACE_MS, play, type Playing } from './fake-tool.js';

const bytes = (length: number): Uint8Array => new Uint8Array(length);

function exit({ process }: Playing, status = 0, leavesGroup = false): void {
  process.group = leavesGroup ? 2 : 0;
  process.events.onExit({ status });
}

function endOutput({ process }: Playing): void {
  process.events.onOutputEnd('stdout');
  process.events.onOutputEnd('stderr');
}

suite('tool agent', (test) => {
  test('output first, then the exit: gone with the exit', () => {
    const p = play();
    p.tool.readable(true);
    p.process.events.onOutput('stdout', bytes(5), 1);
    endOutput(p);
    assert.not.ok(p.tool.gone);
    exit(p, 3);
    assert.equal(p.told, ['started', 'stdout 5', 'stdout end', 'stderr end', 'ended exited', 'gone']);
    assert.equal([p.ends[0]?.rank, p.ends[0]?.pid, p.ends[0]?.end, p.ends[0]?.leftovers], [3, 7, { status: 3 }, 0]);
    assert.is(p.world.run(), 'idle', 'no timer is left');
  });

  test('the exit first, then the output: what comes late is told before gone', () => {
    const p = play();
    p.tool.readable(true);
    exit(p);
    p.process.events.onOutput('stderr', bytes(9), 1);
    p.process.events.onOutputEnd('stderr');
    assert.not.ok(p.tool.gone);
    p.process.events.onOutputEnd('stdout');
    assert.equal(p.told, ['started', 'ended exited', 'stderr 9', 'stderr end', 'stdout end', 'gone']);
    p.run(10_000);
    assert.not.ok(p.process.log.includes('close output'));
  });

  test('an end by a signal, its own or ours', () => {
    const own = play();
    own.process.group = 0;
    own.process.events.onExit({ signal: 'SIGSEGV' });
    assert.equal([own.ends[0]?.outcome, own.ends[0]?.end], ['signalled', { signal: 'SIGSEGV' }]);
    const ours = play();
    ours.tool.end(false);
    ours.process.group = 0;
    ours.process.events.onExit({ signal: 'SIGTERM' });
    assert.is(ours.ends[0]?.outcome, 'ended');
  });

  test('with its scope it is killed, and what it has left in its group, but not what is gone', () => {
    const running = play();
    const leaving = play();
    exit(leaving, 0, true);
    leaving.tool.readable(true);
    const ended = play();
    endOutput(ended);
    exit(ended);
    for (const [p, isKilled] of [[running, true], [leaving, true], [ended, false]] as const) {
      const before = p.process.log.length;
      p.holds.close();
      assert.equal(p.process.log.slice(before), isKilled ? ['SIGKILL group'] : []);
      assert.is(p.world.run(), 'idle', 'no timer is left');
    }
  });

  test('what it leaves in its group is ended: TERM, CONT, and KILL after the grace', () => {
    const p = play();
    p.tool.readable(true);
    endOutput(p);
    exit(p, 0, true);
    assert.equal([p.ends[0]?.leftovers, p.process.log], [2, ['read', 'SIGTERM group', 'SIGCONT group']]);
    p.run(GRACE_MS - 50);
    assert.is(p.process.log.length, 3);
    p.run(100);
    assert.equal(p.process.log.slice(3), ['SIGKILL group']);
    assert.not.ok(p.tool.gone, 'it is not gone before its group is');
    p.process.group = 0;
    p.run(50);
    assert.ok(p.tool.gone);
    assert.is(p.told.filter((what) => what === 'gone').length, 1);
    assert.is(p.world.run(), 'idle');
  });

  test('a daemon that holds the pipe: its output is given up after the drain time, not before', () => {
    const p = play();
    p.tool.readable(true);
    exit(p);
    p.run(DRAIN_MS - 50);
    p.process.events.onOutput('stdout', bytes(1), 1);
    p.run(DRAIN_MS - 50);
    assert.not.ok(p.process.log.includes('close output'), 'what comes extends the time');
    p.run(100);
    assert.equal(p.process.log, ['read', 'close output']);
    endOutput(p);
    assert.ok(p.tool.gone);
  });

  test('paused for credit while it drains, it loses nothing: the time counts only while it is read', () => {
    const p = play();
    p.tool.readable(true);
    exit(p);
    p.run(DRAIN_MS / 2);
    p.tool.readable(false);
    p.run(100_000);
    assert.not.ok(p.process.log.includes('close output'));
    p.tool.readable(true);
    p.process.events.onOutput('stdout', bytes(70_000), 1);
    endOutput(p);
    assert.equal(p.told.slice(1), ['ended exited', 'stdout 70000', 'stdout end', 'stderr end', 'gone']);
  });

  test('an exit while it is paused starts no drain', () => {
    const p = play();
    p.tool.readable(false);
    exit(p);
    p.run(100_000);
    assert.not.ok(p.process.log.includes('close output'));
  });

  test('a handler of output that stops the reading keeps the drain from starting', () => {
    const p = play();
    p.tool.readable(true);
    exit(p);
    p.process.events.onOutput('stdout', bytes(5), 1);
    p.tool.readable(false);
    p.run(100_000);
    assert.not.ok(p.process.log.includes('close output'));
  });

  test('end: TERM, then KILL after the grace; KILL at once where asked', () => {
    const p = play();
    p.tool.end(false);
    p.tool.end(false);
    p.run(GRACE_MS + 50);
    assert.equal(p.process.log, ['SIGTERM group', 'SIGCONT group', 'SIGKILL group']);
    const q = play();
    q.tool.end(true);
    assert.equal(q.process.log, ['SIGKILL group']);
    const r = play();
    r.tool.end(false);
    r.tool.end(true);
    assert.equal(r.process.log, ['SIGTERM group', 'SIGCONT group', 'SIGKILL group']);
  });

  test('what KILL does not end is given up after a while, and named', () => {
    const p = play();
    p.tool.readable(true);
    p.tool.end(false);
    p.run(GRACE_MS + 1900);
    assert.equal([p.ends.length, p.tool.gone], [0, false]);
    p.run(200);
    assert.equal([p.ends[0]?.outcome, p.ends[0]?.error?.code], ['lost', 'STCI_TOOL_SURVIVED']);
    assert.equal(p.tool.survivors, [7]);
    p.run(DRAIN_MS + 50);
    assert.ok(p.process.log.includes('close output'), 'it holds its pipes');
    endOutput(p);
    assert.ok(p.tool.gone);
    assert.is(p.world.run(), 'idle', 'no timer is left');
    exit(p);
    assert.equal([p.ends.length, p.told.filter((what) => what === 'gone').length], [1, 1], 'it ends at last');
  });

  test('a member of its group that KILL does not end: its own end stands', () => {
    const p = play();
    p.tool.readable(true);
    endOutput(p);
    exit(p, 4, true);
    p.run(GRACE_MS + 2100);
    assert.equal([p.ends.map(({ end }) => end), p.tool.gone, p.tool.survivors], [[{ status: 4 }], true, [7, 8]]);
    assert.is(p.world.run(), 'idle', 'no timer is left');
  });

  test('no signal after its end', () => {
    const p = play();
    p.tool.readable(true);
    endOutput(p);
    exit(p);
    p.tool.signal('SIGUSR1');
    p.tool.end(true);
    p.run(10_000);
    assert.equal(p.process.log, ['read']);
  });

  test('a start that fails is one end, both streams ended, gone', () => {
    const p = play(0);
    p.process.events.onError({ code: 'STCI_PROGRAM_NOT_FOUND', message: 'no such program' });
    assert.equal(p.told, ['ended failed-start', 'stdout end', 'stderr end', 'gone']);
    const [end] = p.ends;
    assert.equal([end?.pid, end?.error?.rank, end?.error?.code, end?.startWallMs], [0, 3, 'STCI_PROGRAM_NOT_FOUND',
      undefined]);
    p.tool.end(true);
    assert.equal(p.process.log, []);
  });

  test('says no more of a start that fails than a message has room for', () => {
    const p = play(0);
    const program = 'x'.repeat(100_000);
    p.process.events.onError({ code: 'STCI_PROGRAM_NOT_FOUND', message: `no ${program}`, data: { program } });
    const error = p.ends[0]?.error;
    check(errorRecord, error, 'error');
    assert.equal([error?.code, error?.message.slice(0, 4)], ['STCI_PROGRAM_NOT_FOUND', 'no x']);
  });

  test('every order of exit, ends of streams and of the group gives one end and one gone, last', () => {
    const steps = ['exit', 'out', 'err', 'group'] as const;
    const orders = (rest: readonly string[]): string[][] =>
      rest.length === 0 ? [[]] : rest.flatMap((step) => orders(rest.filter((other) => other !== step)).map((o) =>
        [step, ...o]));
    for (const order of orders(steps)) {
      const p = play();
      p.tool.readable(true);
      for (const step of order) {
        assert.not.ok(p.told.includes('gone'), `${order.join()}: gone too early`);
        if (step === 'exit') p.process.events.onExit({ status: 0 });
        if (step === 'out') p.process.events.onOutputEnd('stdout');
        if (step === 'err') p.process.events.onOutputEnd('stderr');
        if (step === 'group') p.process.group = 0;
        p.run(30);
      }
      assert.is(p.told.at(-1), 'gone', order.join());
      assert.is(p.told.length, 5, order.join());
      assert.is(p.world.run(), 'idle', order.join());
    }
  });
});
