/** Which kinds, victims, hosts and phases were really hit, and which were planned and never hit. */

import type { PlannedInjection, Trigger } from '../experiment/contracts.js';
import type { Coverage } from './contracts.js';
import type { RepeatView } from './repeat-view.js';
import { victimHosts, victimName } from './victims.js';

type Dimension = Coverage['dimension'];

const DIMENSIONS: readonly Dimension[] = ['kind', 'phase', 'host', 'victim'];

export function coverageOf(views: readonly RepeatView[]): readonly Coverage[] {
  return DIMENSIONS.map((dimension) => {
    const hit = new Map<string, number>();
    const planned = new Set<string>();
    for (const view of views) {
      for (const injection of view.plan.injections) {
        const made = victimsHit(injection, view);
        injection.victims.forEach((_, index) => {
          for (const name of namesOf(dimension, injection, index, view)) {
            planned.add(name);
            if (made.has(index)) hit.set(name, (hit.get(name) ?? 0) + 1);
          }
        });
      }
    }
    return {
      dimension,
      hit: [...hit].map(([name, count]) => ({ name, count }))
        .sort((a, b) => b.count - a.count || byName(a.name, b.name)),
      missed: [...planned].filter((name) => !hit.has(name)).sort(byName),
    };
  });
}

function victimsHit({ id, victims }: PlannedInjection, { injectionsById }: RepeatView): ReadonlySet<number> {
  const made = new Set<number>();
  for (const record of injectionsById.get(id) ?? []) {
    if (record.state !== 'injected') continue;
    if (record.victim === undefined) victims.forEach((_, index) => made.add(index));
    else made.add(record.victim);
  }
  return made;
}

function namesOf(
  dimension: Dimension, injection: PlannedInjection, index: number, { shape }: RepeatView,
): readonly string[] {
  const victim = injection.victims[index];
  if (victim === undefined) return [];
  switch (dimension) {
    case 'kind':
      return [injection.kind];
    case 'phase':
      return [injection.follows === undefined ? phaseName(injection.trigger) : `another is ${injection.follows.state}`];
    case 'victim':
      return [victimName(victim)];
    case 'host':
      return victimHosts(victim, shape).map((host) => shape.hosts[host] ?? `host ${host}`);
  }
}

/** `start`, `detection`, `mark iterate`, `output /x/`. */
export function phaseName(trigger: Trigger): string {
  switch (trigger.on) {
    case 'event':
      return trigger.event;
    case 'mark':
      return `mark ${trigger.name}`;
    case 'output':
      return `output /${trigger.pattern}/`;
  }
}

/** Numbers in names by their value. */
function byName(a: string, b: string): number {
  const key = (name: string): string => name.replace(/\d+/g, (digits) => digits.padStart(9, '0'));
  return key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0;
}
