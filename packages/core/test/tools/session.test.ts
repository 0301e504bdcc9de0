/** A session agent with fake processes: what it tells the controller of its tools, in which order, and once. */

import {
  CONTROLLER, addressName, sessionAddress, type ErrorManager, type ProcessEvents, type SpawnSpec,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import type { AgentScope } from '../../dist/assembly/composition.js';
import { decode } from '../../dist/codec/cbor.js';
import { detectorProcess } from '../../dist/detector/process.js';
import { MetricStore } from '../../dist/metrics/store.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { StreamEvents } from '../../dist/streams/stream-endpoint.js';
import { SessionAgent } from '../../dist/tools/session.js';
import type { ToolEnd } from '../../dist/tools/tool.js';
import { systemOf, type Machine } from '../binding/synthetic.js';
import { testPlace } from '../world.js';
import { fakeProcess, type FakeProcess } from './fake-tool.js';

const JOB = 7;
const INTS: Readonly<Record<string, number>> = {
  'binding.cpus': 0, 'tool.grace': 1000, 'iof.drain': 300, 'job.size.max': 100, 'job.ranks.per.host.max': 4,
};
const ONE_CORE: Machine = { sockets: 1, coresPerCache: 1 };

/** The launch of ranks 1 and 3 of 4 on host 2. */
const LAUNCH = {
  session: 'ab', owner: CONTROLLER, size: 4, nodes: 2, apps: [{ program: 'p', args: [], env: {} }], env: {}, wdir: '/',
  stdin: { to: 'none' }, creditBytes: 1 << 20, hosts: [[2, 1, [[0, 1, 2, 2]]]],
};

const restarting = { local: () => ({ type: 'restart', afterMs: 50 }) } as unknown as ErrorManager;

interface Spawned {
  readonly process: FakeProcess;
  readonly spec: SpawnSpec;
}

function play(errorManager = {} as unknown as ErrorManager, bindTo = 'auto', machine: Machine = ONE_CORE) {
  const place = testPlace();
  const strings: Readonly<Record<string, string>> = { 'binding.to': bindTo, 'binding.map': 'auto' };
  const params = {
    int: (name: string) => INTS[name], string: (name: string) => strings[name] ?? '', bool: () => false, list: () => [],
  };
  const system = systemOf(machine);
  const told: string[] = [];
  const spawned: Spawned[] = [];
  const out: string[] = [];
  const ends: ToolEnd[] = [];
  const faults: unknown[] = [];
  const swept: ((count: number) => void)[] = [];
  const handlers = new Map<string, (body: unknown, context: { readonly job: number }) => unknown>();
  let resent = 0;
  const stream = {
    upCreditBytes: 1 << 20,
    upPieces(pieces: readonly Uint8Array[]): boolean {
      const [rank, name, , bytes] = decode(Buffer.concat(pieces)) as [number, number, number, Uint8Array];
      told.push('output');
      out.push(`${rank}.${name} ${Buffer.from(bytes).toString()}`);
      this.upCreditBytes -= 64 + bytes.length;
      return true;
    },
  };
  let streamEvents: StreamEvents | undefined;
  const numbersOf = (body: { ranks?: unknown[]; restarts?: number; survivors?: unknown[]; swept?: number }): string =>
    body.ranks === undefined ? `swept ${body.swept}, restarts ${body.restarts}, left ${body.survivors?.length}`
      : body.ranks.map((each) => (Array.isArray(each) ? each[0] : (each as { rank: number }).rank) as number).join();
  const send = (to: number, name: string, body: object): undefined => {
    if (name === 'job.exited') ends.push(...(body as { ranks: ToolEnd[] }).ranks);
    told.push(`${name} ${numbersOf(body)}${to === CONTROLLER ? '' : ` to ${addressName(to)}`}`);
  };
  const processes = {
    ...place.platform.processes,
    spawn: (spec: SpawnSpec, events: ProcessEvents) => {
      const process = fakeProcess(10 + spawned.length, events);
      spawned.push({ process, spec });
      return process;
    },
    sweep: (_mark: string, _ms: number, done: (count: number) => void) => void swept.push(done),
  };
  const node = {
    name: 'session:2', holds: new Scope('agent'), params,
    platform: {
      ...place.platform, processes,
      env: { ...place.platform.env, systemText: (path: string) => system.get(path) },
    },
    identity: { self: sessionAddress(2), incarnation: 1 }, router: { parentLink: {} },
    metrics: new MetricStore(),
    resendUp: () => (resent += 1), fault: (fault: unknown) => void faults.push(fault),
    messages: {
      on: (name: string, handler: (body: unknown) => unknown) => void handlers.set(name, handler),
      send, sendNeighbour: (_link: unknown, name: string) => void told.push(name),
      sendList: (to: number, name: string, items: unknown[], bodyOf: (items: unknown[]) => object) =>
        send(to, name, bodyOf(items)),
    },
    streams: { attach: (_spec: unknown, events: StreamEvents) => ((streamEvents = events), stream) },
  } as unknown as AgentNode;
  const process = detectorProcess.create({}, {}, undefined);
  const scope = {
    jobParams: () => params, errorManager: () => errorManager,
    detectors: () => [{ name: 'process', module: process, notifier: '', isNamed: false }],
  } as unknown as AgentScope;
  const agent = new SessionAgent({ node, scope, hostName: 'c', ownsProcess: true, services: [] });
  const next = (ms = 1): string[] => (place.run(ms), told.splice(0));
  const receive = (name: string, body: unknown): string[] => {
    assert.ok(handlers.has(name), name);
    handlers.get(name)?.(body, { job: JOB });
    return next();
  };
  const exit = (index: number, status = 0): void => {
    const { process } = spawned[index] as Spawned;
    process.group = 0;
    for (const name of ['stdout', 'stderr'] as const) process.events.onOutputEnd(name);
    process.events.onExit({ status });
  };
  const sweep = (count = 0): string[] => (swept.splice(0).forEach((done) => done(count)), next());
  const logs = (): string[] => spawned.map(({ process }) => process.log.filter((what) => what !== 'read').join());
  const isQuiet = (): boolean => place.world.scheduler.queue.pending().length === 0;
  return {
    agent, node, out, ends, faults, spawned, swept, receive, exit, sweep, next, logs, isQuiet, stream,
    resent: () => resent,
    credit: (): string[] => (streamEvents?.onCredit(), next()),
    input: (text: string, release: () => void) => streamEvents?.onDown(Buffer.from(text), release),
  };
}

suite('session agent', (test) => {
  test('its tools are started, one a turn; starts are told together, ends too, and that nothing is left once', () => {
    const { spawned, swept, receive, exit, sweep, next, credit, isQuiet } = play();
    assert.equal(receive('job.launch', LAUNCH), ['job.started 1', 'job.started 3']);
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
    receive('job.restart', { ranks: [[2, 0, 1]] });
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
    assert.equal(receive('job.restart', { ranks: [[3, 0, 2], [0, 0, 4]] }), ['job.started 3', 'job.started 0']);
    const envs = spawned.slice(2).map(({ spec: { env } }) => [env['STCI_RANK'], env['STCI_ATTEMPT']]);
    assert.equal(envs, [['3', '2'], ['0', '4']]);
    for (const index of [2, 3]) exit(index);
    assert.ok(next().includes('job.exited 3,0'));
    assert.equal(sweep(), ['job.drained swept 0, restarts 1, left 0']);
    assert.throwsCode('STCI_MESSAGE_INVALID', () => receive('job.restart', { ranks: [[4, 0, 1]] }));
  });

  test('ranks that are spawned are started with programs and sizes of their own, and are ranks of the host', () => {
    const { receive, spawned } = play();
    receive('job.launch', LAUNCH);
    const spawn = { parent: 1, first: 4, count: 2, app: 1 };
    const apps = [[2, { program: 'w', args: ['x'], env: { A: '1' } }]];
    const unknown = { ranks: [[5, 1, 1]], apps, spawns: [spawn] };
    for (const bad of [{ ranks: [[5, 2, 1]] }, unknown, { ranks: [], apps: [[100, apps[0]?.[1]]] }]) {
      assert.throwsCode('STCI_MESSAGE_INVALID', () => receive('job.restart', bad));
    }
    assert.equal(receive('job.restart', { ranks: [[5, 2, 1]], apps, spawns: [spawn] }), ['job.started 5']);
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
    assert.equal([receive('job.launch', launch), sweep().length], [[], 2]);
    assert.equal(spawned.map(({ spec: { program, env, stdin } }) => [program, env['STCI_SIZE'], stdin]),
      [['p', '4', 'pipe'], ['w', '5', 'null']]);
    const bad = { ...launch, spawns: [{ parent: 1, first: 99, count: 2, app: 1 }] };
    assert.throwsCode('STCI_MESSAGE_INVALID', () => play().receive('job.launch', bad));
  });

  test('ranks that are sent before the launch are started behind it; a launch beyond the bounds is refused', () => {
    const early = play();
    assert.equal(early.receive('job.restart', { ranks: [[0, 0, 2]] }), []);
    const spawn = { parent: 0, first: 4, count: 1, app: 1 };
    const apps = [[1, { program: 'w', args: [], env: {} }]];
    assert.equal(early.receive('job.restart', { ranks: [[4, 1, 1]], apps, spawns: [spawn] }), []);
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
    receive('job.restart', { ranks: [[2, 0, 2]] });
    assert.equal(cpus(), ['0,3', '1,4', '2,5']);
    receive('job.restart', { ranks: [[0, 0, 2]] });
    assert.equal(cpus(), ['0,3', '1,4', '2,5', undefined]);
    const few = play(undefined, 'core');
    assert.ok(few.receive('job.launch', LAUNCH).includes('job.exited 1,3'));
    assert.equal([few.spawned.length, few.ends.map(({ outcome, error }) => `${outcome} ${error?.code}`)],
      [0, ['failed-start STCI_BINDING_IMPOSSIBLE', 'failed-start STCI_BINDING_IMPOSSIBLE']]);
  });
});
