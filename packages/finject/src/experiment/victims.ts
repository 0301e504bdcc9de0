/** The victims of one repeat, drawn anew for each injection; those of a fault on which others depend first. */

import type { FaultVictim, HostIndex, Rank } from '@stci/interface';
import { hostAt } from './boot-tree.js';
import {
  eligibility, endPosition, namedBy, victimKey, type Candidate, type KeepSet, type Selector,
} from './candidates.js';
import type { Choice, FaultEntry, TargetShape } from './contracts.js';
import { Draws } from './draws.js';
import { drawPartition } from './partitions.js';

export interface VictimsInit {
  readonly seed: number;
  readonly repeat: number;
  readonly shape: TargetShape;
  readonly keep: KeepSet;
  /** Injections of each fault by its name. */
  readonly counts: ReadonlyMap<string, number>;
}

/** An injection for which there are too few victims. */
export interface Shortage {
  readonly fault: string;
  /** Number of the injection, from 1. */
  readonly number: number;
  /** A sentence without its full stop. */
  readonly text: string;
}

export interface DrawnVictims {
  /** Of each injection by its fault's name; none where there are too few. */
  readonly victims: ReadonlyMap<string, readonly (readonly FaultVictim[])[]>;
  readonly shortages: readonly Shortage[];
}

export function drawVictims(leaves: readonly FaultEntry[], init: VictimsInit): DrawnVictims {
  const victims = new Map<string, FaultVictim[][]>();
  const shortages: Shortage[] = [];
  for (const entry of inOrder(leaves)) {
    const own: FaultVictim[][] = [];
    victims.set(entry.name, own);
    for (let number = 1; number <= (init.counts.get(entry.name) ?? 0); number++) {
      const drawn = drawOne(entry, { ...init, number, victims });
      if (typeof drawn === 'string') shortages.push({ fault: entry.name, number, text: drawn });
      own.push(typeof drawn === 'string' ? [] : drawn);
    }
  }
  return { victims, shortages };
}

/** Names of the faults whose victims must be known first. */
export function dependencies({ name, who }: FaultEntry): string[] {
  if (!('choice' in who)) return [];
  const others = who.notOf.filter((other) => other !== name);
  return who.sameHostAs === undefined ? others : [...others, who.sameHostAs];
}

/** Faults, each after those that it depends on; cycles were refused with the file. */
function inOrder(leaves: readonly FaultEntry[]): FaultEntry[] {
  const byName = new Map(leaves.map((leaf) => [leaf.name, leaf]));
  const [begun, done] = [new Set<FaultEntry>(), new Set<FaultEntry>()];
  // Faults to come, the next one last: a chain may be longer than the stack of calls.
  const waiting = [...leaves].reverse();
  for (let leaf = waiting.at(-1); leaf !== undefined; leaf = waiting.at(-1)) {
    const first = begun.has(leaf) ? [] : dependencies(leaf).flatMap((name) => byName.get(name) ?? []);
    begun.add(leaf);
    const missing = first.filter((other) => !begun.has(other));
    if (missing.length > 0) {
      waiting.push(...missing.reverse());
    } else {
      waiting.pop();
      done.add(leaf);
    }
  }
  return [...done];
}

interface Place extends VictimsInit {
  readonly number: number;
  readonly victims: ReadonlyMap<string, readonly (readonly FaultVictim[])[]>;
}

function drawOne(entry: FaultEntry, place: Place): FaultVictim[] | string {
  const { who } = entry;
  const { shape, keep, seed, repeat, number } = place;
  const draws = new Draws([seed, repeat, entry.name, 'who', number]);
  switch (who.of) {
    case 'nobody':
      return [];
    case 'partition': {
      const sets = drawPartition(who.shape, shape, keep, draws);
      return typeof sets === 'string' ? sets : [{ kind: 'partition', sets }];
    }
    case 'sets': {
      const sets = who.sets.map((set) => set.flatMap((ref) => endPosition(ref, shape) ?? []));
      return [{ kind: 'partition', sets }];
    }
    default:
      return drawSelected(entry, who, place, draws);
  }
}

