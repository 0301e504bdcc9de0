/** The page on scaling is current, and the real agents come up as its model says. */

import { readFileSync } from 'node:fs';
import { assert, suite } from '@stci/testkit';

interface Costs {
  readonly ours: Readonly<Record<string, number>>;
}

interface Checks {
  simulateLaunch(costs: Costs['ours'], hosts: number, arity: number): Promise<number>;
  modelOf(costs: Costs['ours'], hosts: number, arity: number): number;
}

interface Documents {
  scalingDocument(costs: Costs, checks: unknown): string;
  scalingPlot(costs: Costs): string;
}

const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const load = (path: string): Promise<unknown> => import(new URL(path, root).href);

suite('scaling', (test) => {
  const costs = JSON.parse(text('bench/costs.json')) as Costs;

  test('docs/scaling.md and its plot are current: npm run bench -- scaling', async () => {
    const { scalingDocument, scalingPlot } = (await load('bench/lib/scaling-document.mjs')) as Documents;
    assert.is(scalingDocument(costs, JSON.parse(text('bench/scaling-checks.json'))), text('docs/scaling.md'));
    assert.is(scalingPlot(costs), text('docs/scaling.svg'));
  }, { timeoutMs: 30_000 });

  test('simulated agents come up when the model says, within 2 %', async () => {
    const { modelOf, simulateLaunch } = (await load('bench/lib/simulated-launch.mjs')) as Checks;
    for (const [hosts, arity] of [[1, 8], [30, 1], [100, 3], [100, 8], [100, 100]] as const) {
      const modelMs = modelOf(costs.ours, hosts, arity);
      const simulatedMs = await simulateLaunch(costs.ours, hosts, arity);
      assert.ok(Math.abs(simulatedMs / modelMs - 1) < 0.02, `${hosts}/${arity}: ${simulatedMs}, model ${modelMs}`);
    }
  });
});
