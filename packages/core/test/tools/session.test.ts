/** A session agent: what it tells the controller of its tools, in which order, and once. */

import { assert, suite } from '@stci/testkit';
import type { Service } from '../../dist/service/contracts.js';
import type { FakeProcess } from './fake-tool.js';
import { LAUNCH, play, restarting, type Spawned } from './session-play.js';

suite('session agent', (test) => {
  test('its tools are started, some a turn; starts are told together, ends too, and that nothing is left once', () => {
    const { spawned, swept, receive, exit, sweep, next, credit, isQuiet } = play();
    assert.equal(receive('job.launch', LAUNCH), ['job.started 1,3']);
    const variables = spawned.map(({ spec: { env, program, wdir } }) =>
      [env['STCI_RANK'], env['STCI_HOST'], program, wdir]);
    assert.equal(variables, [['1', 'c', 'p', '/'], ['3', 'c', 'p', '/']]);
    assert.equal(receive('job.launch', LAUNCH), [], 'it comes again when the host has been linked again');
    exit(0);
    exit(1, 3);
    assert.equal(swept.length, 0, 'in a later turn');
    const outputs = Array.from({ length: 4 }, () => 'output');
    assert.equal(next().sort(), ['failure.report', 'job.exited 1,3', ...outputs]);
    assert.is(swept.length, 1);
    assert.equal(sweep(2), ['job.drained swept 2, restarts 0, left 0']);
    assert.equal([credit(), receive('job.end', { kill: false }), swept.length], [[], [], 0], 'once');
    let stops = 0;
    const { agent } = play();
    agent.stop(() => (stops += 1));
    assert.equal([stops, isQuiet()], [1, true], 'one without tools stops at once');
    const many = play().receive('job.launch', { ...LAUNCH, size: 18, hosts: [[2, 1, [[0, 0, 18, 1]]]] });
    assert.equal(many.filter((each) => each.startsWith('job.started')),
      ['job.started 0,1,2,3,4,5,6,7', 'job.started 8,9,10,11,12,13,14,15', 'job.started 16,17']);
  });

  test('services are told once when nobody waits to be started any longer', () => {
    const log: string[] = [];
    const service = {
      name: 'a', messages: {}, wants: () => true,
      job: () => ({
        open: (done: () => void) => done(), add: (rank: number) => (log.push(`${rank}`), {}), remove: () => undefined,
        onStarted: () => void log.push('started'),
      }),
    } as unknown as Service;
    const { receive, spawned } = play(undefined, 'auto', undefined, [service]);
    receive('job.launch', { ...LAUNCH, size: 10, hosts: [[2, 1, [[0, 0, 10, 1]]]] });
    assert.equal([spawned.length, log.slice(10)], [10, ['started']]);
  });

  test('what it has told is not told again as it stops; it stops when all is gone', () => {
    const { agent, receive, exit, sweep, next, swept, isQuiet } = play();
    receive('job.launch', LAUNCH);
    for (const index of [0, 1]) exit(index);
    next();
    sweep();
    let stops = 0;
    agent.stop(() => (stops += 1));
    agent.stop(() => (stops += 1));
    assert.equal([stops, next(), swept.length, isQuiet()], [2, [], 0, true]);
  });

  test('an end is SIGTERM to each, SIGKILL after the grace period; at once where that is said', () => {
    const { receive, exit, next, logs } = play();
    receive('job.launch', LAUNCH);
    receive('job.end', { kill: false, reason: 'r' });
    assert.ok(logs().every((log) => log.startsWith('SIGTERM')));
    exit(0);
    next(1100);
    assert.match(logs()[1] as string, /SIGKILL/);
    assert.not.ok(logs()[0]?.includes('SIGKILL'));
    const killed = play();
    killed.receive('job.launch', LAUNCH);
    killed.receive('job.end', { kill: true, reason: 'r' });
    assert.ok(killed.logs().every((log) => /^SIGKILL/.test(log)));
  });

  test('an end that comes before the launch starts nothing: each rank is skipped, and nothing is swept', () => {
    const { receive, spawned, swept, next } = play();
    receive('job.end', { kill: false, reason: 'r' });
    const told = receive('job.launch', LAUNCH);
    assert.equal([spawned.length, swept.length], [0, 0]);
    assert.equal(told.slice(-2), ['job.exited 1,3', 'job.drained swept 0, restarts 0, left 0']);
    assert.equal(next(1000), []);
  });

  test('SIGTERM from outside starts nothing more, and sends none to those that get it anyway', () => {
    const { receive, logs, spawned, exit, next } = play(restarting);
    receive('job.launch', LAUNCH);
    receive('host.ending', {});
    assert.equal(logs(), ['', '']);
    exit(0, 1);
    assert.ok(next(1000).includes('job.exited 1'), 'it is not started again');
    receive('job.restart', { start: 1, ranks: [[2, 0, 1]] });
    assert.is(spawned.length, 2);
  });

  test('a signal goes to all tools that run', () => {
    const { receive, exit, logs, next } = play();
    receive('job.launch', LAUNCH);
    exit(0);
    next();
    receive('job.signal', { signal: 'SIGUSR1' });
    assert.equal(logs().map((log) => log.includes('SIGUSR1')), [false, true]);
  });

  test('ranks that are sent are started, as their attempts, also from other hosts; it drains again', () => {
    const { receive, spawned, exit, next, sweep } = play();
    receive('job.launch', LAUNCH);
    for (const index of [0, 1]) exit(index);
    next();
    sweep();
    assert.equal(receive('job.restart', { start: 1, ranks: [[3, 0, 2], [0, 0, 4]] }), ['job.started 3,0']);
    const envs = spawned.slice(2).map(({ spec: { env } }) => [env['STCI_RANK'], env['STCI_ATTEMPT']]);
    assert.equal(envs, [['3', '2'], ['0', '4']]);
    for (const index of [2, 3]) exit(index);
    assert.ok(next().includes('job.exited 3,0'));
    assert.equal(sweep(), ['job.drained swept 0, restarts 1, left 0']);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => receive('job.restart', { start: 1, ranks: [[4, 0, 1]] }));
  });

  test('ranks that are spawned are started with programs and sizes of their own, and are ranks of the host', () => {
    const { receive, spawned } = play();
    receive('job.launch', LAUNCH);
    const spawn = { parent: 1, first: 4, count: 2, app: 1 };
    const apps = [[2, { program: 'w', args: ['x'], env: { A: '1' } }]];
    const unknown = { start: 1, ranks: [[5, 1, 1]], apps, spawns: [spawn] };
    const many = { start: 1, ranks: [], apps: [[100, apps[0]?.[1]]] };
    for (const bad of [{ start: 1, ranks: [[5, 2, 1]] }, unknown, many]) {
      assert.throwsCode('STCI_MESSAGE_INVALID', () => receive('job.restart', bad));
    }
    assert.equal(receive('job.restart', { start: 1, ranks: [[5, 2, 1]], apps, spawns: [spawn] }), ['job.started 5']);
    const { program, args, env } = spawned[2]!.spec;
    const own = ['RANK', 'SIZE', 'APP', 'LOCAL_RANK', 'LOCAL_SIZE'].map((name) => env[`STCI_${name}`]);
    assert.equal([program, args, env['A'], ...own], ['w', ['x'], '1', '5', '6', '2', '2', '3']);
    assert.is(spawned[0]?.spec.env['STCI_SIZE'], '4');
  });

  test('a launch of a job that has grown; what is spawned reads no standard input', () => {
    const launch = {
      ...LAUNCH, stdin: { to: 'all' }, hosts: [[2, 1, [[0, 1, 1, 1], [1, 4, 1, 1]]]], start: 2,
      apps: [...LAUNCH.apps, { program: 'w', args: [], env: {} }],
      spawns: [{ parent: 1, first: 4, count: 1, app: 1 }], restarts: [[1, 1], [4, 2]],
    };
    const { receive, spawned, sweep } = play();
    assert.equal([receive('job.launch', launch), sweep().length], [[], 1]);
    assert.equal(spawned.map(({ spec: { program, env, stdin } }) => [program, env['STCI_SIZE'], stdin]),
      [['p', '4', 'pipe'], ['w', '5', 'null']]);
    const bad = { ...launch, spawns: [{ parent: 1, first: 99, count: 2, app: 1 }] };
    assert.throwsCode('STCI_MESSAGE_INVALID', () => play().receive('job.launch', bad));
  });

  test('ranks that were sent to the session agent before it are not started, nor counted', () => {
    const { receive, spawned, exit, next, sweep } = play();
    assert.equal(receive('job.restart', { start: 1, ranks: [[1, 0, 2]] }), []);
    receive('job.launch', { ...LAUNCH, start: 2, restarts: [[1, 3]] });
    sweep();
    receive('job.restart', { start: 1, ranks: [[3, 0, 2]] });
    receive('job.restart', { start: 2, ranks: [[0, 0, 4]] });
    const envs = spawned.map(({ spec: { env } }) => [env['STCI_RANK'], env['STCI_ATTEMPT']]);
    assert.equal(envs, [['1', '3'], ['0', '4']]);
    for (const index of [0, 1]) exit(index);
    next();
    assert.equal(sweep(), ['job.drained swept 0, restarts 1, left 0']);
    const stopped = play();
    stopped.agent.stop(() => undefined);
    assert.equal(stopped.receive('job.restart', { start: 1, ranks: [[1, 0, 2]] }), [], 'it had no launch');
  });

  test('ranks that are sent while it opens are started behind the launch, once; those of a later agent are not', () => {
    const { receive, spawned, sweep } = play();
    receive('job.launch', { ...LAUNCH, start: 2, restarts: [[1, 3]] });
    assert.equal(receive('job.restart', { start: 2, ranks: [[0, 0, 4]] }), []);
    sweep();
    receive('job.restart', { start: 3, ranks: [[3, 0, 2]] });
    assert.equal(spawned.map(({ spec: { env } }) => env['STCI_RANK']), ['1', '0']);
  });

  test('ranks that are sent before the launch are started behind it; a launch beyond the bounds is refused', () => {
    const early = play();
    assert.equal(early.receive('job.restart', { start: 1, ranks: [[0, 0, 2]] }), []);
    const spawn = { parent: 0, first: 4, count: 1, app: 1 };
    const apps = [[1, { program: 'w', args: [], env: {} }]];
    assert.equal(early.receive('job.restart', { start: 1, ranks: [[4, 1, 1]], apps, spawns: [spawn] }), []);
    early.receive('job.launch', LAUNCH);
    assert.equal(early.spawned.map(({ spec: { env } }) => env['STCI_RANK']), ['1', '3', '0', '4']);
    const bad = play();
    const hosts = [[2, 1, [[0, 1, 3, 2]]]];
    assert.throwsCode('STCI_MESSAGE_INVALID', () => bad.receive('job.launch', { ...LAUNCH, hosts }));
    assert.equal(play().receive('job.launch', { ...LAUNCH, hosts: [] }), [], 'nothing for this host');
  });

  test('a new agent starts what the launch names when the processes of the former one have been ended', () => {
    const { receive, spawned, sweep } = play();
    assert.equal(receive('job.launch', { ...LAUNCH, start: 2, restarts: [[3, 2]] }), []);
    assert.equal([spawned.length, sweep()], [0, ['job.started 3']]);
    assert.is(spawned[0]?.spec.env['STCI_ATTEMPT'], '2');
    const stopped = play();
    stopped.receive('job.launch', { ...LAUNCH, start: 2, restarts: [[3, 2]] });
    stopped.agent.stop(() => undefined);
    assert.equal([stopped.sweep(), stopped.spawned.length], [[], 0]);
  });

  test('a tool that fails is started again; the report of that comes before its next start', () => {
    const { receive, node, spawned, exit, next, sweep } = play(restarting);
    receive('job.launch', LAUNCH);
    exit(0, 1);
    const first = next(100).filter((what) => what.startsWith('job.'));
    assert.equal(first, ['job.restarting 1', 'job.started 1']);
    exit(2, 1);
    assert.equal(next(1000).filter((what) => what.startsWith('job.')), ['job.restarting 1'], 'it waits for the answer');
    assert.equal(receive('job.restarting.noted', {}), ['job.started 1']);
    exit(3, 1);
    assert.equal(next(1000).filter((what) => what.startsWith('job.')), ['job.restarting 1'], 'each for its own');
    assert.equal(receive('job.restarting.noted', {}), ['job.started 1']);
    assert.equal(spawned.map(({ spec: { env } }) => env['STCI_ATTEMPT']), ['1', '1', '2', '3', '4']);
    assert.is(node.metrics.all().find(({ name }) => name === 'restarts')?.values[0], 3);
    for (const index of [1, 4]) exit(index);
    assert.ok(next().includes('job.exited 3,1'));
    assert.equal(sweep(), ['job.drained swept 0, restarts 0, left 0']);
  });

  test('one that ends before its job is lost with its tools: their ends are not told', () => {
    const { agent, receive, exit, next, logs, swept } = play();
    receive('job.launch', LAUNCH);
    exit(0);
    let stops = 0;
    agent.stop(() => (stops += 1));
    assert.ok(next().includes('job.exited 1'), 'what has ended by itself is');
    assert.match(logs()[1] as string, /^SIGTERM/);
    exit(1);
    assert.equal([next(), stops, swept.length], [[], 0, 1]);
    swept[0]?.(0);
    assert.equal([next(), stops], [[], 1]);
    const ending = play();
    ending.receive('job.launch', LAUNCH);
    ending.receive('job.end', { kill: false, reason: 'r' });
    ending.agent.stop(() => (stops += 1));
    for (const index of [0, 1]) ending.exit(index);
    assert.ok(ending.next().includes('job.exited 1,3'), 'where the job ends, they are');
    assert.equal([ending.sweep(), stops], [['job.drained swept 0, restarts 0, left 0'], 2]);
  });

  test('what waits for credit holds up the end, and goes on with it', () => {
    const { receive, exit, next, swept, stream, credit } = play();
    receive('job.launch', LAUNCH);
    stream.upCreditBytes = 0;
    for (const index of [0, 1]) exit(index);
    assert.equal([next(), swept.length], [['job.exited 1,3'], 0]);
    stream.upCreditBytes = 1 << 20;
    assert.equal(credit(), ['output', 'output', 'output', 'output']);
    assert.is(swept.length, 1);
  });

  test('after a change of the way up, what was sent up is sent again', () => {
    const { receive, resent } = play();
    receive('tree.mended', {});
    receive('overlay.detour', {});
    assert.is(resent(), 2);
  });

  test('output goes with its rank and stream, each of which ends once; tools stop at the end of the credit', () => {
    const { receive, spawned, out, next, logs, stream, credit, exit } = play();
    receive('job.launch', LAUNCH);
    const [one, three] = spawned.map(({ process }) => process) as [FakeProcess, FakeProcess];
    one.events.onOutput('stdout', Buffer.from('a'), 1);
    three.events.onOutput('stderr', Buffer.from('b'), 1);
    assert.equal(out, ['1.1 a', '3.2 b']);
    stream.upCreditBytes = 0;
    one.events.onOutput('stdout', Buffer.from('c'), 1);
    assert.equal(logs(), ['pause', 'pause'], 'all of them');
    stream.upCreditBytes = 1 << 20;
    credit();
    next();
    assert.equal([out.at(-1), ...spawned.map(({ process }) => process.log.at(-1))], ['1.1 c', 'read', 'read']);
    for (const index of [0, 1]) exit(index);
    next();
    assert.equal(out.slice(3), ['1.1 ', '1.2 ', '3.1 ', '3.2 ']);
  });

  test('input goes to the ranks that read it, from their start; when none does any more, that is told', () => {
    const { receive, input, spawned, exit, next } = play();
    receive('job.launch', { ...LAUNCH, stdin: { to: 'rank', rank: 3 } });
    let released = 0;
    input('x', () => (released += 1));
    const writes = spawned.map(({ process }) => process.log.filter((what) => what.startsWith('write')));
    assert.equal(writes, [[], ['write x']]);
    assert.is(released, 1);
    exit(0);
    assert.not.ok(next().some((what) => what.startsWith('job.unread')));
    exit(1);
    assert.is(next().filter((what) => what.startsWith('job.unread')).length, 1);
    const none = play();
    none.receive('job.launch', LAUNCH);
    none.input('y', () => (released += 1));
    assert.is(released, 2, 'where none reads, it is dropped');
  });

  test('how each ended: by itself, by a signal, or because it was told to', () => {
    const { receive, ends, spawned, exit, next, logs } = play();
    receive('job.launch', LAUNCH);
    exit(0, 4);
    next();
    receive('host.ending', {});
    (spawned[1] as Spawned).process.group = 0;
    spawned[1]?.process.events.onExit({ signal: 'SIGTERM' });
    next();
    const told = ends.map(({ rank, outcome, attempt }) => [rank, outcome, attempt]);
    assert.equal(told, [[1, 'exited', 1], [3, 'ended', 1]]);
    assert.not.ok(logs()[1]?.includes('SIGTERM'), 'it had got that');
  });

  test('one that waits for its next start when the job ends is told as it ended, and not started', () => {
    const { receive, ends, exit, next, spawned, swept } = play(restarting);
    receive('job.launch', LAUNCH);
    exit(0, 5);
    assert.ok(next().includes('job.restarting 1'));
    receive('job.end', { kill: false, reason: 'r' });
    exit(1);
    next(1000);
    assert.equal([ends.map(({ rank, end }) => [rank, end?.status]), spawned.length], [[[1, 5], [3, 0]], 2]);
    assert.is(swept.length, 1);
  });

  test('as it stops, nothing waits for news, and no timer is left', () => {
    const { agent, receive, exit, next, sweep, isQuiet, stream } = play();
    receive('job.launch', LAUNCH);
    stream.upCreditBytes = 0;
    for (const index of [0, 1]) exit(index, 1);
    let stops = 0;
    agent.stop(() => (stops += 1));
    assert.ok(next().some((what) => what === 'job.exited 1,3'));
    assert.equal(sweep(), ['job.drained swept 0, restarts 0, left 0']);
    assert.equal([stops, isQuiet()], [1, true]);
  });

  test('ranks are started on their processors, one from elsewhere on what is free; or none, if they cannot be', () => {
    const { spawned, receive } = play(undefined, 'core', { sockets: 1, coresPerCache: 3, threads: 2 });
    const cpus = (): (string | undefined)[] => spawned.map(({ spec }) => spec.cpus);
    receive('job.launch', LAUNCH);
    assert.equal(cpus(), ['0,3', '1,4']);
    receive('job.restart', { start: 1, ranks: [[2, 0, 2]] });
    assert.equal(cpus(), ['0,3', '1,4', '2,5']);
    receive('job.restart', { start: 1, ranks: [[0, 0, 2]] });
    assert.equal(cpus(), ['0,3', '1,4', '2,5', undefined]);
    const few = play(undefined, 'core');
    assert.ok(few.receive('job.launch', LAUNCH).includes('job.exited 1,3'));
    assert.equal([few.spawned.length, few.ends.map(({ outcome, error }) => `${outcome} ${error?.code}`)],
      [0, ['failed-start STCI_BINDING_IMPOSSIBLE', 'failed-start STCI_BINDING_IMPOSSIBLE']]);
  });
});