function drawSelected(entry: FaultEntry, who: Selector, place: Place, draws: Draws): FaultVictim[] | string {
  const { shape, keep, victims, number, counts } = place;
  const other = who.sameHostAs;
  if (other !== undefined && number > (counts.get(other) ?? 0)) {
    return `${other}, on whose host it is to be, has ${counts.get(other) ?? 0} injections only`;
  }
  const near = who.sameHostAs === undefined ? undefined
    : hostsOf(victims.get(who.sameHostAs)?.[number - 1] ?? [], shape.hostOfRank);
  const taken = new Set(who.notOf.flatMap((name) => (victims.get(name) ?? []).flat().map(victimKey)));
  const named = namedBy(who, shape);
  const isEligible = eligibility(who, { shape, keep, near, taken });
  const chosen = choose(who.choice, named, isEligible, draws);
  if (chosen !== undefined) return chosen.map(({ victim }) => victim);
  return shortage(entry, who, named.length, named.filter(isEligible).length);
}

/** Undefined: there are too few. */
function choose(
  choice: Choice, named: readonly Candidate[], isEligible: (one: Candidate) => boolean, draws: Draws,
): readonly Candidate[] | undefined {
  if (choice.pick === 'contiguous') return neighbours(choice.count, named, isEligible, draws);
  const eligible = named.filter(isEligible);
  if (eligible.length === 0) return undefined;
  if (choice.pick === 'all') return eligible;
  const count = choice.pick === 'random' ? choice.count
    : Math.max(1, Math.round((eligible.length * choice.percent) / 100));
  if (count > eligible.length) return undefined;
  return inNamedOrder(draws.sample(eligible, count), named);
}

/** Neighbours on the ring of all that are named: one that is left out is a gap. */
function neighbours(
  count: number, named: readonly Candidate[], isEligible: (one: Candidate) => boolean, draws: Draws,
): readonly Candidate[] | undefined {
  if (count > named.length) return undefined;
  const isFree = named.map(isEligible);
  const at = (index: number): number => index % named.length;
  // How many in a row are free up to here, having gone around once before.
  let run = 0;
  const starts: number[] = [];
  for (let index = 0; index < named.length + count - 1; index++) {
    run = isFree[at(index)] === true ? run + 1 : 0;
    if (run >= count) starts.push(index - count + 1);
  }
  if (starts.length === 0) return undefined;
  const start = starts[draws.integer(starts.length)]!;
  return Array.from({ length: count }, (_, step) => named[at(start + step)]!);
}

function inNamedOrder(chosen: readonly Candidate[], named: readonly Candidate[]): Candidate[] {
  const set = new Set(chosen);
  return named.filter((one) => set.has(one));
}

function hostsOf(victims: readonly FaultVictim[], hostOfRank: readonly HostIndex[]): Set<HostIndex> {
  return new Set(victims.flatMap((victim): readonly HostIndex[] => {
    if (victim.kind === 'rank') return hostOfTheRank(victim.rank, hostOfRank);
    if (victim.kind === 'link') return victim.ends.filter((position) => position > 0).map(hostAt);
    return victim.kind === 'partition' ? [] : [victim.host];
  }));
}

function hostOfTheRank(rank: Rank, hostOfRank: readonly HostIndex[]): readonly HostIndex[] {
  const host = hostOfRank[rank];
  return host === undefined ? [] : [host];
}

const NOUNS = { ranks: 'ranks', hosts: 'hosts', agents: 'agents', links: 'links' } as const;

function shortage({ name }: FaultEntry, who: Selector, named: number, eligible: number): string {
  const noun = NOUNS[who.of];
  const { choice } = who;
  const wanted = choice.pick === 'random' ? `${choice.count} ${noun}`
    : choice.pick === 'contiguous' ? `${choice.count} neighbours` : `any of the ${noun}`;
  const left = eligible < named ? `of ${named} ${noun} only ${eligible} are left by ${filters(who, name)}`
    : `who names ${named} ${noun}`;
  return `it needs ${wanted}, but ${left}`;
}

function filters(who: Selector, name: string): string {
  const all = [
    'keep-alive',
    who.notOf.includes(name) ? 'distinct' : '',
    who.notOf.some((other) => other !== name) ? 'not-of' : '',
    who.sameHostAs === undefined ? '' : 'same-host-as',
    who.depth === undefined ? '' : 'depth',
    who.on === 'all' ? '' : 'on',
    who.not.length === 0 ? '' : 'not',
  ].filter((text) => text !== '');
  return all.length > 1 ? all.slice(1).join(', ') : all.join('');
}
