/** The session's end of an experiment: whose session it is that ends with the front-end. */

import type { ExperimentTerms, FaultOrder } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import type { ExperimentOwner } from '../../dist/injection/fault-contracts.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { SessionService } from '../../dist/sessions/contracts.js';
import { ExperimentEndpoint } from '../../dist/sessions/experiment-endpoint.js';

const GONE = 'stop: the front-end of the experiment has gone';

function play(ownsSession: boolean | undefined) {
  const handlers = new Map<string, (body: unknown) => void>();
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
  const service = { faults, stop: (reason: string) => void seen.push(`stop: ${reason}`) } as unknown as SessionService;
  const node = { messages: { on: (name: string, call: (body: unknown) => void) => void handlers.set(name, call) } };
  const desk = new ExperimentEndpoint({
    node: node as unknown as AgentNode, service,
    send: (name, body) => void seen.push(`${name} ${JSON.stringify(body)}`),
  });
  const say = (name: string, body: unknown): void => handlers.get(name)?.(body);
  if (ownsSession !== undefined) say('client.experiment', { terms: { ownsSession } });
  return { desk, seen, say };
}

suite('the desk of an experiment', (test) => {
  test('a session that was started for the experiment ends with its front-end, also after an orderly end', () => {
    const { desk, seen, say } = play(true);
    say('client.undo', { id: '' });
    assert.equal(seen.splice(0), ['client.undone {"id":"","left":["root:1"]}']);
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

  test('orders of one message are given together', () => {
    const { seen, say } = play(false);
    say('client.inject', { orders: [{}, {}] });
    assert.equal(seen, ['inject 2']);
  });
});
