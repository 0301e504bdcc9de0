/**
 * Job map: which rank goes to which host. The apps of a job are placed one after another, each going on where the
 * one before it stopped; ranks are numbered through all of them.
 *
 * - `slot`: fill a host's slots, then the next host's; when all are full, begin another round.
 * - `node`: one rank per host in turn, skipping hosts whose bound is reached.
 * - `ppr:N`: N ranks of each app on every host.
 *
 * A round gives a host its slots once more. Slots that the user named are a bound: such a host takes no second round
 * unless the job may oversubscribe. Whole rounds are placed at once (rounds.ts): the cost is hosts + runs, not ranks.
 */

import { StciError, assert } from '@stci/interface';
import type { AllocatedJob, AppSpec, HostIndex, JobMap } from '@stci/interface';
import { counted } from '@stci/registry';
import { RoundPlacer, type PlacedBefore } from './rounds.js';
import { THIS_MACHINE, slotsExceeded } from './slots.js';

/** Limits of a job, from parameters. */
export interface JobLimits {
  /** Most ranks of one job, at least 1. */
  readonly ranksMax: number;
  /** Most ranks of one job on one host, at least 1. */
  readonly ranksPerHostMax: number;
}

/**
 * Ranks of an app: its count where one is set. Unset with `ppr:N`: N for each of its hosts. Unset otherwise: 1, except
 * for the only app of a job whose hosts were named: the sum of its hosts' slots.
 */
export function appCount(spec: AllocatedJob, app: AppSpec): number {
  if (app.count !== undefined) return app.count;
  const hosts = candidates(spec, app);
  if (spec.mapBy.by === 'ppr') return hosts.length * spec.mapBy.perHost;
  const named = spec.hosts.some((host) => host.origin !== THIS_MACHINE);
  if (spec.apps.length > 1 || !named) return 1;
  return hosts.reduce((sum, host) => sum + spec.hosts[host]!.slots, 0);
}

/**
 * Maps a job that `validateJob` has passed. Throws STCI_JOB_INVALID for a count outside 1..limits.ranksMax, more than
 * limits.ranksPerHostMax ranks on a host, or a count that `ppr` cannot place; STCI_SLOTS_EXCEEDED where bound slots
 * do not suffice. `taken`: by host, bound slots that other jobs have. `before`: the job is further ranks of one that
 * has some: the map has the further ones alone.
 */
export function mapJob(
  spec: AllocatedJob, limits: JobLimits, taken: readonly number[] = [], before?: PlacedBefore,
): JobMap {
  const counts = spec.apps.map((app) => appCount(spec, app));
  const size = (before?.next ?? 0) + checkSize(counts, limits.ranksMax - (before?.next ?? 0));
  const placer = new RoundPlacer(spec.hosts.length, before);
  counts.forEach((count, index) => placeApp(new Filling(spec, placer, index, taken), count));
  assert(placer.next === size, `every rank is placed: ${placer.next} of ${size}`);
  checkPerHost(spec, placer, limits.ranksPerHostMax);
  const hosts = spec.hosts.map((host, index) => ({ host: index, name: host.name, runs: placer.runs[index]! }));
  return { size, hosts };
}

/** One app on its way into the hosts. */
class Filling {
  readonly spec: AllocatedJob;
  readonly placer: RoundPlacer;
  readonly app: number;
  readonly hosts: readonly HostIndex[];
  readonly #taken: readonly number[];

  constructor(spec: AllocatedJob, placer: RoundPlacer, app: number, taken: readonly number[]) {
    this.spec = spec;
    this.placer = placer;
    this.app = app;
    this.hosts = candidates(spec, spec.apps[app]!);
    this.#taken = taken;
  }

  slots(host: HostIndex): number {
    const { slots } = this.spec.hosts[host]!;
    return this.bound(host) ? slots - (this.#taken[host] ?? 0) : slots;
  }

  bound(host: HostIndex): boolean {
    return this.spec.hosts[host]!.slotsBound && !this.spec.oversubscribe;
  }

  used(host: HostIndex): number {
    return this.placer.used[host]!;
  }

  /** Hosts that may take one more rank; throws STCI_SLOTS_EXCEEDED where none may. */
  open(): HostIndex[] {
    const open = this.hosts.filter((host) => !this.bound(host) || this.used(host) < this.slots(host));
    if (open.length === 0) throw this.#tooMany();
    return open;
  }

  #tooMany(): StciError {
    const slots = this.hosts.reduce((sum, host) => sum + this.slots(host), 0);
    const size = this.spec.apps.reduce((sum, app) => sum + appCount(this.spec, app), 0);
    const programs = this.spec.apps.length > 1 ? ` of ${this.spec.apps.length} programs` : '';
    const on = `${slots} on ${counted(this.hosts.length, 'host')}`;
    const most = this.spec.apps.length === 1 && slots > 0 ? `at most -n ${slots}` : undefined;
    const reason = `${size} ranks${programs} need more slots than there are: ${on}`;
    return slotsExceeded(this.spec, this.hosts, reason, most);
  }
}

