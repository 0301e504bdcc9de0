/** The session's end of an experiment: whose session it is that ends with the front-end. */

import type { ExperimentTerms, FaultOrder, FaultReport } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { MessageLayer } from '../../dist/am/message-layer.js';
import type { ExperimentOwner, SessionFaults } from '../../dist/injection/fault-contracts.js';
import { ExperimentEndpoint } from '../../dist/sessions/experiment-endpoint.js';
import type { LateCalls } from '../../dist/sessions/late-calls.js';

const GONE = 'stop: the front-end of the experiment has gone';

function play(ownsSession: boolean | undefined) {
  const handlers = new Map<string, (body: unknown, answer: unknown) => void>();
  const seen: string[] = [];
  let running: ExperimentOwner | undefined;
  const faults = {
    begin: (owner: ExperimentOwner, _terms: ExperimentTerms) => void (running = owner),
    inject: (_owner: ExperimentOwner, orders: readonly FaultOrder[]) => void seen.push(`inject ${orders.length}`),
    undo: (_owner: ExperimentOwner, id: string, done: (left: readonly string[]) => void) => {
      if (id === '') running = undefined;
      done(['root:1']);
    },
    leave: (owner: ExperimentOwner) => running === owner,
  };
  const service = { stop: (reason: string) => void seen.push(`stop: ${reason}`) };
  const on = { on: (name: string, call: (body: unknown) => void) => void handlers.set(name, call) };
  const desk = new ExperimentEndpoint({
    messages: on as unknown as MessageLayer, calls: on as unknown as LateCalls,
    faults: faults as unknown as SessionFaults, service,
  });
  const say = (name: string, body: unknown): void => {
    const tell = (kind: string) => (answer: unknown): void =>
      void seen.push(`${name} ${kind} ${JSON.stringify(answer)}`);
    handlers.get(name)?.(body, { part: tell('part'), done: tell('reply') });
  };
  if (ownsSession !== undefined) say('client.experiment', { terms: { ownsSession } });
  return { desk, seen, say };
}

suite('the desk of an experiment', (test) => {
  test('a session that was started for the experiment ends with its front-end, also after an orderly end', () => {
    const { desk, seen, say } = play(true);
    say('client.undo', { id: '' });
    assert.equal(seen.splice(0), ['client.undo reply ["root:1"]']);
    desk.close();
    assert.equal(seen, [GONE]);
  });

  test('not before what is in force has been undone; then for the reason of that', () => {
    const { desk, seen } = play(true);
    desk.close();
    assert.equal(seen, []);
    desk.onAbandoned('it was silent');
    assert.equal(seen, ['stop: it was silent']);
  });

  test('a session that was there before stays, and so does one without an experiment', () => {
    for (const ownsSession of [false, undefined]) {
      const { desk, seen, say } = play(ownsSession);
      desk.onAbandoned('it was silent');
      say('client.undo', { id: '' });
      desk.close();
      assert.equal(seen.filter((text) => text.startsWith('stop')), []);
    }
  });

  test('orders of one message are given together, and reports are told to who has asked for them', () => {
    const { desk, seen, say } = play(false);
    say('client.inject', { orders: [{}, {}] });
    desk.onReport({ id: 'a' } as FaultReport);
    say('client.reports', {});
    desk.onReport({ id: 'b' } as FaultReport);
    assert.equal(seen, ['inject 2', 'client.reports part {"id":"b"}']);
  });
});
