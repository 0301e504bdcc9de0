/**
 * Requirements on every notifier: what the contract of `NotifierModule` in @stci/interface promises, in a pure network:
 * small ones with all choices of agents that fail, larger ones by seeds. A component's own test calls this.
 */

import { notifierFramework } from '@stci/core/component';
import type { Component, NoDeps, NotifierModule, Position } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { checkOptions, type SuiteCall } from '../kit/cases.js';
import { checkTexts, otherParams } from '../kit/component-record.js';
import { verify } from '../kit/counterexample.js';
import { skip } from '../kit/running-test.js';
import { seededIntegers } from '../kit/seeded.js';
import { suite } from '../kit/suite.js';
import { isFullSwarm, swarmSeeds } from '../kit/swarm-seeds.js';
import type { TopologyComponent } from '../topology/topology-record.js';
import { NotifierBench, checkNotifierExample, smallerNotifierExample } from './notifier-checks.js';
import { NOTIFIER, type NotifierExample } from './notifier-contract.js';

export type NotifierComponent = Component<NotifierModule, NoDeps>;

export interface NotifierComplianceOptions {
  /** Topologies that the component may name, by default. */
  readonly topologies?: readonly TopologyComponent[];
  /** For each of so many seeds, a network with agents that fail; default: those of swarm-seeds.ts. */
  readonly seeds?: number;
}

/** All choices of failing agents up to this size: a second of work; or, with STCI_SWARM_FULL=1, half a minute. */
const EXHAUSTIVE_SIZE = isFullSwarm ? 16 : 11;
/** As the swarm's: CI names another one each time. */
const FIRST_SEED = Number(process.env['STCI_SWARM_FROM'] ?? 0);
/** Bound on choices of so many failures; as many as there are of 6 of 15. */
const CHOICES_MAX = 5005;
const MOSTLY_DEAD_SEEDS = 200;
/** Seeds with each other parameter. */
const FEW_SEEDS = 10;
const FEW_SIZES = [2, 5, 17, 64];
const MEMBERS = [1, 2, 3, 4, 5, 16, 17, 64, 65, 129, 1000, 1025, 4097];
/** Where another bit is needed. */
const BIT_SIZES = [
  63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048, 2049,
];
/** Numbers of positions, at a few of which there are agents. */
const SPARSE_SIZES = [1025, 2049, 4097, 8193];
const SLOW = { timeoutMs: 300_000 };

const CALL: SuiteCall<NotifierComplianceOptions> = {
  suite: 'notifierCompliance',
  framework: 'notifier',
  fields: {
    topologies: 'a list',
    seeds: 'a whole number, at least 1',
  },
  required: [],
};

const FRAGILE = 'it tolerates no failure';

