/**
 * What a topology promises, as checks of one example each, against breadth-first search. Called by the suite,
 * topology.ts.
 */

import type { ParamValue, Position, SpanningTree, Topology } from '@stci/interface';
import * as assert from '../kit/assert.js';
import type { Contract, Example } from '../kit/counterexample.js';
import { progress } from '../kit/stall.js';
import type { TopologyOptions, TopologyRequested } from './topology-record.js';

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
    turns: 'What it answers depends on the question alone: not on what else was asked, of it or of others, or when.',
  },
} as const satisfies Contract<string>;

export type TopologyPromiseName = keyof typeof TOPOLOGY.promises;

/** A counter-example: which promise, of which topology, and where in it. */
export interface TopologyExample extends Example<TopologyPromiseName> {
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
  /** Of `turns`: the other topology that is asked in turn. */
  readonly other?: TopologyRequested;
}

/** The first hops of a path, which are checked to be links. */
const HOPS_CHECKED = 1000;
const PARENTS_MAX = 200;
/** Where all routes of all pairs take long. */
const GUESSED_SIZE_MIN = 130;

type Check = (topology: Topology, example: TopologyExample, kind: string) => void;

export const TOPOLOGY_CHECKS: Readonly<Record<Exclude<TopologyPromiseName, 'record' | 'options' | 'turns'>, Check>> = {
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

function checkRoutes(topology: Topology, { source, target, dead }: TopologyExample): void {
  const gone = dead && new Set(dead);
  let longest = 0;
  for (const to of positions(topology, target)) {
    const walked: Walked = new Map();
    for (const from of positions(topology, source)) {
      if (gone?.has(from)) continue;
      if (from === to || gone?.has(to)) {
        const where = `${nameOf(topology)}: no hop from ${from} to ${from === to ? 'itself' : `${to}, which is dead`}`;
        assert.is(topology.nextHop(from, to, gone), undefined, where);
        continue;
      }
      const hops = walk(topology, from, to, gone, walked);
      const isFound = hops !== undefined || gone !== undefined;
      assert.ok(isFound, `${nameOf(topology)}: there is no route from ${from} to ${to}`);
      longest = Math.max(longest, hops ?? 0);
      if (gone === undefined) checkNobodyDead(topology, from, to, walked);
    }
  }
  assert.equal([...gone ?? []], [...new Set(dead)], `${nameOf(topology)}: the set of dead positions has changed`);
  if (source === undefined && target === undefined && gone === undefined) longestOf.set(topology, longest);
}

/** An empty set is as none. */
function checkNobodyDead(topology: Topology, from: Position, to: Position, walked: Walked): void {
  const [hop, other] = [walked.get(from)?.next, topology.nextHop(from, to, new Set())];
  if (hop === other) return;
  throw new Error(`${nameOf(topology)}: from ${from} to ${to}: ${hop}, and ${other} if none is dead`);
}

function checkDetours(topology: Topology, { source, target, dead = [] }: TopologyExample): void {
  const gone = new Set(dead);
  for (const to of positions(topology, target)) {
    if (gone.has(to)) continue;
    const hops = distances(topology, to, gone);
    const walked: Walked = new Map();
    for (const from of positions(topology, source)) {
      if (gone.has(from) || hops[from] === -1 || walk(topology, from, to, gone, walked) !== undefined) continue;
      throw new Error(`${nameOf(topology)}, dead ${dead.join(' ')}: no route from ${from} to ${to}, which it reaches`);
    }
  }
  const isSame = gone.size === new Set(dead).size && dead.every((position) => gone.has(position));
  assert.ok(isSame, `${nameOf(topology)}: the set of dead positions has changed`);
}

/** Diameter of all pairs is the longest route; of one pair, the route is no longer. */
function checkDiameter(topology: Topology, { source, target }: TopologyExample): void {
  const { diameter } = topology;
  let longest = source === undefined ? longestOf.get(topology) ?? longestRoute(topology) : 0;
  for (const to of source === undefined ? [] : positions(topology, target)) {
    for (const from of positions(topology, source)) {
      longest = Math.max(longest, walk(topology, from, to) ?? Infinity);
    }
  }
  const where = `${nameOf(topology)}: the longest route has ${longest} hops, the diameter is ${diameter}`;
  assert.ok(source === undefined ? longest === diameter : longest <= diameter, where);
}

/** From all to all; of large ones a guess first, which is at most as long: all are looked at where it is not enough. */
function longestRoute(topology: Topology): number {
  const { size, diameter } = topology;
  const guess = size > GUESSED_SIZE_MIN ? guessRoute(topology) : -1;
  if (guess >= diameter) return guess;
  let longest = 0;
  for (let to = 0; to < size; to++) longest = Math.max(longest, farthest(topology, to).hops);
  return longest;
}

/** Guess of the longest route: to some positions, and on to those from which the way was the longest. */
function guessRoute(topology: Topology): number {
  const { size } = topology;
  let longest = 0;
  for (const start of [0, size >> 1, size - 1]) {
    for (let at = start, last = -1; ;) {
      const { from, hops } = farthest(topology, at);
      longest = Math.max(longest, hops);
      if (hops <= last) break;
      [at, last] = [from, hops];
    }
  }
  return longest;
}

function farthest(topology: Topology, to: Position): { readonly from: Position; readonly hops: number } {
  const walked: Walked = new Map();
  let far = { from: to, hops: 0 };
  for (let from = 0; from < topology.size; from++) {
    const hops = walk(topology, from, to, undefined, walked) ?? Infinity;
    if (hops > far.hops) far = { from, hops };
  }
  return far;
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
    progress();
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

/** A sample of a large tree: its root; sizes, depths, parents and links of a position and its children agree. */
function checkTreeAt(topology: Topology, root: Position, position: Position): void {
  const tree = topology.spanningTree(root);
  const name = `${nameOf(topology)}: spanning tree of ${root}`;
  const top = [tree.root, tree.parent(root), tree.depth(root), tree.subtreeSize(root)];
  assert.equal(top, [root, undefined, 0, topology.size], `${name}: its root, without parent, above all: ${top.join()}`);
  const children = tree.children(position);
  const where = `${name} at ${position}`;
  const below = children.reduce((sum, child) => sum + tree.subtreeSize(child), 0);
  assert.is(tree.subtreeSize(position), below + 1, `${where}: size`);
  assert.equal(children, [...new Set(children)].sort((a, b) => a - b), `${where}: children ascend, each once`);
  const links = new Set(topology.neighbours(position));
  for (const child of children) {
    progress();
    assert.ok(links.has(child), `${where}: ${child} is a child, and no neighbour`);
    assert.is(tree.parent(child), position, `${where}: parent of ${child}`);
    assert.is(tree.depth(child), tree.depth(position) + 1, `${where}: depth of ${child}`);
  }
  const parent = tree.parent(position);
  assert.is(parent === undefined, position === root, `${where}: the root alone has no parent`);
  checkDepth(tree, position, where);
  if (parent === undefined) return;
  assert.ok(tree.children(parent).includes(position), `${where}: a child of its parent, ${parent}`);
  assert.is(tree.depth(parent), tree.depth(position) - 1, `${where}: depth of its parent, ${parent}`);
}

/** As many parents are above it, if those are few enough to be counted. */
function checkDepth(tree: SpanningTree, position: Position, where: string): void {
  const depth = tree.depth(position);
  let [above, at] = [0, tree.parent(position)];
  for (; at !== undefined && above <= PARENTS_MAX; above++) at = tree.parent(at);
  assert.ok(at !== undefined || depth === above, `${where}: depth ${depth}, with ${above} parents above it`);
}

/** The neighbours of positions that were asked for: `turns` promises that they stay the same. */
const links = new WeakMap<Topology, Map<Position, readonly Position[]>>();

/** Asks once: walks over all pairs come by each position thousands of times. */
function linksOf(topology: Topology, position: Position): readonly Position[] {
  let known = links.get(topology);
  if (known === undefined) links.set(topology, known = new Map<Position, readonly Position[]>());
  let found = known.get(position);
  if (found === undefined) known.set(position, found = topology.neighbours(position));
  return found;
}

/** Of positions on the routes to one target: the next hop, and how many are left. */
type Walked = Map<Position, { readonly next: Position; readonly hops: number }>;

/**
 * Number of hops along the next hops; undefined if there is none. Fails on loops, dead hops and hops without a link.
 * Each position is asked once for its hop to a target: where `walked` goes on, the rest of the route is known.
 */
function walk(
  topology: Topology, source: Position, target: Position, dead?: ReadonlySet<Position>, walked: Walked = new Map(),
): number | undefined {
  const path: Position[] = [];
  let at = source;
  while (at !== target && !walked.has(at) && path.length <= topology.size) {
    progress();
    const next = topology.nextHop(at, target, dead);
    if (next === undefined) {
      assert.is(path.length, 0, `${nameOf(topology)}: ${source} to ${target} ends half-way, at ${at}`);
      return undefined;
    }
    // Texts are only made for failures: this is the innermost loop over all pairs of all sizes.
    if (dead?.has(next) === true || !(path.length >= HOPS_CHECKED || linksOf(topology, at).includes(next))) {
      throw new Error(`${nameOf(topology)}: ${source} to ${target}: ${at}-${next} is not a live link`);
    }
    path.push(at);
    at = next;
  }
  if (path.length > topology.size) {
    const where = dead === undefined ? nameOf(topology) : `${nameOf(topology)}, dead ${[...dead].join(' ')}`;
    throw new Error(`${where}: ${source} to ${target} is a loop`);
  }
  let hops = walked.get(at)?.hops ?? 0;
  for (let next = at; path.length > 0; hops += 1) {
    const before = path.pop()!;
    walked.set(before, { next, hops: hops + 1 });
    next = before;
  }
  return hops;
}

/** Hops to `target` from all positions through live ones; -1 if there is no path. */
function distances(topology: Topology, target: Position, dead: ReadonlySet<Position> = new Set()): number[] {
  const hops = new Array<number>(topology.size).fill(-1);
  if (dead.has(target)) return hops;
  hops[target] = 0;
  const order = [target];
  for (const at of order) {
    progress();
    for (const next of linksOf(topology, at)) {
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
