/** A job's run against a front-end agent that does what the test says. */

import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert, eventually, suite } from '@stci/testkit';
import type { JobReport } from '@stci/interface';
import { EventsFile, progressText } from '@stci/stcirun/internal';
import { fakeRun, type FakeRun } from './fake-front-end.js';
import { happens } from './session-help.js';

const RECOVERY = { type: 'recovery', phase: 'launching', host: 0, name: 'n1' } as const;
const FAILURE = { code: 'STCI_TOOL_STATUS', message: 'Rank 0 on n1 ended with status 7' };

suite('job run', (test) => {
  test('shows output and ends with the exit code of the report', async () => {
    const run = await fakeRun(['--tag'], 2);
    run.frontEnd.output(1, 'stdout', 'one\n');
    run.frontEnd.output(0, 'stderr', 'two\n');
    run.frontEnd.end({ exitCode: 3, cause: { code: 'STCI_TOOL_STATUS', message: 'Rank 1 on n1 ended with status 3' } });
    assert.is(await run.exitCode, 3);
    assert.is(run.out(), '[1] one\n');
    assert.is(run.err(), '[0] two\nstcirun: Rank 1 on n1 ended with status 3\n');
    assert.is(run.frontEnd.stops, 1);
  });

  test('credit goes back when the bytes are written, not before', async () => {
    const run = await fakeRun([], 2, { holdOut: true });
    let released = 0;
    for (let i = 0; i < 3; i += 1) run.frontEnd.output(0, 'stdout', 'x\n', () => (released += 1));
    assert.is(released, 0);
    run.releaseOut();
    assert.is(released, 1);
    run.releaseOut();
    assert.is(released, 3);
    run.frontEnd.end();
    assert.is(await run.exitCode, 0);
  });

  test('the end waits for what is unwritten, and for the agents', async () => {
    const run = await fakeRun([], 2, { holdOut: true });
    run.frontEnd.output(0, 'stdout', 'x\n');
    run.frontEnd.end();
    let over = false;
    void run.exitCode.then(() => (over = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.is(over, false);
    run.releaseOut();
    await eventually(() => over, { deadlineMs: 1000, what: 'end' });
  });

  test('an output that is closed ends the job quietly with 141', async () => {
    const run = await fakeRun([], 2, { holdOut: true });
    run.frontEnd.endsAsTold();
    run.frontEnd.output(0, 'stdout', 'x\n');
    run.releaseOut(Object.assign(new Error('pipe'), { code: 'EPIPE' }));
    assert.is(await run.exitCode, 141);
    assert.equal(run.frontEnd.controls.map((control) => control.verb === 'end' && control.cause?.exitCode), [141]);
    assert.is(run.err(), '');
  });

  test('an output that is full ends the job with 202 and a message; later output is dropped and released', async () => {
    const run = await fakeRun([], 2, { holdOut: true });
    run.frontEnd.output(0, 'stdout', 'x\n');
    run.frontEnd.endsAsTold();
    run.releaseOut(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    let released = false;
    run.frontEnd.output(0, 'stdout', 'y\n', () => (released = true));
    assert.ok(released);
    assert.is(await run.exitCode, 202);
    assert.match(run.err(), 'no space');
  });

  test('an interrupt goes to the controller with its cause, whose exit rule decides', async () => {
    const run = await fakeRun([], 2);
    process.emit('SIGTERM');
    const [control] = run.frontEnd.controls;
    assert.ok(control?.verb === 'end' && !control.kill);
    assert.equal([control.cause?.kind, control.cause?.exitCode], ['interrupt', 143]);
    run.frontEnd.end({ exitCode: 7, cause: FAILURE, failures: [FAILURE] });
    assert.is(await run.exitCode, 7);
    assert.match(run.err(), 'received SIGTERM: ending 2 ranks on 1 host; SIGTERM again to kill');
  });

  test('one exit code: process, exit report and JSON, by whatever the job ends', async () => {
    const ends: readonly (readonly [exitCode: number, end: (run: FakeRun) => void])[] = [
      [130, () => process.emit('SIGINT')],
      [129, () => process.emit('SIGHUP')],
      // The controller had sent its report when the interrupt reached it.
      [130, ({ frontEnd }) => {
        frontEnd.onControl = () => frontEnd.end();
        process.emit('SIGINT');
      }],
      [202, () => undefined],
      [3, ({ frontEnd }) => frontEnd.end({ exitCode: 3, cause: FAILURE, failures: [FAILURE] })],
    ];
    for (const [exitCode, end] of ends) {
      const directory = mkdtempSync(join(tmpdir(), 'stci-run-'));
      const file = join(directory, 'report');
      const output = exitCode === 202 ? ['--output', '/dev/full'] : [];
      const run = await fakeRun(['--json', `--exit-report=json:${file}`, ...output], 2);
      run.frontEnd.endsAsTold();
      if (exitCode === 202) run.frontEnd.output(0, 'stdout', 'x\n');
      end(run);
      assert.is(await run.exitCode, exitCode);
      const last = JSON.parse(run.out().trimEnd().split('\n').at(-1) as string);
      const report = JSON.parse(readFileSync(file, 'utf8'));
      rmSync(directory, { recursive: true });
      assert.equal([last.type, last.report.exitCode, report.exitCode], ['ended', exitCode, exitCode]);
    }
  });

  test('the report is written again when its reader goes after the end of the job', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-run-'));
    const file = join(directory, 'report');
    const run = await fakeRun(['--json', `--exit-report=text:${file}`], 2, { holdOut: true });
    run.frontEnd.end();
    await eventually(() => run.isOutHeld(), { deadlineMs: 2000, what: 'the last event' });
    assert.match(readFileSync(file, 'utf8'), 'job exit code 0');
    run.releaseOut(Object.assign(new Error('pipe'), { code: 'EPIPE' }));
    assert.is(await run.exitCode, 141);
    assert.match(readFileSync(file, 'utf8'), 'job exit code 141');
    rmSync(directory, { recursive: true });
  });

  test('events go to a file as they come, with their times, and end with the report', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-run-'));
    const file = join(directory, 'events');
    const run = await fakeRun(['--events', file], 2);
    const lines = (): Record<string, unknown>[] =>
      readFileSync(file, 'utf8').trimEnd().split('\n').filter(Boolean).map((line) => JSON.parse(line));
    run.frontEnd.events.onJobEvent({ type: 'failure', error: FAILURE });
    await eventually(() => lines().length === 1, { deadlineMs: 2000, what: 'the first event' });
    run.frontEnd.end({ exitCode: 7, cause: FAILURE, failures: [FAILURE] });
    assert.is(await run.exitCode, 7);
    assert.is(run.out(), '');
    const [first, last] = lines() as [Record<string, unknown>, Record<string, unknown>];
    assert.equal([first['type'], last['type'], (last['report'] as JobReport).exitCode], ['failure', 'ended', 7]);
    assert.match(String(first['at']), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/u);
    assert.ok(Number(first['monotonicMs']) <= Number(last['monotonicMs']));
    rmSync(directory, { recursive: true });
  });

  test('events that cannot be written are told, and end no job; the exit code says so', async () => {
    const run = await fakeRun(['--events', '/dev/full'], 2);
    run.frontEnd.events.onJobEvent({ type: 'running' });
    await eventually(() => run.err() !== '', { deadlineMs: 2000, what: 'a message' });
    assert.is(run.err(), 'stcirun: Output cannot be written to file /dev/full: no space is left there.\n');
    run.frontEnd.events.onJobEvent({ type: 'running' });
    run.frontEnd.end();
    assert.is(await run.exitCode, 202);
    assert.equal(run.frontEnd.controls, []);
  });

  test('a reader of events that stands still does not hold up the end', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-run-'));
    const pipe = join(directory, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    const faults: string[] = [];
    const file = (await EventsFile.make(pipe)).open(({ message }) => faults.push(message), 50);
    for (let i = 0; i < 100; i += 1) file.write(`${'x'.repeat(10_000)}\n`);
    await new Promise<void>((resolve) => file.finish(resolve));
    closeSync(reader);
    assert.is(faults.length, 1);
    assert.match(faults[0] as string, /^Events are lost: the reader of .*pipe does not read/u);
    rmSync(directory, { recursive: true });
  });

  test('failures that end nothing are told when they are known, and once', async () => {
    const run = await fakeRun([], 4, { toleratesFailures: true });
    const { events } = run.frontEnd;
    const failures = [1, 2].map((rank) => ({ ...FAILURE, message: `Rank ${rank} failed`, rank }));
    for (const error of failures) events.onJobEvent({ type: 'failure', error });
    assert.is(run.err(), 'stcirun: Rank 1 failed\n');
    await eventually(() => run.err().endsWith('also: Rank 2 failed\n'), { deadlineMs: 1000, what: 'the second' });
    run.frontEnd.end({ exitCode: 7, failures, ...(failures[0] !== undefined && { cause: failures[0] }) });
    assert.is(await run.exitCode, 7);
    const [, , last, ...more] = run.err().trimEnd().split('\n');
    assert.equal([last, more], ['stcirun: 2 failures; exit code 7 is that of the first failure: Rank 1 failed', []]);
  });

  test('with --verbose each failure is told once and in full, with attempt and searched PATH', async () => {
    const run = await fakeRun(['-v'], 2);
    const { events } = run.frontEnd;
    const cause = { code: 'STCI_LAUNCH_FAILED', message: 'n1 is off: no route\n  to do: switch it on', host: 'n1' };
    const program = { code: 'STCI_PROGRAM_NOT_FOUND', message: "'x' is not on PATH of this host", host: 'n2' };
    const missing = { ...program, data: { searched: '/a:/b' } };
    events.onJobEvent({ type: 'failure', error: cause });
    events.onJobEvent({ ...RECOVERY, action: 'start-again', starts: 2, error: cause });
    for (const error of [missing, missing, { ...missing, host: 'n3' }]) events.onJobEvent({ type: 'failure', error });
    events.onJobEvent({ type: 'ending', reason: cause.message });
    run.frontEnd.end({ exitCode: 197, failures: [cause, missing], cause });
    assert.is(await run.exitCode, 197);
    assert.equal(run.err().replace(/\d+\.\d+ s: /gu, '').trimEnd().split('\n'), [
      'stcirun: failure: n1 is off: no route', '  to do: switch it on',
      'stcirun: restarting the agent of host n1, attempt 2',
      "stcirun: failure: 'x' is not on PATH of host n2", '  PATH=/a:/b',
      "stcirun: failure: 'x' is not on PATH of host n3", '  PATH=/a:/b',
      'stcirun: ending the job',
      'stcirun: exit code 197 is that of the first failure: n1 is off: no route',
    ]);
  });

  test('a host that is replaced: named in a remark, in tags and counts; the job is not ending', async () => {
    const run = await fakeRun(['--tag=full'], 2);
    const { events } = run.frontEnd;
    const runs = [{ app: 0, first: 0, count: 3, stride: 1 }];
    const error = { code: 'STCI_LAUNCH_FAILED', message: 'n1 does not answer' } as const;
    events.onJobEvent({ type: 'failure', error });
    events.onJobEvent({ ...RECOVERY, action: 'use-spare', spare: 'n9', error });
    events.onJobEvent({ type: 'mapped', map: { size: 3, hosts: [{ host: 0, name: 'n9', runs }] } });
    run.frontEnd.output(2, 'stdout', 'x\n');
    run.frontEnd.endsAsTold();
    process.emit('SIGINT');
    assert.is(await run.exitCode, 130);
    assert.is(run.out(), '[n9:2:stdout] x\n');
    assert.match(run.err(), 'spare host n9 takes the place of n1: n1 does not answer\n');
    assert.match(run.err(), 'ending 3 ranks on 1 host');
  });

  test('what is done about a host that is lost later is a step, with --verbose only', async () => {
    const error = { code: 'STCI_AGENT_LOST', message: 'n1 is off' };
    const later = { ...RECOVERY, phase: 'idle', error } as const;
    for (const args of [[], ['-v']]) {
      const run = await fakeRun(args, 2);
      const { events } = run.frontEnd;
      events.onJobEvent({ ...later, action: 'start-again', afterMs: 2000, starts: 3 });
      events.onJobEvent({ ...later, action: 'use-spare', spare: 'n9' });
      events.onJobEvent({ ...later, action: 'leave-out', reason: 'no spare host is left' });
      run.frontEnd.end();
      assert.is(await run.exitCode, 0);
      assert.equal(run.err().replace(/\d+\.\d+ s: /gu, '').trimEnd().split('\n'), args.length === 0 ? [''] : [
        'stcirun: restarting the agent of host n1 in 2 s, attempt 3',
        'stcirun: spare host n9 takes the place of n1, for later jobs',
        'stcirun: host n1 is left out: no spare host is left',
      ]);
    }
  });

  test('one rank more or less by a new map: lines of two ranks never mix', async () => {
    const run = await fakeRun([], 1);
    const host = { host: 0, name: 'n9', runs: [{ app: 0, first: 0, count: 2, stride: 1 }] };
    run.frontEnd.events.onJobEvent({ type: 'mapped', map: { size: 2, hosts: [host] } });
    run.frontEnd.output(0, 'stdout', 'a');
    run.frontEnd.output(1, 'stdout', 'b\n');
    run.frontEnd.output(0, 'stdout', 'a\n');
    run.frontEnd.end();
    await run.exitCode;
    assert.is(run.out(), 'b\naa\n');
  });

  test('the second interrupt kills', async () => {
    const run = await fakeRun(['-q'], 2);
    process.emit('SIGINT');
    process.emit('SIGINT');
    assert.equal(run.frontEnd.controls.map((control) => control.verb === 'end' && control.kill), [false, true]);
    run.frontEnd.endAsTold();
    assert.is(await run.exitCode, 130);
    assert.is(run.err(), '');
  });

  test('after the second interrupt nobody waits for a reader that does not read', async () => {
    const run = await fakeRun([], 2, { holdOut: true });
    let released = 0;
    run.frontEnd.output(0, 'stdout', 'x\n', () => (released += 1));
    process.emit('SIGINT');
    assert.is(released, 0);
    process.emit('SIGINT');
    run.frontEnd.output(0, 'stdout', 'y\n', () => (released += 1));
    assert.is(released, 2);
    run.frontEnd.endAsTold();
    assert.is(await run.exitCode, 130);
  });

  test('where output is not taken the failure is told all the same, and no rank is said to be ended', async () => {
    const run = await fakeRun(['--exit-report'], 1, { holdOut: true });
    const { events } = run.frontEnd;
    run.frontEnd.output(0, 'stdout', 'x\n');
    events.onJobEvent({ type: 'failure', error: FAILURE });
    events.onJobEvent({ type: 'ending', reason: FAILURE.message });
    const [app, rank, pid, leftovers] = [0, 0, 7, 0];
    events.onJobEvent({ type: 'exited', report: { app, rank, pid, leftovers, host: 'n1', outcome: 'exited' } });
    const lines = [FAILURE.message, 'the output is still being written'];
    const told = (): boolean => run.err() === lines.map((line) => `stcirun: ${line}\n`).join('');
    await eventually(told, { deadlineMs: 3000, what: 'the failure' });
    process.emit('SIGINT');
    lines.push('interrupted: all ranks have ended, their output is being written; Ctrl-C again to drop it');
    await eventually(told, { deadlineMs: 1000, what: 'the answer' });
    run.frontEnd.end({ exitCode: 7, cause: FAILURE, failures: [FAILURE] });
    process.emit('SIGINT');
    assert.is(await run.exitCode, 7);
    assert.match(run.err(), /dropping the output that is not yet written\nrank +host[^]+job exit code 7\n$/u);
  });

  test('an exit report that is not taken is dropped at the second interrupt', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'stci-run-'));
    const file = join(directory, 'report');
    execFileSync('mkfifo', [file]);
    const reader = openSync(file, 'r+');
    const run = await fakeRun([`--exit-report=json:${file}`], 1);
    const failures = Array.from({ length: 1000 }, () => ({ ...FAILURE, rank: 0, message: 'x'.repeat(100) }));
    run.frontEnd.end({ failures });
    process.emit('SIGINT');
    process.emit('SIGINT');
    assert.is(await run.exitCode, 130);
    closeSync(reader);
    rmSync(directory, { recursive: true });
  });

  test('agents that end without a report are a fault of ours', async () => {
    const run = await fakeRun([], 2);
    run.frontEnd.stop();
    assert.is(await run.exitCode, 215);
    assert.match(run.err(), 'before they reported');
  });

  test('further failures are named, many are counted', async () => {
    const failures = [5, 1, 2, 3, 7, 9].map((rank) => {
      return { code: 'STCI_TOOL_STATUS', message: `Rank ${rank} on n1 ended with status 1`, rank };
    });
    const run = await fakeRun([], 10);
    run.frontEnd.end({ exitCode: 1, failures, ...(failures[0] !== undefined && { cause: failures[0] }) });
    await run.exitCode;
    const lines = run.err().trimEnd().split('\n');
    assert.is(lines.length, 5);
    assert.is(lines[4], 'stcirun: and 2 more failures (ranks 7,9); --exit-report=json shows all');
  });

  test('hosts that failed are all named: each is a thing to mend', async () => {
    const failures = Array.from({ length: 9 }, (_, i) => ({ code: 'STCI_LAUNCH_FAILED', message: `n${i} is gone` }));
    const run = await fakeRun([], 10);
    run.frontEnd.end({ exitCode: 197, failures, ...(failures[0] !== undefined && { cause: failures[0] }) });
    await run.exitCode;
    assert.is(run.err().trimEnd().split('\n').length, 9);
  });

  test('a message of our own does not stand in the middle of a line', async () => {
    const run = await fakeRun(['-v'], 2);
    run.frontEnd.output(0, 'stderr', 'name? ');
    await eventually(() => run.err() === 'name? ', { deadlineMs: 2000, what: 'prompt' });
    run.frontEnd.events.onJobEvent({ type: 'running' });
    run.frontEnd.end();
    await run.exitCode;
    assert.match(run.err(), /^name\? \nstcirun: \d+\.\d{3} s: all 2 ranks are running\n$/u);
  });
});

