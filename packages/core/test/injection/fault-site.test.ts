/** Fault sites: the order of a machine's events, deadlines, and what is undone when a machine or its agent fails. */

import type { FaultAction, FaultEvent, FaultModule, FaultOrder } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { Scope } from '../../dist/event/scope.js';
import { toolActions } from '../../dist/injection/fault-actions.js';
import { FaultSite, type FaultActions, type PartReport } from '../../dist/injection/fault-site.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { SessionPlace, ToolPlace } from '../../dist/service/contracts.js';
import { testPlace } from '../world.js';

const ORDER: FaultOrder = {
  id: 'a', kind: 'test', args: {}, victim: { kind: 'host', host: 3 }, job: 0, timeoutMs: 1000, durationMs: 500,
};

const placeOf = (toolOf: SessionPlace['toolOf']) =>
  ({ node: {} as AgentNode, ownsProcess: false, toolOf, exit: () => 'nobody is told' });

type Answer = (event: FaultEvent) => readonly FaultAction[];

/** A site whose machine answers so; `seen`: the events of the machine, `told`: what the controller is. */
function play(answer: Answer, actions: FaultActions = {}, undoes = true) {
  const place = testPlace();
  const seen: string[] = [];
  const told: string[] = [];
  const state: { isCutOff: boolean; answer?: () => void } = { isCutOff: false };
  const open: FaultModule['open'] = () => ({
    dueMs: undefined,
    on: (event) => {
      seen.push(event.type);
      return answer(event);
    },
  });
  const module = { victims: [], undoes, args: {}, problemOf: () => undefined, plan: () => [], open } as FaultModule;
  const node = {
    platform: place.platform, holds: new Scope('agent'), name: 'root:3', sessionName: 's',
    identity: { self: 0x2000_0003, job: 0 }, fault: () => undefined,
  } as unknown as AgentNode;
  const site = new FaultSite({
    node, scope: { fault: () => module }, actions, isCutOff: () => state.isCutOff,
    report: ({ report, over }: PartReport, answered) => {
      told.push(over ? 'over' : `${report?.state}: ${report?.text}`);
      if (answered !== undefined) state.answer = answered;
    },
  });
  const inject = (order: Partial<FaultOrder> = {}): void => {
    site.inject({ order: { ...ORDER, ...order }, number: 0, part: { at: { role: 'root', host: 3 }, body: {} } });
    place.run(1);
  };
  return { ...place, site, seen, told, inject, state, held: () => node.holds.rows().map(([, label]) => label) };
}

const USUAL: Answer = ({ type }) =>
  type === 'inject' ? [{ type: 'injected', text: 'done' }] : type === 'undo' ? [{ type: 'undone' }] : [];

/** An injection that leaves something, which is undone at its end: that is told in `released`. */
function leaving(answer: Answer, released: string[]): [Answer, FaultActions] {
  return [
    (event) => (event.type === 'set-up' ? [{ type: 'close', key: 'k', peers: [] }] : answer(event)),
    { close: (_action, { order, holds }) => void holds.atEnd(() => released.push(order.id)) },
  ];
}

