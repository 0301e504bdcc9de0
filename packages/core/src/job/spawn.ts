/** Ranks that programs of a job have spawned. */

import type { AppSpec, JobMap, Rank, Spawn } from '@stci/interface';

/** The spawn of this rank; undefined: it was launched with the job. */
export function spawnOf(spawns: readonly Spawn[], rank: Rank): Spawn | undefined {
  return spawns.findLast(({ first, count }) => rank >= first && rank < first + count);
}

/** Number of ranks of a job as it was launched. */
export function launchedSize({ size }: Pick<JobMap, 'size'>, spawns: readonly Spawn[]): number {
  return spawns[0]?.first ?? size;
}

/** With those that have been spawned. */
export function grownSize(launched: number, spawns: readonly Spawn[]): number {
  return spawns.reduce((size, { first, count }) => Math.max(size, first + count), launched);
}

/** What a session agent may not know yet of these ranks, `[rank, app]` each; their programs by number. */
export function newsOf(
  ranks: readonly (readonly [Rank, number, ...unknown[]])[], apps: readonly AppSpec[], spawns: readonly Spawn[],
): { apps: readonly (readonly [number, AppSpec])[]; spawns: readonly Spawn[] } | undefined {
  const spawned = ranks.filter(([rank]) => spawnOf(spawns, rank) !== undefined);
  if (spawned.length === 0) return undefined;
  const numbers = new Set(spawned.map(([, app]) => app));
  return {
    apps: [...numbers].map((app) => [app, apps[app]!]),
    spawns: [...new Set(spawned.map(([rank]) => spawnOf(spawns, rank)!))],
  };
}
