/**
 * Who may be a victim of a fault: all that its `who` names in the order in which they are neighbours, and which of them
 * its filters and the keep-alive set leave.
 */

import type { FaultVictim, HostIndex, Position, Rank } from '@stci/interface';
import { depthOf, hostAt, parentOf, positionOf, treeLinks, withAncestors } from './boot-tree.js';
import type { EndRef, Experiment, Filter, HostRef, TargetShape, Who } from './contracts.js';

/** Selectors whose victims are single ranks, hosts, agents or links. */
export type Selector = Extract<Who, Filter>;

export interface Candidate {
  readonly victim: FaultVictim;
  /** Where it is; of a link, where its lower end is. Undefined: of no host of the target. */
  readonly host: HostIndex | undefined;
  /** Rank or host. */
  readonly number: number | undefined;
}

/** Everything of a target that faults must spare, by number. */
export interface KeepSet {
  readonly ranks: ReadonlySet<Rank>;
  /** With those of the ranks. */
  readonly hosts: ReadonlySet<HostIndex>;
  /** Hosts whose root agents link the kept ones to the controller, these included. */
  readonly path: ReadonlySet<HostIndex>;
}

/** Undefined: no host of the target has this name or number. */
export function hostNumber(ref: HostRef, shape: TargetShape): HostIndex | undefined {
  const index = typeof ref === 'number' ? ref : shape.hosts.indexOf(ref);
  return index >= 0 && index < shape.hosts.length ? index : undefined;
}

export function hostNumbers(refs: readonly HostRef[] | 'all', shape: TargetShape): HostIndex[] {
  if (refs === 'all') return shape.hosts.map((_, host) => host);
  return [...new Set(refs.flatMap((ref) => hostNumber(ref, shape) ?? []))];
}

export function endPosition(ref: EndRef, shape: TargetShape): Position | undefined {
  if (ref === 'controller') return 0;
  const host = hostNumber(ref.host, shape);
  return host === undefined ? undefined : positionOf(host);
}

export function keepSet({ keepAlive }: Pick<Experiment, 'keepAlive'>, shape: TargetShape): KeepSet {
  const hosts = new Set(hostNumbers(keepAlive.hosts, shape));
  const onHosts = shape.hostOfRank.flatMap((host, rank) => (hosts.has(host) ? [rank] : []));
  for (const rank of keepAlive.ranks) {
    const host = shape.hostOfRank[rank];
    if (host !== undefined) hosts.add(host);
  }
  return { ranks: new Set([...keepAlive.ranks, ...onHosts]), hosts, path: withAncestors(hosts, shape) };
}

export function isKept({ victim, host }: Candidate, keep: KeepSet): boolean {
  switch (victim.kind) {
    case 'rank':
      return keep.ranks.has(victim.rank);
    case 'link':
      return host !== undefined && keep.path.has(host);
    case 'agent':
      if (victim.role === 'session') return keep.hosts.has(victim.host);
      return victim.role === 'root' ? keep.path.has(victim.host) : keep.hosts.size > 0;
    default:
      return host !== undefined && keep.path.has(host);
  }
}

/** All that `who` names, without its filters, in order. */
export function namedBy(who: Selector, shape: TargetShape): Candidate[] {
  switch (who.of) {
    case 'ranks': {
      const ranks = who.ranks === 'all' ? shape.hostOfRank.map((_, rank) => rank) : who.ranks;
      return ranks.map((rank) => ({ victim: { kind: 'rank', rank }, host: shape.hostOfRank[rank], number: rank }));
    }
    case 'hosts':
      return hostNumbers(who.hosts, shape).map((host) => ({ victim: { kind: 'host', host }, host, number: host }));
    case 'agents':
      return agents(who.role, shape);
    case 'links':
      return links(who.links, shape);
  }
}

function agents(role: Extract<Who, { of: 'agents' }>['role'], shape: TargetShape): Candidate[] {
  if (role === 'controller' || role === 'front-end') {
    return [{ victim: { kind: 'agent', role, host: 0 }, host: undefined, number: undefined }];
  }
  const used = new Set(shape.hostOfRank);
  const hosts = hostNumbers('all', shape).filter((host) => role === 'root' || used.has(host));
  return hosts.map((host) => ({ victim: { kind: 'agent', role, host }, host, number: host }));
}

function links(named: Extract<Who, { of: 'links' }>['links'], shape: TargetShape): Candidate[] {
  const ends = named === 'all' ? treeLinks(shape) : named.flatMap(([source, target]) => {
    const pair = [endPosition(source, shape), endPosition(target, shape)];
    const [low, high] = pair.sort((a, b) => (a ?? 0) - (b ?? 0));
    return low === undefined || high === undefined ? [] : [[low, high] as const];
  });
  return ends.map(([low, high]) => {
    const isOfTree = parentOf(high, shape) === low;
    const host = isOfTree ? hostAt(high) : undefined;
    return { victim: { kind: 'link', ends: [low, high] }, host, number: undefined };
  });
}

/** What an injection's victims depend on besides the target. */
export interface Surroundings {
  readonly shape: TargetShape;
  readonly keep: KeepSet;
  /** Hosts of the victims of the injection that `sameHostAs` means; undefined: there is no such filter. */
  readonly near: ReadonlySet<HostIndex> | undefined;
  /** Keys of the victims that `notOf` excludes. */
  readonly taken: ReadonlySet<string>;
}

export function victimKey(victim: FaultVictim): string {
  return JSON.stringify(victim);
}

/** True for those that the filters and the keep-alive set leave. */
export function eligibility(who: Selector, { shape, keep, near, taken }: Surroundings): (one: Candidate) => boolean {
  const on = who.on === 'all' ? undefined : new Set(hostNumbers(who.on, shape));
  const isHere = (host: HostIndex | undefined, hosts: ReadonlySet<HostIndex> | undefined): boolean =>
    hosts === undefined || (host !== undefined && hosts.has(host));
  const left = new Set(who.of === 'ranks' ? who.not : hostNumbers(who.not, shape));
  return (one) => {
    const { host, victim } = one;
    if (!isHere(host, on) || !isHere(host, near)) return false;
    if (who.depth !== undefined && (host === undefined || depthOf(positionOf(host), shape) !== who.depth)) return false;
    const number = one.number ?? host;
    if (number !== undefined && left.has(number)) return false;
    return !isKept(one, keep) && !taken.has(victimKey(victim));
  };
}
