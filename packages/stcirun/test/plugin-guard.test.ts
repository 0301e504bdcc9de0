/** The guard around a plugin's component: what its calls and members answer, and how calls are numbered. */

import { assert, suite } from '@stci/testkit';
import {
  accept, defineComponent, detectorFramework, errmgrFramework, topologyFramework,
} from '@stci/core/component';
import type { AnyComponent } from '@stci/interface';
import { watchOver } from '../dist/library/plugin-watch.js';
import { guardComponent, marker, runningCall, watchCalls, type FaultOwner } from '../dist/plugin/guard.js';
import type { Plugin } from '../dist/plugin/load.js';

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

const madeBy = (made: object, owner?: FaultOwner): Made => {
  const record = defineComponent({
    framework: topologyFramework, name: 'own', version: '1.0.0', frameworkVersion: 1, help: 'x', params: {},
    query: () => accept(1), create: () => made as never,
  });
  return guardComponent(record as AnyComponent, '/own', owner).create({}, {}, {}) as Made;
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

suite('calls of plugins', (test) => {
  test('get as many arguments as they are given', () => {
    const seen: unknown[][] = [];
    const neighbours = (...args: unknown[]): readonly number[] => {
      seen.push(args);
      return [];
    };
    const call = madeBy({ ...RING, neighbours }).neighbours as (...args: unknown[]) => unknown;
    const ALL = [1, undefined, 3, 4, 5];
    for (let count = 0; count <= ALL.length; count += 1) call(...ALL.slice(0, count));
    assert.equal(seen, Array.from({ length: ALL.length + 1 }, (_, count) => ALL.slice(0, count)));
  });

  test('of an object that is answered to several jobs: each is told its own faults', () => {
    const told: string[] = [];
    let isBad = false;
    const shared = { ...RING, neighbours: () => {
      if (isBad) throw new Error('boom');
      return [];
    } };
    const jobs = ['first', 'second'].map((name) => madeBy(shared, { onFault: () => void told.push(name) }));
    isBad = true;
    for (const job of jobs.toReversed()) assert.throws(() => job.neighbours(0), /boom/u);
    assert.equal(told, ['second', 'first']);
  });
});

suite('faults of plugins that nothing takes care of', (test) => {
  test('are told to the job whose they are, and to none that is over', () => {
    const told: string[] = [];
    const before = process.listeners('uncaughtException');
    const plugins = [0, 1].map((): Partial<Plugin> => ({ path: '/own' }));
    const [first, second] = plugins.map((plugin, index) => watchOver({
      plugins: [plugin as Plugin], timeoutMs: 5000, onFault: ({ message }) => void told.push(`${index}: ${message}`),
    }));
    const escape = process.listeners('uncaughtException').find((one) => !before.includes(one));
    const faultOf = (owner: FaultOwner): Error => {
      // Detectors: their drivers take care of what they throw.
      const detector = guardComponent({
        framework: detectorFramework, name: 'own', version: '1.0.0', frameworkVersion: 1, help: 'x', params: {},
        query: () => accept(1), create: () => ({
          watches: 'agents', topology: '', promise: () => undefined, open: () => { throw new Error('boom'); },
        }),
      }, '/own', owner).create({}, {}, undefined) as { open(): void };
      try {
        detector.open();
      } catch (thrown) {
        return thrown as Error;
      }
      throw new Error('expected a fault');
    };
    const FAULT = 'plugin /own: detector:own.open failed: boom.';
    try {
      const fault = faultOf(plugins[1] as FaultOwner);
      assert.equal(told, []);
      escape?.(fault, 'uncaughtException');
      assert.equal(told.splice(0), [`1: ${FAULT}`]);
      second?.release();
      assert.is(plugins[1]?.onFault, undefined);
      escape?.(fault, 'uncaughtException');
      assert.equal(told, []);
    } finally {
      first?.release();
      second?.release();
    }
    assert.equal(process.listeners('uncaughtException'), before);
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
    const module = {
      policy: 'own', toleratesFailures: true, decide: () => next, local: () => next, policyOf: () => next,
    };
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
