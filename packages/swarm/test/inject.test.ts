/** The session's side of fault injection, in whole simulated sessions of shipped code. */

import type { ClockOffset, FaultReport, FaultVictim } from '@stci/interface';
import type { SimProcess } from '@stci/platform-sim';
import { assert, suite } from '@stci/testkit';
import { InjectionRun, TERMS, type Experimenter } from '@stci/swarm';

const run = (more: Partial<ConstructorParameters<typeof InjectionRun>[0]> = {}): InjectionRun =>
  new InjectionRun({ hosts: 3, command: ['sleep', '600'], ranks: 6, ...more });

const stoppedOf = (sim: InjectionRun): (string | undefined)[] =>
  sim.world.livingProcesses().filter(({ isStopped }) => isStopped).map(({ command, env }) =>
    env['STCI_RANK'] ?? command[0]).sort();

/** The session ends, and nothing is left anywhere. */
function assertClean(sim: InjectionRun): void {
  sim.world.start('login', ['stci', 'stop'], (context) => {
    const client = sim.connect(context);
    client.call('client.stop', {}, () => context.exit(0));
  }, { PATH: '/bin' });
  sim.until('the end of the session', () => !sim.process.isAlive);
  sim.rest(60_000);
  assert.equal(sim.left.filter((text) => !/stcirun|finject/u.test(text)), []);
  assert.equal(sim.world.faults, []);
}

const RANK_1 = { kind: 'rank', rank: 1 } as const;

