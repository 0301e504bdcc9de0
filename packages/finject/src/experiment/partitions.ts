/**
 * Shapes of partitions: sets of positions; those that share no set cannot talk to each other. What must be kept alive
 * is always on the controller's side.
 */

import type { Position } from '@stci/interface';
import { positionOf } from './boot-tree.js';
import type { KeepSet } from './candidates.js';
import type { TargetShape, Who } from './contracts.js';
import type { Draws } from './draws.js';

export type PartitionShape = Extract<Who, { of: 'partition' }>['shape'];

type Sets = readonly (readonly Position[])[];

/** Least number of hosts with which a shape separates anything. */
export const PARTITION_HOSTS_MIN: Readonly<Record<PartitionShape, number>> = {
  halves: 1, isolate: 1, bridge: 2, ring: 3,
};

/** The sets of one partition; a string: why there is none, as the end of a sentence. */
export function drawPartition(form: PartitionShape, shape: TargetShape, keep: KeepSet, draws: Draws): Sets | string {
  const hosts = shape.hosts.length;
  const least = PARTITION_HOSTS_MIN[form];
  if (hosts < least) return `a partition of form ${form} needs at least ${least} hosts, but the target has ${hosts}`;
  const all = shape.hosts.map((_, host) => positionOf(host));
  const free = draws.sample(all.filter((position) => !keep.path.has(position - 1)), hosts);
  const kept = [0, ...all.filter((position) => keep.path.has(position - 1))];
  if (form === 'ring') return ring(kept, free);
  const outside = form === 'bridge' ? 2 : 1;
  if (free.length < outside) return `the keep-alive set leaves ${free.length} of ${hosts} hosts, too few for ${form}`;
  if (form === 'isolate') return [sorted([...kept, ...free.slice(1)])];
  const bridge = form === 'bridge' ? free.slice(0, 1) : [];
  return halves(kept, free.slice(bridge.length), bridge);
}

/** The controller's half is the larger one. */
function halves(kept: readonly Position[], free: readonly Position[], bridge: readonly Position[]): Sets {
  const total = kept.length + free.length;
  const withController = Math.max(0, Math.min(Math.ceil(total / 2) - kept.length, free.length - 1));
  return [
    sorted([...kept, ...free.slice(0, withController), ...bridge]),
    sorted([...free.slice(withController), ...bridge]),
  ];
}

/** A ring: each reaches its two neighbours only, in a random order. */
function ring(kept: readonly Position[], free: readonly Position[]): Sets | string {
  if (kept.length > 1) return 'a partition of form ring separates the controller from the keep-alive set';
  const order = [...kept, ...free];
  return order.map((position, at) => sorted([position, order[(at + 1) % order.length]!]));
}

function sorted(positions: readonly Position[]): Position[] {
  return [...positions].sort((a, b) => a - b);
}