/** Defines a suite: a test of each promise. */
export function notifierCompliance(component: NotifierComponent, options: NotifierComplianceOptions = {}): void {
  checkOptions(CALL, component, options);
  suite(`notifier compliance: ${component.name}`, (test) => {
    const check = checker(component, options);
    const each = (examples: () => Iterable<NotifierExample>) => () => {
      for (const example of examples()) check(example);
    };
    /** Examples of a promise that not every notifier makes. */
    const eachOr = (otherwise: string, examples: () => Iterable<NotifierExample>) => () => {
      const all = [...examples()];
      if (all.length === 0) return skip(otherwise);
      for (const example of all) check(example);
    };
    const tolerates = (size: number): number => check.bench().promise(size, 0).tolerates;
    const dead = options.seeds ?? swarmSeeds('notifiers, agents that are dead');
    const dying = options.seeds ?? swarmSeeds('notifiers, agents that die');
    test('record', () => check({ promise: 'record' }));
    test('promise', each(promiseExamples), SLOW);
    test('quiet', each(quietExamples), SLOW);
    const chosen = eachOr(FRAGILE, () => allChoices(tolerates));
    test(`failures: all choices of up to ${EXHAUSTIVE_SIZE} agents`, chosen, SLOW);
    const drawn = eachOr(FRAGILE, () => drawnChoices(tolerates, dead));
    test(`failures: ${dead} choices of up to 1024 agents`, drawn, SLOW);
    const isUniform = ({ size = 2 }: NotifierExample): boolean => check.bench().promise(size, 0).isUniform;
    const uniform = eachOr('it does not promise to be uniform', () =>
      [...dyingExamples(tolerates, dying)].filter(isUniform));
    test(`uniform: ${dying} seeds`, uniform, SLOW);
    test('gone', each(goneExamples), SLOW);
    test('joined', () => {
      check({ promise: 'joined', size: 5, seed: 1, joins: 4 });
      check({ promise: 'joined', size: 6, seed: 2, joins: 3, rounds: 30 });
    }, SLOW);
    test('incarnation', () => {
      for (const [seed, size] of [8, 9, 40].entries()) check({ promise: 'incarnation', size, seed, source: 3 });
    }, SLOW);
    test('repeated', () => {
      check({ promise: 'repeated', size: 12, seed: 1, rounds: 50 });
      check({ promise: 'repeated', size: 3, seed: 2, rounds: 50, batches: 25 });
      // Many at once, as when many are found dead; the relay of core takes up to 256.
      check({ promise: 'repeated', size: 3, seed: 5, source: 0, rounds: 250 });
      const failures = [1, 2, 5].slice(0, tolerates(12)).map((position) => died(position));
      check({ promise: 'repeated', size: 12, seed: 3, rounds: 30, failures });
      // A number of two bytes comes around.
      check({ promise: 'repeated', size: 2, seed: 4, source: 0, rounds: 60, batches: 1100 });
    }, SLOW);
    test('other parameters', () => {
      const sets = [...otherParams(component)].flatMap((set) => set.slice(0, 1));
      if (sets.length === 0) return skip('no parameter has bounds');
      for (const params of sets) for (const example of parameterExamples(tolerates)) check({ ...example, params });
    }, SLOW);
    test('payload', () => check({ promise: 'payload', size: 3, source: 1 }), SLOW);
    test('malformed', () => check({ promise: 'malformed', size: 4, seed: 1, source: 1 }), SLOW);
    test('same', () => {
      for (const size of [20, 300]) check({ promise: 'same', size, seed: 7, source: 4 });
    }, SLOW);
  });
}

/**
 * Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise.
 * `options`: as they were passed to the suite.
 */
export function notifierExample(
  component: NotifierComponent,
  example: NotifierExample,
  options: NotifierComplianceOptions = {},
): void {
  checker(component, options)(example);
}

type Checker = ((example: NotifierExample) => void) & { bench: BenchOf };
type BenchOf = (params?: NotifierExample['params']) => NotifierBench;

function checker(component: NotifierComponent, { topologies = [] }: NotifierComplianceOptions): Checker {
  const made = new Map<string, NotifierBench>();
  const bench = (params: NotifierExample['params'] = {}): NotifierBench => {
    const key = JSON.stringify(params);
    const one = made.get(key) ?? new NotifierBench(component, topologies, params);
    made.set(key, one);
    return one;
  };
  const run = (example: NotifierExample): void => {
    if (example.promise === 'record') {
      assert.is(component.framework.name, notifierFramework.name, 'it is a component of framework notifier');
      checkTexts(component, undefined);
      checkKind(component, bench);
    }
    checkNotifierExample(bench(example.params), example);
  };
  return Object.assign(
    (example: NotifierExample) => verify(NOTIFIER, example, run, smallerNotifierExample), { bench },
  );
}

/** A parameter that names the kind of topology by default names it. */
function checkKind({ params }: NotifierComponent, bench: BenchOf): void {
  const { topology } = bench().module;
  if (topology === '') return;
  for (const [name, spec] of Object.entries(params)) {
    if (spec.type !== 'string' || spec.default !== topology) continue;
    assert.is(bench({ [name]: 'another' }).module.topology, 'another', `with ${name}=another its kind of topology is`);
  }
}

function* promiseExamples(): Generator<NotifierExample> {
  for (const size of MEMBERS) {
    for (const failing of [0, 1, 2, size - 1]) yield { promise: 'promise', size, failing };
  }
}

function* quietExamples(): Generator<NotifierExample> {
  for (let size = 1; size <= 40; size++) {
    yield { promise: 'quiet', size, seed: size, source: (size % 7) % size };
  }
  for (const size of [100, ...BIT_SIZES]) yield { promise: 'quiet', size, seed: size, source: size - 1 };
}

