/** Whole small jobs in simulation, from submit to the last agent's end: every method of starting × both boot links. */

import { roleFactory, runAgent } from '@stci/core';
import { createFrontEnd } from '@stci/core/controller';
import type { Allocation, AppSpec, FrontEnd, JobReport, JobSpec, Network, Platform, StdinTo } from '@stci/interface';
import { createWorld, type AgentContext, type World } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { resolved, composition, type Settings } from '../assembly.js';

interface Asked {
  readonly hosts: number;
  readonly count: number;
  readonly command: readonly string[];
  /** So many apps of these ranks. */
  readonly apps?: number;
  readonly settings?: Settings;
  readonly stdin?: StdinTo;
  readonly input?: string;
  readonly timeoutMs?: number;
  /** Prefixes of the private sockets that were listened at. */
  readonly sockets?: string[];
  /** What it writes is not taken. */
  readonly takesNothing?: boolean;
  /** Called with the running job. */
  onRunning?(frontEnd: FrontEnd, world: World): void;
}

interface Done {
  readonly report: JobReport | undefined;
  /** Standard output by rank. */
  readonly out: Map<number, string>;
  readonly warnings: readonly string[];
  readonly stopped: number;
  readonly world: World;
}

/** The platform, telling which private sockets are listened at. */
function watched(platform: Platform, heard: string[]): Platform {
  const { network } = platform;
  const listenPrivate: Network['listenPrivate'] = (options, accept, done) => {
    heard.push(options.prefix);
    network.listenPrivate(options, accept, done);
  };
  const rest: Omit<Network, 'listenPrivate'> = {
    listen: (...given) => network.listen(...given), connect: (...given) => network.connect(...given),
    connectPrivate: (...given) => network.connectPrivate(...given),
    listenLoopback: (...given) => network.listenLoopback(...given),
  };
  return { ...platform, network: { ...rest, listenPrivate } };
}

function agentMain({ platform, channel, exit }: AgentContext): void {
  const load = (done: (start: ReturnType<typeof roleFactory>) => void): void => done(roleFactory(composition));
  runAgent({ platform, channel, load, exit: ({ failed }) => exit(failed ? 1 : 0) });
}

function allocationOf({ hosts }: Asked): Allocation {
  const host = (_: unknown, i: number) => ({ name: `h${i}`, slots: 4, slotsBound: false, origin: 'test' });
  return { hosts: Array.from({ length: hosts }, host), spares: [] };
}

