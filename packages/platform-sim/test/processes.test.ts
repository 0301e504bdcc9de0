import type { Platform, Process, ProcessEnd, SpawnSpec } from '@stci/interface';
import { suite, assert } from '@stci/testkit';
import { createWorld, lineBytes, type World } from '@stci/platform-sim';

interface Run {
  process: Process;
  stdout: string;
  stderr: string;
  ended: string[];
  end: ProcessEnd | undefined;
  error: string | undefined;
  stdinClosed: number;
  drains: number;
}

function start(platform: Platform, command: string, over: Partial<SpawnSpec> = {}): Run {
  const [program = '', ...args] = command.split(' ');
  const counts = { stdinClosed: 0, drains: 0 };
  const text = { stdout: '', stderr: '' };
  const process = undefined as unknown as Process;
  const run: Run = { process, ...text, ended: [], end: undefined, error: undefined, ...counts };
  const spec: SpawnSpec = {
    program,
    args,
    env: { PATH: '/bin', STCI_RANK: '3', JOB: 'j1' },
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'pipe',
    lifetime: 'guarded',
    ...over,
  };
  run.process = platform.processes.spawn(spec, {
    onError: (error) => (run.error = error.code),
    onOutput: (stream, chunk) => (run[stream] += Buffer.from(chunk).toString('latin1')),
    onOutputEnd: (stream) => run.ended.push(stream),
    onStdinDrain: () => run.drains++,
    onStdinClosed: () => run.stdinClosed++,
    onExit: (end) => (run.end = end),
  });
  run.process.readable(true);
  return run;
}

function fixture(seed: number): { world: World; platform: Platform } {
  const world = createWorld({ seed });
  return { world, platform: world.platform('h1') };
}

function states(world: World): string[] {
  return world.processes().slice(1).map((process) => `${process.command[0]} ${process.state}`);
}

suite('simulated tools', (test) => {
  test('give their output and their status, and are reaped', () => {
    const { world, platform } = fixture(1);
    const echo = start(platform, 'echo hello world');
    const fails = start(platform, 'exit 7');
    const host = start(platform, '/bin/hostname');
    world.run();
    assert.is(echo.stdout, 'hello world\n');
    assert.equal(echo.end, { status: 0 });
    assert.equal(echo.ended.sort(), ['stderr', 'stdout']);
    assert.equal(fails.end, { status: 7 });
    assert.is(host.stdout, 'h1\n');
    assert.equal(states(world), ['echo reaped', 'exit reaped', '/bin/hostname reaped']);
    assert.is(world.livingProcesses().length, 1);
  });

  test('that cannot be started are refused with the real codes', () => {
    const { world, platform } = fixture(2);
    const cases: [string, Partial<SpawnSpec>, string][] = [
      ['nothing', {}, 'STCI_PROGRAM_NOT_FOUND'],
      ['/opt/nothing', {}, 'STCI_PROGRAM_NOT_FOUND'],
      ['true', { env: { PATH: '/opt' } }, 'STCI_PROGRAM_NOT_FOUND'],
      ['not-executable', {}, 'STCI_PROGRAM_NOT_EXECUTABLE'],
      ['true', { wdir: '/missing' }, 'STCI_PROGRAM_WDIR'],
    ];
    for (const [command, over, code] of cases) {
      const run = start(platform, command, over);
      assert.is(run.error, undefined);
      world.run();
      assert.is(run.error, code);
      assert.is(run.process.pid, 0);
      assert.is(run.end, undefined);
    }
  });

  test('block when nobody reads, and lose nothing', () => {
    const { world, platform } = fixture(3);
    const run = start(platform, 'lines 5000 100');
    run.process.readable(false);
    world.run();
    assert.is(run.stdout, '');
    assert.is(run.end, undefined, 'the tool waits for room in its pipe');
    run.process.readable(true);
    world.run();
    assert.ok(run.stdout === Buffer.from(lineBytes('3', 'stdout', 0, 5000, 100)).toString('latin1'));
    assert.is(run.stdout.length, 500_000);
    assert.equal(run.end, { status: 0 });
  });

  test('read their standard input with back-pressure', () => {
    const { world, platform } = fixture(4);
    const run = start(platform, 'cat');
    run.process.readable(false);
    let sent = 0;
    while (run.process.writeStdin(new Uint8Array(1000).fill(65))) sent += 1000;
    world.run();
    assert.ok(sent < 200_000);
    run.process.readable(true);
    world.run();
    assert.ok(run.drains > 0);
    run.process.closeStdin();
    world.run();
    assert.is(run.stdout.length, sent + 1000);
    assert.equal(run.end, { status: 0 });
    assert.is(run.stdinClosed, 0);
  });

  test('that end before their input does say so', () => {
    const { world, platform } = fixture(5);
    const run = start(platform, 'read-one-line-and-exit');
    run.process.writeStdin(Buffer.from('one\ntwo\n'));
    world.run();
    assert.equal(run.end, { status: 0 });
    assert.is(run.stdinClosed, 1);
  });

  test('TERM has a default action, can be ignored; KILL cannot', () => {
    const { world, platform } = fixture(6);
    const sleeps = start(platform, 'sleep 100');
    const ignores = start(platform, 'ignore-term 100');
    world.run({ untilMs: 10 });
    assert.ok(sleeps.process.signal('SIGTERM', 'group'));
    ignores.process.signal('SIGTERM', 'group');
    world.run({ untilMs: 20 });
    assert.equal(sleeps.end, { signal: 'SIGTERM' });
    assert.is(ignores.end, undefined);
    ignores.process.signal('SIGKILL', 'group');
    world.run();
    assert.equal(ignores.end, { signal: 'SIGKILL' });
    assert.not.ok(sleeps.process.signal('SIGTERM', 'group'));
  });

  test('a crash is a signal of its own', () => {
    const { world, platform } = fixture(7);
    const run = start(platform, 'crash SEGV 0.1');
    world.run();
    assert.equal(run.end, { signal: 'SIGSEGV' });
  });

  test('a closed output ends a writer by SIGPIPE', () => {
    const { world, platform } = fixture(8);
    const run = start(platform, 'lines 100000 100');
    world.run({ until: () => run.stdout.length > 10_000 });
    run.process.closeOutput();
    world.run();
    assert.equal(run.end, { signal: 'SIGPIPE' });
    assert.equal(run.ended.sort(), ['stderr', 'stdout']);
  });
});

