/** The suite of launcher policies finds each mistake with the fewest hosts. Those of STCI: packages/core/test. */

import { BrokenPromise, LAUNCHER, launcherCompliance, launcherExample, type LauncherComponent } from '@stci/compliance';
import { accept, defineComponent, launcherFramework } from '@stci/core/component';
import type { Launcher } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { examplesOf } from './examples.js';

type Tree = Launcher['tree'];

/** A chain from the last host to the first. */
const chain: Tree = (hosts) => ({ parents: hosts.map((_, host) => (host + 1 < hosts.length ? host + 1 : undefined)) });

const treeOf = (arity: number): Tree => () => ({ arity });

/** The component of a policy that is right but for what is changed. */
function policy(tree: Tree, more: Partial<LauncherComponent> = {}, name = 'mine'): LauncherComponent {
  return defineComponent({
    framework: launcherFramework, name: 'mine', version: '1.0.0', frameworkVersion: 1, help: 'It is mine.', params: {},
    query: () => accept(1), create: () => ({ policy: name, tree }), ...more,
  });
}

const NAMES = (hosts: number): string[] => Array.from({ length: hosts }, (_, host) => `r${host % 3}`);
const CASE = { label: 'any', largeSizes: [100] };

/** By promise: components that break it, each with the example that is found. */
const MISTAKES: Readonly<Record<keyof typeof LAUNCHER.promises, readonly (readonly [LauncherComponent, object])[]>> = {
  record: [[policy(chain, { help: 'no sentence' }), {}], [policy(chain, { frameworkVersion: 7 }), {}]],
  policy: [[policy(chain, {}, ''), {}]],
  tree: [
    [policy(() => ({ arity: 0 })), { hosts: 1 }],
    [policy((hosts) => ({ parents: hosts.slice(1).map(() => undefined) })), { hosts: 1 }],
    [policy((hosts) => ({ parents: hosts.map((_, host) => host || undefined) })), { hosts: 2 }],
    [policy((hosts) => ({ parents: hosts.map((_, host) => (host === 4 ? 5 : host === 5 ? 4 : undefined)) })),
      { hosts: 5 }],
    [policy((hosts) => { if (hosts.length > 80) throw new Error('too many'); return { arity: 2 }; }), { hosts: 81 }],
  ],
  same: [
    [policy(((count) => () => ({ arity: 1 + (count++ % 7) }))(0)), { hosts: 1 }],
    [
      policy(chain, { create: ((count) => () => ({ policy: 'mine', tree: treeOf(count++) }))(1) }),
      { hosts: 1 },
    ],
  ],
  pure: [[policy((hosts) => { (hosts as unknown[]).reverse(); return { arity: 2 }; }), { hosts: 2 }]],
  params: [[
    policy(chain, { params: { unused: { type: 'int', default: 2, min: 1, max: 8, help: 'It does nothing.' } } }),
    { param: 'unused' },
  ]],
  depth: [[policy(chain), { hosts: 4, most: 3 }]],
  children: [[policy(() => ({ arity: 9 })), { hosts: 9, most: 8 }]],
};

suite('launcher compliance finds', (test) => {
  const cases = [{ ...CASE, depthMax: () => 3, childrenMax: () => 8 }];

  test('nothing in the right one', async () => {
    const both = [CASE, { ...CASE, label: 'named', names: NAMES }];
    assert.equal(await examplesOf(() => launcherCompliance(policy(chain), both)), []);
  });

  for (const [promise, mistakes] of Object.entries(MISTAKES)) {
    for (const [index, [component, example]] of mistakes.entries()) {
      test(`${promise} broken, ${index + 1}`, async () => {
        const found = await examplesOf(() => launcherCompliance(component, cases), promise);
        const expected = JSON.stringify({ promise, ...example });
        assert.ok(found.includes(expected), `${expected} is not among\n${found.join('\n')}`);
      });
    }
  }

  test('the fewest hosts among those with names', async () => {
    const broken = policy((hosts) => ({ arity: hosts.filter(({ name }) => name === 'r2').length > 1 ? 0 : 2 }));
    const found = await examplesOf(() => launcherCompliance(broken, [{ ...CASE, names: NAMES }]));
    assert.ok(found.includes(JSON.stringify({ promise: 'tree', hosts: ['r2', 'r2'] })), found.join('\n'));
  });

  test('and the example is found again', () => {
    const example = { promise: 'tree', hosts: 5 } as const;
    launcherExample(policy(chain), example);
    try {
      launcherExample(policy(() => ({ arity: 2000 })), example);
      assert.unreachable('it throws');
    } catch (thrown) {
      assert.ok(thrown instanceof BrokenPromise && thrown.promise === 'launcher.tree');
      assert.match((thrown as Error).message, 'launcher mine: its tree: expected an arity in 1..1024, got 2000');
    }
  });
});
