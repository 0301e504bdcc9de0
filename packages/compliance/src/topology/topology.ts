/**
 * Requirements on every topology of any kind: what the contract of `Topology` in @stci/interface promises, checked
 * against breadth-first search, and the component's record (topology-record.ts). All sizes up to 40 exhaustively, with
 * sets of dead positions, and those around powers of two; large ones by seeded samples. A component's own test calls
 * this and adds its own guarantees.
 */

import type { Position, Topology } from '@stci/interface';
import { checkCases, type SuiteCall } from '../kit/cases.js';
import { checkTexts } from '../kit/component-record.js';
import { less, verify, without } from '../kit/counterexample.js';
import { skip } from '../kit/running-test.js';
import { seededIntegers } from '../kit/seeded.js';
import type { IntegerSource } from '../kit/seeded.js';
import { suite } from '../kit/suite.js';
import {
  TOPOLOGY, TOPOLOGY_CHECKS, type TopologyExample, type TopologyPromiseName as Name,
} from './topology-checks.js';
import {
  COMPARED_SIZE, badRequests, checkOption, checkRefusal, optionPairs, otherOptions, topologyMaker,
} from './topology-record.js';
import type { MakeTopology, TopologyComponent, TopologyOptions, TopologyRequested } from './topology-record.js';
import { checkTurns } from './topology-turns.js';

export interface TopologyCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Options of the request for a size; none by default. */
  options?(size: number): TopologyOptions;
  /** Largest number of links of one position; default: all others. */
  degreeMax?(size: number): number;
  /** True if the kind guarantees a path between any two live positions that are still connected. */
  readonly avoidsDead: boolean;
  /** Sizes to sample; default 1 000 and 20 000. */
  readonly largeSizes?: readonly number[];
}

/** Sizes that are checked in full. */
const SMALL_SIZE_MAX = 40;
/** Larger ones that are, too: where another bit is needed. */
const FULL_SIZES = [63, 64, 65, 127, 128, 129];
/** Sizes that are sampled, with a few samples each. */
const BIT_SIZES = [256, 512, 1024, 2048, 4096].flatMap((size) => [size - 1, size, size + 1]);
/** Sizes up to which the longest route of those, and spanning trees, are looked at as a whole; and of some others. */
const ALL_ROUTES_SIZE_MAX = 1025;
const WHOLE_TREE_SIZE_MAX = 1025;
const HUGE_SIZE = 65_537;
/** Sizes with each value of an option that suits; COMPARED_SIZE always does. */
const OPTION_SIZES = [COMPARED_SIZE, 33, 100];
/** Where many positions are dead: more than a word has bits. */
const MANY_DEAD_SIZES = [100, 129];
const OTHER_SIZES = [48, 81, 96, 100, 192, 210, 255, 384];
/** Size up to which all sets of dead positions are tried. */
const ALL_SETS_SIZE_MAX = 6;
const DEAD_SETS = 6;
const SAMPLES = 60;
const FEW_SAMPLES = 15;
const HUGE_SAMPLES = 5;
const SMALL_SIZES = Array.from({ length: SMALL_SIZE_MAX }, (_, index) => index + 1);
/** COMPARED_SIZE: for options, all of whose values suit it. */
const TURNS_SIZES = [2, 9, COMPARED_SIZE, 33, 64, 100];
/** All pairs of all small sizes: up to two seconds of work, and much more on a busy machine. */
const EXHAUSTIVE = { timeoutMs: 100_000 };

const CALL: SuiteCall<TopologyCase> = {
  suite: 'topologyCompliance',
  framework: 'topology',
  fields: {
    label: 'text', options: 'a function', degreeMax: 'a function', avoidsDead: 'true or false',
    largeSizes: 'a list of whole numbers, at least 1',
  },
  required: ['label', 'avoidsDead'],
};