function placeApp(filling: Filling, count: number): void {
  const { mapBy } = filling.spec;
  if (mapBy.by === 'slot') placeBySlot(filling, count);
  else if (mapBy.by === 'node') placeByNode(filling, count);
  else placePerHost(filling, count, mapBy.perHost);
}

/** Always fills the hosts that have had the fewest rounds up to the end of their round. */
function placeBySlot(filling: Filling, count: number): void {
  for (let left = count; left > 0; ) {
    const open = filling.open();
    const roundsHad = (host: HostIndex): number => Math.floor(filling.used(host) / filling.slots(host));
    const level = open.reduce((least, host) => Math.min(least, roundsHad(host)), Infinity);
    const tier = open.filter((host) => roundsHad(host) === level);
    const chunks = tier.map((host) => (level + 1) * filling.slots(host) - filling.used(host));
    let rounds = Infinity;
    for (const host of open) {
      if (roundsHad(host) !== level) rounds = Math.min(rounds, roundsHad(host) - level);
      else if (filling.bound(host) || filling.used(host) !== level * filling.slots(host)) rounds = 1;
    }
    left -= filling.placer.place(filling.app, tier, chunks, rounds, left);
  }
}

/** Begins after the host that took the last rank. */
function placeByNode(filling: Filling, count: number): void {
  for (let left = count; left > 0; ) {
    const open = filling.open();
    const start = open.findIndex((host) => host > filling.placer.lastHost);
    const turn = start <= 0 ? open : [...open.slice(start), ...open.slice(0, start)];
    let rounds = Infinity;
    for (const host of open) {
      if (filling.bound(host)) rounds = Math.min(rounds, filling.slots(host) - filling.used(host));
    }
    left -= filling.placer.place(filling.app, turn, turn.map(() => 1), rounds, left);
  }
}

function placePerHost(filling: Filling, count: number, perHost: number): void {
  const { hosts, placer } = filling;
  if (count > hosts.length * perHost) {
    throw new StciError(
      'STCI_JOB_INVALID',
      `ppr:${perHost} on ${counted(hosts.length, 'host')} places ${hosts.length * perHost} ranks, ` +
        `but ${count} are wanted. Give at most -n ${hosts.length * perHost}, more hosts, or a larger N in ppr:N.`,
    );
  }
  const taking = hosts.slice(0, Math.ceil(count / perHost));
  taking.forEach((host, i) => {
    const take = Math.min(perHost, count - i * perHost);
    if (filling.bound(host) && filling.used(host) + take > filling.slots(host)) {
      const left = taking.map((each) => (filling.bound(each) ? filling.slots(each) - filling.used(each) : perHost));
      const most = left.reduce((least, one) => Math.min(least, one), perHost);
      throw slotsExceeded(filling.spec, hosts, `ppr:${perHost} puts ${filling.used(host) + take} ranks on ` +
        `${filling.spec.hosts[host]!.name}, which has ${filling.slots(host)} slot(s)`,
      most > 0 ? `at most --ppn ${most} on these hosts` : undefined);
    }
  });
  placer.place(filling.app, taking, taking.map(() => perHost), 1, count);
}

function candidates(spec: AllocatedJob, app: AppSpec): readonly HostIndex[] {
  return app.hosts ?? spec.hosts.map((_, index) => index);
}

function checkSize(counts: readonly number[], ranksMax: number): number {
  const size = counts.reduce((sum, count) => sum + count, 0);
  if (counts.every((count) => Number.isInteger(count) && count >= 1) && size <= ranksMax) return size;
  const per = counts.length > 1 ? ` (${counts.slice(0, 8).join(' + ')}${counts.length > 8 ? ' + …' : ''})` : '';
  throw new StciError(
    'STCI_JOB_INVALID',
    `Expected 1..${ranksMax} ranks in a job and at least 1 a program, got ${size}${per}. ` +
      'Change -n, or raise the parameter job.size.max.',
  );
}

function checkPerHost(spec: AllocatedJob, placer: RoundPlacer, ranksPerHostMax: number): void {
  const host = placer.used.findIndex((used) => used > ranksPerHostMax);
  if (host < 0) return;
  throw new StciError(
    'STCI_JOB_INVALID',
    `The map puts ${placer.used[host]} ranks on ${spec.hosts[host]!.name}; a host takes at most ${ranksPerHostMax}. ` +
      'Give more hosts or fewer ranks, or raise the parameter job.ranks.per.host.max.',
    { host: spec.hosts[host]!.name },
  );
}
