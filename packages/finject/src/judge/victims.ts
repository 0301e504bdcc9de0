/** What an injection is done to, and which failures it can cause: at its victim, and at those that depend on it. */

import type { FailedSubject, FaultVictim, HostIndex } from '@stci/interface';
import { parentOf } from '../experiment/boot-tree.js';
import type { PlannedInjection, TargetShape } from '../experiment/contracts.js';

/** `direct`: the victim itself, or what it runs; `follows`: what depends on it in the boot tree, or talks with it. */
export type Effect = 'direct' | 'follows' | undefined;

export function victimName(victim: FaultVictim): string {
  switch (victim.kind) {
    case 'rank':
      return `rank ${victim.rank}`;
    case 'agent':
      return victim.role === 'root' || victim.role === 'session' ? `${victim.role} agent ${victim.host}` : victim.role;
    case 'host':
      return `host ${victim.host}`;
    case 'link':
      return `link ${positionName(victim.ends[0])}–${positionName(victim.ends[1])}`;
    case 'partition':
      return `partition ${victim.sets.map((set) => `{${folded(set)}}`).join(' ')}`;
  }
}

/** Positions as a list with ranges: `0-3,7`. */
function folded(set: readonly number[]): string {
  const sorted = [...set].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let from = 0; from < sorted.length;) {
    let to = from;
    while (sorted[to + 1] === (sorted[to] ?? 0) + 1) to++;
    parts.push(to === from ? `${sorted[from]}` : `${sorted[from]}-${sorted[to]}`);
    from = to + 1;
  }
  return parts.join(',');
}

function positionName(position: number): string {
  return position === 0 ? 'controller' : `host ${position - 1}`;
}

/** Hosts that a victim is on or consists of. */
export function victimHosts(victim: FaultVictim, shape: TargetShape): readonly HostIndex[] {
  switch (victim.kind) {
    case 'rank': {
      const host = shape.hostOfRank[victim.rank];
      return host === undefined ? [] : [host];
    }
    case 'agent':
      return victim.role === 'root' || victim.role === 'session' ? [victim.host] : [];
    case 'host':
      return [victim.host];
    case 'link':
      return victim.ends.filter((position) => position > 0).map((position) => position - 1);
    case 'partition':
      return cutOff(victim.sets, shape);
  }
}

/** Hosts that share no set with the controller. */
function cutOff(sets: readonly (readonly number[])[], shape: TargetShape): readonly HostIndex[] {
  const near = new Set(sets.filter((set) => set.includes(0)).flat());
  return shape.hosts.map((_, host) => host).filter((host) => !near.has(host + 1));
}

/** Whether `position` is `above`, or below it in the boot tree. */
function isBelow(position: number, above: number, shape: TargetShape): boolean {
  let at = position;
  while (at > 0 && at !== above) at = parentOf(at, shape);
  return at === above;
}

/** What a fault at `victim` does to `subject`. */
export function effectOn(victim: FaultVictim, subject: FailedSubject, shape: TargetShape): Effect {
  const isUnder = (hosts: readonly HostIndex[]): boolean =>
    hosts.some((host) => isBelow(subject.host + 1, host + 1, shape));
  switch (victim.kind) {
    case 'rank':
      return subject.kind === 'tool' && subject.rank === victim.rank ? 'direct' : undefined;
    case 'agent':
      if (victim.role === 'controller' || victim.role === 'front-end') return 'follows';
      if (victim.role === 'session') {
        return subject.kind !== 'host' && subject.host === victim.host ? 'direct' : undefined;
      }
      return subject.host === victim.host ? 'direct' : isUnder([victim.host]) ? 'follows' : undefined;
    case 'host':
      return subject.host === victim.host ? 'direct' : isUnder([victim.host]) ? 'follows' : undefined;
    case 'link':
    case 'partition': {
      const hosts = victimHosts(victim, shape);
      if (hosts.includes(subject.host) || isUnder(hosts)) return 'direct';
      return victim.kind === 'partition' ? 'follows' : undefined;
    }
  }
}

/** Whether an injection ends its victim for good, if the victim does not handle it: its failure is to be expected. */
export function isEnding({ impact }: Pick<PlannedInjection, 'impact'>): boolean {
  return impact === 'ends' || impact === 'may-end';
}

/** Whether nothing can keep its victim from ending: its failure has to be detected. */
export function isCertain({ impact }: Pick<PlannedInjection, 'impact'>): boolean {
  return impact === 'ends';
}
