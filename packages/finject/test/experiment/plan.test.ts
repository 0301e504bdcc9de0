/** The schedule: the same from the same seed, independent of other faults, with the victims that `who` allows. */

import { assert, suite } from '@stci/testkit';
import { planAll, planRepeats } from '@stci/finject/experiment';
import type { Choice, Experiment, Filter, PlannedInjection, Who } from '@stci/finject/experiment';
import { FILTER, fixed, makeExperiment, makeFault, makeShape } from './make.js';

const SHAPE = makeShape(4, 8);

function injections(experiment: Experiment, shape = SHAPE): readonly PlannedInjection[] {
  return planRepeats(experiment, shape).flatMap((plan) => plan.injections);
}

function ranks(filter: Partial<Filter> = {}, named: readonly number[] | 'all' = 'all'): Who {
  return { of: 'ranks', ranks: named, ...FILTER, ...filter };
}

function victims(who: Who, fields: Partial<Experiment> = {}, shape = SHAPE): PlannedInjection['victims'][] {
  const fault = makeFault('f', { who });
  return injections(makeExperiment([fault], { repeats: 40, ...fields }), shape).map((one) => one.victims);
}

function rankSets(who: Who, fields: Partial<Experiment> = {}): number[][] {
  return victims(who, fields).map((list) => list.map((victim) => (victim.kind === 'rank' ? victim.rank : NaN)));
}

const pick = (choice: Choice): Partial<Filter> => ({ choice });

suite('plan: the draws', (test) => {
  const storm = makeFault('storm', {
    count: 5,
    when: { after: makeFault('x').when.after, delay: { type: 'exponential', meanMs: 500 },
      every: { type: 'weibull', shape: 0.7, scaleMs: 900 } },
  });

  test('are what they have always been', () => {
    const plan = injections(makeExperiment([storm]));
    assert.equal(plan.map(({ id, delayMs }) => [id, delayMs]), GOLDEN_TIMES);
    assert.equal(plan.map((one) => one.victims), GOLDEN_RANKS.map((rank) => [{ kind: 'rank', rank }]));
  });

  test('differ by seed and by repeat, not by other faults, nor by their order', () => {
    const times = (experiment: Experiment): unknown[] =>
      injections(experiment).filter(({ fault }) => fault === 'storm').map((one) => [one.delayMs, one.victims]);
    const alone = times(makeExperiment([storm], { repeats: 2 }));
    assert.not.equal(alone.slice(0, 5), alone.slice(5));
    assert.not.equal(times(makeExperiment([storm], { repeats: 2, seed: 8 })), alone);
    const other = makeFault('a', { count: 3, who: ranks(pick({ pick: 'percent', percent: 50 })) });
    assert.equal(times(makeExperiment([other, storm], { repeats: 2 })), alone);
    assert.equal(times(makeExperiment([storm, other], { repeats: 2 })), alone);
  });

  test('are the same in each configuration; repeats take turns', () => {
    const configurations = [{ name: 'ring', options: [] }, { name: 'swim', options: [] }];
    const plans = planRepeats(makeExperiment([storm], { repeats: 2, configurations }), SHAPE);
    assert.equal(plans.map(({ repeat, number, configuration }) => [repeat, number, configuration]),
      [[1, 1, 'ring'], [2, 1, 'swim'], [3, 2, 'ring'], [4, 2, 'swim']]);
    const without = (index: number): unknown => plans[index]?.injections.map(({ id: _, ...rest }) => rest);
    assert.equal(without(0), without(1));
    assert.equal(plans[1]?.injections[2]?.id, '2.storm.3');
  });

  test('of a configuration on other hosts are on its own', () => {
    const shape = { ...SHAPE, configurations: { small: makeShape(1, 2) } };
    const configurations = [{ name: 'large', options: [] }, { name: 'small', options: [], hosts: ['h0'] }];
    const all = makeFault('all', { who: ranks(pick({ pick: 'all' })) });
    const plans = planRepeats(makeExperiment([all], { configurations }), shape);
    assert.equal(plans.map((plan) => plan.injections[0]?.victims.length), [8, 2]);
  });
});

suite('plan: configurations', (test) => {
  test('a fault that names some is in these alone, and draws there what it would draw anywhere', () => {
    const configurations = ['one', 'two'].map((name) => ({ name, options: [] }));
    const both = makeFault('both');
    const some = { ...makeFault('some'), configurations: ['two'] };
    const plans = planRepeats(makeExperiment([both, some], { repeats: 2, configurations }), SHAPE);
    assert.equal(plans.map((plan) => plan.injections.map(({ fault }) => fault)),
      [['both'], ['both', 'some'], ['both'], ['both', 'some']]);
    const alone = planRepeats(makeExperiment([both], { repeats: 2, configurations }), SHAPE);
    assert.equal(plans[1]?.injections[0], alone[1]?.injections[0]);
  });
});

