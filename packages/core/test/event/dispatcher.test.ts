/** Event domains: order, rotation, bounds, both models of progress, and what handlers may do to their domain. */

import { assert, suite } from '@stci/testkit';
import { EventDispatcher, type DispatcherInit } from '../../dist/event/dispatcher.js';

interface Events extends Record<string, unknown> {
  a: number;
  b: number;
}

/** A dispatcher whose turns are run by hand. */
function place(init: Partial<DispatcherInit> = {}) {
  const turns: (() => void)[] = [];
  const faults: string[] = [];
  const clock = {
    nowMs: () => 0,
    wallMs: () => 0,
    after: () => assert.unreachable('no timers') as never,
    soon: (fire: () => void) => void turns.push(fire),
  };
  const dispatcher = new EventDispatcher({
    clock,
    progressModel: 'implicit',
    turnMax: 4,
    queueMax: 8,
    onFault: (domain, event, fault) => faults.push(`${domain}/${event}: ${(fault as Error).message}`),
    ...init,
  });
  return { dispatcher, turns, faults, turn: () => turns.shift()?.() };
}

suite('event dispatcher', (test) => {
  test('nothing runs inside trigger; handlers run in the order of their registration', () => {
    const { dispatcher, turns, turn } = place();
    const domain = dispatcher.domain<Events>('d');
    const seen: string[] = [];
    domain.observe('a', (n) => seen.push(`first ${n}`));
    domain.observe('a', (n) => seen.push(`second ${n}`));
    domain.observe('b', (n) => seen.push(`b ${n}`));
    domain.trigger('a', 1);
    domain.trigger('b', 2);
    assert.equal([seen, turns.length, domain.queued], [[], 1, 2]);
    turn();
    assert.equal(seen, ['first 1', 'second 1', 'b 2']);
    assert.equal([turns.length, domain.queued], [0, 0], 'nothing waits, nothing is scheduled');
  });

  test('a turn is bounded, the rest follows in further turns, in order', () => {
    const { dispatcher, turns, turn } = place();
    const domain = dispatcher.domain<Events>('d', 100);
    const seen: number[] = [];
    domain.observe('a', (n) => seen.push(n));
    for (let i = 0; i < 10; i++) domain.trigger('a', i);
    const lengths: number[] = [];
    while (turns.length > 0) {
      turn();
      lengths.push(seen.length);
    }
    assert.equal(lengths, [4, 8, 10]);
    assert.equal(seen, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  test('a flood in one domain delays another by one activation, not by the flood', () => {
    const { dispatcher, turn } = place({ turnMax: 6 });
    const [loud, quiet] = [dispatcher.domain<Events>('loud', 1000), dispatcher.domain<Events>('quiet')];
    const seen: string[] = [];
    loud.observe('a', () => seen.push('l'));
    quiet.observe('a', () => seen.push('q'));
    for (let i = 0; i < 500; i++) loud.trigger('a', i);
    quiet.trigger('a', 0);
    quiet.trigger('a', 1);
    turn();
    assert.equal(seen, ['l', 'q', 'l', 'q', 'l', 'l']);
  });

  test('the bound of a queue is an error that names domain and parameter; older activations stay', () => {
    const { dispatcher, turn } = place({ turnMax: 100 });
    const [bounded, own] = [dispatcher.domain<Events>('bounded'), dispatcher.domain<Events>('own', 2)];
    let ran = 0;
    bounded.observe('a', () => (ran += 1));
    for (let i = 0; i < 8; i++) bounded.trigger('a', i);
    const error = assert.throwsCode('STCI_EVENT_QUEUE_FULL', () => bounded.trigger('a', 8));
    assert.match(error.message, /bounded.*8 activations.*event\.queue\.max/);
    own.trigger('a', 1);
    own.trigger('a', 2);
    assert.throwsCode('STCI_EVENT_QUEUE_FULL', () => own.trigger('a', 3));
    turn();
    assert.is(ran, 8);
    bounded.trigger('a', 9);
    assert.is(bounded.queued, 1, 'after a turn there is room again');
  });

  test('explicit progress: nothing by itself, then as much as is asked for', () => {
    const { dispatcher, turns } = place({ progressModel: 'explicit' });
    const domain = dispatcher.domain<Events>('d');
    let ran = 0;
    domain.observe('a', () => (ran += 1));
    for (let i = 0; i < 7; i++) domain.trigger('a', i);
    assert.equal([turns.length, ran], [0, 0]);
    assert.equal([dispatcher.progress(1), dispatcher.progress(), dispatcher.progress(50), dispatcher.progress()], [1,
      4, 2, 0]);
    assert.is(ran, 7);
  });

  test('a handler that throws stops neither its siblings nor the queue, and is told', () => {
    const { dispatcher, faults, turn } = place();
    const domain = dispatcher.domain<Events>('d');
    const seen: number[] = [];
    domain.observe('a', (n) => {
      if (n === 1) throw new Error('broken');
    });
    domain.observe('a', (n) => seen.push(n));
    for (const n of [1, 2]) domain.trigger('a', n);
    turn();
    assert.equal([seen, faults], [[1, 2], ['d/a: broken']]);
  });

  test('an observer that is added inside a handler sees the next activation, one that is cancelled sees no more',
    () => {
    const { dispatcher, turn } = place();
    const domain = dispatcher.domain<Events>('d');
    const seen: string[] = [];
    const self = domain.observe('a', (n) => {
      seen.push(`once ${n}`);
      self.cancel();
      domain.observe('a', (later) => seen.push(`late ${later}`));
    });
    domain.observe('a', (n) => seen.push(`always ${n}`));
    domain.trigger('a', 1);
    domain.trigger('a', 2);
    turn();
    assert.equal(seen, ['once 1', 'always 1', 'always 2', 'late 2']);
  });

  test('cancelling one registration leaves another of the same function', () => {
    const { dispatcher, turn } = place();
    const domain = dispatcher.domain<Events>('d');
    let ran = 0;
    const handler = (): void => void (ran += 1);
    const first = domain.observe('a', handler);
    domain.observe('a', handler);
    first.cancel();
    first.cancel();
    domain.trigger('a', 1);
    turn();
    assert.is(ran, 1);
  });

  test('what a handler triggers comes in a later place of the queue', () => {
    const { dispatcher, turn } = place();
    const domain = dispatcher.domain<Events>('d');
    const seen: string[] = [];
    domain.observe('a', (n) => {
      seen.push(`a${n}`);
      if (n === 1) domain.trigger('b', 1);
    });
    domain.observe('b', (n) => seen.push(`b${n}`));
    domain.trigger('a', 1);
    domain.trigger('a', 2);
    turn();
    assert.equal(seen, ['a1', 'a2', 'b1']);
  });

  test('close forgets what waits, takes nothing more, and stops a turn that goes on', () => {
    const { dispatcher, turn, turns } = place();
    const domain = dispatcher.domain<Events>('d');
    const seen: number[] = [];
    domain.observe('a', (n) => {
      seen.push(n);
      if (n === 2) dispatcher.close();
    });
    for (const n of [1, 2, 3]) domain.trigger('a', n);
    turn();
    domain.trigger('a', 4);
    assert.equal([seen, domain.queued, turns.length, dispatcher.progress()], [[1, 2], 0, 0, 0]);
  });

  test('a long queue is run whole and in order', () => {
    const { dispatcher, turns, turn } = place({ turnMax: 700, queueMax: 10_000 });
    const domain = dispatcher.domain<Events>('d');
    let [next, wrong] = [0, 0];
    domain.observe('a', (n) => {
      if (n !== next) wrong += 1;
      next += 1;
    });
    for (let i = 0; i < 5000; i++) domain.trigger('a', i);
    while (turns.length > 0) turn();
    assert.equal([next, wrong, domain.queued], [5000, 0, 0]);
  });
});
