/** The planned tree of agents: position 0 is the controller, host + 1 its root agent, numbered level by level. */

import type { HostIndex, Position } from '@stci/interface';
import type { TargetShape } from './contracts.js';

export type Link = readonly [Position, Position];

export function positionOf(host: HostIndex): Position {
  return host + 1;
}

export function hostAt(position: Position): HostIndex {
  return position - 1;
}

/** Of any position but the controller's. */
export function parentOf(position: Position, { arity }: TargetShape): Position {
  return Math.floor((position - 1) / arity);
}

/** Hops from the controller. */
export function depthOf(position: Position, shape: TargetShape): number {
  let depth = 0;
  for (let at = position; at > 0; at = parentOf(at, shape)) depth++;
  return depth;
}

/** Hops to the farthest agent. */
export function heightOf(shape: TargetShape): number {
  return depthOf(shape.hosts.length, shape);
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
