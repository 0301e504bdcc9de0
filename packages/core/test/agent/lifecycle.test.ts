/** Life cycle of an agent: every state × event against a table written out here, and the diagram in the documents. */

import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';
import { Lifecycle, TRANSITIONS, isOver, type AgentEvent, type AgentState } from '../../dist/agent/lifecycle.js';

const EVENTS: readonly AgentEvent[] = ['linked', 'initialized', 'orphan', 'stop', 'stopped', 'fault'];

/** `-`: a programmer's mistake. */
const EXPECTED: Readonly<Record<AgentState, string>> = {
  bootstrapping: 'initializing - - ended - failed',
  initializing: '- running - stopping - failed',
  running: '- - orphaned stopping - failed',
  orphaned: 'running - - stopping - failed',
  stopping: '- - - stopping ended failed',
  ended: '- - - ended ended -',
  failed: '- - - failed failed failed',
};

/** Events that lead to a state. */
const WAY: Readonly<Record<AgentState, readonly AgentEvent[]>> = {
  bootstrapping: [],
  initializing: ['linked'],
  running: ['linked', 'initialized'],
  orphaned: ['linked', 'initialized', 'orphan'],
  stopping: ['linked', 'initialized', 'stop'],
  ended: ['stop'],
  failed: ['fault'],
};

suite('life of an agent', (test) => {
  test('every state and event leads where the table says, or is refused', () => {
    for (const state of Object.keys(EXPECTED) as AgentState[]) {
      const next = EVENTS.map((event) => {
        const changes: AgentState[] = [];
        const life = new Lifecycle((changed) => changes.push(changed));
        for (const step of WAY[state]) life.apply(step);
        assert.is(life.state, state);
        changes.length = 0;
        try {
          const got = life.apply(event);
          assert.equal(changes, got === state ? [] : [got], 'a change is told once');
          return got;
        } catch (fault) {
          assert.match(String(fault), `an agent that is ${state} permits no event ${event}`);
          return '-';
        }
      });
      assert.is(next.join(' '), EXPECTED[state], state);
    }
  });

  test('over is over: from ended and failed nothing leads away', () => {
    for (const state of Object.keys(TRANSITIONS) as AgentState[]) {
      const targets = Object.values(TRANSITIONS[state]);
      assert.is(isOver(state), targets.every((target) => target === state), state);
    }
  });

  test('docs/architecture.md shows exactly these transitions', () => {
    const document = readFileSync(new URL('../../../../docs/architecture.md', import.meta.url), 'utf8');
    const drawn = new Set<string>();
    for (const [, from, to, event] of document.matchAll(/^ +(\w+) --> (\w+): (\w+)$/gm)) {
      if (Object.hasOwn(TRANSITIONS, from as string)) drawn.add(`${from} ${event} ${to}`);
    }
    const real = Object.entries(TRANSITIONS).flatMap(([from, row]) =>
      Object.entries(row).filter(([, to]) => to !== from).map(([event, to]) => `${from} ${event} ${to}`));
    assert.equal([...drawn].sort(), real.sort());
  });
});
