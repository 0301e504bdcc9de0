/** The suite of faults finds each mistake with the simplest order. Those of STCI: packages/finject/test. */

import { FAULT, faultCompliance, type FaultComponent } from '@stci/compliance';
import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultAction, FaultEvent, FaultMachine, FaultModule } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { examplesOf } from './examples.js';

/** Stops a rank for a time. */
const right: FaultModule = {
  victims: ['rank'],
  undoes: true,
  args: { whom: { type: 'enum', default: 'group', values: ['process', 'group'], help: 'Who is stopped.' } },
  problemOf: () => undefined,
  plan: ({ victim }, place) => {
    const rank = 'rank' in victim ? victim.rank : 0;
    const host = place.hostOf(rank);
    return host === undefined ? 'the rank does not run' : [{ at: { role: 'session', host }, body: { rank } }];
  },
  open: ({ body }) => machine(body, {}),
};

type Type = FaultEvent['type'];

function machine(body: unknown, change: Partial<Record<Type, (event: FaultEvent) => FaultAction[]>>): FaultMachine {
  const { rank } = body as { rank: number };
  let isUndoing = false;
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): FaultAction =>
    ({ type: 'signal', key: name, ranks: [rank], signal: name, whom: 'group' });
  const rules: Partial<Record<Type, (event: FaultEvent) => FaultAction[]>> = {
    inject: () => [signal('SIGSTOP')],
    undo: () => {
      isUndoing = true;
      return [signal('SIGCONT')];
    },
    done: (event) => {
      if (isUndoing) return [{ type: 'undone' }];
      const problem = 'problem' in event ? event.problem : undefined;
      return [problem === undefined ? { type: 'injected', text: 'stopped' } : { type: 'failed', reason: problem }];
    },
    ...change,
  };
  return { dueMs: undefined, on: (event) => rules[event.type]?.(event) ?? [] };
}

function wrong(change: Partial<FaultModule>, more: Partial<FaultComponent> = {}): FaultComponent {
  const module = { ...right, ...change };
  return defineComponent({
    framework: faultFramework, name: 'wrong', version: '1.0.0', frameworkVersion: 1, help: 'It is wrong.', params: {},
    args: module.args, query: () => accept(1), create: () => module, ...more,
  });
}

const rules = (change: Parameters<typeof machine>[1]): Partial<FaultModule> =>
  ({ open: ({ body }) => machine(body, change) });

/** Of a root agent. */
const plain = (change: Parameters<typeof machine>[1]): Partial<FaultModule> =>
  ({ ...rules(change), plan: () => [{ at: { role: 'root', host: 0 }, body: { rank: 0 } }] });

const FIRST = { victim: { kind: 'rank', rank: 0 } };

/** By promise: components that break it, each with the example that is found. */
const MISTAKES: Readonly<Record<keyof typeof FAULT.promises, readonly (readonly [FaultComponent, object])[]>> = {
  record: [[wrong({}, { args: {} }), {}], [wrong({ victims: [] }), {}]],
  order: [
    [wrong({ victims: ['rank', 'host'], problemOf: ({ victim }) => (victim.kind === 'host' ? 'no host' : undefined) }),
      {}],
    [wrong({ problemOf: () => '' }), {}],
  ],
  impact: [[wrong({ impactOf: () => 'maybe' as never }), FIRST]],
  plan: [
    [wrong({ plan: () => [] }), FIRST],
    [wrong({ plan: () => [{ at: { role: 'root', host: 3 }, body: {} }] }), FIRST],
    [wrong({ plan: () => [{ at: { role: 'root', host: 0 }, body: { rank: 0, at: new Date(0) } }] }), FIRST],
  ],
  pure: [[
    wrong({ plan: ((count) => () => [{ at: { role: 'session' as const, host: 0 }, body: { rank: count++ } }])(0) }),
    FIRST,
  ]],
  site: [[wrong({ plan: () => [{ at: { role: 'root', host: 0 }, body: { rank: 0 } }] }), FIRST]],
  inject: [
    [wrong(rules({ done: () => [] })), FIRST],
    [wrong(rules({ 'set-up': () => [{ type: 'injected', text: '' }] })), FIRST],
  ],
  refused: [[wrong(rules({ done: () => [{ type: 'injected', text: '' }] })), FIRST]],
  undo: [[wrong(rules({ undo: () => [] })), FIRST]],
  clean: [[wrong(rules({ undo: () => [{ type: 'undone' }] })), FIRST]],
  end: [[
    wrong(plain({ inject: () => [{ type: 'impair', key: 'a', peers: [2], how: { direction: 'both' } }] })), FIRST,
  ]],
  due: [[wrong({ open: ({ body }) => ({ ...machine(body, {}), dueMs: 5 }) }), FIRST]],
};

suite('fault compliance', (test) => {
  test('the right one passes', async () => assert.equal(await examplesOf(() => faultCompliance(wrong({}))), []));

  for (const [promise, mistakes] of Object.entries(MISTAKES)) {
    for (const [index, [component, example]] of mistakes.entries()) {
      test(`finds ${promise} broken, ${index + 1}`, async () => {
        const found = await examplesOf(() => faultCompliance(component), promise);
        const expected = JSON.stringify({ promise, ...example });
        assert.ok(found.includes(expected), `${expected} is not among\n${found.join('\n')}`);
      });
    }
  }
});
