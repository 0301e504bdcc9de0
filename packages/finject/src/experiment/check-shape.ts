/** What an experiment names that one target does not have, or must keep alive. */

import { didYouMean } from '@stci/core';
import type { Rank } from '@stci/interface';
import { heightOf } from './boot-tree.js';
import {
  eligibility, endPosition, hostNumber, isKept, keepSet, namedBy, type Candidate, type KeepSet, type Selector,
} from './candidates.js';
import type { EndRef, Experiment, FaultEntry, HostRef, TargetShape, Who } from './contracts.js';
import { leavesOf } from './timing.js';

export interface ShapeInit {
  readonly shape: TargetShape;
  readonly configuration: string;
  /** Which configuration it is, for messages; empty: all. */
  readonly where: string;
  tell(path: readonly (string | number)[], text: string): void;
}

type Path = readonly (string | number)[];

const NAMES_SHOWN_MAX = 5;

export class ShapeChecks {
  readonly #experiment: Experiment;
  readonly #init: ShapeInit;
  readonly #keep: KeepSet;

  constructor(experiment: Experiment, init: ShapeInit) {
    this.#experiment = experiment;
    this.#init = init;
    this.#keep = keepSet(experiment, init.shape);
  }

  run(): void {
    const { keepAlive, faults, checks } = this.#experiment;
    this.#ranks(keepAlive.ranks, ['keep-alive', 'ranks']);
    this.#hosts(keepAlive.hosts, ['keep-alive', 'hosts']);
    const here = faults.filter(({ configurations: only }) => only?.includes(this.#init.configuration) ?? true);
    for (const fault of here) this.#trigger(fault);
    for (const leaf of leavesOf(here)) this.#fault(leaf, leaf.path ?? []);
    for (const check of checks) {
      if (check.type === 'output' && check.rank !== undefined) this.#ranks([check.rank], [...check.path ?? [], 'rank']);
      if (check.type !== 'failed-ranks' || check.ranks === 'victims') continue;
      this.#ranks(check.ranks, [...check.path ?? [], 'failed-ranks']);
    }
  }

  #tell(path: Path, text: string): void {
    this.#init.tell(path, text);
  }

  #trigger({ when: { after }, path = [] }: FaultEntry): void {
    if (after.on !== 'event' && after.rank !== undefined) this.#ranks([after.rank], [...path, 'when', 'after', 'rank']);
  }

