/** Questions to a finished job map: where is rank r, which ranks has a host, in which order. */

import { assert } from '@stci/interface';
import type { HostIndex, HostMap, JobMap, Placement, Rank, RankRun } from '@stci/interface';

/** Answers by rank in O(1); made in O(size), 12 bytes per rank. */
export interface PlacementLookup {
  host(rank: Rank): HostIndex;
  placement(rank: Rank): Placement;
}

/** Number of ranks on a host. */
export function localSize(hostMap: HostMap): number {
  return hostMap.runs.reduce((sum, run) => sum + run.count, 0);
}

/** The ranks of a host, ascending: the i-th one has local rank i. */
export function* ranksOf(hostMap: HostMap): Generator<Rank, void, undefined> {
  for (const { rank } of placementsOf(hostMap)) yield rank;
}

/** The placements of one host, ascending by rank; behind them, ranks that were moved there. */
export function* placementsOf(hostMap: HostMap): Generator<Placement, void, undefined> {
  let localRank = 0;
  for (const { app, first, count, stride } of hostMap.runs) {
    for (let i = 0; i < count; i++) yield { rank: first + i * stride, host: hostMap.host, app, localRank: localRank++ };
  }
}

/** All placements, ascending by rank. */
export function* placements(map: JobMap): Generator<Placement, void, undefined> {
  const lookup = hostOf(map);
  for (let rank = 0; rank < map.size; rank++) yield lookup.placement(rank);
}

/** The map with each of these ranks on its new host, behind those that this has. */
export function moveRanks(map: JobMap, moved: ReadonlyMap<Rank, HostIndex>): JobMap {
  const apps = new Map<Rank, number>();
  const without = map.hosts.map((hostMap) => {
    const own = [...placementsOf(hostMap)];
    const left = own.filter(({ rank }) => !moved.has(rank));
    for (const { rank, app } of own) if (moved.has(rank)) apps.set(rank, app);
    return left.length === own.length ? hostMap : { ...hostMap, runs: left.map(({ rank, app }) => single(rank, app)) };
  });
  const added = new Map<HostIndex, RankRun[]>(map.hosts.map(({ host }) => [host, []]));
  for (const [rank, host] of moved) added.get(host)?.push(single(rank, apps.get(rank) as number));
  const hosts = without.map((each) => ({ ...each, runs: [...each.runs, ...added.get(each.host)!] }));
  return { ...map, hosts };
}

function single(rank: Rank, app: number): RankRun {
  return { app, first: rank, count: 1, stride: 1 };
}

/** The lookup by rank. Asserts that the map names each rank 0..size-1 once. */
export function hostOf(map: JobMap): PlacementLookup {
  const hosts = new Int32Array(map.size).fill(-1);
  const apps = new Uint32Array(map.size);
  const locals = new Uint32Array(map.size);
  let placed = 0;
  for (const hostMap of map.hosts) {
    for (const { rank, host, app, localRank } of placementsOf(hostMap)) {
      assert(hosts[rank] === -1, `rank ${rank} of a job of ${map.size} is placed once`);
      hosts[rank] = host;
      apps[rank] = app;
      locals[rank] = localRank;
      placed++;
    }
  }
  assert(placed === map.size, `all ${map.size} ranks are placed, got ${placed}`);
  const check = (rank: Rank): Rank => {
    assert(Number.isInteger(rank) && rank >= 0 && rank < map.size, `rank is in 0..${map.size - 1}, got ${rank}`);
    return rank;
  };
  return {
    host: (rank) => hosts[check(rank)]!,
    placement: (rank) => ({ rank: check(rank), host: hosts[rank]!, app: apps[rank]!, localRank: locals[rank]! }),
  };
}