/** Defines a suite: tests of the component's record, and for each case tests of the topologies that it makes. */
export function topologyCompliance(component: TopologyComponent, cases: readonly TopologyCase[]): void {
  checkCases(CALL, component, cases);
  const check = checker(component);
  suite(`topology compliance: ${component.name}`, (test) => {
    test('record', () => check({ promise: 'record', size: COMPARED_SIZE }));
    test('request: bad ones are refused', () => {
      for (const { size, options } of badRequests(component)) {
        check({ promise: 'request', size, ...(options && { options }) });
      }
    });
    const isPlain = Object.keys(component.params ?? {}).length === 0;
    test.skipIf(isPlain, 'it has no parameters', 'options: parameters are their defaults', () => {
      for (const option of optionPairs(component)) check({ promise: 'options', size: COMPARED_SIZE, option });
    }, EXHAUSTIVE);
    test.skipIf(isPlain, 'it has no parameters', 'other parameters', () => {
      const others = [...othersThatSuit(component)];
      if (others.length === 0) return skip('of its parameters no other values are known');
      for (const { options, size } of others) {
        for (const promise of ['links', 'route', 'diameter', 'tree'] as const) check({ promise, size, options });
      }
    }, EXHAUSTIVE);
    for (const one of cases) {
      const example = (promise: Name, size: number): TopologyExample => {
        const options = one.options?.(size);
        return { promise, size, ...(options && { options }) };
      };
      const each = (sizes: readonly number[]) => (
        promise: Name, more?: (size: number) => Partial<TopologyExample>[], next?: Name,
      ) => () => {
        for (const size of sizes) {
          for (const rest of more?.(size) ?? [{}]) check({ ...example(promise, size), ...rest });
          if (next !== undefined) check(example(next, size));
        }
      };
      const [small, full] = [each(SMALL_SIZES), each([...SMALL_SIZES, ...FULL_SIZES])];
      const dead = (size: number) => deadSets(size).map((positions) => ({ dead: positions }));
      test(`${one.label}: request: kind and size`, full('request'), EXHAUSTIVE);
      test(`${one.label}: links`, full('links'), EXHAUSTIVE);
      const degreeMax = one.degreeMax?.bind(one);
      if (degreeMax) {
        test(`${one.label}: degree`, full('degree', (size) => [{ degreeMax: degreeMax(size) }]), EXHAUSTIVE);
      }
      test(`${one.label}: route, diameter`, full('route', undefined, 'diameter'), EXHAUSTIVE);
      test(`${one.label}: route around dead positions`, () => {
        small('route', dead)();
        for (const size of MANY_DEAD_SIZES) {
          for (const many of manyDead(size)) check({ ...example('route', size), ...many });
        }
      }, EXHAUSTIVE);
      if (one.avoidsDead) test(`${one.label}: detour`, small('detour', dead), EXHAUSTIVE);
      test(`${one.label}: tree`, full('tree'), EXHAUSTIVE);
      test(`${one.label}: turns`, () => {
        for (const size of TURNS_SIZES) {
          for (const other of othersOf(component, one, size)) check({ ...example('turns', size), other });
        }
      }, EXHAUSTIVE);
      test(`${one.label}: positions around powers of two, sampled`, () => {
        for (const size of [...OTHER_SIZES, ...BIT_SIZES]) {
          for (const { promise, ...rest } of samples(size, one, FEW_SAMPLES)) {
            check({ ...example(promise, size), ...rest });
          }
          if (size <= ALL_ROUTES_SIZE_MAX) check(example('diameter', size));
          const roots = size <= WHOLE_TREE_SIZE_MAX ? [0, size >> 1] : [];
          for (const root of roots) check({ ...example('tree', size), root });
        }
      }, EXHAUSTIVE);
      for (const size of one.largeSizes ?? [1_000, 20_000]) {
        test(`${one.label}: ${size} positions, sampled`, () => {
          for (const { promise, ...rest } of samples(size, one, SAMPLES)) check({ ...example(promise, size), ...rest });
        }, EXHAUSTIVE);
      }
      if (one.largeSizes !== undefined) continue;
      test(`${one.label}: ${HUGE_SIZE} positions, sampled`, () => {
        for (const { promise, ...rest } of samples(HUGE_SIZE, one, HUGE_SAMPLES)) {
          if (promise !== 'detour') check({ ...example(promise, HUGE_SIZE), ...rest });
        }
      }, EXHAUSTIVE);
    }
  });
}

/** Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise. */
export function topologyExample(component: TopologyComponent, example: TopologyExample): void {
  checker(component)(example);
}

/** Makes each topology once. */
function checker(component: TopologyComponent): (example: TopologyExample) => void {
  let maker: MakeTopology | undefined;
  let last: { readonly key: string; readonly topology: Topology } | undefined;
  const make: MakeTopology = (...args) => (maker ??= topologyMaker(component))(...args);
  const topologyOf = ({ size, options }: TopologyExample): Topology => {
    const key = JSON.stringify([size, options]);
    if (last?.key !== key) last = { key, topology: make(size as number, options) };
    return last.topology;
  };
  const run = (example: TopologyExample): void => {
    const { promise, size, options, option, other } = example;
    if (promise === 'record') {
      checkTexts(component, Object.freeze({ kind: component.name, size: COMPARED_SIZE }));
      make(COMPARED_SIZE);
    } else if (promise === 'options') {
      if (option !== undefined) checkOption(component, make, option.name, option.value, option.set);
    } else if (promise === 'request' && isBad(component, example)) {
      checkRefusal(() => make(BAD_NUMBERS.get(size) ?? size as number, options), component.name, options);
    } else if (promise === 'turns') {
      const of = (one: TopologyRequested) => () => make(one.size as number, one.options);
      checkTurns(of({ size, ...(options && { options }) }), of(other ?? example));
    } else {
      TOPOLOGY_CHECKS[promise](topologyOf(example), example, component.name);
    }
  };
  return (example) => verify(TOPOLOGY, example, run, smaller);
}

const BAD_NUMBERS: ReadonlyMap<unknown, number> = new Map([['NaN', NaN], ['Infinity', Infinity]]);

