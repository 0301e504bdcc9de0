/** A batch system takes hosts, in simulation: SIGTERM to agents, and to their tools or not, in any order. */

import { roleFactory, runAgent } from '@stci/core';
import { Session } from '@stci/core/controller';
import type { FrontEnd, JobEvent, JobReport, JobSpec, StciError } from '@stci/interface';
import { createWorld, type AgentContext, type World } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { createTree } from '@stci/topology-tree';
import { AllocationEnd } from '../../dist/controller/allocation-end.js';
import { Scope } from '../../dist/event/scope.js';
import { MembershipTable } from '../../dist/membership/table.js';
import { resolved, composition, type Settings } from '../assembly.js';
import { specs } from '../membership/specs.js';
import { testPlace } from '../world.js';

const HOSTS = 4;
const AT_MS = 20_000;
/** The session is closed some time after the end of its first job. */
const CLOSE_MS = 2000;

interface Ended {
  readonly report: JobReport;
  /** Since the first signal. */
  readonly tookMs: number;
  readonly events: readonly JobEvent[];
  /** What the session is told. */
  readonly endings: readonly StciError[];
  /** Of another job, submitted after the end of the first. */
  readonly later: JobReport | undefined;
}

function agentMain({ platform, channel, exit, onSignal }: AgentContext): void {
  const load = (done: (start: ReturnType<typeof roleFactory>) => void): void => done(roleFactory(composition));
  const agent = runAgent({ platform, channel, load, exit: ({ failed }) => exit(failed ? 1 : 0) });
  onSignal('SIGTERM', () => agent.terminated('told to end'));
  onSignal('SIGUSR1', () => agent.forward('SIGUSR1'));
}

const specOf = ([program, ...args]: readonly [string, ...string[]]): JobSpec => ({
  apps: [{ program, args, count: HOSTS, env: {} }], mapBy: { by: 'node' }, oversubscribe: true, env: { PATH: '/bin' },
  wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 30_000,
});

/** Signals go to processes of these programs, so long after the one before each. */
type Signals = readonly {
  readonly to: string; readonly ofHost?: number; readonly afterMs?: number; readonly signal?: 'SIGUSR1';
}[];

function send(world: World, signals: Signals): void {
  let atMs = AT_MS;
  for (const { to, ofHost, afterMs = 0, signal = 'SIGTERM' } of signals) {
    atMs += afterMs;
    world.at(atMs, () => {
      const found = world.livingProcesses().filter(({ command: [program] }) => program === to);
      for (const { pid } of found.slice(ofHost, ofHost === undefined ? undefined : ofHost + 1)) {
        world.killProcess('login', pid, signal);
      }
    });
  }
}

function play(signals: Signals, command: readonly [string, ...string[]], settings: Settings = {}): Ended {
  const world = createWorld({ seed: 3 });
  world.program('stci-agent', agentMain);
  const { params, snapshot } = resolved({ launcherproc: 'local', 'launcher.tree.arity': '2', ...settings });
  const endings: StciError[] = [];
  const events: JobEvent[] = [];
  const reports: JobReport[] = [];
  let [stopped, tookMs] = [0, 0];
  world.start('login', ['stci'], ({ platform, exit }) => {
    const host = (_: unknown, i: number) => ({ name: `h${i}`, slots: 4, slotsBound: false, origin: 'test' });
    const allocation = { hosts: Array.from({ length: HOSTS }, host), spares: [] };
    const nothing = (): void => undefined;
    const onEnding = (error: StciError): void => void endings.push(error);
    const observer = { onEvent: nothing, onReady: nothing, onAborted: nothing, onRoom: nothing, onEnding };
    const session = new Session({ platform, composition, params, snapshot, allocation }, observer);
    session.open();
    const submit = (what: readonly [string, ...string[]]): void => {
      const frontEnd: FrontEnd = session.follow({
        onJobEvent: (event) => {
          events.push(event);
          if (event.type !== 'ended') return;
          reports.push(event.report);
          frontEnd.stop();
          if (reports.length > 1) return session.stop(() => exit(stopped += 1));
          tookMs = platform.clock.nowMs() - AT_MS;
          platform.clock.after(CLOSE_MS, () => submit(['echo', 'later']));
        },
        onOutput: (_rank, _stream, _chunk, _wallMs, release) => release(),
        onStdinDrain: nothing, onStdinClosed: nothing, onStopped: nothing,
      });
      frontEnd.submit(specOf(what));
    };
    submit(command);
  });
  send(world, signals);
  world.run({ untilMs: 600_000, maxEvents: 20_000_000 });
  assert.equal([world.faults.map(({ error }) => String(error)), stopped], [[], 1]);
  assert.equal(world.livingProcesses().map(({ command: words }) => words.join(' ')), [], 'nothing is left');
  const [report, later] = reports;
  assert.ok(report !== undefined);
  return { report, later, tookMs, events, endings };
}

