/**
 * Whether a topology's answers depend on its request and the question alone: each kind of question is put to a topology
 * of its own first; then all of them in turn to one, between those to another topology, in another order. The other
 * answers may not come.
 */

import type { Position, Topology } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { elsewhere } from '../kit/elsewhere.js';
import { seededIntegers } from '../kit/seeded.js';

/** Positions that are asked about of a large topology. */
const ASKED_MAX = 12;

interface Question {
  readonly what: string;
  ask(): unknown;
}

type Make = () => Topology;

/** `other`: of the same kind, with another size or options. */
export function checkTurns(make: Make, other: Make): void {
  const alone = elsewhere(() => LISTS.map((list) => list(make(), new Set()).map(answerOf)));
  const [one, second] = [make(), make === other ? make() : other()];
  const dead = new Set<Position>();
  const lists = LISTS.map((list) => list(one, dead, true));
  const others = LISTS.flatMap((list) => list(second, dead));
  const kept: Kept[] = [];
  elsewhere(() => {
    const longest = Math.max(...lists.map(({ length }) => length));
    for (let at = longest - 1; at >= 0; at--) {
      for (const [index, list] of lists.entries()) {
        const question = list[at];
        if (question === undefined) continue;
        const answer = question.ask();
        const found = textOf(answer);
        if (typeof answer === 'object') kept.push({ what: question.what, answer, found });
        const expected = alone[index]?.[at];
        assert.ok(found === expected, `${question.what} answers ${found}, asked alone ${expected}`);
        others[(at * lists.length + index) % others.length]?.ask();
      }
    }
  });
  for (const { what, answer, found } of kept) {
    const later = textOf(answer);
    assert.ok(later === found, `the list that ${what} answers is ${found}, and ${later} once others were asked for`);
  }
}

/** A list that was answered. */
interface Kept {
  readonly what: string;
  readonly answer: unknown;
  readonly found: string;
}

function answerOf({ ask }: Question): string {
  return textOf(ask());
}

function textOf(answer: unknown): string {
  return answer === undefined ? 'undefined' : JSON.stringify(answer);
}

/** `isReversed`: the dead are added in the other order. */
type Questions = (topology: Topology, dead: Set<Position>, isReversed?: boolean) => Question[];

/** Each of one part of a topology. */
const LISTS: readonly Questions[] = [
  (topology) => [
    { what: 'diameter', ask: () => topology.diameter },
    ...asked(topology).map((at) => ({ what: `neighbours of ${at}`, ask: () => topology.neighbours(at) })),
  ],
  (topology) => pairs(topology).map(([from, to]) => (
    { what: `the hop from ${from} to ${to}`, ask: () => topology.nextHop(from, to) })),
  (topology, dead, isReversed = false) => pairs(topology).map(([from, to], index) => ({
    what: `the hop from ${from} to ${to} around the dead, in any order,`,
    // Sessions, too, have one set, to which they add.
    ask: () => {
      dead.clear();
      const all = deadOf(topology, index, from, to);
      for (const position of isReversed ? all.reverse() : all) dead.add(position);
      return topology.nextHop(from, to, dead);
    },
  })),
  (topology) => treeQuestions(topology, 0),
  (topology) => treeQuestions(topology, topology.size >> 1),
  (topology) => treeQuestions(topology, topology.size - 1),
];

function treeQuestions(topology: Topology, root: Position): Question[] {
  const tree = topology.spanningTree(root);
  const name = `the tree of ${root}`;
  return [{ what: name, ask: () => tree.root }, ...asked(topology).flatMap((at) => [
    { what: `${name}: parent of ${at}`, ask: () => tree.parent(at) },
    { what: `${name}: children of ${at}`, ask: () => tree.children(at) },
    { what: `${name}: depth of ${at}`, ask: () => tree.depth(at) },
    { what: `${name}: positions below ${at}`, ask: () => tree.subtreeSize(at) },
  ])];
}

function asked({ size }: Topology): Position[] {
  if (size <= ASKED_MAX) return Array.from({ length: size }, (_, position) => position);
  const random = seededIntegers(size);
  return Array.from({ length: ASKED_MAX }, (_, index) => (index === 0 ? size - 1 : random(size)));
}

function pairs(topology: Topology): [Position, Position][] {
  const all = asked(topology);
  return all.flatMap((from) => all.map((to): [Position, Position] => [from, to]));
}

/** Dead positions, others each time, often as many as before. */
function deadOf({ size }: Topology, index: number, from: Position, to: Position): Position[] {
  const random = seededIntegers(index);
  return [random(size), random(size)].filter((position) => position !== from && position !== to);
}
