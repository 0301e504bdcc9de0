/** The calls of an experiment's front-end: each is answered once, also when the connection ends. */

import { StciError, type FaultOrder, type FaultVictim } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { AgentNode } from '../../dist/node/node.js';
import { ExperimentCalls } from '../../dist/sessions/experiment-calls.js';
import { testPlace } from '../world.js';

function play() {
  const handlers = new Map<string, (body: unknown) => void>();
  const sent: string[] = [];
  const told: string[] = [];
  const messages = {
    on: (name: string, handler: (body: unknown) => void) => void handlers.set(name, handler),
    send: (_to: number, name: string, { orders = [] }: { readonly orders?: readonly FaultOrder[] }) =>
      void sent.push([name, ...orders.map(({ id }) => id)].join(' ')),
  };
  const place = testPlace();
  const state = { lost: undefined as StciError | undefined };
  const node = { messages, platform: place.platform } as unknown as AgentNode;
  const calls = new ExperimentCalls({ node, lost: () => state.lost });
  return {
    ...place, calls, sent, told, state,
    say: (name: string, body: unknown) => handlers.get(name)?.(body),
    tell: (name: string) => (error: StciError | undefined, value?: readonly unknown[]): void =>
      void told.push(`${name} ${error?.code ?? JSON.stringify(value)}`),
  };
}

suite('calls of an experiment', (test) => {
  test('two of the same kind are answered in their order, none is forgotten', () => {
    const { calls, say, tell, told } = play();
    calls.undo('a', tell('first'));
    calls.undo('a', tell('second'));
    calls.clocks(tell('third'));
    calls.clocks(tell('fourth'));
    say('client.undone', { id: 'a', left: ['root:1'] });
    say('client.clocked', { clocks: [] });
    assert.equal(told, ['first ["root:1"]', 'third []']);
    say('client.undone', { id: 'a', left: [] });
    say('client.undone', { id: 'a', left: [] });
    say('client.clocked', { clocks: [] });
    assert.equal(told.slice(2), ['second []', 'fourth []']);
  });

  test('the end of the connection answers all that wait, and what comes then', () => {
    const { calls, state, sent, tell, told } = play();
    calls.undo('', tell('undo'));
    calls.clocks(tell('clocks'));
    state.lost = new StciError('STCI_SESSION_LOST', 'it is gone');
    calls.onLost(state.lost);
    calls.undo('', tell('late'));
    assert.equal(told, ['undo STCI_SESSION_LOST', 'clocks STCI_SESSION_LOST', 'late STCI_SESSION_LOST']);
    assert.equal(sent, ['client.undo', 'client.clocks']);
  });

  test('orders of one turn are one message, before what follows them; those of partitions are small ones', () => {
    const { calls, sent, run, state } = play();
    const order = (id: string, victim: FaultVictim = { kind: 'rank', rank: 0 }): FaultOrder =>
      ({ id, kind: 'k', args: {}, victim, job: 1, timeoutMs: 1 });
    for (const id of ['a', 'b']) calls.inject(order(id));
    run(1);
    calls.inject(order('c'));
    calls.undo('', () => undefined);
    run(1);
    for (const id of ['d', 'e']) calls.inject(order(id, { kind: 'partition', sets: [] }));
    for (let i = 0; i < 257; i++) calls.inject(order(String(i)));
    run(1);
    state.lost = new StciError('STCI_SESSION_LOST', 'it is gone');
    calls.inject(order('f'));
    run(1);
    assert.equal(sent.map((text) => text.split(' ').slice(0, 3).join(' ')), ['client.inject a b', 'client.inject c',
      'client.undo', 'client.inject d', 'client.inject e', 'client.inject 0 1', 'client.inject 256']);
  });
});
