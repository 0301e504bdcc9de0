/** The suite of error managers finds each mistake with the smallest example. Those of STCI: packages/core/test. */

import { BrokenPromise, ERRMGR, errmgrCompliance, errmgrExample, type ErrmgrComponent } from '@stci/compliance';
import { accept, decline, defineComponent, errmgrFramework, isOver } from '@stci/core/component';
import type { ErrorManager } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { examplesOf } from './examples.js';

const right: ErrorManager = {
  policy: 'right',
  toleratesFailures: true,
  decide: (failure, context) => {
    if (context.of === 'session') return [{ type: context.phase === 'launching' ? 'end-launch' : 'leave-out' }];
    return [{ type: isOver(failure) ? 'end-job' : 'go-on' }];
  },
};

/** The component of a manager that is right but for what is changed. */
function wrong(change: Partial<ErrorManager>, more: Partial<ErrmgrComponent> = {}): ErrmgrComponent {
  return defineComponent({
    framework: errmgrFramework, name: 'wrong', version: '1.0.0', frameworkVersion: 1, help: 'It is wrong.', params: {},
    query: () => accept(1), create: () => ({ ...right, ...change }), ...more,
  });
}

const onHost = (decide: ErrorManager['decide']): Partial<ErrorManager> =>
  ({ decide: (failure, context) => (context.of === 'session' ? decide : right.decide)(failure, context) });
const onJob = (decide: ErrorManager['decide']): Partial<ErrorManager> =>
  ({ decide: (failure, context) => (context.of === 'job' ? decide : right.decide)(failure, context) });

const host = (more: object) => ({ of: 'session', phase: 'launching', hostName: 'a', starts: 1, hostsLeft: 0, ...more });
const job = (more: object) => ({ of: 'job', phase: 'launching', ranksAlive: 0, failuresBefore: 0, ...more });

/** By promise: components that break it, each with the example that is found. */
const MISTAKES: Readonly<Record<keyof typeof ERRMGR.promises, readonly (readonly [ErrmgrComponent, object])[]>> = {
  record: [
    [wrong({}, { help: 'no sentence' }), {}],
    [wrong({}, { frameworkVersion: 7 }), {}],
    [wrong({}, { query: ((count) => () => (count++ > 0 ? accept(1) : decline('not yet')))(0) }), {}],
  ],
  policy: [[wrong({ policy: '' }), {}]],
  pure: [[
    wrong({ decide: ((count) => () => [{ type: 'leave-out', reason: `${count++}` }])(0) }),
    { kind: 'agent-launch', context: host({ sparesLeft: 0 }) },
  ]],
  session: [
    [wrong(onHost(() => [])), { kind: 'agent-launch', context: host({ sparesLeft: 0 }) }],
    [
      wrong(onHost(() => [{ type: 'end-launch' }])),
      { kind: 'agent-lost', context: host({ phase: 'idle', sparesLeft: 0 }) },
    ],
    [wrong({ decide: () => [{ type: 'end-job' }] }), { kind: 'agent-launch', context: host({ sparesLeft: 0 }) }],
  ],
  spare: [[
    wrong(onHost((_failure, context) =>
      [{ type: 'starts' in context && context.starts > 1 ? 'use-spare' : 'leave-out' }])),
    { kind: 'agent-launch', context: host({ starts: 2, sparesLeft: 0 }) },
  ]],
  job: [[wrong(onJob(() => [])), { kind: 'tool-status', context: job({ attempt: 1 }) }]],
  over: [[wrong(onJob(() => [{ type: 'notify' }])), { kind: 'timeout', context: job({ attempt: 0 }) }]],
  restart: [[
    wrong(onJob((failure) => [{ type: isOver(failure) ? 'end-job' : 'restart', afterMs: 0 } as never])),
    { kind: 'tool-start', context: job({ attempt: 1 }) },
  ]],
  toleratesFailures: [[wrong({ toleratesFailures: false }), { kind: 'tool-status', context: job({ attempt: 1 }) }]],
  local: [[
    wrong({ local: () => ({ type: 'restart', afterMs: 0 }) }),
    { kind: 'tool-start', context: { of: 'tool', attempt: 1 } },
  ]],
  pause: [[
    wrong({ local: (_failure, { attempt }) => ({ type: 'restart', afterMs: 1000 * 2 ** attempt }) }),
    { kind: 'tool-status', context: { of: 'tool', attempt: 12 } },
  ]],
  bound: [[
    wrong({ local: ({ kind }) => (kind === 'tool-signal' ? { type: 'restart', afterMs: 0 } : { type: 'report' }) }),
    { kind: 'tool-signal', context: { of: 'tool', attempt: 1001 } },
  ]],
};

suite('errmgr compliance finds', (test) => {
  test('nothing in the right one', async () => {
    assert.equal(await examplesOf(() => errmgrCompliance(wrong({}))), []);
  }, { timeoutMs: 60_000 });

  for (const [promise, mistakes] of Object.entries(MISTAKES)) {
    for (const [index, [component, example]] of mistakes.entries()) {
      test(`${promise} broken, ${index + 1}`, async () => {
        const found = await examplesOf(() => errmgrCompliance(component), promise);
        const expected = JSON.stringify({ promise, ...example });
        assert.ok(found.includes(expected), `${expected} is not among\n${found.join('\n')}`);
      });
    }
  }
  test('and the example is found again', () => {
    const example = { promise: 'job', kind: 'tool-status', context: job({ attempt: 1 }) } as never;
    errmgrExample(wrong({}), example);
    try {
      errmgrExample(wrong(onJob(() => [])), example);
      assert.unreachable('it throws');
    } catch (thrown) {
      assert.ok(thrown instanceof BrokenPromise && thrown.promise === 'errmgr.job');
    }
  });
});
