/** What an agent's failure detectors are told of waits for messages. */

import { rootAddress, sessionAddress, type Address } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { startFailureWatch } from '../../dist/agent/failure-watch.js';
import type { AgentNode } from '../../dist/agent/node.js';
import type { FailureWatch } from '../../dist/failure/watch.js';

interface Observer {
  waiting(key: string, to: Address | 'all'): void;
  over(key: string): void;
}

function play(hearsWaits: boolean) {
  const told: string[] = [];
  let observer: Observer | undefined;
  const watch = {
    isWatching: false, start: () => told.push('started'),
    waiting: (id: number, on: number | 'all') => told.push(`${id} on ${on}`),
    over: (id: number) => told.push(`${id} over`),
  };
  const node = { messages: { observeWaits: (one: Observer) => void (observer = one) } } as unknown as AgentNode;
  const scope = { detectors: () => [{ module: {} }, { module: { hearsWaits } }] };
  startFailureWatch(node, scope as never, watch as unknown as FailureWatch, []);
  return { told, observer, watch, again: () => startFailureWatch(node, scope as never, watch as never, []) };
}

suite('waits, as detectors hear of them', (test) => {
  test('each has a number, is told once, and its end once', () => {
    const { told, observer } = play(true);
    observer?.waiting('a', rootAddress(3));
    observer?.waiting('a', rootAddress(3));
    observer?.waiting('b', 'all');
    observer?.waiting('c', sessionAddress(3));
    observer?.over('c');
    observer?.over('a');
    observer?.over('a');
    observer?.waiting('a', rootAddress(0));
    observer?.over('b');
    assert.equal(told, ['started', '1 on 4', '2 on all', '3 on 4', '3 over', '1 over', '4 on 1', '2 over']);
  });

  test('nothing is observed where no detector hears waits; it is started once', () => {
    const { told, observer, watch, again } = play(false);
    assert.is(observer, undefined);
    watch.isWatching = true;
    again();
    assert.equal(told, ['started']);
  });
});