function* parameterExamples(tolerates: Tolerates): Generator<NotifierExample> {
  for (const size of FEW_SIZES) yield { promise: 'quiet', size, seed: size, source: size - 1 };
  yield* drawnChoices(tolerates, FEW_SEEDS);
  yield* dyingExamples(tolerates, FEW_SEEDS);
}

type Tolerates = (size: number) => number;

function* allChoices(tolerates: Tolerates): Generator<NotifierExample> {
  for (let size = 2; size <= EXHAUSTIVE_SIZE; size++) {
    for (let failures = 1; failures <= Math.min(tolerates(size), size - 2); failures++) {
      let number = 0;
      for (const dead of choices(1, size - 1, failures)) {
        if (number++ >= CHOICES_MAX) break;
        yield { promise: 'failures', size, seed: number, source: 0, failures: dead.map((position) => died(position)) };
      }
    }
  }
}

const died = (position: Position, sends = 0) => ({ position, sends });

function* drawnChoices(tolerates: Tolerates, seeds: number): Generator<NotifierExample> {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const random = seededIntegers(seed);
    const size = 2 + random(seed % 50 === 0 ? 1023 : 98);
    const source = random(size);
    if (tolerates(size) === 0) continue;
    const count = Math.min(1 + random(tolerates(size)), size - 2);
    const failures = pick(size, count, source, random).map((position) => died(position));
    yield { promise: 'failures', size, seed, source, failures };
  }
}

function* dyingExamples(tolerates: Tolerates, seeds: number): Generator<NotifierExample> {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
    const random = seededIntegers(seed);
    const size = 3 + random(seed % 50 === 0 ? 300 : 60);
    const most = tolerates(size);
    const source = random(size);
    const dies = random(2) === 0 && most > 0;
    const count = Math.min(random(1 + most - (dies ? 1 : 0)), size - 2);
    const failures = pick(size, count, source, random).map((position) => died(position, random(8)));
    if (dies) failures.push(died(source, 1 + random(6)));
    yield { promise: 'uniform', size, seed, source, failures };
  }
}

/** Three of four agents are known to be dead, and one more is; or there are few agents, far from one another. */
function* goneExamples(): Generator<NotifierExample> {
  for (let seed = 0; seed < MOSTLY_DEAD_SEEDS; seed++) {
    const random = seededIntegers(seed);
    const size = seed % 20 === 19 ? 200 + random(200) : 8 + random(60);
    const source = random(size);
    const [unknown = 0, ...known] = seed % 4 === 0 ? islands(size, source, random)
      : pick(size, Math.floor(size * 3 / 4), source, random);
    const failures = [died(unknown), ...known.map((position, index) => ({
      ...died(position), isKnown: true as const, ...(random(2) === 0 && index % 2 === 0 && { isAbsent: true as const }),
    }))];
    yield { promise: 'gone', size, seed, source, failures };
  }
  for (const [seed, size] of SPARSE_SIZES.entries()) {
    const present = [0, 1, size >> 2, (size >> 2) + 1, size >> 1, size - 3, size - 2, size - 1];
    for (const source of [0, size - 1]) yield { promise: 'gone', size, seed, source, present };
  }
}

/** All sets of `count` of the integers first..last. */
function* choices(first: number, last: number, count: number): Generator<number[]> {
  if (count === 0) return void (yield []);
  for (let one = first; one <= last - count + 1; one++) {
    for (const rest of choices(one + 1, last, count - 1)) yield [one, ...rest];
  }
}

/** All but two groups of a few neighbours each, the source among them. */
function islands(size: number, source: Position, random: (below: number) => number): Position[] {
  const other = random(size);
  const isNear = (position: Position, to: Position): boolean => (position - to + size) % size < 3;
  return Array.from({ length: size }, (_, position) => position)
    .filter((position) => !isNear(position, source) && !isNear(position, other));
}

/** So many different positions, not the source; half the time next to each other. */
function pick(size: number, count: number, source: Position, random: (below: number) => number): Position[] {
  const first = random(size);
  const order = Array.from({ length: size }, (_, i) => (first + i) % size).filter((position) => position !== source);
  if (random(2) === 0) return order.slice(0, count);
  const picked = new Set<Position>();
  while (picked.size < count) picked.add(order[random(order.length)]!);
  return [...picked];
}
