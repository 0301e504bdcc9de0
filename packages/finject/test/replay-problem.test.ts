/** Records that are to be run again: what is wrong with one is named by its field, with what was expected. */

import { replayProblem, type HistoryRecord } from '@stci/finject/experiment';
import { assert, suite } from '@stci/testkit';

const INJECTION = {
  id: '1.kill.1', fault: 'kill', kind: 'pkill', args: { signal: 'KILL' }, victims: [{ kind: 'rank', rank: 3 }],
  trigger: { on: 'event', event: 'start', nth: 1 }, delayMs: 12.5, coolDownMs: 0, timeoutMs: 10_000, impact: {},
};

function problemOf(more: object, plan: object = {}): string | undefined {
  const keep = { ranks: [0], hosts: [] };
  const injections = [INJECTION, { ...INJECTION, ...more }];
  const made = { repeat: 1, number: 1, configuration: '', keep, injections, ...plan };
  return replayProblem({ type: 'repeat', wallMs: 1, monotonicMs: 1, plan: made } as unknown as HistoryRecord);
}

suite('records that are run again', (test) => {
  test('a plan as it is drawn, also with what JSON makes of what is absent', () => {
    assert.is(problemOf({}), undefined);
    const args = { files: ['a', 'b'], n: 1.5 };
    assert.is(problemOf({ durationMs: null, atMs: null, follows: null, args }), undefined);
  });

  test('numbers beyond what an order takes, arguments of no kind, too many victims: by the name of the field', () => {
    const rank = (value: unknown): object => ({ victims: [{ kind: 'rank', rank: value }] });
    const many = Array.from({ length: 100_001 }, () => ({ kind: 'rank', rank: 1 }));
    for (const [more, expected] of [
      [rank(2 ** 53 - 1), "'plan.injections[1].victims[0].rank': expected a whole number in 0..4294967295, got 9007"],
      [rank(-1), "'plan.injections[1].victims[0].rank': expected a whole number in 0..4294967295, got -1"],
      [{ victims: [{ kind: 'link', ends: [1] }] }, 'victims[0].ends\': expected at least 2 values, got 1'],
      [{ victims: [{ kind: 'disk' }] }, "victims[0].kind': expected one of rank, host, agent, link, partition"],
      [{ victims: many }, "'plan.injections[1].victims': expected at most 100000 values, got 100001"],
      [{ args: [] }, "'plan.injections[1].args': expected an object, got []"],
      [{ args: { signal: { name: 'KILL' } } }, "injections[1].args.signal': expected a string, a number, a truth"],
      [{ args: { signal: [9] } }, "'plan.injections[1].args.signal[0]': expected a string, got 9"],
      [{ timeoutMs: 0 }, "'plan.injections[1].timeoutMs': expected a whole number in 1..86400000, got 0"],
      [{ durationMs: 86_400_001 }, "durationMs': expected a whole number in 0..86400000, got 86400001"],
      [{ id: 'x'.repeat(257) }, "'plan.injections[1].id': expected a string of at most 256 characters"],
      [{ trigger: { on: 'mark', name: 'm', rank: 2 ** 32, nth: 1 } }, "trigger.rank': expected a whole number"],
      [{ trigger: undefined }, "'plan.injections[1].trigger': expected an object, got nothing"],
    ] as const) assert.match(problemOf(more) ?? 'nothing', expected);
    assert.match(problemOf({}, { keep: { ranks: [1.5], hosts: [] } }) ?? '', "'plan.keep.ranks[0]'");
    assert.match(problemOf({}, { repeat: 2 ** 32 }) ?? '', "'plan.repeat': expected a whole number in 0..4294967295");
  });

  test('the tree of a shape, also of a configuration', () => {
    const shape = { hosts: ['a', 'b'], hostOfRank: [0, 1], parents: [0, 1] };
    const problem = (more: object): string | undefined => replayProblem({
      type: 'run', shape: { ...shape, ...more }, experiment: {
        name: 'n', target: { options: [], program: ['p'] }, seed: 2 ** 52, hosts: [], warmUpMs: 0, timeLimitMs: 1,
        checks: [], victimsMax: 1, faults: [], stop: { failuresMax: 0 }, outputs: { outputBytesMax: 2 ** 40 },
        allow: [], configurations: [],
      },
    } as unknown as HistoryRecord);
    assert.is(problem({}), undefined);
    assert.match(problem({ parents: [2, 1] }) ?? '', "'shape.parents': expected a boot tree over its hosts");
    const configurations = { b: { ...shape, parents: [0] } };
    assert.match(problem({ configurations }) ?? '', "'shape.configurations.b.parents'");
    assert.match(problem({ hostOfRank: [2 ** 40] }) ?? '', "'shape.hostOfRank[0]': expected a whole number");
  });
});