  #ranks(ranks: readonly Rank[], path: Path): void {
    const count = this.#init.shape.hostOfRank.length;
    const unknown = ranks.filter((rank) => rank >= count);
    if (unknown.length === 0) return;
    const expected = count === 1 ? 'rank 0 only' : `ranks 0 to ${count - 1}`;
    this.#tell(path, `There is no rank ${list(unknown)}: the target has ${expected}${this.#init.where}.`);
  }

  #hosts(refs: readonly HostRef[] | 'all', path: Path): void {
    const { shape, where } = this.#init;
    const unknown = refs === 'all' ? [] : refs.filter((ref) => hostNumber(ref, shape) === undefined);
    const [first] = unknown;
    if (first === undefined) return;
    const count = shape.hosts.length;
    const numbers = count === 1 ? 'host 0 only' : `hosts 0 to ${count - 1}`;
    const near = typeof first === 'string' ? didYouMean(first, shape.hosts) : '';
    const expected = typeof first === 'number' ? `the target has ${numbers}` : `the target's are ${list(shape.hosts)}`;
    this.#tell(path, `There is no host ${list(unknown)}: ${expected}${where}.${near}`);
  }

  #ends(refs: readonly EndRef[], path: Path): void {
    this.#hosts(refs.flatMap((ref) => (ref === 'controller' ? [] : [ref.host])), path);
  }

  #fault(fault: FaultEntry, path: Path): void {
    const { who } = fault;
    const at = [...path, 'who'];
    if (who.of === 'sets') {
      for (const set of who.sets) this.#ends(set, [...at, 'partition']);
      this.#keptSets(who, [...at, 'partition']);
    }
    if (!('choice' in who)) return;
    if (who.of === 'ranks' && who.ranks !== 'all') this.#ranks(who.ranks, [...at, 'ranks']);
    if (who.of === 'hosts') this.#hosts(who.hosts, [...at, 'hosts']);
    if (who.of === 'links' && who.links !== 'all') this.#links(who.links, [...at, 'links']);
    this.#hosts(who.on, [...at, 'on']);
    if (who.of === 'ranks') this.#ranks(who.not.filter((ref) => typeof ref === 'number'), [...at, 'not']);
    else this.#hosts(who.not, [...at, 'not']);
    const height = heightOf(this.#init.shape);
    if (who.depth !== undefined && who.depth > height) {
      this.#tell([...at, 'depth'], `No agent has depth ${who.depth}: the boot tree of ${this.#init.shape.hosts.length} `
        + `hosts is ${height} deep${this.#init.where}.`);
    }
    if (who.of === 'agents' && !this.#isAllowed(who, [...at, 'agents'])) return;
    this.#kept(fault.name, who, [...at, who.of]);
  }

  #links(links: readonly (readonly [EndRef, EndRef])[], path: Path): void {
    for (const [number, link] of links.entries()) {
      this.#ends(link, [...path, number]);
      const [source, target] = link.map((ref) => endPosition(ref, this.#init.shape));
      if (source === undefined || source !== target) continue;
      this.#tell([...path, number], 'Both ends of this link are the same agent. Name two.');
    }
  }

  #isAllowed({ role }: Extract<Who, { of: 'agents' }>, path: Path): boolean {
    if (role !== 'controller' && role !== 'front-end') return true;
    if (this.#experiment.allow.includes(role)) return true;
    const what = role === 'controller' ? 'ends the session' : 'ends finject itself';
    this.#tell(path, `A fault at the ${role} ${what}, and is not allowed. To have it, write allow: [${role}].`);
    return false;
  }

  /** What is named itself must not be what is to be kept alive; of a random choice that is left out. */
  #kept(name: string, who: Selector, path: Path): void {
    const isNamed = (who.of === 'ranks' && who.ranks !== 'all') || (who.of === 'hosts' && who.hosts !== 'all')
      || (who.of === 'links' && who.links !== 'all') || (who.of === 'agents' && isSingle(who.role));
    if (!isNamed || who.choice.pick !== 'all') return;
    const nothing: KeepSet = { ranks: new Set(), hosts: new Set(), path: new Set() };
    const { shape } = this.#init;
    const isWanted = eligibility(who, { shape, keep: nothing, near: undefined, taken: new Set() });
    const kept = namedBy(who, shape).filter((one) => isWanted(one) && isKept(one, this.#keep));
    if (kept.length === 0) return;
    this.#tell(path, `${name} would harm what keep-alive spares, or what that needs: ${list(kept.map(victimName))}`
      + `${this.#init.where}. Name others, or take it out of keep-alive.`);
  }

  #keptSets({ sets }: Extract<Who, { of: 'sets' }>, path: Path): void {
    const { shape, where } = this.#init;
    const positions = sets.map((set) => new Set(set.flatMap((ref) => endPosition(ref, shape) ?? [])));
    const withController = positions.filter((set) => set.has(0));
    const apart = [...this.#keep.path].filter((host) => !withController.some((set) => set.has(host + 1)));
    if (apart.length === 0) return;
    this.#tell(path, `The partition separates the controller from hosts that keep-alive spares, or that they need: `
      + `${list(apart.map((host) => shape.hosts[host] ?? host))}${where}. Put them into a set with the controller.`);
  }
}

function isSingle(role: string): boolean {
  return role === 'controller' || role === 'front-end';
}

function victimName({ victim }: Candidate): string {
  switch (victim.kind) {
    case 'rank':
      return `rank ${victim.rank}`;
    case 'link':
      return `link ${victim.ends.join('-')}`;
    case 'agent':
      return isSingle(victim.role) ? victim.role : `${victim.role}:${victim.host}`;
    default:
      return victim.kind === 'host' ? `host ${victim.host}` : victim.kind;
  }
}

function list(items: readonly (string | number)[]): string {
  const shown = items.slice(0, NAMES_SHOWN_MAX).join(', ');
  return items.length > NAMES_SHOWN_MAX ? `${shown} and ${items.length - NAMES_SHOWN_MAX} more` : shown;
}
