/** The calls of an experiment's front-end: orders in few messages, and reports until there are none. */

import { StciError, type ExperimentTerms, type FaultOrder, type FaultReport, type FaultVictim } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { ExperimentCalls } from '../../dist/sessions/experiment-calls.js';
import type { SessionCalls } from '../../dist/sessions/session-calls.js';
import { testPlace } from '../world.js';

type Done = (error: StciError | undefined, value?: unknown) => void;

function play() {
  const sent: string[] = [];
  const open = new Map<string, { readonly done: Done; readonly onPart: (part: unknown) => void }>();
  const session = {
    call: (name: string, _body: unknown, done: Done, onPart: (part: unknown) => void) => {
      sent.push(name);
      open.set(name, { done, onPart });
    },
    tell: (name: string, { orders }: { readonly orders: readonly FaultOrder[] }) =>
      void sent.push([name, ...orders.map(({ id }) => id)].join(' ')),
  } as unknown as SessionCalls;
  const place = testPlace();
  return { ...place, calls: new ExperimentCalls(session, place.platform.clock), sent, open };
}

const order = (id: string, victim: FaultVictim = { kind: 'rank', rank: 0 }): FaultOrder =>
  ({ id, kind: 'k', args: {}, victim, job: 1, timeoutMs: 1 });

suite('calls of an experiment', (test) => {
  test('reports are asked for once, before the experiment begins, and come until there are none', () => {
    const { calls, sent, open } = play();
    const told: string[] = [];
    calls.onReport = ({ id }) => void told.push(id);
    calls.onEnd = ({ code }) => void told.push(code);
    const terms = {} as ExperimentTerms;
    calls.open(terms, (error) => void told.push(error?.code ?? 'begun'));
    calls.open(terms, () => undefined);
    assert.equal(sent, ['client.reports', 'client.experiment', 'client.experiment']);
    open.get('client.reports')?.onPart({ id: 'a' } as FaultReport);
    open.get('client.reports')?.done(new StciError('STCI_SESSION_LOST', 'it is gone'));
    assert.equal(told, ['a', 'STCI_SESSION_LOST']);
  });

  test('orders of one turn are one message, before what follows them; those of partitions are small ones', () => {
    const { calls, sent, run } = play();
    for (const id of ['a', 'b']) calls.inject(order(id));
    run(1);
    calls.inject(order('c'));
    calls.undo('', () => undefined);
    calls.inject(order('d'));
    calls.clocks(() => undefined);
    run(1);
    for (const id of ['e', 'f']) calls.inject(order(id, { kind: 'partition', sets: [] }));
    for (let i = 0; i < 257; i++) calls.inject(order(String(i)));
    run(1);
    assert.equal(sent.map((text) => text.split(' ').slice(0, 3).join(' ')), [
      'client.reports', 'client.inject a b', 'client.inject c', 'client.undo', 'client.inject d', 'client.clocks',
      'client.inject e', 'client.inject f', 'client.inject 0 1', 'client.inject 256',
    ]);
  });
});
