/** The guard around a plugin's component: what its calls and members answer, and how calls are numbered. */

import { assert, suite } from '@stci/testkit';
import { accept, defineComponent, topologyFramework } from '@stci/core/component';
import type { AnyComponent } from '@stci/interface';
import { guardComponent, marker, runningCall, watchCalls } from '../dist/plugin/guard.js';

interface Tree { children(at: number): readonly number[] }
interface Made {
  readonly diameter: number;
  neighbours(at: number): readonly number[];
  spanningTree(root: number): Tree;
}

const RING = {
  kind: 'own', size: 4, diameter: 3, neighbours: () => [0, 9, 2], nextHop: () => undefined,
  spanningTree: () => ({
    root: 0, parent: () => undefined, children: () => [1], depth: () => 0, subtreeSize: () => 1,
  }),
};

const madeBy = (made: object): Made => {
  const record = defineComponent({
    framework: topologyFramework, name: 'own', version: '1.0.0', frameworkVersion: 1, help: 'x', params: {},
    query: () => accept(1), create: () => made as never,
  });
  return guardComponent(record as AnyComponent, '/own').create({}, {}, {}) as Made;
};

suite('guard of plugins', (test) => {
  test('a getter is a call: it is named when it throws, and while it runs', () => {
    let reads = 0;
    let seen: string | undefined;
    const made = madeBy({ ...RING, get diameter() {
      reads += 1;
      seen = runningCall();
      if (reads === 3) throw new Error('boom');
      return 3;
    } });
    // The spread above has read it once, and create its type.
    reads = 1;
    assert.is(made.diameter, 3);
    assert.is(seen, 'plugin /own: topology:own.diameter');
    assert.throws(() => made.diameter, /plugin \/own: topology:own\.diameter failed: boom/u);
    assert.is(marker[0], 0);
  });

  test('objects that are made again and again add no names', () => {
    const told: string[] = [];
    watchCalls({ onCall: (_id, name) => void told.push(name), onFault: () => undefined });
    const made = madeBy(RING);
    made.spanningTree(0).children(0);
    const { length } = told;
    for (let root = 0; root < 100; root += 1) made.spanningTree(root).children(0);
    assert.is(told.length, length);
    assert.is(new Set(told).size, length);
  });
});