suite('injection', (test) => {
  test('a rank is killed, and the report comes before the end of the rank', () => {
    const sim = run();
    const front = sim.experimenter();
    const report = sim.inject(front, sim.order({ kind: 'pkill', victim: { kind: 'rank', rank: 4 } }));
    assert.equal({ ...report, wallMs: 0, monotonicMs: 0 }, {
      id: '1.fault.1', agent: 'session:1', host: 1, state: 'injected', text: 'SIGKILL to rank 4', wallMs: 0,
      monotonicMs: 0,
    });
    sim.until('its end', () => sim.events.some((event) => event.type === 'exited' && event.report.rank === 4));
    assert.is(sim.tools.length, 5);
    const again = sim.inject(front, sim.order({ kind: 'pkill', id: 'b', victim: { kind: 'rank', rank: 4 } }));
    assert.equal([again.state, again.text], ['skipped', 'rank 4 does not run: it has ended, or was not started']);
  });

  test('noop is in force for its time', () => {
    const sim = run();
    const front = sim.experimenter();
    const order = sim.order({ kind: 'noop', victim: { kind: 'host', host: 1 }, durationMs: 500 });
    const [injected, undone] = [sim.inject(front, order), sim.inject(front, { ...order, id: 'x' }, 'undone')];
    assert.is(injected.state, 'injected');
    const first = front.reports.find(({ id, state }) => id === 'x' && state === 'injected');
    assert.is(Math.round(undone.monotonicMs - (first?.monotonicMs ?? 0)), 500);
  });

  test('a rank is paused and goes on, alone or because its order is undone', () => {
    const sim = run();
    const front = sim.experimenter();
    const pause = sim.order({ kind: 'pause', victim: RANK_1, durationMs: 3000 });
    const injected = sim.inject(front, pause, 'injected');
    sim.until('the stop', () => stoppedOf(sim).length === 1, 100);
    assert.equal(stoppedOf(sim), ['1']);
    const undone = sim.inject(front, { ...pause, id: 'b', durationMs: 100 }, 'undone');
    assert.is(undone.id, 'b');
    const over = sim.reportOf(front, pause.id, 'undone');
    assert.is(Math.round(over.monotonicMs - injected.monotonicMs), 3000);
    sim.inject(front, { ...pause, id: 'c', durationMs: 86_400_000 }, 'injected');
    let left: readonly string[] | undefined;
    front.client.experiment.undo('c', (_error, names) => (left = names));
    sim.until('the undo', () => left !== undefined, 1000);
    assert.equal([left, front.reports.at(-1)?.state], [[], 'undone']);
    sim.rest(100);
    assert.equal(stoppedOf(sim), []);
    assertClean(sim);
  });

  for (const [how, leaseMs, leave] of [
    ['is killed', 60_000, (sim, { process }) => void sim.world.killProcess('login', process.pid)],
    ['stands still', 2000, (sim, { process }) => sim.world.pauseProcess('login', process.pid)],
    ['closes its connection', 60_000, (_sim, { client }) => client.close()],
  ] as [string, number, (sim: InjectionRun, front: Experimenter) => void][]) {
    test(`a front-end that ${how}: all is undone, and a session of its own ends`, () => {
      for (const ownsSession of [false, true]) {
        const sim = run();
        const front = sim.experimenter({ leaseMs, ownsSession });
        const order = sim.order({ kind: 'pause', victim: RANK_1, durationMs: 3_600_000 });
        sim.inject(front, order, 'injected');
        const load = { kind: 'load', id: 'l', args: { cpu: 2 }, victim: { kind: 'host', host: 2 } } as const;
        sim.inject(front, sim.order({ ...load, durationMs: 3_600_000 }), 'injected');
        const busy = (): number => sim.left.filter((text) => text.includes('sh -c')).length;
        assert.is(busy(), 2);
        leave(sim, front);
        sim.until('the undo', () => busy() === 0 && stoppedOf(sim).every((what) => what === 'finject'), 5000);
        if (ownsSession) sim.until('the end of the session', () => !sim.process.isAlive, 60_000);
        else {
          const other = sim.experimenter();
          assert.is(sim.inject(other, { ...order, id: 'z', durationMs: 10 }, 'undone').state, 'undone');
          sim.world.resumeProcess('login', front.process.pid);
          assertClean(sim);
        }
      }
    });
  }

  test('one experiment at a time; what another front-end orders is refused', () => {
    const sim = run();
    const first = sim.experimenter();
    let problem: string | undefined;
    const second = sim.experimenter({}, (text) => (problem = text));
    assert.match(problem ?? '', /^Another experiment runs in this session/u);
    const refused = sim.inject(second, sim.order({ kind: 'pkill', victim: RANK_1 }));
    assert.equal([refused.state, refused.text],
      ['failed', 'this front-end has begun no experiment, or it is over']);
    let left: readonly string[] | undefined;
    first.client.experiment.undo('', (_error, names) => (left = names));
    sim.until('the end', () => left !== undefined);
    second.client.experiment.open(TERMS, (error) => (problem = error?.message ?? 'none'));
    sim.until('the next', () => problem === 'none');
  });

  test('orders beyond the terms, or wrong in themselves, are refused with the reason', () => {
    const sim = run({ settings: { 'launcher.tree.arity': '1' } });
    const front = sim.experimenter({ victimsMax: 1, keepRanks: [2], keepHosts: [] });
    const cases: [string, Parameters<InjectionRun['order']>[0]][] = [
      ['Unknown fault component "pkil"', { kind: 'pkil', victim: RANK_1 }],
      ['fault pkill has no argument signl; it has signal, whom. Did you mean signal?',
        { kind: 'pkill', args: { signl: 'SIGTERM' }, victim: RANK_1 }],
      ["'FOO' is no signal", { kind: 'pkill', args: { signal: 'FOO' }, victim: RANK_1 }],
      ['SIGSTOP would stop the rank for ever', { kind: 'pkill', args: { signal: 'STOP' }, victim: RANK_1 }],
      ['argument status of fault exit: 300 is more than 255', { kind: 'exit', args: { status: 300 }, victim: RANK_1 }],
      ['fault host is done to a host, not to a rank', { kind: 'host', victim: RANK_1 }],
      ['kind pause is undone after a time, which is missing. Add the duration, such as 2s.',
        { kind: 'pause', victim: RANK_1 }],
      ['rank 2 is to be kept', { kind: 'pkill', victim: { kind: 'rank', rank: 2 } }],
      ['rank 2 is to be kept, which runs on host 2; the victim is on that host',
        { kind: 'host', victim: { kind: 'host', host: 2 } }],
      ['rank 2 is to be kept, which runs on host 2; root:0 is above it in the tree',
        { kind: 'agent', victim: { kind: 'agent', role: 'root', host: 0 } }],
      ['rank 2 is to be kept, which runs on host 2; the fault is at a link on its way to the controller',
        { kind: 'link', victim: { kind: 'link', ends: [2, 1] }, durationMs: 5 }],
      ['the experiment needs its controller',
        { kind: 'agent', victim: { kind: 'agent', role: 'controller', host: 0 } }],
      ['the experiment needs its front-end', { kind: 'agent', victim: { kind: 'agent', role: 'front-end', host: 0 } }],
      ['host 9 is none of the session, which has 3', { kind: 'host', victim: { kind: 'host', host: 9 } }],
    ];
    for (const [text, order] of cases) {
      const report = sim.inject(front, sim.order({ ...order, id: text }));
      assert.equal([report.state, report.agent, report.text.slice(0, text.length)], ['failed', 'controller', text]);
    }
    const noop = { kind: 'noop', durationMs: 1 } as const;
    sim.inject(front, sim.order({ ...noop, victim: RANK_1 }), 'undone');
    sim.inject(front, sim.order({ ...noop, id: 'same', victim: RANK_1 }), 'undone');
    const more = sim.inject(front, sim.order({ ...noop, id: 'other', victim: { kind: 'rank', rank: 0 } }));
    assert.is(more.text, 'it would be victim 2, and the experiment may have 1 (victimsMax)');
  });

  test('a session agent is killed, a root agent, and all of a host', () => {
    const sim = run({ settings: { 'launcher.session.method': 'process' } });
    const front = sim.experimenter();
    const kill = (id: string, kind: string, victim: FaultVictim): FaultReport =>
      sim.inject(front, sim.order({ id, kind, victim }), 'injected');
    const at = kill('s', 'agent', { kind: 'agent', role: 'session', host: 0 });
    assert.equal([at.agent, at.text], ['root:0', 'session:0 was killed']);
    sim.until('the end of its tools', () => sim.tools.length === 4, 3000);
    assert.is(kill('r', 'agent', { kind: 'agent', role: 'root', host: 1 }).agent, 'root:1');
    sim.until('the end of its tools', () => sim.tools.length === 2, 3000);
    assert.is(kill('h', 'host', { kind: 'host', host: 2 }).agent, 'root:2');
    sim.until('the end of all', () => sim.tools.length === 0, 3000);
    sim.until('the end of the job', () => sim.events.some(({ type }) => type === 'ended'));
    assertClean(sim);
  });

  test('an agent in the process of another is killed alone, and is not paused', () => {
    const sim = run();
    const front = sim.experimenter();
    const victim = { kind: 'agent', role: 'session', host: 0 } as const;
    const paused = sim.inject(front, sim.order({ id: 'p', kind: 'pause', victim, durationMs: 500 }));
    assert.equal([paused.state, paused.text.slice(0, 47)],
      ['failed', 'session:0 runs in the process of another agent,']);
    sim.inject(front, sim.order({ kind: 'agent', victim }), 'injected');
    sim.until('the end of its tools', () => sim.tools.length === 4, 3000);
    assert.is(sim.agents.length, 3);
    assertClean(sim);
  });

  test('agents and hosts that stand still go on: shorter than the lease, nobody is lost', () => {
    const sim = run({ settings: { 'bootcom.lease': '5s' } });
    const front = sim.experimenter();
    const pause = { kind: 'pause', durationMs: 1500 } as const;
    const agent = sim.order({ ...pause, victim: { kind: 'agent', role: 'root', host: 1 } });
    sim.inject(front, agent, 'injected');
    sim.until('the stop', () => stoppedOf(sim).length > 0, 500);
    assert.equal(stoppedOf(sim), ['stci-agent']);
    sim.reportOf(front, agent.id, 'undone');
    const host = sim.order({ ...pause, id: 'h', victim: { kind: 'host', host: 2 } });
    sim.inject(front, host, 'injected');
    sim.until('the stop', () => stoppedOf(sim).length > 2, 500);
    assert.equal(stoppedOf(sim), ['2', '5', 'stci-agent']);
    sim.reportOf(front, host.id, 'undone');
    sim.rest(5000);
    assert.equal([stoppedOf(sim), sim.tools.length, sim.agents.length], [[], 6, 3]);
    assert.is(sim.events.filter(({ type }) => type === 'failure').length, 0);
    assertClean(sim);
  });

  for (const [shape, arity] of [['a chain', 1], ['a tree', 2], ['a flat tree', 64]] as const) {
    test(`hosts of ${shape} that are to stand still at once do, whichever is named first`, () => {
      for (const hosts of [[0, 1, 2, 3, 4, 5, 6], [5, 2, 0, 6]]) {
        const settings = { 'launcher.tree.arity': String(arity), 'bootcom.lease': '20s' };
        const sim = run({ hosts: 7, ranks: 7, settings });
        const front = sim.experimenter();
        const order = (host: number) =>
          sim.order({ id: `h${host}`, kind: 'pause', victim: { kind: 'host', host }, durationMs: 8000 });
        for (const host of hosts) front.client.experiment.inject(order(host));
        const stopped = (): number => stoppedOf(sim).filter((name) => name === 'stci-agent').length;
        sim.until('the first', () => stopped() > 0, 1000);
        sim.until('the others', () => stopped() === hosts.length, 5);
        sim.rest(20_000);
        const times = hosts.map((host) => sim.reportOf(front, `h${host}`, 'injected').monotonicMs);
        assert.ok(Math.max(...times) - Math.min(...times) < 5, `${times.join()}`);
        assert.equal([stopped(), sim.endless(front, hosts.map(order))], [0, []]);
        assertClean(sim);
      }
    });
  }

  test('what is below a link that is cut at once is done at once, and its answer is waited for', () => {
    const sim = run({ hosts: 4, settings: { 'launcher.tree.arity': '1', 'bootcom.lease': '20s' } });
    const front = sim.experimenter();
    const orders = [
      sim.order({ id: 'cut', kind: 'link', victim: { kind: 'link', ends: [0, 1] }, durationMs: 8000 }),
      ...[0, 1, 2].map((host) =>
        sim.order({ id: `h${host}`, kind: 'noop', victim: { kind: 'host', host }, durationMs: 500 })),
    ];
    for (const order of orders) front.client.experiment.inject(order);
    sim.rest(20_000);
    const times = orders.map(({ id }) => sim.reportOf(front, id, 'injected').monotonicMs);
    assert.ok(Math.max(...times) - Math.min(...times) < 5, `${times.join()}`);
    assert.equal(sim.endless(front, orders), []);
    assertClean(sim);
  });

  test('a host that stands still for longer is given up, and ends when it goes on', () => {
    const sim = run();
    const front = sim.experimenter();
    const host = sim.order({ kind: 'pause', victim: { kind: 'host', host: 2 }, durationMs: 20_000 });
    sim.inject(front, host, 'injected');
    assert.is(sim.reportOf(front, host.id, 'lapsed').agent, 'controller');
    sim.rest(30_000);
    assert.equal([stoppedOf(sim), sim.tools.length, sim.agents.length], [[], 4, 2]);
    assertClean(sim);
  });

  test('the controller, where that is permitted: everything ends with it', () => {
    const sim = run();
    const front = sim.experimenter({ allow: ['controller', 'front-end'] });
    const self = { kind: 'agent', role: 'front-end', host: 0 } as const;
    assert.is(sim.inject(front, sim.order({ id: 'f', kind: 'agent', victim: self })).state, 'injected');
    const victim = { ...self, role: 'controller' } as const;
    sim.inject(front, sim.order({ kind: 'agent', victim }), 'injected');
    sim.until('its end', () => !sim.process.isAlive, 1000);
    sim.rest(30_000);
    assert.equal(sim.left.filter((text) => !/stcirun|finject/u.test(text)), []);
  });

  test('a site that dies while a fault is in force: it is over, and told', () => {
    const sim = run();
    const front = sim.experimenter();
    const pause = sim.order({ kind: 'pause', victim: RANK_1, durationMs: 3_600_000 });
    sim.inject(front, pause, 'injected');
    const root = sim.agents.find(({ host }) => host === sim.tool(1)?.host) as SimProcess;
    sim.world.killProcess(root.host, root.pid);
    const lapsed = sim.reportOf(front, pause.id, 'lapsed');
    assert.match(lapsed.text, /^session:1 of job 1 has ended, and the fault with it$/u);
    assertClean(sim);
  });

  test('a rank that cannot be told to end with a status', () => {
    const sim = run();
    const front = sim.experimenter();
    const report = sim.inject(front, sim.order({ kind: 'exit', victim: RANK_1 }));
    assert.equal([report.state, /without --client$/u.test(report.text)], ['failed', true]);
  });

  test('clocks of all hosts, within the error that is named', () => {
    const sim = run();
    const front = sim.experimenter();
    [...sim.world.hosts].forEach((host, i) => (host.wallOffsetMs = 1000 * i));
    const offsets = new Map([...sim.world.hosts].map(({ name, wallOffsetMs }) => [name, wallOffsetMs]));
    let found: readonly ClockOffset[] | undefined;
    front.client.experiment.clocks((_error, clocks) => (found = clocks));
    sim.until('the clocks', () => found !== undefined);
    assert.equal(found?.map(({ host, samples }) => [host, samples]), [[0, 8], [1, 8], [2, 8]]);
    for (const { name, offsetMs, errorMs } of found ?? []) {
      assert.ok(Math.abs(offsetMs - ((offsets.get(name) ?? 0) - (offsets.get('login') ?? 0))) <= errorMs, name);
      assert.ok(errorMs < 5);
    }
  });
});
