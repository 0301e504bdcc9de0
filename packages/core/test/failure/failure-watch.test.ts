/** What an agent's failure detectors are told of waits, what reaches its watch, and parameters that are refused. */

import {
  CONTROLLER, NEIGHBOUR, StciError, rootAddress, sessionAddress, type Address, type Params,
} from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { checkFailureParts } from '../../dist/controller/session-checks.js';
import { bindFailureWatch, startFailureWatch } from '../../dist/failure/failure-watch.js';
import type { FailureWatch } from '../../dist/failure/watch.js';
import type { AgentNode } from '../../dist/node/node.js';
import { probeMs } from '../../dist/peers/probe-time.js';

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

suite('messages to the failure watch', (test) => {
  test('they come from agents that have a position, and are dropped as long as there is no watch', () => {
    const handlers = new Map<string, (message: unknown, context: { readonly source: Address }) => void>();
    const told: unknown[] = [];
    const held: { watch?: unknown } = {};
    const messages = { on: (name: string, handler: never) => void handlers.set(name, handler) };
    bindFailureWatch({ messages } as unknown as AgentNode, () => held.watch as FailureWatch | undefined);
    const receive = (name: string, source: Address): void => handlers.get(name)?.({ member: name }, { source });
    const all = (): void => {
      for (const source of [rootAddress(3), CONTROLLER, NEIGHBOUR]) receive('detector.message', source);
      receive('notifier.message', rootAddress(0));
    };
    all();
    held.watch = {
      onMessage: (from: number, { member }: { member: string }) => told.push(`${member} of ${from}`),
    };
    all();
    assert.equal(told, ['detector.message of 4', 'detector.message of 0', 'notifier.message of 1']);
  });
});

suite('parameters of failure detection', (test) => {
  const paramsOf = (ints: Readonly<Record<string, number>>, overlay = ''): Params =>
    ({
      int: (name: string) => ints[name], string: () => overlay,
      entries: () => [{ name: 'overlay.topology', source: 'command line', origin: '--overlay bmg' }],
    }) as unknown as Params;

  test('an answer may take ten latencies, at least 10 ms, and at most a quarter of the lease', () => {
    const probe = (latencyMs: number, leaseMs = 10_000): number =>
      probeMs(paramsOf({ 'detector.latency': latencyMs, 'bootcom.lease': leaseMs }));
    assert.equal([probe(0), probe(1), probe(20), probe(20, 400), probe(300)], [10, 10, 200, 100, 2500]);
  });

  /** Which topologies were made, and of how many positions. */
  function check(more: object, { overlay = '', hosts = 3, mayGrow = false, bad = '' } = {}): string[] {
    const made: string[] = [];
    const module = { topology: 'd', problemFor: () => undefined, ...more };
    const scope = {
      topologyOf: (text: string, size: number) => {
        if (text === bad) throw new StciError('STCI_TOPOLOGY_INVALID', 'no such');
        made.push(`${text} ${size}`);
      },
      detectors: () => [{ name: 'x', module, notifier: 'n', isNamed: true, ...more }],
      notifier: () => ({ topology: 't' }),
    };
    try {
      checkFailureParts(scope as never, paramsOf({}, overlay), hosts, mayGrow);
    } catch (thrown) {
      return [`${(thrown as StciError).code}: ${(thrown as StciError).message}`];
    }
    return made;
  }

  test('each topology is made for all positions, hosts and controller; those of detectors that are named', () => {
    assert.equal(check({}), ['t 4', 'd 4']);
    assert.equal(check({ isNamed: false }, { overlay: 'bmg' }), ['bmg 4', 't 4']);
  });

  test('what one refuses names the parameter, and where it is set', () => {
    const refused = (bad: string, overlay = ''): string => check({}, { bad, overlay }).join();
    assert.is(refused('bmg', 'bmg'),
      "STCI_TOPOLOGY_INVALID: command line (--overlay bmg): overlay.topology = 'bmg': no such");
    assert.is(refused('t'), "STCI_TOPOLOGY_INVALID: notifier.n.topology = 't': no such");
    assert.is(refused('d'), "STCI_TOPOLOGY_INVALID: detector.x.topology = 'd': no such");
  });

  test('a number of hosts that a detector cannot watch is refused, if it is named and there will be no more', () => {
    const problemFor = (hosts: number): string | undefined => (hosts < 3 ? 'too few' : undefined);
    const refused = ['STCI_PARAM_INVALID: too few'];
    assert.equal([check({ problemFor }, { hosts: 2 }), check({ problemFor }).length], [refused, 2]);
    assert.is(check({ problemFor }, { hosts: 2, mayGrow: true }).length, 2);
    assert.is(check({ problemFor, isNamed: false }, { hosts: 2 }).length, 1);
  });
});