function specOf({ count, command, stdin, timeoutMs, apps = 1 }: Asked): JobSpec {
  const [program, ...args] = command as [string, ...string[]];
  const app: AppSpec = { program, args, count, env: {} };
  return {
    apps: Array.from({ length: apps }, () => app), mapBy: { by: 'node' }, oversubscribe: true, env: { PATH: '/bin' },
    wdir: '/', stdin: stdin ?? { to: 'none' }, launchTimeoutMs: 30_000,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function play(asked: Asked, seed = 1): Done {
  const world = createWorld({ seed });
  const { sockets = [] } = asked;
  world.program('stci-agent', (context) =>
    agentMain({ ...context, platform: watched(context.platform, sockets) }));
  const { params, snapshot } = resolved({ launcherproc: 'local', ...asked.settings });
  const out = new Map<number, string>();
  const warnings: string[] = [];
  let report: JobReport | undefined;
  let stopped = 0;
  world.start('login', ['stcirun'], ({ platform: own, exit }) => {
    const platform = watched(own, sockets);
    const frontEnd = createFrontEnd({ platform, composition, params, snapshot, allocation: allocationOf(asked) }, {
      onJobEvent: (event) => {
        if (event.type === 'running') asked.onRunning?.(frontEnd, world);
        if (event.type === 'warning') warnings.push(event.text);
        if (event.type !== 'ended') return;
        report = event.report;
        frontEnd.stop();
      },
      onOutput: (rank, stream, chunk, _wallMs, release) => {
        if (stream === 'stdout') out.set(rank, (out.get(rank) ?? '') + String.fromCharCode(...chunk));
        if (asked.takesNothing !== true) release();
      },
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onStopped: () => {
        stopped += 1;
        exit(0);
      },
    });
    frontEnd.submit(specOf(asked));
    if (asked.input !== undefined) {
      frontEnd.writeStdin(Uint8Array.from(asked.input, (c) => c.charCodeAt(0)));
      frontEnd.closeStdin();
    }
  });
  world.run({ untilMs: 120_000, maxEvents: 5_000_000 });
  assert.equal(world.faults.map(({ error }) => String(error)), []);
  assert.equal([stopped, world.livingProcesses().map(({ command }) => command.join(' '))], [1, []], 'nothing is left');
  return { report, out, warnings, stopped, world };
}

suite('small jobs', (test) => {
  for (const method of ['process', 'inline', 'thread']) {
    for (const boot of ['native', 'ws', 'wss']) {
      test(`${method}, ${boot}: output, exit codes and ends on 1 to 20 hosts`, () => {
        for (const hosts of [1, 5, 20]) {
          const settings = {
            'launcher.root.method': method, 'bootcom.boot': boot.replace('wss', 'ws'), 'launcher.tree.arity': '3',
            'bootcom.ws.encrypt': `${boot === 'wss'}`,
          };
          const good = play({ hosts, count: hosts + 3, command: ['echo', 'hello'], settings }, hosts);
          assert.is(good.report?.exitCode, 0, good.report?.cause?.message ?? '');
          assert.equal([good.out.size, new Set(good.out.values())], [hosts + 3, new Set(['hello\n'])]);
          assert.is(play({ hosts, count: hosts, command: ['exit', '7'], settings }).report?.exitCode, 7);
        }
      });
    }
  }

  test('only an agent with a process of its own can be reached when its parent is gone', () => {
    for (const boot of ['native', 'ws']) {
      const count = (method: string): number => {
        const sockets: string[] = [];
        const settings = { 'launcher.root.method': method, 'bootcom.boot': boot };
        assert.is(play({ hosts: 3, count: 3, command: ['echo', 'x'], settings, sockets }).report?.exitCode, 0);
        return sockets.filter((prefix) => prefix === 'agent').length;
      };
      assert.equal(['process', 'thread', 'inline'].map(count), [3, 0, 0], boot);
    }
  });

  test('agents that have linked to a listener are none of the connections that are pending there', () => {
    const settings = { 'bootcom.boot': 'ws', 'launcher.tree.arity': '20', 'bootcom.pending.max': '4' };
    const { report } = play({ hosts: 20, count: 20, command: ['sleep', '2'], settings });
    assert.equal([report?.exitCode, report?.failures], [0, []]);
  });

  test('a job of which agents or front-ends could not be told is refused, with what would do', () => {
    const settings = { 'message.bytes.max': '64KiB' };
    const long = (chars: number): Asked =>
      ({ hosts: 24, count: 24, command: ['echo', 'x'.repeat(chars)], settings });
    assert.is(play(long(60_000)).report?.exitCode, 0);
    // The submission is small enough, but not with the hosts that the launch adds.
    const launch = play(long(65_200)).report;
    assert.equal([launch?.cause?.code, launch?.exitCode, launch?.ranks], ['STCI_MESSAGE_TOO_LARGE', 201, []]);
    assert.match(launch?.cause?.message ?? '', /take 6\d{4} bytes of a message.*Raise it to at least 6\d{4}/u);
    const mapped = play({ hosts: 64, count: 64, apps: 40, command: ['true'], settings }).report;
    assert.equal([mapped?.cause?.code, mapped?.ranks], ['STCI_MESSAGE_TOO_LARGE', []]);
    assert.match(mapped?.cause?.message ?? '', /the map of its ranks \d+ of half of one/u);
  });

  test('a boot tree that is deeper than message.ttl is refused, with both names and what would do', () => {
    const settings = { 'launcher.tree.arity': '1', 'message.ttl': '9' };
    assert.is(play({ hosts: 7, count: 7, command: ['echo', 'x'], settings }).report?.exitCode, 0);
    const { report } = play({ hosts: 8, count: 8, command: ['echo', 'x'], settings });
    assert.equal([report?.exitCode, report?.cause?.code], [194, 'STCI_PARAM_INVALID']);
    assert.match(report?.cause?.message ?? '', /message\.ttl = 9: .* 8 hosts takes 10 hops .*launcher\.tree\.arity/);
  });

  test('a signal of its own is 128 + its number; a program that is missing has a code of its own', () => {
    assert.is(play({ hosts: 2, count: 3, command: ['crash', 'SEGV', '0.1'] }).report?.exitCode, 139);
    const missing = play({ hosts: 3, count: 3, command: ['no-such-program'] }).report;
    assert.equal([missing?.exitCode, missing?.cause?.code], [196, 'STCI_PROGRAM_NOT_FOUND']);
  });

  test('standard input goes to all, to one, or to none', () => {
    const of = (stdin: StdinTo): string[] => {
      const { out, report } = play({ hosts: 3, count: 4, command: ['count-input'], stdin, input: 'four' });
      assert.is(report?.exitCode, 0);
      return [0, 1, 2, 3].map((rank) => (out.get(rank) ?? '').trim());
    };
    assert.equal(of({ to: 'all' }), ['4', '4', '4', '4']);
    assert.equal(of({ to: 'rank', rank: 2 }), ['0', '0', '4', '0']);
    assert.equal(of({ to: 'none' }), ['0', '0', '0', '0']);
  });

  test('a forwarded signal reaches the tools; an end ends those that ignore it', () => {
    const signalled = play({
      hosts: 3, count: 3, command: ['on-signal', 'SIGUSR1', '9', '60'],
      // A process that has only just begun has no handler yet.
      onRunning: (frontEnd, world) =>
        world.at(world.nowMs + 50, () => frontEnd.control({ verb: 'signal', signal: 'SIGUSR1' })),
    });
    assert.is(signalled.report?.exitCode, 9);
    for (const kill of [false, true]) {
      const ended = play({
        hosts: 3, count: 3, command: ['ignore-term', '600'],
        onRunning: (frontEnd) => frontEnd.control({ verb: 'end', kill, reason: 'enough' }),
      });
      assert.equal([...new Set(ended.report?.ranks.map(({ outcome }) => outcome))], ['ended']);
    }
  });

  test('what a front-end names as the cause is the cause, but not the failure of an agent', () => {
    const error = { code: 'STCI_OUTPUT_FAILED', message: 'the disk is full', failure: 'host 1#1' } as const;
    const { report } = play({
      hosts: 2, count: 2, command: ['sleep', '60'],
      onRunning: (frontEnd) => frontEnd.control({
        verb: 'end', kill: false, reason: 'enough', cause: { kind: 'output', error, exitCode: 206 },
      }),
    });
    const { failure: _id, ...rest } = error;
    assert.equal([report?.exitCode, report?.cause, report?.failures], [206, rest, [rest]]);
  });

  test('processes that cannot be killed: the job ends all the same, and the report names them', () => {
    const at: number[] = [];
    const interrupt = (frontEnd: FrontEnd, world: World): void => {
      for (const [afterMs, kill] of [[50, false], [100, true]] as const) {
        world.at(world.nowMs + afterMs, () => frontEnd.control({ verb: 'end', kill, reason: 'interrupted' }));
      }
      at.push(world.nowMs);
    };
    for (const command of [['unkillable', '60'], ['fork', '--wait', '0.01', 'unkillable', '60']]) {
      for (const method of ['inline', 'process']) {
        const { report } = play({ hosts: 2, count: 2, command, settings: { 'launcher.session.method': method },
          onRunning: interrupt });
        const outcome = command[0] === 'fork' ? 'exited' : 'lost';
        assert.equal(report?.ranks.map((rank) => rank.outcome), [outcome, outcome]);
        assert.equal([report?.exitCode, report?.failures.map(({ code }) => code)], [203, ['STCI_TOOL_SURVIVED',
          'STCI_TOOL_SURVIVED']]);
        assert.match(report?.cause?.message ?? '', /^Process \d+ on host h[01] could not be ended by SIGKILL\n/);
        const wallMs = (report?.endWallMs ?? 0) - (report?.submitWallMs ?? 0);
        assert.ok(wallMs < 6000, `${wallMs} ms`);
      }
    }
  });

  test('a forced end does not wait for who takes no output, and says whose may be missing', () => {
    const command = ['lines', '4000', '80', '0'];
    const settings = { 'iof.window': '64KiB' };
    const kill = (frontEnd: FrontEnd, world: World): void =>
      world.at(world.nowMs + 500, () => frontEnd.control({ verb: 'end', kill: true, reason: 'interrupted' }));
    const said = [true, false].map((takesNothing) => play({ hosts: 3, count: 3, command, takesNothing,
      settings, onRunning: kill }).warnings);
    assert.equal(said, [['Output of hosts h[0-2] may be missing: the job ended before all of it was taken'], []]);
  });

  test('a grace longer than launcher.stop is kept when the front-end stops while ranks run', () => {
    for (const method of ['inline', 'process']) {
      const { world } = play({ hosts: 3, count: 3, command: ['ignore-term', '600'],
        settings: { 'tool.grace': '20s', 'launcher.stop': '1s', 'launcher.session.method': method,
          'launcher.tree.arity': '1' },
        onRunning: (frontEnd, at) => at.at(at.nowMs + 50, () => frontEnd.stop()) });
      const tools = [...world.processes()].filter(({ command }) => command[0] === 'ignore-term');
      const ends = tools.map(({ endMs }) => endMs);
      assert.equal(ends.length, 3);
      for (const endMs of ends) assert.ok((endMs ?? 0) > 20_000 && (endMs ?? 0) < 22_000, `${endMs}`);
    }
  });

  test('a deadline of the job ends it with its own code', () => {
    const { report } = play({ hosts: 2, count: 2, command: ['sleep', '600'], timeoutMs: 2000 });
    assert.equal([report?.exitCode, report?.cause?.code], [199, 'STCI_JOB_TIMEOUT']);
  });

  test('an agent that is killed at any of many moments: the job reports or is done, and leaves nothing', () => {
    for (let atMs = 1; atMs < 40; atMs += 3) {
      const { report } = play({
        hosts: 4, count: 4, command: ['sleep', '0.02'], settings: { 'launcher.tree.arity': '1' },
        onRunning: (_frontEnd, world) => world.at(world.nowMs + atMs, () => {
          const agents = world.livingProcesses().filter(({ command }) => command[0] === 'stci-agent');
          const victim = agents[atMs % Math.max(1, agents.length)];
          if (victim !== undefined) world.killProcess(victim.host, victim.pid);
        }),
      }, atMs);
      assert.ok(report?.exitCode === 0 || report?.exitCode === 200, `${atMs} ms: ${report?.exitCode}`);
    }
  });
});
