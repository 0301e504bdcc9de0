/**
 * Requirements on every topology of any kind: what the contract of `Topology` in @stci/interface promises, checked
 * against breadth-first search, and the component's record (topology-record.ts). All sizes up to 40 exhaustively, with
 * sets of dead positions; large ones by seeded samples. A component's own test calls this and adds its own guarantees.
 */

import type { ParamValue, Position, Topology } from '@stci/interface';
import * as assert from './assert.js';
import { checkCases, type SuiteCall } from './cases.js';
import { checkTexts } from './component-record.js';
import { less, verify, without, type Contract, type Example } from './counterexample.js';
import { seededIntegers } from './seeded.js';
import type { IntegerSource } from './seeded.js';
import { suite } from './suite.js';
import {
  COMPARED_SIZE, badRequests, checkOption, checkRefusal, optionPairs, topologyMaker,
} from './topology-record.js';
import type { MakeTopology, TopologyComponent, TopologyOptions } from './topology-record.js';

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

/** As in the docstring of `Topology`. */
export const TOPOLOGY = {
  framework: 'topology',
  again: 'topologyExample',
  promises: {
    record: 'The registry takes it; version, help and parameters can be shown; `query` depends on its input only.',
    request: 'Kind and size are those of the request; a bad size or option is refused with STCI_TOPOLOGY_INVALID.',
    options: 'A parameter is the default of the option of the same name.',
    links: 'Neighbours ascend, each once, without the position itself; links are symmetric and connect all.',
    degree: 'No position has more links than the kind says.',
    route: 'Next hops are live links; following them reaches the target without a loop, or the first is undefined.',
    detour: 'There is a next hop wherever live positions still connect source and target, if the kind says so.',
    diameter: 'It is the number of hops of the longest route while all are alive.',
    tree: 'A spanning tree has every position once, over links; parents, children, depths and sizes agree.',
  },
} as const satisfies Contract<string>;

type Name = keyof typeof TOPOLOGY.promises;

/** A counter-example: which promise, of which topology, and where in it. */
export interface TopologyExample extends Example<Name> {
  /** Of a bad request anything; `NaN` and `Infinity` as text. */
  readonly size: unknown;
  readonly options?: TopologyOptions;
  readonly dead?: readonly Position[];
  /** Absent: all positions. */
  readonly source?: Position;
  readonly target?: Position;
  readonly root?: Position;
  readonly degreeMax?: number;
  /** Of `options`: the option, and the text that is set as the parameter meanwhile. */
  readonly option?: { readonly name: string; readonly value: ParamValue; readonly set: string };
}