const AGENTS = { to: 'stci-agent' };
const SLEEP = ['sleep', '300'] as const;
const STUBBORN = ['ignore-term', '300'] as const;
const outcomes = ({ ranks }: JobReport): string[] => ranks.map(({ outcome }) => outcome);

suite('end of an allocation', (test) => {
  const ways: readonly { readonly name: string; readonly signals: Signals; readonly settings?: Settings }[] = [
    { name: 'to agents alone', signals: [AGENTS] },
    { name: 'to agents, then to tools', signals: [AGENTS, { to: 'sleep', afterMs: 2 }] },
    { name: 'to agents one by one', signals: [0, 1, 2, 3].map((ofHost) => ({ ...AGENTS, ofHost, afterMs: 50 })) },
    { name: 'to agents, where ranks would be started again', signals: [AGENTS, { to: 'sleep', afterMs: 2 }],
      settings: { errmgr: 'restart' } },
    { name: 'to agents with session agents of their own', signals: [AGENTS, { to: 'sleep', afterMs: 2 }],
      settings: { 'launcher.session.method': 'process' } },
  ];
  for (const { name, signals, settings = {} } of ways) {
    test(`SIGTERM ${name}: the job ends once, for this reason, and no other is started`, () => {
      const { report, later, tookMs, events, endings } = play(signals, SLEEP, settings);
      assert.equal([report.exitCode, report.cause?.code], [143, 'STCI_ALLOCATION_ENDED']);
      assert.match(report.cause?.message ?? '', /SIGTERM.*h\[0-3\]$/u);
      assert.equal(report.failures.map(({ code }) => code), ['STCI_ALLOCATION_ENDED'], 'no rank failed by itself');
      assert.equal(outcomes(report), Array(HOSTS).fill('ended'));
      assert.equal(events.filter(({ type }) => type === 'restarting'), []);
      assert.equal([endings.length, later?.exitCode, later?.cause?.code], [1, 143, 'STCI_ALLOCATION_ENDED']);
      assert.ok(tookMs < 2000, `it took ${tookMs} ms`);
    });
  }

  test('tools that do not end are killed after their grace, within that of the batch system', () => {
    const short = play([AGENTS], STUBBORN, { 'tool.grace': '3s' });
    const long = play([AGENTS], STUBBORN, { 'tool.grace': '1h' });
    for (const { report } of [short, long]) {
      assert.equal([report.exitCode, report.cause?.code], [143, 'STCI_ALLOCATION_ENDED']);
      assert.ok(report.ranks.every(({ outcome, end }) => outcome === 'ended' && end?.signal === 'SIGKILL'));
    }
    assert.ok(short.tookMs > 3000 && short.tookMs < 5000, `${short.tookMs} ms`);
    assert.ok(long.tookMs > 15_000 && long.tookMs < 20_000, `${long.tookMs} ms`);
  });

  test('one host alone is lost, and the error manager decides', () => {
    const signals = [{ ...AGENTS, ofHost: 2 }];
    const { report, endings, later } = play(signals, ['sleep', '30'], { errmgr: 'continue' });
    assert.equal([report.exitCode, report.cause?.code, endings.length], [200, 'STCI_AGENT_LOST', 0]);
    assert.match(report.cause?.message ?? '', /told to end \(SIGTERM\)/u);
    assert.is(outcomes(report).filter((outcome) => outcome === 'exited').length, HOSTS - 1);
    assert.is(later?.exitCode, 0, 'the others go on');
    const aborted = play(signals, SLEEP);
    assert.equal([aborted.report.exitCode, aborted.report.cause?.code], [200, 'STCI_AGENT_LOST']);
  });

  test('a signal that is meant for programs reaches them through the agents, once', () => {
    const { report, endings } = play([{ ...AGENTS, signal: 'SIGUSR1' }], ['on-signal', 'SIGUSR1', '0', '300']);
    assert.equal([report.exitCode, outcomes(report), endings], [0, Array(HOSTS).fill('exited'), []]);
  });

  test('a rank that failed before decides', () => {
    const { report } = play([AGENTS], ['on-signal', 'SIGTERM', '3', '300'], { 'tool.grace': '5s' });
    assert.equal([report.exitCode, outcomes(report)], [143, Array(HOSTS).fill('ended')]);
    const failed = play([{ to: 'ignore-term' }, { ...AGENTS, afterMs: 100 }], ['exit', '7']);
    assert.is(failed.report.exitCode, 7);
  });
});