suite('plan: who', (test) => {
  test('random: each rank sometimes, as many as asked for, ascending', () => {
    const sets = rankSets(ranks(pick({ pick: 'random', count: 3 })));
    assert.ok(sets.every((set) => set.length === 3 && set.every((rank, at) => at === 0 || rank > set[at - 1]!)));
    assert.equal(new Set(sets.flat()).size, 8);
  });

  test('percent: rounded, at least one', () => {
    const size = (percent: number): number => rankSets(ranks(pick({ pick: 'percent', percent })))[0]!.length;
    assert.equal([1, 25, 60, 100].map(size), [1, 2, 5, 8]);
  });

  test('contiguous: wraps around, and does not jump over what is left out', () => {
    const sets = rankSets(ranks({ ...pick({ pick: 'contiguous', count: 3 }), not: [4] }));
    assert.ok(sets.every((set) => set.every((rank, at) => at === 0 || rank === (set[at - 1]! + 1) % 8)));
    assert.equal([...new Set(sets.map((set) => set[0]))].sort(), [0, 1, 5, 6, 7]);
    const all = rankSets(ranks(pick({ pick: 'contiguous', count: 8 })));
    assert.ok(all.every((set) => set.length === 8 && new Set(set).size === 8));
  });

  test('on hosts, not, depth; of 4 hosts with arity 2 the first two have depth 1', () => {
    const all = pick({ pick: 'all' });
    assert.equal(rankSets(ranks({ ...all, on: ['h1'] }))[0], [1, 5]);
    assert.equal(rankSets(ranks({ ...all, not: [0, 7] }))[0], [1, 2, 3, 4, 5, 6]);
    assert.equal(rankSets(ranks({ ...all, depth: 2 }))[0], [2, 3, 6, 7]);
    const roots = victims({ of: 'agents', role: 'root', ...FILTER, ...all, depth: 1 })[0];
    assert.equal(roots, [0, 1].map((host) => ({ kind: 'agent', role: 'root', host })));
  });

  test('agents of sessions are where ranks are; links are of the boot tree', () => {
    const all = pick({ pick: 'all' });
    const session = victims({ of: 'agents', role: 'session', ...FILTER, ...all }, {}, makeShape(4, 2))[0];
    assert.equal(session?.map((one) => (one.kind === 'agent' ? one.host : NaN)), [0, 1]);
    const links = victims({ of: 'links', links: 'all', ...FILTER, ...all })[0];
    assert.equal(links?.map((one) => (one.kind === 'link' ? one.ends : [])), [[0, 1], [0, 2], [1, 3], [1, 4]]);
    const named = [['controller', { host: 'h0' }], [{ host: 3 }, { host: 1 }]] as const;
    assert.equal(victims({ of: 'links', links: named, ...FILTER, ...all })[0]?.map((one) =>
      (one.kind === 'link' ? one.ends : [])), [[0, 1], [2, 4]]);
  });

  test('keep-alive: ranks, what is on its hosts, and the agents above are spared', () => {
    const all = pick({ pick: 'all' });
    const keepAlive = { ranks: [3], hosts: ['h2'] };
    assert.equal(rankSets(ranks(all), { keepAlive })[0], [0, 1, 4, 5, 7]);
    const hosts = victims({ of: 'hosts', hosts: 'all', ...FILTER, ...all }, { keepAlive })[0];
    assert.equal(hosts, [{ kind: 'host', host: 1 }]);
    const links = victims({ of: 'links', links: 'all', ...FILTER, ...all }, { keepAlive })[0];
    assert.equal(links, [{ kind: 'link', ends: [0, 2] }]);
    const plan = planRepeats(makeExperiment([], { keepAlive }), SHAPE)[0];
    assert.equal(plan?.keep, { ranks: [3], hosts: [2] });
  });

  test('not the same twice, and the same host as another', () => {
    const first = makeFault('first', { count: 4, who: ranks({ notOf: ['first'] }) });
    const second = makeFault('second', { count: 4, who: ranks({ sameHostAs: 'first', notOf: ['first'] }) });
    // The one that depends on the other comes first.
    for (const plan of planRepeats(makeExperiment([second, first], { repeats: 30 }), SHAPE)) {
      const of = (name: string): number[] => plan.injections.filter(({ fault }) => fault === name)
        .flatMap((one) => one.victims.map((victim) => (victim.kind === 'rank' ? victim.rank : NaN)));
      if (of('second').length < 4) continue;
      assert.equal(new Set(of('first')).size, 4);
      assert.equal(of('second').map((rank) => rank % 4), of('first').map((rank) => rank % 4));
      assert.ok(of('second').every((rank) => !of('first').includes(rank)));
    }
  });

  test('too few: told, and without victims', () => {
    const fault = makeFault('f', { count: 9, who: ranks({ notOf: ['f'] }) });
    const { plans, shortages } = planAll(makeExperiment([fault]), SHAPE);
    assert.equal(shortages.map(({ number }) => number), [9]);
    assert.match(shortages[0]!.text, /needs 1 ranks, but of 8 ranks only 0 are left by distinct/);
    assert.equal(plans[0]?.injections.at(-1)?.victims, []);
  });
});

