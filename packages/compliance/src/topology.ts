/**
 * Requirements on every topology of any kind: the contract of packages/interface/src/topology.ts, checked against
 * breadth-first search, and the component's record (topology-record.ts). All sizes up to 40 exhaustively, with sets of
 * dead positions; large ones by seeded samples. A component's own test calls this and adds its own guarantees.
 */

import type { Position, Topology } from '@stci/interface';
import * as assert from './assert.js';
import { suite } from './suite.js';
import { seededIntegers } from './seeded.js';
import type { IntegerSource } from './seeded.js';
import { checkParams, checkRecord, checkRefusals, topologyMaker } from './topology-record.js';
import type { MakeTopology, TopologyComponent, TopologyOptions } from './topology-record.js';

export interface TopologyCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Options of the request for a size; none by default. */
  options?(size: number): TopologyOptions;
  /** Largest number of links of one position. */
  degreeMax(size: number): number;
  /** True if the kind guarantees a path between any two live positions that are still connected. */
  readonly avoidsDead: boolean;
  /** Sizes to sample; default 1 000 and 20 000. */
  readonly largeSizes?: readonly number[];
}

/** Sizes that are checked in full. */
const SMALL_SIZE_MAX = 40;
const DEAD_SETS = 6;
const SAMPLES = 60;
/** The first hops of a path, which are checked to be links. */
const HOPS_CHECKED = 1000;
/** All pairs of all small sizes: up to two seconds of work, and much more on a busy machine. */
const EXHAUSTIVE = { timeoutMs: 100_000 };

/** Defines a suite: tests of the component's record, and for each case tests of the topologies that it makes. */
export function topologyCompliance(component: TopologyComponent, cases: readonly TopologyCase[]): void {
  const { name } = component;
  let maker: MakeTopology | undefined;
  const make: MakeTopology = (...args) => (maker ??= topologyMaker(component))(...args);
  const makeOf = (one: TopologyCase, size: number): Topology => {
    const topology = make(size, one.options?.(size));
    assert.equal([topology.kind, topology.size], [name, size], `a ${name} of ${size} has its kind and size`);
    return topology;
  };
  suite(`topology compliance: ${name}`, (test) => {
    test('its record', () => checkRecord(component));
    test('bad requests are refused', () => checkRefusals(component, make));
    test('its parameters are the defaults of its options', () => checkParams(component, make));
    for (const one of cases) {
      const small = (check: (topology: Topology) => void) => () => {
        for (let size = 1; size <= SMALL_SIZE_MAX; size++) check(makeOf(one, size));
      };
      test(`${one.label}: links`, small((topology) => checkLinks(topology, one.degreeMax(topology.size))), EXHAUSTIVE);
      test(`${one.label}: next hops and diameter`, small(checkRoutes), EXHAUSTIVE);
      const dead = small((topology) => checkDead(topology, one.avoidsDead));
      test(`${one.label}: next hops around dead positions`, dead, EXHAUSTIVE);
      test(`${one.label}: spanning trees`, small((topology) => {
        for (let root = 0; root < topology.size; root++) checkSpanningTree(topology, root);
      }), EXHAUSTIVE);
      for (const size of one.largeSizes ?? [1_000, 20_000]) {
        test(`${one.label}: ${size} positions, sampled`, () => checkLarge(makeOf(one, size), one), EXHAUSTIVE);
      }
    }
  });
}

/** Symmetric, ascending, without itself, in range, connected, at most `degreeMax` links per position. */
function checkLinks(topology: Topology, degreeMax: number): void {
  for (let position = 0; position < topology.size; position++) checkNeighbours(topology, position, degreeMax);
  const hops = distances(topology, 0);
  assert.is(hops.indexOf(-1), -1, `${nameOf(topology)}: every position is reached from 0`);
}

