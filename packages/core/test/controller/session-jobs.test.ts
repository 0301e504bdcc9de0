/** Many jobs of one session in simulation: beside each other, one after the other, each with its own agents and end. */

import { roleFactory, runAgent } from '@stci/core';
import { Session } from '@stci/core/controller';
import type { FrontEnd, JobReport, JobSpec } from '@stci/interface';
import { createWorld, type AgentContext, type World } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { resolved, composition, type Settings } from '../assembly.js';

const HOSTS = 5;

interface Played {
  readonly report: JobReport | undefined;
  /** Standard output by rank. */
  readonly out: readonly string[];
}

type Asked = Pick<JobSpec, 'params' | 'timeoutMs'> & {
  readonly command: readonly [string, ...string[]];
  readonly count?: number;
  /** Submitted when the job of this index has ended; default: at once. */
  readonly after?: number;
};

function specOf({ command: [program, ...args], count = HOSTS, params, timeoutMs }: Asked): JobSpec {
  return {
    apps: [{ program, args, count, env: {} }], mapBy: { by: 'node' }, oversubscribe: true, env: { PATH: '/bin' },
    wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 30_000, ...(params && { params }),
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
}

function agentMain({ platform, channel, exit }: AgentContext): void {
  const load = (done: (start: ReturnType<typeof roleFactory>) => void): void => done(roleFactory(composition));
  runAgent({ platform, channel, load, exit: ({ failed }) => exit(failed ? 1 : 0) });
}

const count = (world: World, program: string): number =>
  world.livingProcesses().filter(({ command }) => command[0] === program).length;

/** The jobs, and when all have ended the agents' processes and the pairs of agents that the controller knows. */
function play(
  asked: readonly Asked[],
  settings: Settings = {},
  seed = 1,
): { jobs: Played[]; agents: number; pairs: number } {
  const world = createWorld({ seed });
  world.program('stci-agent', agentMain);
  const { params, snapshot } = resolved({ launcherproc: 'local', 'launcher.tree.arity': '2', ...settings });
  const jobs: { report: JobReport | undefined; out: string[] }[] = [];
  let [agents, pairs, stopped] = [0, 0, 0];
  world.start('login', ['stci'], ({ platform, exit }) => {
    const host = (_: unknown, i: number) => ({ name: `h${i}`, slots: 4, slotsBound: false, origin: 'test' });
    const allocation = { hosts: Array.from({ length: HOSTS }, host), spares: [] };
    const nothing = (): void => undefined;
    const observer = { onEvent: nothing, onReady: nothing, onAborted: nothing, onRoom: nothing, onEnding: nothing };
    const session = new Session({ platform, composition, params, snapshot, allocation }, observer);
    session.open();
    const onEnded = (index: number): void => {
      for (const [i, { after }] of asked.entries()) if (after === index) submit(i);
      if (jobs.some((job) => job.report === undefined) || jobs.length < asked.length) return;
      // Session agents of ended jobs end soon after them.
      platform.clock.after(1000, () => {
        agents = count(world, 'stci-agent');
        ({ pairs } = session);
        session.stop(() => exit(stopped += 1));
      });
    };
    const submit = (index: number): void => {
      const one = asked[index] as Asked;
      const out = Array.from({ length: one.count ?? HOSTS }, () => '');
      const job: (typeof jobs)[number] = { report: undefined, out };
      jobs[index] = job;
      const frontEnd: FrontEnd = session.follow({
        onJobEvent: (event) => {
          if (event.type !== 'ended') return;
          job.report = event.report;
          frontEnd.stop();
          onEnded(index);
        },
        onOutput: (rank, _stream, chunk, _wallMs, release) => {
          job.out[rank] += String.fromCharCode(...chunk);
          release();
        },
        onStdinDrain: nothing,
        onStdinClosed: nothing,
        onStopped: nothing,
      });
      frontEnd.submit(specOf(one));
    };
    for (const [i, { after }] of asked.entries()) if (after === undefined) submit(i);
  });
  world.run({ untilMs: 600_000, maxEvents: 20_000_000 });
  assert.equal([world.faults.map(({ error }) => String(error)), stopped], [[], 1]);
  assert.equal(world.livingProcesses().map(({ command }) => command.join(' ')), [], 'nothing is left');
  return { jobs, agents, pairs };
}

suite('jobs of a session', (test) => {
  for (const method of ['inline', 'process', 'thread']) {
    test(`beside each other, session agents ${method}: each has its own output, exit code and report`, () => {
      const commands = [['echo', 'one'], ['exit', '3'], ['echo', 'two'], ['missing'], ['echo', 'three']] as const;
      const { jobs, agents } = play(commands.map((command) => ({ command })), { 'launcher.session.method': method });
      assert.equal(jobs.map(({ report }) => report?.exitCode), [0, 3, 0, 196, 0]);
      const said = ['one\n', 'two\n', 'three\n'].map((text) => Array(HOSTS).fill(text));
      assert.equal([0, 2, 4].map((i) => jobs[i]?.out), said);
      assert.equal(new Set(jobs.map(({ report }) => report?.job)).size, 5, 'each has its number');
      assert.is(agents, HOSTS, 'root agents stay, session agents are gone');
    });
  }

  test('a job that fails, times out or is ended leaves the others alone', () => {
    const { jobs } = play([
      { command: ['sleep', '20'] }, { command: ['sleep', '100'], timeoutMs: 2000 }, { command: ['crash', 'SEGV', '1'] },
    ]);
    assert.equal(jobs.map(({ report }) => report?.exitCode), [0, 199, 139]);
    assert.ok(jobs[0]?.report?.ranks.every(({ outcome }) => outcome === 'exited'));
  });

  test('one after the other: the session goes on after any end, and nothing accumulates', () => {
    const commands = [['echo', 'x'], ['exit', '1'], ['crash', 'KILL', '0'], ['missing']] as const;
    const asked = Array.from({ length: 80 }, (_, i): Asked => {
      return { command: commands[i % 4] as Asked['command'], count: 1 + (i % 7), ...(i >= 8 && { after: i - 8 }) };
    });
    const { jobs, agents, pairs } = play(asked);
    assert.equal(jobs.map(({ report }) => report?.exitCode), asked.map((_, i) => [0, 1, 137, 196][i % 4]));
    assert.is(agents, HOSTS);
    assert.ok(pairs <= 2 * HOSTS, `${pairs} pairs: no more than with the root agents`);
  }, { timeoutMs: 30_000 });

  test("parameters of a job are the job's own", () => {
    const command = ['crash', 'SEGV', '0'] as const;
    const { jobs } = play([
      { command: ['ignore-term', '100'], timeoutMs: 1000, params: { 'tool.grace': 30_000 } },
      { command: ['ignore-term', '100'], timeoutMs: 1000, params: { 'tool.grace': 50 } },
      { command, params: { errmgr: ['continue'] } },
      { command: ['echo', 'x'], params: { 'launcher.window': 1 } },
    ]);
    const lastedMs = (i: number): number => {
      const { submitWallMs = 0, endWallMs = 0 } = jobs[i]?.report ?? {};
      return Math.round((endWallMs - submitWallMs) / 1000);
    };
    assert.equal([lastedMs(0), lastedMs(1)], [31, 1]);
    assert.is(jobs[2]?.report?.ranks.filter(({ outcome }) => outcome === 'signalled').length, HOSTS, 'none was ended');
    assert.match(jobs[3]?.report?.cause?.message ?? '', /launcher\.window is a parameter of the session/);
  });
});