function isBad(component: TopologyComponent, { size, options }: TopologyExample): boolean {
  return [...badRequests(component)].some((bad) => JSON.stringify(bad) === JSON.stringify({ size, options }));
}

/** Fewer dead positions, a smaller topology, then one source, target or root in place of all. */
function* smaller(example: TopologyExample): Generator<TopologyExample> {
  const { promise, size, dead = [], source, target, root } = example;
  if (promise === 'turns') return;
  if (typeof size !== 'number' || promise === 'record' || promise === 'options' || promise === 'request') return;
  for (const fewer of without(dead)) yield { ...example, dead: fewer };
  if (size > SMALL_SIZE_MAX) {
    for (const fewer of less(size, 2)) yield folded(example, fewer);
  }
  const each = Array.from({ length: Math.min(size, SMALL_SIZE_MAX) }, (_, position) => position);
  if (promise === 'tree') {
    if (root === undefined) for (const one of each) yield { ...example, root: one };
  } else if (promise !== 'diameter') {
    if (source === undefined) for (const one of each) yield { ...example, source: one };
    const hasTarget = promise === 'route' || promise === 'detour';
    if (hasTarget && target === undefined) for (const one of each) yield { ...example, target: one };
  }
}

/** Positions that a smaller one lacks are others of it. */
function folded(example: TopologyExample, size: number): TopologyExample {
  const { dead, source, target, root } = example;
  const fold = (position: Position): Position => position % size;
  return {
    ...example, size,
    ...(dead && { dead: [...new Set(dead.map(fold))] }),
    ...(source !== undefined && { source: fold(source) }),
    ...(target !== undefined && { target: fold(target) }),
    ...(root !== undefined && { root: fold(root) }),
  };
}

/** Topologies that are asked in turn with it: one larger and one smaller one, and one with another option. */
function* othersOf(component: TopologyComponent, one: TopologyCase, size: number): Generator<TopologyRequested> {
  for (const other of [size + 1, Math.max(1, size >> 1)]) {
    const options = one.options?.(other);
    yield { size: other, ...(options && { options }) };
  }
  const seen = new Set<string>();
  for (const { name, value } of size === COMPARED_SIZE ? optionPairs(component) : []) {
    if (!seen.has(`${name} ${String(value)}`)) yield { size, options: { ...one.options?.(size), [name]: value } };
    seen.add(`${name} ${String(value)}`);
  }
}

/** Options of one value each, with sizes that they suit. */
function* othersThatSuit(component: TopologyComponent): Generator<{ options: TopologyOptions; size: number }> {
  const make = topologyMaker(component);
  for (const options of otherOptions(component)) {
    for (const size of OPTION_SIZES) {
      try {
        make(size, options);
      } catch (error) {
        if (size !== COMPARED_SIZE) continue;
        throw error;
      }
      yield { options, size };
    }
  }
}

/** Two of five are dead, in any order; from next to those that were added last. */
function* manyDead(size: number): Generator<{ dead: readonly Position[]; source: Position }> {
  const random = seededIntegers(size);
  const dead = new Set<Position>();
  while (dead.size < size * 2 / 5) dead.add(random(size));
  for (const last of [...dead].slice(-3)) {
    for (const source of [last - 1, last + 1].map((one) => (one + size) % size)) {
      if (!dead.has(source)) yield { dead: [...dead], source };
    }
  }
}

/** Some sets for a size: all of them, or each of the first few and the last alone, and drawn ones. */
function deadSets(size: number): Position[][] {
  if (size <= ALL_SETS_SIZE_MAX) {
    const all = Array.from({ length: size }, (_, position) => position);
    return Array.from({ length: 2 ** size - 1 }, (_, set) => all.filter((position) => ((set + 1) >> position) & 1));
  }
  const random = seededIntegers(size);
  const alone = [[0], [1], [2], [size - 1]];
  const drawn = Array.from({ length: DEAD_SETS }, () =>
    [...new Set(Array.from({ length: random(1 + Math.ceil(size / 3)) }, () => random(size)))]);
  return [...alone, ...drawn];
}

/** Positions of a large topology, and dead ones. */
function* samples(size: number, one: TopologyCase, count: number): Generator<Omit<TopologyExample, 'size'>> {
  const random: IntegerSource = seededIntegers(size);
  const dead = Array.from({ length: 20 }, () => random(size));
  const degreeMax = one.degreeMax?.(size);
  for (let i = 0; i < count; i++) {
    const ends = [[size - 1, 0], [0, size - 1]] as const;
    const [source, target] = ends[i] ?? [random(size), random(size)];
    if (i === 0) yield { promise: 'request' };
    yield { promise: 'links', source };
    if (degreeMax !== undefined) yield { promise: 'degree', source, degreeMax };
    yield { promise: 'diameter', source, target };
    yield { promise: 'tree', root: target, source };
    if (one.avoidsDead && i < 5 && !dead.includes(0) && !dead.includes(source)) {
      yield { promise: 'detour', dead, source, target: 0 };
    }
  }
}