suite('progress of a launch', (test) => {
  const STATE = { up: 60, total: 64, missing: ['n07', 'n08', 'n09', 'n31'], retries: 0, elapsedMs: 1234 };

  test('hosts, time, who is waited for, retries', () => {
    assert.is(progressText(STATE, 100), 'stcirun: 60/64 hosts up, 1.2 s, waiting for n[07-09] and 1 more');
    const later = { ...STATE, up: 64, missing: [], retries: 2 };
    assert.is(progressText(later, 100), 'stcirun: 64/64 hosts up, 2 retries, 1.2 s, starting ranks');
    assert.is(progressText(STATE, 20), 'stcirun: 60/64 host…');
  });

  test('a slow launch has a line, which goes for messages and when a rank runs', async () => {
    const run = await fakeRun(['--launch-timeout', '9s'], 2, { columns: 80 });
    const { events } = run.frontEnd;
    await eventually(() => run.err() !== '', { deadlineMs: 3000, what: 'a line' });
    assert.match(run.err(), /^\r\x1b\[Kstcirun: 0\/1 hosts up, 0\.\d s, waiting for n1$/u);
    const failure = { code: 'STCI_LAUNCH_FAILED', message: 'it is off' };
    events.onJobEvent({ type: 'failure', error: failure });
    events.onJobEvent({ ...RECOVERY, action: 'use-spare', spare: 'n2', error: failure });
    await eventually(() => run.err().endsWith('waiting for n2'), { deadlineMs: 3000, what: 'the line again' });
    assert.match(run.err(), '\r\x1b[Kstcirun: spare host n2 takes the place of n1: it is off\n');
    events.onJobEvent({ type: 'started', rank: 0, host: 0, pid: 7, wallMs: 0 });
    await eventually(() => run.err().endsWith('\r\x1b[K'), { deadlineMs: 1000, what: 'the line gone' });
    const before = run.err();
    run.frontEnd.end();
    await run.exitCode;
    assert.is(run.err(), before);
  });

  test('no line for those who want none', async () => {
    for (const [argv, columns] of [[['-q'], 80], [['-v'], 80], [[], undefined]] as const) {
      const run = await fakeRun(argv, 2, { ...(columns !== undefined && { columns }) });
      assert.not.ok(await happens(() => run.err() !== '', 800), run.err());
      run.frontEnd.end();
      await run.exitCode;
    }
  });
});
