/**
 * Fault `partition`: agents that share no set cannot talk to each other, as if the network between them were cut. Of
 * each pair one agent is silent to the other: the one that the tree still leads to, else the one nearer to the
 * controller. So each link of the tree is cut at its upper end, and undoing goes down the tree: an agent that has
 * undone its part lets the order to do so pass to those below.
 */

import { accept, defineComponent, faultFramework } from '@stci/core/component';
import type { FaultModule, FaultOrder, FaultPart, FaultPlace, Position } from '@stci/interface';
import { LinkMachine, agentName, isThere, rangesOf, siteAt, type LinkBody } from './link-machine.js';

/** Between the injections of agents that need each other to be reached; ms. */
const STEP_MS = 50;

/** Sets that each position is in. */
function memberships(sets: readonly (readonly Position[])[], hosts: number): Set<number>[] {
  const own = Array.from({ length: hosts + 1 }, () => new Set<number>());
  sets.forEach((set, index) => set.forEach((position) => own[position]?.add(index)));
  return own;
}

function isShared(a: ReadonlySet<number>, b: ReadonlySet<number>): boolean {
  for (const index of a) if (b.has(index)) return true;
  return false;
}

/** Positions that the controller still reaches by the tree. */
function reachable(own: readonly Set<number>[], place: FaultPlace): boolean[] {
  const known = own.map((_, position): boolean | undefined => (position === 0 ? true : undefined));
  const find = (position: Position): boolean => {
    const parent = place.parent(position);
    return (known[position] ??= parent !== undefined
      && isShared(own[parent] as Set<number>, own[position] as Set<number>) && find(parent));
  };
  own.forEach((_, position) => find(position));
  return known as boolean[];
}

/** Rules of each position that carries some out: to whom it is silent, ascending. */
function rulesOf(
  own: readonly Set<number>[], isReachable: readonly boolean[], place: FaultPlace,
): Map<Position, Position[]> {
  const isUp = own.map((_, position) => isThere(position, place));
  const depths = own.map((_, position) => place.depth(position));
  const rules = new Map<Position, Position[]>();
  const addRule = (a: Position, b: Position): void => {
    const isFirst = isReachable[a] === isReachable[b] ? (depths[a] as number) <= (depths[b] as number)
      : isReachable[a] === true;
    const [better, other] = isFirst ? [a, b] : [b, a];
    const [at, peer] = isUp[better] === true ? [better, other] : [other, better];
    if (isUp[at] !== true) return;
    const peers = rules.get(at);
    if (peers === undefined) rules.set(at, [peer]);
    else peers.push(peer);
  };
  own.forEach((sets, a) => {
    for (let b = a + 1; b < own.length; b++) if (!isShared(sets, own[b] as Set<number>)) addRule(a, b);
  });
  for (const peers of rules.values()) peers.sort((a, b) => a - b);
  return rules;
}

function plan({ victim }: FaultOrder, place: FaultPlace): readonly FaultPart[] | string {
  if (victim.kind !== 'partition') return `expected a partition, got a ${victim.kind}`;
  const own = memberships(victim.sets, place.hosts);
  const isReachable = reachable(own, place);
  const rules = rulesOf(own, isReachable, place);
  if (rules.size === 0) return 'no two agents are parted: each two that are connected share a set';
  return stagesOf([...rules.keys()], isReachable, place).flatMap((positions, stage) => positions.map((position) => {
    const peers = rules.get(position) as Position[];
    const body: LinkBody = {
      peers: rangesOf(peers), how: { direction: 'both', isSilent: true }, text: textOf(position, peers),
      afterMs: stage * STEP_MS,
    };
    return { at: siteAt(position), body };
  }));
}

/** Stages: first the hosts that are cut off by others; the farther, the earlier. */
function stagesOf(positions: Position[], isReachable: readonly boolean[], place: FaultPlace): Position[][] {
  const stages = new Map<number, Position[]>();
  for (const position of positions.sort((a, b) => place.depth(b) - place.depth(a))) {
    const stage = isReachable[position] === true ? -1 : place.depth(position);
    const others = stages.get(stage);
    if (others === undefined) stages.set(stage, [position]);
    else others.push(position);
  }
  return [...stages].sort(([a], [b]) => b - a).map(([, each]) => each);
}

function textOf(position: Position, peers: readonly Position[]): string {
  const [first] = peers as [Position];
  const whom = peers.length === 1 ? agentName(first) : `${peers.length} agents`;
  return `nothing passes between ${agentName(position)} and ${whom}`;
}

const module: FaultModule = {
  victims: ['partition'],
  undoes: true,
  args: {},
  problemOf: () => undefined,
  plan,
  open: ({ body }) => new LinkMachine(body as LinkBody),
};

export const faultPartition = defineComponent({
  framework: faultFramework,
  name: 'partition',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A network that is parted: nothing passes between agents that share no set. What programs open for themselves '
    + 'is left alone.',
  params: {},
  args: module.args,
  query: () => accept(50),
  create: () => module,
});
