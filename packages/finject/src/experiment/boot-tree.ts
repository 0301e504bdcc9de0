/** The planned tree of agents: position 0 is the controller, host + 1 its root agent. */

import { shortestCycle } from '@stci/core';
import type { BootTreePlan, HostIndex, Position } from '@stci/interface';
import type { TargetShape } from './contracts.js';

export type Link = readonly [Position, Position];

export function positionOf(host: HostIndex): Position {
  return host + 1;
}

export function hostAt(position: Position): HostIndex {
  return position - 1;
}

/** The boot tree as a record has it. */
export function treeShape(plan: BootTreePlan): Pick<TargetShape, 'arity' | 'parents'> {
  if ('arity' in plan) return { arity: plan.arity };
  return { parents: plan.parents.map((parent) => (parent === undefined ? 0 : positionOf(parent))) };
}

/** Whether the shape has a tree over its hosts, as one that was read may not. */
export function hasTree({ hosts, arity = 0, parents }: TargetShape): boolean {
  if (parents === undefined || parents === null) return arity >= 1;
  if (parents.length !== hosts.length || parents.some((parent) => parent > hosts.length)) return false;
  const links = parents.flatMap((parent, host) => (parent === 0 ? [] : [[positionOf(host), parent] as const]));
  return shortestCycle(new Map(links)) === undefined;
}

/** Parent of any position but the controller's. */
export function parentOf(position: Position, { arity = 1, parents }: TargetShape): Position {
  return parents === undefined ? Math.floor((position - 1) / arity) : (parents[hostAt(position)] ?? 0);
}

/** Hops from the controller. */
export function depthOf(position: Position, shape: TargetShape): number {
  let depth = 0;
  for (let at = position; at > 0; at = parentOf(at, shape)) depth++;
  return depth;
}

/** Hops to the farthest agent. */
export function heightOf(shape: TargetShape): number {
  return shape.hosts.reduce((most, _, host) => Math.max(most, depthOf(positionOf(host), shape)), 0);
}

/** Each link, upper end first, in the order of the lower ends. */
export function treeLinks(shape: TargetShape): Link[] {
  return shape.hosts.map((_, host) => [parentOf(positionOf(host), shape), positionOf(host)]);
}

/** The hosts whose agents lie between these and the controller, these included. */
export function withAncestors(hosts: Iterable<HostIndex>, shape: TargetShape): Set<HostIndex> {
  const all = new Set<HostIndex>();
  for (const host of hosts) {
    for (let at = positionOf(host); at > 0 && !all.has(hostAt(at)); at = parentOf(at, shape)) all.add(hostAt(at));
  }
  return all;
}