suite('fault sites', (test) => {
  test('set-up, inject, after its time undo, tear-down; and none of it twice', () => {
    const { seen, told, inject, run, site } = play(USUAL);
    inject();
    assert.equal(told, ['injected: done']);
    inject();
    run(600);
    assert.equal(seen, ['set-up', 'inject', 'undo', 'tear-down']);
    assert.equal([told, site.isIdle], [['injected: done', 'undone: ', 'over'], true]);
  });

  test('its agent holds what is in force, and nothing after that', () => {
    const { held, inject, run, site } = play(USUAL);
    assert.equal([held(), site.isIdle], [[], true]);
    inject();
    assert.equal([held().includes('fault test'), site.isIdle], [true, false]);
    run(600);
    assert.equal([held(), site.isIdle], [[], true]);
    inject({ id: 'b' });
    site.stop('it ends');
    assert.equal(held(), []);
  });

  test('what is to be done once the controller was told waits for that', () => {
    const { seen, told, inject, run, state } = play((event) =>
      (event.type === 'inject' ? [{ type: 'injected', text: 'told', key: 'k' }] : USUAL(event)));
    inject();
    run(100);
    assert.equal([told, seen], [['injected: told'], ['set-up', 'inject']]);
    state.answer?.();
    run(1);
    assert.equal(seen, ['set-up', 'inject', 'done']);
  });

  test('ordered again after its undo, it is another injection; while it is in force, it is the same', () => {
    const { seen, told, inject, run, site } = play(USUAL);
    inject();
    site.undo('a');
    run(1);
    assert.equal([seen, told, site.isIdle], [['set-up', 'inject', 'undo', 'tear-down'],
      ['injected: done', 'undone: ', 'over'], true]);
    site.undo('a');
    run(1);
    assert.is(seen.length, 4, 'an undo of what is over does nothing');
    inject();
    assert.equal([seen.slice(4), told.slice(3), site.isIdle], [['set-up', 'inject'], ['injected: done'], false]);
  });

  test('without a controller it has lapsed; so it has when the agent stops', () => {
    const cut = play(USUAL);
    cut.inject();
    cut.state.isCutOff = true;
    cut.run(600);
    assert.is(cut.told[1], 'lapsed: its time was over, and the controller could not be told');
    const stopped = play(USUAL);
    stopped.inject();
    stopped.site.stop('it stops');
    assert.equal([stopped.seen.slice(2), stopped.told], [['undo', 'tear-down'],
      ['injected: done', 'lapsed: it stops', 'over']]);
  });

  test('what cannot be undone is over when it is done', () => {
    const { seen, told, inject } = play(USUAL, {}, false);
    inject();
    assert.equal([seen, told], [['set-up', 'inject', 'tear-down'], ['injected: done', 'over']]);
  });

  test('not in force within its time-out: failed, and undone', () => {
    const { seen, told, inject, run } = play(() => []);
    inject();
    run(1100);
    assert.equal(seen, ['set-up', 'inject', 'undo', 'tear-down']);
    assert.equal(told, ['failed: fault test was not in force within 1000 ms (its timeout)', 'over']);
  });

  test('undone before it is in force: skipped; a machine that does not undo: failed', () => {
    const early = play(({ type }) => (type === 'undo' ? [{ type: 'undone' }] : []));
    early.inject();
    early.site.undo('a');
    early.run(1);
    assert.equal(early.told, ['skipped: it was undone before it was in force', 'over']);
    const deaf = play(({ type }) => (type === 'inject' ? [{ type: 'injected', text: '' }] : []));
    deaf.inject();
    deaf.site.undo('a');
    deaf.run(6000);
    assert.equal(deaf.told.slice(1), ['failed: fault test could not be undone within 5000 ms', 'over']);
  });

  test('a machine that throws fails with the name of its kind; what it left is released, others go on', () => {
    const released: string[] = [];
    let isBroken = true;
    const { told, inject, site } = play(...leaving((event) => {
      if (event.type === 'inject' && isBroken) throw new Error('oops');
      return USUAL(event);
    }, released));
    inject();
    assert.equal([told.length, told[1], released, site.isIdle], [2, 'over', ['a'], true]);
    assert.match(told[0] ?? '', /^failed: fault test: .*oops$/u);
    isBroken = false;
    inject({ id: 'b' });
    assert.is(told.at(-1), 'injected: done');
  });

  test('an action that the agent cannot carry out is answered with the reason', () => {
    const { told, inject } = play((event) => {
      if (event.type === 'inject') return [{ type: 'kill', key: 'k', what: 'self' }];
      return event.type === 'done' ? [{ type: 'failed', reason: event.problem ?? 'none' }] : [];
    });
    inject();
    assert.equal(told, ['failed: root:3 cannot do this: kill', 'over']);
  });

  for (const [what, answer] of Object.entries({
    'no list': undefined, 'a list of nothing': [null], 'an action that is none': [{ type: 'constructor', key: 'k' }],
    'what has no processes': [{ type: 'spawn', key: 'k', program: null, args: 7, count: 1 }],
    'ranks that are none': [{ type: 'signal', key: 'k', ranks: 7, signal: 'SIGSTOP', whom: 'x' }],
  })) {
    test(`a machine that answers with ${what} fails, and others go on`, () => {
      let isBroken = true;
      const { told, inject, site } = play((event) => {
        if (event.type === 'inject' && isBroken) return answer as readonly FaultAction[];
        if (event.type === 'done') return [{ type: 'failed', reason: event.problem ?? '' }];
        return USUAL(event);
      }, toolActions(placeOf(() => undefined)));
      inject();
      assert.equal([told.length, told[0]?.slice(0, 8), told[1], site.isIdle], [2, 'failed: ', 'over', true]);
      isBroken = false;
      inject({ id: 'b' });
      assert.is(told.at(-1), 'injected: done');
    });
  }

  test('every rank that was stopped goes on when its machine has failed', () => {
    const signals: string[] = [];
    const tool = (rank: number): ToolPlace => ({
      signal: (name, whom) => {
        signals.push(`${rank} ${name} ${whom}`);
        return true;
      },
    });
    const actions = toolActions(placeOf(tool));
    const stop = (ranks: number[], signal: 'SIGSTOP' | 'SIGCONT' | 'SIGTSTP'): FaultAction =>
      ({ type: 'signal', key: 'k', ranks, signal, whom: 'group' });
    const { inject } = play(({ type }) => {
      if (type === 'undo') throw new Error('oops');
      return type === 'inject' ? [stop([1, 2], 'SIGSTOP'), stop([3], 'SIGTSTP'), stop([2], 'SIGCONT'),
        { type: 'failed', reason: 'x' }] : [];
    }, actions);
    inject();
    assert.equal(signals.slice(4), ['3 SIGCONT group', '1 SIGCONT group']);
  });

  test('an agent that stops undoes each of its faults, says of each how it ended, and takes no more', () => {
    const released: string[] = [];
    let isSlow = false;
    const { told, seen, inject, site, run } = play(
      ...leaving((event) => (isSlow && event.type === 'inject' ? [] : USUAL(event)), released));
    inject();
    isSlow = true;
    inject({ id: 'b' });
    seen.length = 0;
    site.stop('it stops');
    const skipped = 'skipped: it was undone before it was in force';
    const ends = ['injected: done', 'lapsed: it stops', 'over', skipped, 'over'];
    assert.equal([seen, told], [['undo', 'tear-down', 'undo', 'tear-down'], ends]);
    assert.equal([released, site.isIdle], [['a', 'b'], true]);
    inject({ id: 'c' });
    run(10_000);
    assert.equal([told.slice(5), seen.length], [['failed: it stops', 'over'], 4]);
  });

  test('a machine that does not undo: its processes end and what it left is undone when the agent stops', () => {
    const released: string[] = [];
    const stuck = play(
      ...leaving(({ type }) => (type === 'inject' ? [{ type: 'injected', text: '' }] : []), released));
    stuck.inject();
    stuck.site.stop('it stops');
    assert.equal([stuck.seen, released, stuck.site.isIdle], [['set-up', 'inject', 'undo', 'tear-down'], ['a'], true]);
    assert.equal(stuck.told, ['injected: ', 'lapsed: it stops', 'over']);
    stuck.run(10_000);
    assert.equal(stuck.told.length, 3);
  });
});
