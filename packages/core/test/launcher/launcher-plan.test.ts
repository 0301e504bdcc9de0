/** The launch plan and what `--display map` and `--dry-run` print of it. */

import {
  agentsPerLevel, criticalPathSteps, foldRanks, mapJob, mapJson, planJson, planLaunch, renderMap, renderPlan, starterOf,
} from '@stci/core';
import type { LaunchPlan, Position, SpanningTree, TreeTopology } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { LIMITS, app, hosts, job } from '../job-help.js';

const plan = (count: number, arity: number): LaunchPlan => {
  const launcher = { policy: 'tree', tree: () => ({ arity }) };
  return planLaunch(count === 0 ? [] : hosts(names(count)), launcher, (size) => plainTree(size + 1, arity));
};

const names = (count: number): string =>
  Array.from({ length: count }, (_, i) => `n${String(i).padStart(3, '0')}`).join(' ');

suite('launch plan', (test) => {
  test('says which agent starts each other, and how many there are on each level', () => {
    const seven = plan(7, 2);
    assert.equal([0, 1, 2, 6].map((host) => starterOf(seven, host)), [undefined, undefined, 0, 2]);
    assert.equal(agentsPerLevel(seven), [1, 2, 4, 1]);
  });

  test('the critical path is the last agent of a simulated launch', () => {
    for (const arity of [1, 2, 3, 8]) {
      for (const window of [1, 2, 5]) {
        for (let count = 1; count <= 60; count++) {
          const made = plan(count, arity);
          assert.is(criticalPathSteps(made, window), simulate(made, window), `${count}/${arity}/${window}`);
        }
      }
    }
  });

  test('refuses a policy without children', () => {
    assert.throws(() => plan(3, 0), /arity in 1/);
    assert.throws(() => plan(0, 2), /at least one host/);
  });
});

suite('rendering of map and plan', (test) => {
  test('the map by host', () => {
    const spec = job({ hosts: hosts('a:2 long~1 c'), apps: [app(2), app(2, { program: 'other', args: ['x', 'y'] })] });
    assert.is(renderMap(spec, mapJob(spec, LIMITS)), [
      'Job map: 4 ranks of 2 programs on 3 hosts',
      '  host  slots  count  ranks',
      '  a     2      2      0-1',
      '  long  ~1     1      2',
      '  c     ~1     1      3',
      '  ranks 0-1  prog',
      '  ranks 2-3  other x y',
      '',
    ].join('\n'));
    assert.is(foldRanks({ host: 0, name: 'a', runs: [
      { app: 0, first: 0, count: 4, stride: 1 }, { app: 0, first: 8, count: 1, stride: 1 },
      { app: 0, first: 10, count: 3, stride: 5 }, { app: 0, first: 30, count: 2, stride: 4 },
    ] }), '0-3,8,10-20/5,30,34');
  });

  test('the plan as a tree, neighbouring leaves folded', () => {
    const spec = hosts(names(10));
    assert.is(renderPlan(spec, plan(10, 3), 2), [
      'Launch plan: policy tree, 10 root agents, up to 3 children an agent',
      '  levels: 2 below the controller (3 + 7 agents)',
      '  critical path: 3 steps, 2 at a time',
      'controller',
      '  n000',
      '    n[003-005]  (3)',
      '  n001',
      '    n[006-008]  (3)',
      '  n002',
      '    n009',
      '',
    ].join('\n'));
  });

  test('large ones are bounded in lines and columns; JSON is whole', () => {
    const spec = job({ hosts: hosts(names(1000)), apps: [app(5000, { args: ['x'.repeat(300)] }), app(1)] });
    const map = mapJob(spec, LIMITS);
    const made = plan(1000, 2);
    const chain = renderPlan(spec.hosts.slice(0, 250), plan(250, 1), 4);
    for (const text of [renderMap(spec, map), renderPlan(spec.hosts, made, 4), chain]) {
      const lines = text.split('\n');
      assert.ok(lines.length < 220, `${lines.length} lines`);
      assert.ok(lines.every((line) => line.length <= 100));
    }
    assert.match(renderMap(spec, map), '… and 801 more hosts with');
    const json = JSON.parse(JSON.stringify([mapJson(spec, map), planJson(spec.hosts, made, 4)]));
    assert.equal([json[0].size, json[0].hosts.length, json[1].agents.length], [5001, 1000, 1000]);
    assert.equal(json[1].agents[2], { host: 2, name: 'n002', depth: 2, startedBy: 'n000' });
  }, { timeoutMs: 30_000 });
});

/** Step by step: who is up starts its next `window` children. */
function simulate({ tree }: LaunchPlan, window: number): number {
  const upAt = new Map([[0, 0]]);
  for (let position = 0; position < tree.size; position++) {
    tree.children(position).forEach((child, i) => upAt.set(child, upAt.get(position)! + Math.floor(i / window) + 1));
  }
  return Math.max(...upAt.values());
}

/** The boot tree for this test: core does not know the topology components. */
function plainTree(size: number, arity: number): TreeTopology {
  const parent = (p: Position): Position | undefined => (p === 0 ? undefined : Math.floor((p - 1) / arity));
  const children = (p: Position): Position[] =>
    Array.from({ length: arity }, (_, i) => arity * p + 1 + i).filter((child) => child < size);
  const depth = (p: Position): number => (p === 0 ? 0 : depth(parent(p)!) + 1);
  const subtree = (p: Position): Position[] => [p, ...children(p).flatMap(subtree)];
  const none = (): never => { throw new Error('not asked for'); };
  return {
    kind: 'tree', size, arity, parent, children, depth, subtree, height: depth(size - 1), diameter: size,
    subtreeSize: (p) => subtree(p).length, isAncestor: none, neighbours: none, nextHop: none,
    spanningTree: none as () => SpanningTree,
  };
}