suite('plan: partitions', (test) => {
  const sets = (shape: 'halves' | 'ring' | 'bridge' | 'isolate', keepHosts: readonly string[] = []): number[][][] =>
    victims({ of: 'partition', shape }, { keepAlive: { ranks: [], hosts: keepHosts } }).map(([victim]) =>
      (victim?.kind === 'partition' ? victim.sets.map((set) => [...set]) : []));

  test('halves: each position once, the controller in the larger', () => {
    for (const [own, other] of sets('halves')) {
      assert.equal([...own!, ...other!].sort(), [0, 1, 2, 3, 4]);
      assert.ok(own!.includes(0) && own!.length === 3);
    }
    // h2 needs h0 on its way to the controller.
    assert.ok(sets('halves', ['h2']).every(([own]) => [0, 1, 3].every((position) => own!.includes(position))));
  });

  test('bridge: one position in both', () => {
    for (const [own, other] of sets('bridge')) {
      assert.is(own!.filter((position) => other!.includes(position)).length, 1);
      assert.equal([...new Set([...own!, ...other!])].sort(), [0, 1, 2, 3, 4]);
    }
  });

  test('ring: each reaches two others; isolate: all but one', () => {
    for (const ring of sets('ring')) {
      for (const position of [0, 1, 2, 3, 4]) {
        const reached = new Set(ring.filter((set) => set.includes(position)).flat());
        assert.is(reached.size, 3);
      }
    }
    const isolated = sets('isolate').map(([set]) => [1, 2, 3, 4].filter((position) => !set!.includes(position)));
    assert.ok(isolated.every((list) => list.length === 1));
    assert.equal([...new Set(isolated.flat())].sort(), [1, 2, 3, 4]);
  });
});

suite('plan: times', (test) => {
  const start = makeFault('x').when.after;
  const times = (list: readonly PlannedInjection[]): unknown[] =>
    list.map(({ id, follows, delayMs, atMs }) => [id, follows, delayMs, atMs]);

  test('count from the trigger, one after the other', () => {
    const fault = makeFault('f', { count: 3, when: { after: start, delay: fixed(500), every: fixed(2000) } });
    assert.equal(times(injections(makeExperiment([fault]))), [
      ['1.f.1', undefined, 500, 500], ['1.f.2', undefined, 2500, 2500], ['1.f.3', undefined, 4500, 4500]]);
    const event = { on: 'event', event: 'detection', nth: 1, fault: undefined } as const;
    const triggered = makeFault('f', { when: { after: event, delay: fixed(500), every: fixed(0) } });
    assert.equal(times(injections(makeExperiment([triggered]))), [['1.f.1', undefined, 500, undefined]]);
  });

  test('a cool-down lengthens them', () => {
    const when = { after: start, delay: fixed(500), every: fixed(1000) };
    const fault = makeFault('f', { count: 2, when, durationMs: 3000, coolDownMs: 200 });
    assert.equal(injections(makeExperiment([fault])).map(({ delayMs }) => delayMs), [500, 3700]);
  });

  test('a trace has its own', () => {
    const when = { after: start, delay: { type: 'trace', timesMs: [10, 20.5, 400] }, every: fixed(0) } as const;
    const fault = makeFault('f', { count: 3, when });
    assert.equal(injections(makeExperiment([fault])).map(({ atMs }) => atMs), [10, 20.5, 400]);
  });

  test('compose: all parts from the same moment; sequence: each after the end of the one before', () => {
    const parts = [
      makeFault('w/a', { durationMs: 100, when: { after: start, delay: fixed(0), every: fixed(0) } }),
      makeFault('w/b', { when: { after: start, delay: fixed(30), every: fixed(0) } }),
    ];
    const whole = (kind: string): Experiment => makeExperiment([makeFault('w', {
      kind, parts, count: 2, who: { of: 'nobody' }, when: { after: start, delay: fixed(1000), every: fixed(500) },
    })]);
    assert.equal(times(injections(whole('compose'))), [
      ['1.w/a.1', undefined, 1000, 1000], ['1.w/a.2', undefined, 1500, 1500],
      ['1.w/b.1', undefined, 1030, 1030], ['1.w/b.2', undefined, 1530, 1530]]);
    assert.equal(times(injections(whole('sequence'))), [
      ['1.w/a.1', undefined, 1000, 1000],
      ['1.w/a.2', { id: '1.w/b.1', state: 'over' }, 370, undefined],
      ['1.w/b.1', { id: '1.w/a.1', state: 'over' }, 30, undefined],
      ['1.w/b.2', { id: '1.w/a.2', state: 'over' }, 30, undefined]]);
  });
});

/** Computed besides with Python's hashlib and math. */
const GOLDEN_TIMES: readonly (readonly [string, number])[] = [
  ['1.storm.1', 396.21], ['1.storm.2', 412.556], ['1.storm.3', 6430.421], ['1.storm.4', 8776.737],
  ['1.storm.5', 8978.924],
];
const GOLDEN_RANKS: readonly number[] = [3, 0, 4, 3, 7];