/** Sizes that are checked in full. */
const SMALL_SIZE_MAX = 40;
const DEAD_SETS = 6;
const SAMPLES = 60;
/** The first hops of a path, which are checked to be links. */
const HOPS_CHECKED = 1000;
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
    });
    for (const one of cases) {
      const example = (promise: Name, size: number): TopologyExample => {
        const options = one.options?.(size);
        return { promise, size, ...(options && { options }) };
      };
      const small = (promise: Name, more?: (size: number) => Partial<TopologyExample>[], next?: Name) => () => {
        for (let size = 1; size <= SMALL_SIZE_MAX; size++) {
          for (const rest of more?.(size) ?? [{}]) check({ ...example(promise, size), ...rest });
          if (next !== undefined) check(example(next, size));
        }
      };
      const dead = (size: number) => deadSets(size).map((positions) => ({ dead: positions }));
      test(`${one.label}: request: kind and size`, small('request'));
      test(`${one.label}: links`, small('links'), EXHAUSTIVE);
      const degreeMax = one.degreeMax?.bind(one);
      if (degreeMax) test(`${one.label}: degree`, small('degree', (size) => [{ degreeMax: degreeMax(size) }]));
      test(`${one.label}: route, diameter`, small('route', undefined, 'diameter'), EXHAUSTIVE);
      test(`${one.label}: route around dead positions`, small('route', dead), EXHAUSTIVE);
      if (one.avoidsDead) test(`${one.label}: detour`, small('detour', dead), EXHAUSTIVE);
      test(`${one.label}: tree`, small('tree'), EXHAUSTIVE);
      for (const size of one.largeSizes ?? [1_000, 20_000]) {
        test(`${one.label}: ${size} positions, sampled`, () => {
          for (const { promise, ...rest } of samples(size, one)) check({ ...example(promise, size), ...rest });
        }, EXHAUSTIVE);
      }
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
    const { promise, size, options, option } = example;
    if (promise === 'record') {
      checkTexts(component, Object.freeze({ kind: component.name, size: COMPARED_SIZE }));
      make(COMPARED_SIZE);
    } else if (promise === 'options') {
      if (option !== undefined) checkOption(component, make, option.name, option.value, option.set);
    } else if (promise === 'request' && isBad(component, example)) {
      checkRefusal(() => make(BAD_NUMBERS.get(size) ?? size as number, options), component.name, options);
    } else {
      CHECKS[promise](topologyOf(example), example, component.name);
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

type Check = (topology: Topology, example: TopologyExample, kind: string) => void;

const CHECKS: Readonly<Record<Exclude<Name, 'record' | 'options'>, Check>> = {
  request: (topology, { size }, kind) => {
    assert.equal([topology.kind, topology.size], [kind, size], `a ${kind} of ${String(size)} has its kind and size`);
  },
  links: checkLinks,
  degree: checkDegree,
  route: checkRoutes,
  detour: checkDetours,
  diameter: checkDiameter,
  tree: (topology, { root, source }) => {
    if (root !== undefined && source !== undefined) return checkTreeAt(topology, root, source);
    for (const one of positions(topology, root)) checkSpanningTree(topology, one);
  },
};

function positions({ size }: Topology, one: Position | undefined): readonly Position[] {
  return one === undefined ? Array.from({ length: size }, (_, position) => position) : [one];
}

/** Some sets for a size: each of the first few alone, and drawn ones. */
function deadSets(size: number): Position[][] {
  const random = seededIntegers(size);
  const alone = Array.from({ length: Math.min(size, 3) }, (_, position) => [position]);
  const drawn = Array.from({ length: DEAD_SETS }, () =>
    [...new Set(Array.from({ length: random(1 + Math.ceil(size / 3)) }, () => random(size)))]);
  return [...alone, ...drawn];
}

/** Positions of a large topology, and dead ones. */
function* samples(size: number, one: TopologyCase): Generator<Omit<TopologyExample, 'size'>> {
  const random: IntegerSource = seededIntegers(size);
  const dead = Array.from({ length: 20 }, () => random(size));
  const degreeMax = one.degreeMax?.(size);
  for (let i = 0; i < SAMPLES; i++) {
    const [source, target] = [random(size), random(size)];
    yield { promise: 'links', source };
    if (degreeMax !== undefined) yield { promise: 'degree', source, degreeMax };
    yield { promise: 'diameter', source, target };
    yield { promise: 'tree', root: target, source };
    if (one.avoidsDead && i < 5 && !dead.includes(0) && !dead.includes(source)) {
      yield { promise: 'detour', dead, source, target: 0 };
    }
  }
}

/** Symmetric, ascending, without itself, in range; and, looked at as a whole, connected. */
function checkLinks(topology: Topology, { source }: TopologyExample): void {
  for (const position of positions(topology, source)) checkNeighbours(topology, position);
  if (source === undefined) {
    assert.is(distances(topology, 0).indexOf(-1), -1, `${nameOf(topology)}: every position is reached from 0`);
  }
}

function checkNeighbours(topology: Topology, position: Position): void {
  const links = topology.neighbours(position);
  const where = `${nameOf(topology)}: neighbours of ${position}`;
  assert.equal(links, [...new Set(links)].sort((a, b) => a - b), `${where} ascend, each once: ${links.join(' ')}`);
  for (const link of links) {
    assert.ok(link !== position && Number.isInteger(link) && link >= 0 && link < topology.size, `${where}: ${link}`);
    assert.ok(topology.neighbours(link).includes(position), `${where}: the link with ${link} is symmetric`);
  }
}

function checkDegree(topology: Topology, { source, degreeMax = Infinity }: TopologyExample): void {
  for (const position of positions(topology, source)) {
    const { length } = topology.neighbours(position);
    assert.ok(length <= degreeMax, `${nameOf(topology)}: ${position} has ${length} links, at most ${degreeMax}`);
  }
}

/** The hops of the longest route of those that were checked in full. */
const longestOf = new WeakMap<Topology, number>();

function checkRoutes(topology: Topology, { source, target, dead = [] }: TopologyExample): void {
  const gone = new Set(dead);
  let longest = 0;
  for (const to of positions(topology, target)) {
    for (const from of positions(topology, source)) {
      if (gone.has(from)) continue;
      if (from === to || gone.has(to)) {
        const where = `${nameOf(topology)}: no hop from ${from} to ${from === to ? 'itself' : `${to}, which is dead`}`;
        assert.is(topology.nextHop(from, to, gone), undefined, where);
        continue;
      }
      const walked = walk(topology, from, to, gone);
      const isFound = walked !== undefined || gone.size > 0;
      assert.ok(isFound, `${nameOf(topology)}: there is no route from ${from} to ${to}`);
      longest = Math.max(longest, walked ?? 0);
    }
  }
  if (source === undefined && target === undefined && gone.size === 0) longestOf.set(topology, longest);
}

function checkDetours(topology: Topology, { source, target, dead = [] }: TopologyExample): void {
  const gone = new Set(dead);
  for (const to of positions(topology, target)) {
    if (gone.has(to)) continue;
    const hops = distances(topology, to, gone);
    for (const from of positions(topology, source)) {
      if (gone.has(from) || hops[from] === -1 || walk(topology, from, to, gone) !== undefined) continue;
      throw new Error(`${nameOf(topology)}, dead ${dead.join(' ')}: no route from ${from} to ${to}, which it reaches`);
    }
  }
}

/** Of all pairs it is the longest route; of one, the route is no longer. */
function checkDiameter(topology: Topology, { source, target }: TopologyExample): void {
  const { diameter } = topology;
  let longest = (source === undefined ? longestOf.get(topology) : undefined) ?? 0;
  for (const to of longest > 0 ? [] : positions(topology, target)) {
    for (const from of positions(topology, source)) {
      longest = Math.max(longest, walk(topology, from, to, new Set()) ?? Infinity);
    }
  }
  const where = `${nameOf(topology)}: the longest route has ${longest} hops, the diameter is ${diameter}`;
  assert.ok(source === undefined ? longest === diameter : longest <= diameter, where);
}

/** Parents and children are inverse, depth and size are as counted, every position occurs once, edges are links. */
function checkSpanningTree(topology: Topology, root: Position): void {
  const tree = topology.spanningTree(root);
  const where = `${nameOf(topology)}: spanning tree of ${root}`;
  assert.is(tree.root, root, where);
  assert.is(tree.parent(root), undefined, `${where}: the root has no parent`);
  const order = [root];
  const depth = new Map([[root, 0]]);
  for (const position of order) {
    assert.is(tree.depth(position), depth.get(position), `${where}: depth of ${position}`);
    const children = tree.children(position);
    assert.equal(children, [...children].sort((a, b) => a - b), `${where}: children of ${position} ascend`);
    for (const child of children) {
      assert.not.ok(depth.has(child), `${where}: ${child} occurs once`);
      assert.is(tree.parent(child), position, `${where}: parent of ${child}`);
      assert.ok(topology.neighbours(position).includes(child), `${where}: ${position}-${child} is a link`);
      depth.set(child, depth.get(position)! + 1);
      order.push(child);
    }
  }
  assert.is(order.length, topology.size, `${where}: every position occurs`);
  const sizes = new Map(order.map((position) => [position, 1]));
  for (const position of order.reverse()) {
    assert.is(tree.subtreeSize(position), sizes.get(position), `${where}: positions below ${position}`);
    const parent = tree.parent(position);
    if (parent !== undefined) sizes.set(parent, sizes.get(parent)! + sizes.get(position)!);
  }
}

/** A sample of a large tree: sizes, depths and parents of a position and its children agree. */
function checkTreeAt(topology: Topology, root: Position, position: Position): void {
  const tree = topology.spanningTree(root);
  const children = tree.children(position);
  const below = children.reduce((sum, child) => sum + tree.subtreeSize(child), 0);
  const where = `${nameOf(topology)}: spanning tree of ${root} at ${position}`;
  assert.is(tree.subtreeSize(position), below + 1, `${where}: size`);
  const child = children[children.length >> 1];
  if (child === undefined) return;
  assert.is(tree.parent(child), position, `${where}: parent of ${child}`);
  assert.is(tree.depth(child), tree.depth(position) + 1, `${where}: depth of ${child}`);
}

/**
 * Number of hops along the next hops; undefined if there is none. Fails on loops, dead hops and hops without a link.
 */
function walk(topology: Topology, source: Position, target: Position, dead: ReadonlySet<Position>): number | undefined {
  let at = source;
  for (let hops = 0; hops <= topology.size; hops++) {
    if (at === target) return hops;
    const next = topology.nextHop(at, target, dead);
    if (next === undefined) {
      assert.is(hops, 0, `${nameOf(topology)}: ${source} to ${target} ends half-way, at ${at}`);
      return undefined;
    }
    // Texts are only made for failures: this is the innermost loop over all pairs of all sizes.
    if (dead.has(next) || !(hops >= HOPS_CHECKED || topology.neighbours(at).includes(next))) {
      throw new Error(`${nameOf(topology)}: ${source} to ${target}: ${at}-${next} is not a live link`);
    }
    at = next;
  }
  const where = dead.size === 0 ? nameOf(topology) : `${nameOf(topology)}, dead ${[...dead].join(' ')}`;
  throw new Error(`${where}: ${source} to ${target} is a loop`);
}

/** Hops to `target` from all positions through live ones; -1 if there is no path. */
function distances(topology: Topology, target: Position, dead: ReadonlySet<Position> = new Set()): number[] {
  const hops = new Array<number>(topology.size).fill(-1);
  if (dead.has(target)) return hops;
  hops[target] = 0;
  const order = [target];
  for (const at of order) {
    for (const next of topology.neighbours(at)) {
      if (hops[next] !== -1 || dead.has(next)) continue;
      hops[next] = hops[at]! + 1;
      order.push(next);
    }
  }
  return hops;
}

function nameOf(topology: Topology): string {
  return `${topology.kind} of ${topology.size}`;
}
