/** The guard around a plugin's component: what its calls and members answer, and how calls are numbered. */

import { assert, suite } from '@stci/testkit';
import {
  accept, defineComponent, detectorFramework, errmgrFramework, topologyFramework,
} from '@stci/core/component';
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

suite('answers of plugins', (test) => {
  const made = (framework: AnyComponent['framework'], module: object): unknown => guardComponent({
    framework, name: 'own', version: '1.0.0', frameworkVersion: 1, help: 'x', params: {}, query: () => accept(1),
    create: () => module,
  }, '/own').create({}, {}, undefined);

  test('a wrong one is told with its entry, and with what was asked', () => {
    assert.throws(() => madeBy(RING).neighbours(2), new RegExp('own\\.neighbours failed: it answered a list of '
      + '3 to \\(2\\): expected a list of positions below 4, and entry 1 is 9', 'u'));
  });

  test('actions of detectors are looked at, each field', () => {
    const answer = (actions: unknown): unknown => {
      const module = { watches: 'agents', topology: '', promise: () => undefined, open: () => ({ on: () => actions }) };
      const detector = made(detectorFramework, module) as { open(init: object): { on(event: object): unknown } };
      return detector.open({}).on({ type: 'start' });
    };
    const failed = { position: 1, incarnation: 0 };
    const report = { type: 'report', failed, cause: 'silent', evidence: 'x', suspectedMs: 5 };
    assert.equal(answer([report]), [report]);
    const WRONG: readonly (readonly [unknown, RegExp])[] = [
      [[{ type: 'report' }], /detector:own\.open\.on failed: .*expected failed of action 'report' to be a member/u],
      [[report, { type: 'send', to: -1 }], /entry 1: expected to of action 'send' to be an integer, .*, found -1/u],
      [[{ ...report, suspectedMs: 'now' }], /expected suspectedMs .* found "now"/u],
      [[{ type: 'kill' }], /expected an action of type send, .*, found type 'kill'/u],
      [[undefined], /found no type/u],
    ];
    for (const [actions, says] of WRONG) assert.throws(() => answer(actions), says);
  });

  test('and those of error managers, with their pauses', () => {
    let next: unknown;
    const module = { policy: 'own', goesOn: true, decide: () => next, local: () => next, policyOf: () => next };
    const manager = made(errmgrFramework, module) as Record<'local' | 'policyOf', () => unknown> & {
      decide(failure: object, context: object): unknown;
    };
    const decide = (context: object): unknown => manager.decide({}, context);
    next = { type: 'restart' };
    assert.throws(() => manager.local(), /errmgr:own\.local failed: .*expected afterMs of action 'restart' to be/u);
    next = { type: 'restrat' };
    assert.throws(() => manager.local(), /expected an action of type report, restart, found type 'restrat'/u);
    assert.throws(() => manager.policyOf(), /errmgr:own\.policyOf failed: it answered an object: expected a name/u);
    next = [{ type: 'restart', afterMs: Infinity }];
    assert.throws(() => decide({ of: 'job' }), /afterMs .*found Infinity/u);
    next = [{ type: 'restart', afterMs: 0 }, { type: 'go-on' }];
    assert.equal(decide({ of: 'job' }), next);
    const launching = { of: 'session', phase: 'launching', sparesLeft: 0 };
    assert.throws(() => decide(launching), /errmgr:own\.decide failed: .*: expected one action about the host/u);
    next = [{ type: 'go-on' }];
    assert.throws(() => decide(launching), /of type end-launch, start-again, leave-out, found type 'go-on'/u);
    next = [{ type: 'end-launch' }];
    assert.equal(decide(launching), next);
    assert.throws(() => decide({ ...launching, phase: 'idle' }), /of type start-again, leave-out, found type 'end-l/u);
    assert.throws(() => decide({ of: 'job' }), /of type end-job, go-on, notify, restart, found type 'end-launch'/u);
    next = [];
    assert.throws(() => decide({ of: 'job' }), /expected an action about the job/u);
  });
});
