/** Fault control without a session: one experiment at a time, its lease, deadlines and bounds. */

import {
  CONTROLLER, rootAddress, type Address, type ExperimentTerms, type FaultModule, type FaultOrder, type FaultReport,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { FaultControl } from '../../dist/injection/fault-control.js';
import { MembershipTable } from '../../dist/membership/table.js';
import type { AgentNode } from '../../dist/node/node.js';
import { specs } from '../membership/specs.js';
import { testPlace } from '../world.js';

const HOSTS = 3;
const TERMS: ExperimentTerms = {
  leaseMs: 1000, ownsSession: false, allow: [], victimsMax: 2000, keepRanks: [], keepHosts: [],
};
const ORDER: FaultOrder = {
  id: 'a', kind: 'test', args: {}, victim: { kind: 'host', host: 1 }, job: 0, timeoutMs: 1000, durationMs: 60_000,
};

interface Sent { readonly to: Address; readonly name: string; readonly body: unknown }

/** A controller with three hosts that are up; `parts`: roots that take part in each injection. */
function play(parts: readonly number[] = [1]) {
  const place = testPlace();
  const sent: Sent[] = [];
  const handlers = new Map<string, (body: unknown, from: unknown) => void>();
  const node = {
    platform: place.platform, holds: new Scope('agent'), name: 'controller', sessionName: 's',
    identity: { self: CONTROLLER, job: 0 }, fault: () => undefined,
    messages: {
      on: (name: string, handler: (body: unknown, from: unknown) => void) => void handlers.set(name, handler),
      send: (to: Address, name: string, body: unknown) => void sent.push({ to, name, body }),
    },
  } as unknown as AgentNode;
  const table = new MembershipTable({ parent: () => 0, children: () => [] } as never, specs(HOSTS));
  for (let host = 0; host < HOSTS; host++) {
    table.apply(host, 'start');
    table.apply(host, 'up');
  }
  const module: FaultModule = {
    victims: ['host'], undoes: true, args: {}, problemOf: () => undefined,
    plan: () => parts.map((host) => ({ at: { role: 'root', host }, body: {} })),
    open: () => ({ dueMs: undefined, on: () => [] }),
  };
  const control = new FaultControl({
    node, scope: { fault: () => module }, actions: () => ({}),
    session: { table, jobs: [], agents: [], hostName: (host) => `h${host}`, jobOf: () => undefined },
  });
  const front = (name: string) => {
    const told: string[] = [];
    return {
      told,
      onReport: ({ id, state, text }: FaultReport) => void told.push(`${id} ${state}: ${text}`),
      onAbandoned: (reason: string) => void told.push(`${name} abandoned: ${reason}`),
    };
  };
  /** Of the order that was sent last, by the id that its site knows. */
  const report = (host: number, state: FaultReport['state'], over = false): void => {
    const last = sent.findLast(({ name }) => name === 'fault.inject')?.body as { readonly order: FaultOrder };
    const { id } = last.order;
    const what = { id, agent: `root:${host}`, host, state, text: 'x', wallMs: 1, monotonicMs: 1 };
    const number = parts.indexOf(host);
    handlers.get('fault.report')?.({ host, number: Math.max(0, number), id, over, report: what },
      { source: rootAddress(host), job: 0 });
  };
  const undos = (): Address[] => sent.filter(({ name }) => name === 'fault.undo').map(({ to }) => to);
  return { ...place, control, front, sent, report, undos, table };
}

suite('bounds of fault control', (test) => {
  test('one experiment at a time, also while the last one is still being undone', () => {
    const { control, front, report, run } = play();
    const [first, second] = [front('first'), front('second')];
    control.begin(first, TERMS);
    assert.throws(() => control.begin(second, TERMS), /Another experiment runs/u);
    control.inject(first, [ORDER]);
    report(1, 'injected');
    assert.ok(control.leave(first));
    assert.throws(() => control.begin(second, TERMS), /still being undone/u);
    assert.throws(() => control.begin(first, TERMS), /still being undone/u);
    report(1, 'undone', true);
    run(1);
    control.begin(second, TERMS);
  });

  test('the lease counts from the last renewal, and only its owner may inject or undo', () => {
    const { control, front, run, report, undos } = play();
    const [own, other] = [front('own'), front('other')];
    control.begin(own, TERMS);
    control.inject(own, [ORDER]);
    report(1, 'injected');
    for (let i = 0; i < 4; i++) {
      run(700);
      control.begin(own, TERMS);
    }
    control.inject(other, [{ ...ORDER, id: 'b' }]);
    assert.match(other.told.join(), /^b failed: this front-end has begun no experiment/u);
    let left: readonly string[] | undefined;
    control.undo(other, '', (names) => { left = names; });
    assert.equal([left, undos()], [[], []]);
    run(1100);
    assert.equal(undos(), [rootAddress(1)]);
    report(1, 'undone', true);
    assert.equal(own.told, ['a injected: x', 'a undone: x',
      'own abandoned: the front-end of the experiment was silent for 1 s']);
  });

  test('a site that does not answer: failed, and told to undo what it may get later', () => {
    const { control, front, run, undos } = play();
    const own = front('own');
    control.begin(own, { ...TERMS, leaseMs: 60_000 });
    control.inject(own, [ORDER]);
    run(3900);
    assert.equal([own.told, undos()], [[], []]);
    run(200);
    assert.equal([own.told, undos()], [['a failed: root:1 did not answer within 4 s'], [rootAddress(1)]]);
  });

  test('who asks again while all is being undone has the same answer, when it is; and no crowd waits for it', () => {
    const { control, front, report } = play();
    const own = front('own');
    control.begin(own, TERMS);
    control.inject(own, [ORDER]);
    report(1, 'injected');
    const answers: string[] = [];
    const ask = (who: string, id: string): void =>
      control.undo(own, id, (left) => void answers.push(`${who}: ${left.join()}`));
    for (const who of ['first', 'second']) ask(who, '');
    ask('of it', 'a');
    assert.equal(answers, []);
    for (let i = 0; i < 1023; i++) control.undo(own, '', () => undefined);
    ask('one more', '');
    assert.equal(answers.splice(0), ['one more: root:1']);
    report(1, 'undone', true);
    assert.equal(answers, ['first: ', 'second: ', 'of it: ']);
  });

  test('an undo that is not answered names those that are left; what they say later is nobody’s', () => {
    const { control, front, run, report } = play([1, 2]);
    const own = front('own');
    control.begin(own, { ...TERMS, leaseMs: 60_000 });
    control.inject(own, [ORDER]);
    report(1, 'injected');
    report(2, 'injected');
    let left: readonly string[] | undefined;
    control.undo(own, '', (names) => { left = names; });
    report(2, 'undone', true);
    run(7900);
    assert.equal(left, undefined);
    run(200);
    assert.equal(left, ['root:1']);
    const next = front('next');
    control.begin(next, TERMS);
    report(1, 'undone', true);
    control.inject(next, [ORDER]);
    assert.equal(next.told, []);
  });

  test('a name that is in force is refused; so are more injections than there may be', () => {
    const { control, front, sent } = play();
    const own = front('own');
    control.begin(own, TERMS);
    control.inject(own, [ORDER]);
    control.inject(own, [ORDER]);
    assert.equal(own.told, ["a failed: 'a' is in force already"]);
    for (let i = 1; i <= 1024; i++) control.inject(own, [{ ...ORDER, id: `b${i}` }]);
    assert.equal(own.told.slice(1), ['b1024 failed: 1024 injections are in force: no more are taken']);
    assert.is(sent.filter(({ name }) => name === 'fault.inject').length, 1024);
  });

  test('parts of all injections together are bounded', () => {
    const { control, front } = play(Array.from({ length: 6000 }, () => 1));
    const own = front('own');
    control.begin(own, TERMS);
    control.inject(own, [ORDER]);
    control.inject(own, [{ ...ORDER, id: 'b' }]);
    assert.equal(own.told, ['b failed: 6000 agents are too many: at most 10000 take part in faults at one time']);
  });

  test('a host that is gone is skipped; one that goes has failed, or its fault has lapsed', () => {
    const { control, front, table, report } = play([1, 2]);
    const own = front('own');
    control.begin(own, TERMS);
    control.inject(own, [ORDER]);
    report(2, 'injected');
    control.onGone({ host: 1 });
    control.onGone({ host: 2 });
    table.apply(1, 'fail');
    control.inject(own, [{ ...ORDER, id: 'b' }]);
    assert.equal(own.told, [
      'a injected: x', 'a failed: root:1 has ended before it told whether the fault was in force',
      'a lapsed: root:2 has ended, and the fault with it', 'b skipped: root:1 is gone',
    ]);
  });
});