function checkNeighbours(topology: Topology, position: Position, degreeMax: number): void {
  const links = topology.neighbours(position);
  const where = `${nameOf(topology)}: neighbours of ${position}`;
  assert.equal(links, [...new Set(links)].sort((a, b) => a - b), `${where} ascend, each once`);
  assert.ok(links.length <= degreeMax, `${where}: ${links.length} links, at most ${degreeMax}`);
  for (const link of links) {
    assert.ok(link !== position && Number.isInteger(link) && link >= 0 && link < topology.size, `${where}: ${link}`);
    assert.ok(topology.neighbours(link).includes(position), `${where}: the link with ${link} is symmetric`);
  }
}

function checkRoutes(topology: Topology): void {
  let longest = 0;
  for (let target = 0; target < topology.size; target++) {
    assert.is(topology.nextHop(target, target), undefined, `${nameOf(topology)}: no hop from ${target} to itself`);
    for (let source = 0; source < topology.size; source++) {
      const walked = walk(topology, source, target, new Set());
      assert.ok(walked !== undefined, `${nameOf(topology)}: there is a path from ${source} to ${target}`);
      longest = Math.max(longest, walked ?? 0);
    }
  }
  assert.is(topology.diameter, longest, `${nameOf(topology)}: the diameter is the longest path`);
}

function checkDead(topology: Topology, avoidsDead: boolean): void {
  const random = seededIntegers(topology.size);
  for (let i = 0; i < Math.min(topology.size, 3); i++) checkDeadSet(topology, new Set([i]), avoidsDead);
  for (let i = 0; i < DEAD_SETS; i++) {
    const dead = new Set(Array.from({ length: random(1 + Math.ceil(topology.size / 3)) }, () => random(topology.size)));
    checkDeadSet(topology, dead, avoidsDead);
  }
}

function checkDeadSet(topology: Topology, dead: ReadonlySet<Position>, avoidsDead: boolean): void {
  const living = Array.from({ length: topology.size }, (_, i) => i).filter((position) => !dead.has(position));
  for (const target of living) {
    const hops = distances(topology, target, dead);
    for (const source of living) {
      const found = walk(topology, source, target, dead) !== undefined;
      const exists = hops[source] !== -1;
      if (found === exists || (!found && !avoidsDead)) continue;
      const where = `${nameOf(topology)}, dead ${[...dead].join(' ')}: ${source} to ${target}`;
      assert.is(found, exists, `${where}: is there a path`);
    }
    for (const gone of dead) {
      assert.is(topology.nextHop(target, gone, dead), undefined, `${nameOf(topology)}: to the dead`);
    }
  }
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

function checkLarge(topology: Topology, one: TopologyCase): void {
  const random = seededIntegers(topology.size);
  const dead = new Set(Array.from({ length: 20 }, () => random(topology.size)));
  const hops = distances(topology, 0, dead);
  for (let i = 0; i < SAMPLES; i++) {
    const [source, target] = [random(topology.size), random(topology.size)];
    const where = `${nameOf(topology)}: ${source} to ${target}`;
    checkNeighbours(topology, source, one.degreeMax(topology.size));
    const walked = walk(topology, source, target, new Set());
    assert.ok(walked !== undefined && walked <= topology.diameter, `${where}: ${walked} hops`);
    if (!dead.has(0) && !dead.has(source) && i < 5) {
      const around = walk(topology, source, 0, dead);
      assert.ok(hops[source] === -1 ? around === undefined : !one.avoidsDead || around !== undefined, `${where}, dead`);
    }
    checkTreeAt(topology, target, source, random);
  }
}

function checkTreeAt(topology: Topology, root: Position, position: Position, random: IntegerSource): void {
  const tree = topology.spanningTree(root);
  const children = tree.children(position);
  const below = children.reduce((sum, child) => sum + tree.subtreeSize(child), 0);
  const where = `${nameOf(topology)}: spanning tree of ${root} at ${position}`;
  assert.is(tree.subtreeSize(position), below + 1, `${where}: size`);
  const child = children[random(Math.max(1, children.length))];
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
  throw new Error(`${nameOf(topology)}: ${source} to ${target} with dead ${[...dead].join(' ')} is a loop`);
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
