/** The estimate of a launch: cases that can be reckoned by hand. */

import type { LaunchPlan, TreeTopology } from '@stci/interface';
import { assert, suite } from '@stci/testkit';

type StartCosts = Readonly<Record<string, number>>;

interface LaunchSetting {
  readonly costs: StartCosts;
  readonly processors: number;
  readonly window: number;
}

interface Model {
  estimateLaunch(plan: LaunchPlan, setting: LaunchSetting): Readonly<Record<string, number>>;
}

const path = new URL('../../../bench/lib/launch-model.mjs', import.meta.url);
const { estimateLaunch } = (await import(path.href)) as Model;

const COSTS: StartCosts = {
  fixedMs: 1000, childMs: 100, starterCpuMs: 40, starterThreadMs: 4, reportMs: 0, hopMs: 0,
};

const SETTING: LaunchSetting = { costs: COSTS, processors: 2, window: 100 };

/** The estimate looks at nothing but size and arity. */
const plan = (hosts: number, arity: number): LaunchPlan =>
  ({ policy: 'tree', plan: { arity }, tree: { arity, size: hosts + 1 } as TreeTopology });

const wallMs = (hosts: number, arity: number, change: Partial<LaunchSetting> = {}): number =>
  estimateLaunch(plan(hosts, arity), { ...SETTING, ...change })['wallMs'] as number;

suite('launch estimate', (test) => {
  test('a chain takes one start after the other, a flat tree a gap for each', () => {
    assert.is(wallMs(1, 8), 1100);
    assert.is(wallMs(5, 1), 1500);
    assert.is(wallMs(5, 5), 1000 + 4 * 20 + 100);
    assert.is(wallMs(5, 5, { processors: 1 }), 1000 + 4 * 40 + 100);
    assert.is(wallMs(5, 5, { processors: 64 }), 1000 + 4 * 4 + 100, 'its one thread starts them all');
    assert.is(wallMs(6, 2), 1000 + 20 + 100 + 20 + 100);
  });

  test('a full window waits for its oldest start', () => {
    assert.is(wallMs(5, 5, { window: 2 }), 1000 + 200 + 100);
    assert.is(wallMs(5, 5, { window: 1 }), 1500);
    assert.is(wallMs(5, 5, { window: 5 }), wallMs(5, 5));
  });

  test('reports are heard hops later and one by one', () => {
    const costs = { ...COSTS, reportMs: 30, hopMs: 7 };
    assert.is(wallMs(3, 1, { costs }), 1300 + 2 * 7 + 30);
    assert.is(wallMs(3, 3, { costs }), 1100 + 3 * 30, 'the second and third wait');
  });

  test('depth, messages, work of the front-end', () => {
    const costs = { ...COSTS, reportMs: 3 };
    const { depth, messages, frontCpuMs } = estimateLaunch(plan(6, 2), { ...SETTING, costs });
    assert.equal([depth, messages, frontCpuMs], [2, 2 * 1 + 4 * 2 + 6, 2 * 40 + 4 * 3]);
    const flat = estimateLaunch(plan(10_000, 10_000), SETTING);
    assert.equal([flat.depth, flat.messages, flat.frontCpuMs], [1, 20_000, 400_000]);
  });

  test('refuses a host without a processor and a window without room', () => {
    assert.throws(() => wallMs(1, 1, { processors: 0 }), /processor/);
    assert.throws(() => wallMs(1, 1, { window: 0 }), /window/);
  });
});
