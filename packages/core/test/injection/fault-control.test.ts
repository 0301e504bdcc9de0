/** Fault control: sites that lie, kinds that break, names that are used again, and floods of requests. */

import {
  CONTROLLER, rootAddress, sessionAddress,
  type ExperimentTerms, type FaultModule, type FaultOrder, type FaultPart, type FaultReport, type FaultVictim,
  type HostIndex,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { FaultControl, type FaultControlInit } from '../../dist/injection/fault-control.js';
import type { PartReport } from '../../dist/injection/fault-site.js';
import { testPlace } from '../world.js';

const TERMS: ExperimentTerms = {
  leaseMs: 60_000, ownsSession: false, allow: [], victimsMax: 100_000, keepRanks: [], keepHosts: [],
};
const ORDER: FaultOrder = {
  id: 'a', kind: 'test', args: {}, victim: { kind: 'host', host: 1 }, job: 0, timeoutMs: 1000, durationMs: 500,
};
const PARTS: readonly FaultPart[] = [{ at: { role: 'root', host: 1 }, body: {} }];

type Sent = readonly [to: number, name: string, body: { readonly id?: string; readonly order?: FaultOrder }];
type Source = { readonly source: number; readonly job: number };

function play(kind: Partial<FaultModule> = {}) {
  const place = testPlace();
  const sent: Sent[] = [];
  const asked: ((error: undefined, reply: { wallMs: number }) => void)[] = [];
  let tell: (report: PartReport, from: Source) => void = () => undefined;
  const module = {
    victims: ['host'], undoes: true, args: {}, problemOf: () => undefined, plan: () => PARTS,
    open: () => ({ dueMs: undefined, on: () => [] }), ...kind,
  } as FaultModule;
  const messages = {
    on: (name: string, handler: typeof tell) => name === 'fault.report' && (tell = handler),
    send: (to: number, name: string, body: Sent[2]) => void sent.push([to, name, body]),
    request: (_to: number, _name: string, _body: unknown, done: (typeof asked)[number]) => void asked.push(done),
  };
  const node = {
    platform: place.platform, holds: new Scope('agent'), name: 'controller', messages,
    identity: { self: CONTROLLER, job: 0 }, fault: () => undefined,
  };
  const jobs: number[] = [];
  /** Of each job, by host. */
  const ranks = [1, 1, 1, 1];
  const places = { hostOf: () => undefined, ranksOn: (host: HostIndex) => ranks[host] ?? 0 };
  /** In the tree, by host. */
  const parents: (HostIndex | undefined)[] = [];
  const table = {
    size: 4, isGone: () => false, get: (host: HostIndex) => ({ state: 'up', parent: parents[host] }),
    hosts: () => [0] as HostIndex[],
  };
  const control = new FaultControl({
    node, scope: { fault: () => module }, actions: () => ({}),
    session: {
      table, jobs, hostName: (host: HostIndex) => `h${host}`,
      jobOf: (job: number) => (jobs.includes(job) ? places : undefined),
    },
  } as unknown as FaultControlInit);
  const reports: FaultReport[] = [];
  const owner = { onReport: (report: FaultReport) => void reports.push(report), onAbandoned: () => undefined };
  const begin = (ownsSession: boolean): void => control.begin(owner, { ...TERMS, ownsSession, allow: ['controller'] });
  begin(false);
  const report = (state: FaultReport['state'], more: Partial<FaultReport> = {}): FaultReport =>
    ({ id: '', agent: 'root:3', host: 3, state, text: '', wallMs: 1, monotonicMs: 1, ...more });
  return {
    ...place, control, begin, owner, sent, asked, reports, report, jobs, parents, ranks,
    inject: (order: Partial<FaultOrder> = {}) => control.inject(owner, [{ ...ORDER, ...order }]),
    /** From the site of the order that was sent last, unless said otherwise. */
    say: (state: FaultReport['state'] | undefined, over = false, more: Partial<FaultReport> = {}, of?: string,
      source: Source = { source: rootAddress(1), job: 0 }) => {
      const id = of ?? sent.findLast(([, name]) => name === 'fault.inject')?.[2].order?.id ?? '';
      tell({ host: 1, number: 0, id, over, report: state && report(state, more) }, source);
    },
    get told() {
      return reports.map(({ id, state, text }) => `${id} ${state}: ${text}`);
    },
  };
}

suite('fault control', (test) => {
  test('a site speaks for itself alone, and only once of each state', () => {
    const one = play();
    one.inject();
    one.say('injected', false, { id: 'other', text: 'x'.repeat(1 << 20) });
    const [{ text, ...rest } = one.report('failed')] = one.reports;
    assert.equal([text.length, rest],
      [2000, { id: 'a', agent: 'root:1', host: 1, state: 'injected', wallMs: 1, monotonicMs: 1 }]);
    assert.throws(() => one.say('injected'), /a at root:1 cannot be injected after it was injected/u);
    assert.throws(() => one.say('skipped'), /cannot be skipped/u);
    one.say('undone');
    assert.throws(() => one.say('failed'), /cannot be failed after it was undone/u);
    one.say(undefined, true);
    one.say('injected');
    assert.is(one.reports.length, 2);
  });

  test('nor does one of another host or job speak for it', () => {
    const one = play();
    one.inject();
    for (const source of [rootAddress(2), sessionAddress(1)]) {
      assert.throws(() => one.say('undone', true, {}, undefined, { source, job: 0 }), /from root:1, got it from/u);
    }
    one.say('undone', true, {}, '4711', { source: rootAddress(2), job: 0 });
    assert.equal(one.told, []);
  });

  test('each order gets a report, also from a site that ends it without a word', () => {
    const one = play();
    one.inject();
    one.say(undefined, true);
    one.inject({ id: 'b' });
    one.say('injected');
    one.say(undefined, true);
    assert.equal(one.told, ['a failed: root:1 has ended it without telling whether it was in force', 'b injected: ',
      'b lapsed: root:1 has ended it, and did not tell how']);
  });

  test('the end of an order is its last report, whatever its site says later', () => {
    const late = play();
    late.inject();
    late.run(4100);
    late.say('injected');
    late.say('undone');
    late.say(undefined, true);
    assert.equal(late.told, ['a failed: root:1 did not answer within 4 s']);
    const gone = play();
    gone.inject();
    gone.say('injected');
    gone.say('undone');
    gone.control.onGone({ host: 1 });
    gone.control.stop();
    assert.equal(gone.told, ['a injected: ', 'a undone: ']);
  });

  test('orders that are open when their job, the experiment or the session ends get their end', () => {
    const at = { role: 'session', host: 1 } as const;
    const job = play({ plan: () => [{ at, body: {} }] });
    job.jobs.push(7);
    job.inject({ job: 7 });
    job.inject({ job: 7, id: 'b' });
    job.say('injected', false, {}, undefined, { source: sessionAddress(1), job: 7 });
    job.jobs.pop();
    job.control.onGone({ job: 7 });
    job.inject({ job: 7, id: 'c' });
    assert.equal(job.told, ['b injected: ',
      'a failed: its job was over before session:1 of job 7 told whether the fault was in force',
      'b lapsed: its job is over, and the fault with it', 'c skipped: job 7 is over']);
    const experiment = play();
    experiment.inject({ timeoutMs: 20_000 });
    experiment.control.undo(experiment.owner, '', () => undefined);
    experiment.run(8100);
    assert.equal(experiment.told, [
      'a failed: the experiment was over before root:1 told whether the fault was in force']);
    const session = play();
    session.inject();
    session.say('injected');
    session.inject({ id: 'b' });
    session.control.stop();
    assert.equal(session.told, ['a injected: ', 'a lapsed: the session ends, and the fault with it',
      'b failed: the session ends before root:1 told whether the fault was in force']);
  });

  const VICTIMS: readonly FaultVictim[] = [
    { kind: 'rank', rank: 0 }, { kind: 'host', host: 1 }, { kind: 'agent', role: 'root', host: 1 },
    { kind: 'agent', role: 'session', host: 1 }, { kind: 'agent', role: 'controller', host: 0 },
    { kind: 'link', ends: [1, 2] }, { kind: 'partition', sets: [[0, 1], [2]] },
  ];
  const ANY: Partial<FaultModule> = { victims: ['rank', 'host', 'agent', 'link', 'partition'] };

  test('an order for a job that is over is refused, whatever its victim; also in a session of its own', () => {
    for (const ownsSession of [false, true]) {
      for (const victim of VICTIMS) {
        const one = play(ANY);
        one.begin(ownsSession);
        one.inject({ job: 7, victim });
        assert.equal([one.told, one.sent], [['a skipped: job 7 is over'], []], JSON.stringify(victim));
      }
    }
  });

  test('it is idle before the first experiment and after the last', () => {
    const one = play();
    assert.is(one.control.isIdle, false);
    one.control.leave(one.owner);
    assert.is(one.control.isIdle, true);
  });

  test('a kind that leaves nothing to undo takes no duration, one that does needs it', () => {
    const [one, other] = [play({ undoes: false }), play()];
    one.inject();
    other.control.inject(other.owner, [{ ...ORDER, durationMs: undefined }]);
    assert.equal([...one.told, ...other.told, ...one.sent, ...other.sent], [
      'a failed: kind test leaves nothing to undo. Leave the duration out.',
      'a failed: kind test is undone after a time, which is missing. Add the duration, such as 2s.']);
  });

  test('a victim is of the job: it has ranks there, or below in the tree; a session of its own has no others', () => {
    const told = (victim: FaultVictim, ranks: readonly number[], ownsSession = false): string => {
      const one = play(ANY);
      one.jobs.push(7);
      one.parents.push(undefined, 0, 1, 0);
      one.ranks.splice(0, 4, ...ranks);
      one.begin(ownsSession);
      one.inject({ job: 7, victim });
      assert.is(one.told.length + one.sent.length, 1);
      return one.told[0] ?? 'sent';
    };
    const refused = (names: string): string =>
      `a failed: job 7 has no ranks on ${names}, nor on hosts below in the tree of agents`;
    for (const victim of VICTIMS) assert.is(told(victim, [0, 1, 1, 0]), 'sent', JSON.stringify(victim));
    const host = (at: HostIndex): FaultVictim => ({ kind: 'host', host: at });
    const link = (...ends: [number, number]): FaultVictim => ({ kind: 'link', ends });
    assert.equal([0, 1, 2, 3].map((at) => told(host(at), [0, 1, 0, 0])),
      ['sent', 'sent', refused('h2'), refused('h3')]);
    assert.is(told({ kind: 'agent', role: 'session', host: 0 }, [0, 1, 0, 0]), refused('h0'));
    assert.equal([link(0, 1), link(1, 2), link(2, 3), link(0, 4), link(3, 4)].map((one) => told(one, [0, 1, 0, 0])),
      ['sent', 'sent', 'sent', refused('h3'), refused('h2 or h3')]);
    for (const victim of VICTIMS) assert.is(told(victim, [0, 0, 0, 0], true), 'sent', JSON.stringify(victim));
  });

  test('who waits for the end of an order hears it when its site has gone, or its job', () => {
    for (const gone of [{ host: 1 }, { job: 7 }]) {
      const at = { role: 'session', host: 1 } as const;
      const one = play('job' in gone ? { plan: () => [{ at, body: {} }] } : {});
      one.jobs.push(7);
      one.inject('job' in gone ? { job: 7 } : {});
      const left: (readonly string[])[] = [];
      one.control.undo(one.owner, 'a', (names) => left.push(names));
      assert.equal(left, []);
      one.control.onGone(gone);
      assert.equal([left, one.told.length], [[[]], 1]);
    }
  });

  test('orders that come together are sent from the leaves of the tree up', () => {
    const at = (id: string): FaultPart['at'] =>
      ({ role: id === 'r' ? 'session' : id === 'c' ? 'controller' : 'root', host: id === 'r' ? 0 : Number(id) || 0 });
    const one = play({ plan: ({ id }) => [{ at: at(id), body: {} }], open: () => {
      one.sent.push([0, 'controller', {}]);
      return { dueMs: undefined, on: () => [] };
    } });
    one.jobs.push(7);
    one.parents.push(undefined, 0, 1, 0);
    one.control.inject(one.owner, ['c', '0', '1', '2', '3', 'r'].map((id) => ({ ...ORDER, id, job: 7 })));
    assert.equal(one.sent.map(([to]) => to), [rootAddress(2), rootAddress(1), rootAddress(3), sessionAddress(0),
      rootAddress(0), 0]);
  });

  test('a site behind the victim of another order is waited for as long as that is in force, and no longer', () => {
    const plan: FaultModule['plan'] = ({ victim }) =>
      [{ at: { role: 'root', host: (victim as { readonly host: HostIndex }).host }, body: {} }];
    const one = play({ plan });
    one.parents.push(undefined, 0, 1, 0);
    one.inject({ id: 'above', durationMs: 20_000, victim: { kind: 'host', host: 0 } });
    one.say('injected', false, {}, undefined, { source: rootAddress(0), job: 0 });
    one.inject({ id: 'beside', victim: { kind: 'host', host: 0 } });
    one.inject({ id: 'below', victim: { kind: 'host', host: 2 } });
    one.run(4100);
    assert.equal(one.told.length, 1);
    one.run(23_000);
    assert.equal(one.told.slice(1), ['beside failed: root:0 did not answer within 27 s',
      'below failed: root:2 did not answer within 27 s']);
  });

  test('an order that is over at once holds up no site behind its victim', () => {
    const plan: FaultModule['plan'] = ({ victim }) =>
      [{ at: { role: 'root', host: (victim as { readonly host: HostIndex }).host }, body: {} }];
    const one = play({ plan, undoes: false });
    one.parents.push(undefined, 0, 1, 0);
    const { durationMs: _, ...over } = ORDER;
    const inject = (id: string, host: HostIndex): void =>
      one.control.inject(one.owner, [{ ...over, id, victim: { kind: 'host', host } }]);
    inject('below', 2);
    one.run(1000);
    inject('above', 0);
    one.run(3100);
    assert.equal(one.told, ['below failed: root:2 did not answer within 4 s']);
  });

  test('what is undone in its time has lapsed if the controller hears it much later, unless by its order', () => {
    const told = (lateMs: number, isOrdered = false): string | undefined => {
      const one = play();
      one.inject({ durationMs: 60_000 });
      one.say('injected', false, { monotonicMs: 1000 });
      if (isOrdered) one.control.undo(one.owner, 'a', () => undefined);
      one.run(500 + lateMs);
      one.say('undone', false, { monotonicMs: 1500 });
      return one.told.at(-1);
    };
    assert.equal([told(2900), told(7000, true)], ['a undone: ', 'a undone: ']);
    assert.is(told(4000), 'a lapsed: its time was over, and the controller was told 4 s later');
  });

  test('an id that is used again is another injection at its site', () => {
    const one = play();
    one.inject();
    one.say('injected');
    const [, , { order: first }] = one.sent[0] as Sent;
    let left: readonly string[] = [];
    one.control.undo(one.owner, '', (names) => (left = names));
    one.run(10_000);
    assert.equal(left, ['root:1']);
    one.control.begin(one.owner, TERMS);
    one.inject();
    const [, , { order: second }] = one.sent.at(-1) as Sent;
    assert.ok(first?.id !== second?.id);
    one.say('undone', true, {}, first?.id);
    one.say('injected');
    const lapsed = 'a lapsed: it was not reached: it undoes the fault by itself';
    assert.equal(one.told, ['a injected: ', lapsed, 'a injected: ']);
  });

  const broken: Readonly<Record<string, Partial<FaultModule>>> = {
    'throws when it plans': { plan: () => { throw new Error('oops'); } },
    'throws when it checks': { problemOf: () => { throw new Error('oops'); } },
    'plans nothing that is': { plan: () => undefined as never },
    'plans at a place that is none': { plan: () => [{ at: { role: 'root', host: NaN }, body: 1 }] },
    'plans parts that are none': { plan: () => [undefined as never] },
    'plans at a session agent, and the order is of no job': {
      plan: () => [{ at: { role: 'session', host: 1 }, body: {} }],
    },
    'plans for a role that is none': { plan: () => [{ at: { role: 'x' as 'root', host: 0 }, body: 1 }] },
  };
  for (const [what, kind] of Object.entries(broken)) {
    test(`a kind that ${what}: the order fails with its name, and the next is taken`, () => {
      const one = play(kind);
      one.inject();
      assert.match(one.told[0] ?? '', /^a failed: fault test (?:cannot be planned|has planned)/u);
      one.inject();
      assert.equal([one.reports.length, one.sent], [2, []]);
    });
  }

  test('a flood of undos and of requests for the clocks has a bound, and each is answered', () => {
    const one = play();
    one.inject();
    let [undone, clocked] = [0, 0];
    for (let i = 0; i < 5000; i++) {
      one.control.undo(one.owner, 'a', () => (undone += 1));
      one.control.clocks(() => (clocked += 1));
    }
    assert.equal([one.asked.length, undone > 3000, clocked > 4000], [1, true, true]);
    assert.ok(one.sent.length < 2000, `${one.sent.length} messages`);
    for (let next = one.asked.shift(); next !== undefined; next = one.asked.shift()) next(undefined, { wallMs: 1 });
    one.run(10_000);
    assert.equal([undone, clocked], [5000, 5000]);
  });
});
