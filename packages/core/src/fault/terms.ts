/** What an experiment may do in a session: orders that go beyond its terms are refused. Pure. */

import {
  bootPosition, type ExperimentTerms, type FaultOrder, type FaultVictim, type HostIndex, type Position, type Rank,
} from '@stci/interface';

/** What the controller knows of those that must stay. */
export interface KeptPlace {
  readonly hosts: number;
  /** Where a rank of this job runs; of job 0, the ranks with this number of all jobs. */
  hostsOf(rank: Rank, job: number): readonly HostIndex[];
  /** Positions from a host's agent to the controller, as they are linked now. */
  pathOf(host: HostIndex): readonly Position[];
}

/** The same for two orders with the same victim. */
export function victimKey({ victim, job }: Pick<FaultOrder, 'victim' | 'job'>): string {
  switch (victim.kind) {
    case 'rank':
      return `rank ${victim.rank} of job ${job}`;
    case 'agent':
      return victim.role === 'session' ? `session agent ${victim.host} of job ${job}` : `${victim.role} ${victim.host}`;
    case 'host':
      return `host ${victim.host}`;
    case 'link':
      return `link ${[...victim.ends].sort((a, b) => a - b).join(' ')}`;
    case 'partition':
      return `partition ${JSON.stringify(victim.sets)}`;
  }
}

/** Why the terms do not permit an order; undefined: they do. `hit`: keys of the victims so far. */
export function termsProblem(
  order: Pick<FaultOrder, 'victim' | 'job'>,
  terms: ExperimentTerms,
  place: KeptPlace,
  hit: ReadonlySet<string>,
): string | undefined {
  const { victim } = order;
  const outside = positionsOf(victim).find((position) => position > place.hosts);
  if (outside !== undefined) return `host ${outside - 1} is none of the session, which has ${place.hosts}`;
  if (victim.kind === 'agent' && (victim.role === 'controller' || victim.role === 'front-end')) {
    if (!terms.allow.includes(victim.role)) {
      return `the experiment needs its ${victim.role}: it is a victim only where it is allowed (allow: ${victim.role})`;
    }
  }
  if (!hit.has(victimKey(order)) && hit.size >= terms.victimsMax) {
    return `it would be victim ${hit.size + 1}, and the experiment may have ${terms.victimsMax} (victimsMax)`;
  }
  return keptProblem(order, terms, place);
}

/** Agents that the victim names, but for the controller as a victim of its own. */
export function positionsOf(victim: FaultVictim): readonly Position[] {
  switch (victim.kind) {
    case 'rank':
      return [];
    case 'agent':
      return victim.role === 'root' || victim.role === 'session' ? [bootPosition(victim.host)] : [];
    case 'host':
      return [bootPosition(victim.host)];
    case 'link':
      return victim.ends;
    case 'partition':
      return victim.sets.flat();
  }
}

function keptProblem(
  { victim, job }: Pick<FaultOrder, 'victim' | 'job'>,
  { keepRanks, keepHosts }: ExperimentTerms,
  place: KeptPlace,
): string | undefined {
  if (victim.kind === 'rank' && keepRanks.includes(victim.rank)) return `rank ${victim.rank} is to be kept (keepAlive)`;
  const ofRanks = keepRanks.flatMap((rank) =>
    place.hostsOf(rank, job).map((host) => ({ host, why: `rank ${rank} is to be kept, which runs on host ${host}` })));
  const named = keepHosts.map((host) => ({ host, why: `host ${host} is to be kept` }));
  for (const { host, why } of [...named, ...ofRanks]) {
    const path = host < place.hosts ? place.pathOf(host) : [];
    const how = harmOf(victim, host, path);
    if (how !== undefined) return `${why}; ${how} (keepAlive)`;
  }
  return undefined;
}

/** How a fault at `victim` harms what runs on a host, or its way to the controller (`path`); undefined: it does not. */
export function harmOf(victim: FaultVictim, host: HostIndex, path: readonly Position[]): string | undefined {
  const isAbove = (position: Position): boolean => path.indexOf(position) > 0;
  switch (victim.kind) {
    case 'rank':
      return undefined;
    case 'agent':
    case 'host':
      if (victim.kind === 'agent' && (victim.role === 'controller' || victim.role === 'front-end')) return undefined;
      if (victim.host === host) return 'the victim is on that host';
      if (victim.kind === 'agent' && victim.role === 'session') return undefined;
      return isAbove(bootPosition(victim.host)) ? `root:${victim.host} is above it in the tree` : undefined;
    case 'link':
    case 'partition': {
      const cut = path.find((position, i) => i > 0 && separates(victim, path[i - 1] as Position, position));
      return cut === undefined ? undefined : 'the fault is at a link on its way to the controller';
    }
  }
}

function separates(victim: Extract<FaultVictim, { kind: 'link' | 'partition' }>, a: Position, b: Position): boolean {
  if (victim.kind === 'link') return victim.ends.includes(a) && victim.ends.includes(b);
  return !victim.sets.some((set) => set.includes(a) && set.includes(b));
}
