/**
 * A job gets further ranks, because a program of it spawns them: they have the next numbers, and are the job's as any
 * others. They are placed like its first ones, on the slots that are left on those of its hosts that live; where these
 * do not suffice, nothing is started. A job that is ending, or all of whose ranks have ended, gets none.
 */

import {
  StciError, caught, entryOf, type AppSpec, type HostIndex, type JobMap, type Rank, type Spawn, type SpawnDone,
  type SpawnRequest, type SpawnedApp,
} from '@stci/interface';
import { counted } from '@stci/registry';
import type { Ledger } from '../job/ledger.js';
import { mapJob } from '../job/map.js';
import { localSize } from '../job/placement.js';
import { validateJob } from '../job/validate.js';
import { checkBytes } from './job-launch.js';
import type { RecoveringJob } from './job-session.js';

interface Grown extends Pick<Ledger, 'spec' | 'map' | 'spawns'> {
  readonly spawn: Spawn;
  readonly apps: readonly AppSpec[];
}

/**
 * Calls `done` before it returns, and before the ranks are started: what a service sends in it comes to session agents
 * that run before them.
 */
export function spawnRanks(job: RecoveringJob, request: SpawnRequest, done: SpawnDone): void {
  const grown = caught<Grown | StciError>(() => growth(job, request), (error) => error);
  if (grown instanceof StciError) return done(undefined, grown.message);
  const { ledger, front, recovery: { relocation } } = job;
  const { spawn, apps, map } = grown;
  ledger.grow(spawn, apps, map);
  front.emit({ type: 'mapped', map, spawned: spawn });
  done(spawn);
  const byHost = new Map<HostIndex, Rank[]>();
  for (let rank = spawn.first; rank < map.size; rank++) {
    entryOf<HostIndex, Rank[]>(byHost, ledger.placements.host(rank), () => []).push(rank);
  }
  for (const [host, ranks] of byHost) relocation.start(host, ranks);
}

/** The job with the ranks. Throws StciError if it cannot have them. */
function growth(job: RecoveringJob, { parent, apps: asked, mapBy }: SpawnRequest): Grown {
  const { phase, ledger, session, params } = job;
  const refused = (text: string): StciError => new StciError('STCI_JOB_INVALID', text);
  if (phase === 'ending' || phase === 'over') throw refused('the job is ending');
  if (!job.isLaunched || parent >= ledger.map.size) throw refused(`rank ${parent} has not been started`);
  if (ledger.complete) throw refused('all ranks of the job have ended');
  const [sizeMax, perHostMax] = [params.int('job.size.max'), params.int('job.ranks.per.host.max')];
  const { spec, map, spawns } = ledger;
  const apps = asked.map((app) => appOf(app, spec.hosts.map(({ name }) => name)));
  const count = apps.reduce((sum, each) => sum + (each.count as number), 0);
  if (map.size + count > sizeMax) {
    const has = `the job has ${counted(map.size, 'rank')}, and can have ${sizeMax} (job.size.max)`;
    throw refused(`${has}: not ${count} more`);
  }
  const wanted = { ...spec, apps, stdin: { to: 'none' }, ...(mapBy !== undefined && { mapBy }) } as const;
  validateJob(wanted);
  const added = addedMap(job, wanted, count);
  const hosts = map.hosts.map((each, i) => ({
    ...each, runs: [...each.runs, ...added.hosts[i]!.runs.map((run) => ({ ...run, app: run.app + spec.apps.length }))],
  }));
  const full = hosts.find((host) => localSize(host) > perHostMax);
  if (full !== undefined) {
    throw refused(`host ${full.name} would have had ${counted(localSize(full), 'rank')} of the job, of at most `
      + `${perHostMax} (job.ranks.per.host.max)`);
  }
  const spawn = { parent, first: map.size, count, app: spec.apps.length };
  const grown = {
    spawn, apps, spec: { ...spec, apps: [...spec.apps, ...apps] }, map: { size: added.size, hosts },
    spawns: [...spawns, spawn],
  };
  checkBytes(job.launchNow(grown), grown.map, session.node.params, params);
  return grown;
}

/** Of a host the name may be given without its domain. */
function appOf({ hosts, ...app }: SpawnedApp, names: readonly string[]): AppSpec {
  if (hosts === undefined) return app;
  const found = new Set(hosts.map((host) => {
    const own = names.indexOf(host);
    const index = own >= 0 ? own : names.findIndex((name) => name.split('.')[0] === host);
    if (index < 0) throw new StciError('STCI_JOB_INVALID', `${host} is no host of the job`);
    return index;
  }));
  return { ...app, hosts: [...found].sort((a, b) => a - b) };
}

/** Where the further ranks are, numbered behind those that the job has. */
function addedMap(job: RecoveringJob, wanted: Ledger['spec'], count: number): JobMap {
  const { ledger: { map, placements }, session, params, recovery: { relocation } } = job;
  const all = [...wanted.hosts.keys()];
  const usable = all.filter((host) => relocation.isUsable(host));
  const meantBy = ({ hosts }: AppSpec): HostIndex[] => usable.filter((host) => hosts?.includes(host) ?? true);
  const apps = wanted.apps.map((app) => ({ ...app, hosts: meantBy(app) }));
  if (apps.some(({ hosts }) => hosts.length === 0)) {
    throw new StciError('STCI_JOB_INVALID', 'none of the hosts that are asked for is there');
  }
  const limits = { ranksMax: params.int('job.size.max'), ranksPerHostMax: Infinity }; // Of all that it had: below.
  const taken = session.slots.taken(job.job);
  const used = all.map((host) => relocation.slotsOn(host));
  const before = { used, next: map.size, lastHost: placements.host(map.size - 1) };
  try {
    return mapJob({ ...wanted, apps }, limits, taken, before);
  } catch (fault) {
    if (!(fault instanceof StciError) || fault.code !== 'STCI_SLOTS_EXCEEDED') throw fault;
    const meant = new Set(apps.flatMap(({ hosts }) => hosts));
    const freeOn = (host: HostIndex): number => wanted.hosts[host]!.slots - (taken[host] ?? 0) - used[host]!;
    const free = [...meant].reduce((sum, host) => sum + Math.max(0, freeOn(host)), 0);
    const left = `${free} on ${counted(meant.size, 'host')}`;
    const text = `${counted(count, 'rank')} more need more slots than are left: ${left}. Give the job more `
      + 'hosts or slots, or allow more ranks than slots with --oversubscribe.';
    throw new StciError(fault.code, text);
  }
}