suite('children left behind', (test) => {
  test('hold the output open, and belong to the group', () => {
    const { world, platform } = fixture(9);
    const run = start(platform, 'fork sleep 50');
    world.run({ untilMs: 1000 });
    assert.equal(run.end, { status: 0 });
    assert.equal(run.ended, []);
    assert.is(run.process.groupSize(), 1);
    run.process.signal('SIGKILL', 'group');
    world.run({ untilMs: 2000 });
    assert.equal(run.ended.sort(), ['stderr', 'stdout']);
    assert.is(run.process.groupSize(), 0);
    assert.equal(states(world), ['fork reaped', 'sleep reaped']);
  });

  test('in a session of their own escape the group, not the sweep', () => {
    const { world, platform } = fixture(10);
    const run = start(platform, 'fork --session --quiet sleep 50');
    world.run({ untilMs: 1000 });
    assert.is(run.process.groupSize(), 0);
    assert.is(world.livingProcesses().length, 2);
    let ended: number | undefined;
    platform.processes.sweep('JOB=j1', 1000, (count) => (ended = count));
    world.run({ untilMs: 2000 });
    assert.is(ended, 1);
    assert.is(world.livingProcesses().length, 1);
  });

  test('nothing guarded outlives its agent, whatever kills it', () => {
    const { world, platform } = fixture(11);
    start(platform, 'sleep 100');
    start(platform, 'fork --session sleep 100');
    start(platform, 'ignore-term 100');
    world.run({ untilMs: 1000 });
    world.killProcess('h1', platform.env.pid);
    world.run({ untilMs: 1100 });
    assert.is(world.livingProcesses().length, 0);
    assert.ok(world.processes().every((process) => process.state === 'reaped'));
  });
});

suite('simulated agents', (test) => {
  test('talk over their standard streams and end with them', () => {
    for (const method of ['process', 'thread'] as const) {
      const { world, platform } = fixture(12);
      const log: string[] = [];
      world.program('echo-agent', (context) => {
        context.diagnostic(`args ${context.args.join(' ')}`);
        context.channel.bind({
          onData: (chunk) => context.channel.send([chunk]),
          onDrain: () => undefined,
          onClose: () => context.exit(3),
        });
      });
      const agent = platform.processes.spawnAgent(method, ['echo-agent', 'x'], {
        onError: (error) => log.push(error.code),
        onDiagnostic: (line) => log.push(line),
        onExit: (end) => log.push(JSON.stringify(end)),
      });
      agent.channel.bind({
        onData: (chunk) => {
          log.push(Buffer.from(chunk).toString());
          agent.channel.close();
        },
        onDrain: () => undefined,
        onClose: () => log.push('closed'),
      });
      agent.channel.send([Buffer.from('hello')]);
      world.run();
      assert.equal(log.slice(0, 2), ['args x', 'hello'], method);
      assert.equal(log.slice(2).sort(), ['closed', '{"status":3}'], method);
      assert.is(world.livingProcesses().length, 1);
    }
  });

  test('that throw end with status 1, and the world knows', () => {
    const { world, platform } = fixture(13);
    world.program('bad-agent', (context) => {
      context.platform.clock.after(5, () => {
        throw new Error('oops');
      });
      context.platform.clock.after(6, () => context.exit(0));
    });
    const ends: ProcessEnd[] = [];
    platform.processes.spawnAgent('process', ['bad-agent'], {
      onError: () => undefined,
      onDiagnostic: () => undefined,
      onExit: (end) => ends.push(end),
    });
    world.run();
    assert.equal(ends, [{ status: 1 }]);
    assert.equal(world.faults.map((fault) => (fault.error as Error).message), ['oops']);
  });

  test('that do not exist are an error, and the channel is closed', () => {
    const { world, platform } = fixture(14);
    const log: string[] = [];
    const agent = platform.processes.spawnAgent('process', ['nobody'], {
      onError: (error) => log.push(error.code),
      onDiagnostic: () => undefined,
      onExit: () => log.push('exit'),
    });
    agent.channel.bind({ onData: () => undefined, onDrain: () => undefined, onClose: () => log.push('closed') });
    world.run();
    assert.is(agent.pid, 0);
    assert.equal(log.sort(), ['STCI_PROGRAM_SPAWN', 'closed']);
  });
});

suite('replay', (test) => {
  const play = (seed: number, disturb = false): string => {
    const { world, platform } = fixture(seed);
    for (let index = 0; index < 20; index++) start(platform, `mixed ${index * 100} 80`);
    if (disturb) world.at(3, () => world.killProcess('h1', 105));
    world.run();
    return world.traceHash;
  };

  test('the same seed does the same, another one does not', () => {
    assert.is(play(1), play(1));
    assert.is.not(play(1), play(2));
    assert.is.not(play(1), play(1, true));
  });
});