suite('end of an allocation, at the controller', (test) => {
  /** Hosts 0 and 1 are up, and others suspect; what was done, in order. */
  function deciding(up: readonly number[] = [0, 1], suspects: readonly number[] = [], isTogether = false) {
    const place = testPlace();
    const log: string[] = [];
    const table = new MembershipTable(createTree(9, 2), specs(4));
    for (const host of [...up, ...suspects]) for (const event of ['start', 'up'] as const) table.apply(host, event);
    for (const host of suspects) table.apply(host, 'suspect');
    const recovery = { close: () => log.push('no restarts') };
    const together = { hosts: isTogether ? [0, 1] : [] };
    const bootstrap = { table, recovery, together, mender: { expel: (host: number) => log.push(`expel ${host}`) } };
    const job = {
      onAllocationEnding: (_error: StciError, hasWords: boolean) => log.push(`job ends ${hasWords}`),
      checkOver: () => log.push('checked'),
    };
    const holds = new Scope('session');
    const end = new AllocationEnd({
      clock: place.platform.clock, holds, bootstrap: () => bootstrap as never,
      jobs: () => [job] as never, onEnding: ({ message }) => log.push(message),
    });
    return { ...place, end, holds, log };
  }
  const WORDS = { code: 'STCI_ALLOCATION_ENDED', message: 'CANCELLED' } as const;

  test('the batch system\'s words decide at once, and what agents have said before does not count any more', () => {
    const { end, log, run } = deciding();
    for (const host of [0, 1]) end.onHost(host);
    assert.is(end.isPending, true);
    end.begin(WORDS);
    assert.is(end.isPending, false);
    end.onHost(0);
    run(2000);
    assert.equal(log, ['no restarts', 'job ends true', 'CANCELLED']);
    assert.throws(() => end.check(), /CANCELLED/);
  });

  test('hosts that are told one after the other are one end; one alone is lost, and jobs looked at again', () => {
    const all = deciding();
    all.end.check();
    for (const host of [0, 1]) {
      all.end.onHost(host);
      all.run(300);
    }
    assert.equal(all.log.slice(0, 2), ['no restarts', 'job ends false']);
    assert.match(all.log[2] ?? '', /SIGTERM.*: h\[0-1\]$/u);
    const one = deciding();
    one.end.onHost(1);
    one.run(499);
    assert.equal([one.log, one.end.isPending], [[], true]);
    one.run(2);
    assert.equal(one.log, ['expel 1']);
    one.run(500);
    assert.equal([one.log, one.end.isPending], [['expel 1', 'checked'], false]);
    one.end.check();
  });

  test('agents of one step that are all lost: jobs wait for the batch system\'s words, for a moment', () => {
    const silent = deciding([], [], true);
    silent.end.onLost();
    silent.run(499);
    assert.equal([silent.log, silent.end.isPending], [[], true]);
    silent.run(2);
    assert.equal([silent.log, silent.end.isPending], [['checked'], false]);
    const told = deciding([], [], true);
    told.end.onLost();
    told.run(100);
    told.end.begin(WORDS);
    told.end.onLost();
    assert.is(told.end.isPending, false);
    told.run(2000);
    assert.equal(told.log, ['no restarts', 'job ends true', 'CANCELLED']);
    for (const [up, isTogether] of [[[1], true], [[], false]] as const) {
      const { end } = deciding(up, [], isTogether);
      end.onLost();
      assert.is(end.isPending, false);
    }
  });

  test('nothing is decided once the session has ended, before or after the first says so', () => {
    const { end, holds, log, run } = deciding();
    end.onHost(1);
    holds.close();
    assert.is(end.isPending, false);
    end.onHost(0);
    assert.is(end.isPending, false);
    run(2000);
    assert.equal(log, []);
  });

  test('a host that says so while the others are suspect is lost alone; most that may be there are all', () => {
    for (const [up, suspects, told] of [[[1], [0, 2, 3], [1]], [[1], [0], [1]], [[0, 1], [2, 3], [0, 1]]] as const) {
      const { end, log, run } = deciding(up, suspects);
      for (const host of told) end.onHost(host);
      run(501);
      assert.equal(log, told.map((host) => `expel ${host}`));
    }
    const most = deciding([0, 1], [2]);
    for (const host of [0, 1]) most.end.onHost(host);
    most.run(501);
    assert.equal(most.log.slice(0, 2), ['no restarts', 'job ends false']);
  });
});
