/**
 * Which processors each rank of a host gets. A rank takes as many cores (or hardware threads) as it is to have, and is
 * bound to them; or it is bound to all that the cpuset leaves of the socket, NUMA node or cache where it is placed.
 *
 * - by `slot`: the next free ones, of one NUMA node or else of one socket where these have enough.
 * - by an object: of each socket (node, cache) in turn, skipping those that are full.
 *
 * No two ranks take the same processor: more ranks than there is room for are refused, and not bound to what others
 * have. A rank that comes later, from another host, goes without binding where nothing is left.
 */

import { StciError, type Params } from '@stci/interface';
import { counted } from '@stci/registry';
import { cpuList } from './cpu-list.js';
import { localityOf, reportOf } from './text.js';
import type { Level, Processor, Topology } from './topology.js';

export const BIND_TO = ['auto', 'none', 'hwthread', 'core', 'l3cache', 'numa', 'socket'] as const;
export const MAP_WITHIN = ['auto', 'slot', 'l3cache', 'numa', 'socket'] as const;

export type BindTo = Exclude<(typeof BIND_TO)[number], 'auto'>;
export type MapWithin = Exclude<(typeof MAP_WITHIN)[number], 'auto'>;

export interface BindingRule {
  readonly to: BindTo;
  readonly within: MapWithin;
  /** Cores of a rank, or hardware threads with `to: 'hwthread'`; at least 1. */
  readonly width: number;
}

/** What was asked for; `auto` and 0: not said. */
export interface BindingWish {
  readonly to: (typeof BIND_TO)[number];
  readonly within: (typeof MAP_WITHIN)[number];
  readonly cpusPerRank: number;
}

/** What one rank has. */
export interface RankBinding {
  /** As taskset takes it. */
  readonly cpus: string;
  /** Nodes of its processors, where its host has several. */
  readonly nodes?: string;
  /** As hwloc's locations, which PMIx clients compare. */
  readonly locality: string;
  /** For people: its sockets and cores, and their mask. */
  readonly report: string;
}

const OBJECTS: readonly string[] = ['l3cache', 'numa', 'socket'];

const isObject = (word: string): word is 'l3cache' | 'numa' | 'socket' => OBJECTS.includes(word);

export function wishOf(params: Params): BindingWish {
  return {
    to: params.string('binding.to') as BindingWish['to'],
    within: params.string('binding.map') as BindingWish['within'],
    cpusPerRank: params.int('binding.cpus'),
  };
}

/**
 * What is not said follows from the rest: to be placed by an object is to be bound to it, a number of processors is one
 * of cores, and what is bound to an object is placed by it. Nothing said: no binding. Throws STCI_PARAM_INVALID.
 */
export function ruleOf({ to, within, cpusPerRank }: BindingWish): BindingRule {
  const implied = cpusPerRank > 0 ? 'core' : isObject(within) ? within : 'none';
  const bindTo = to === 'auto' ? implied : to;
  if (cpusPerRank > 0 && bindTo !== 'core' && bindTo !== 'hwthread') {
    const text = `binding.cpus = ${cpusPerRank} (--cpus-per-rank): expected binding.to (--bind-to) core or hwthread, `
      + `got ${bindTo}, which has no number. Leave one of them out.`;
    throw new StciError('STCI_PARAM_INVALID', text, { data: { name: 'binding.cpus' } });
  }
  const place = within !== 'auto' ? within : isObject(bindTo) ? bindTo : 'slot';
  return { to: bindTo, within: place, width: Math.max(1, cpusPerRank) };
}

/** In words, for a plan. */
export function ruleText({ to, within, width }: BindingRule): string {
  if (to === 'none') return 'none';
  const what = isObject(to) ? `the processors of one ${NAMES[to]}` : counted(width, NAMES[to]);
  return `each rank to ${what}, placed by ${within}`;
}

const NAMES = {
  hwthread: 'hardware thread', core: 'core', l3cache: 'L3 cache', numa: 'NUMA node', socket: 'socket',
} as const;

/** The ranks of one host. */
export class HostBinding {
  readonly #topology: Topology;
  readonly #rule: BindingRule & { readonly to: Exclude<BindTo, 'none'> };
  /** Cores, or hardware threads, that no rank has. */
  readonly #free: (readonly Processor[])[];
  readonly #bindings: (RankBinding | undefined)[] = [];
  /** The next object in turn. */
  #turn = 0;

  /** For so many ranks. Throws STCI_BINDING_IMPOSSIBLE where they cannot be bound. */
  constructor(topology: Topology, rule: BindingRule, ranks: number, hostName: string) {
    const { to, within, width } = rule;
    const refuse = (text: string): StciError => {
      return new StciError('STCI_BINDING_IMPOSSIBLE', `${hostName}: ${text}`, { host: hostName });
    };
    if (to === 'none') throw refuse('no binding is asked for.');
    if (topology.length === 0) {
      throw refuse('its processors are not known (/proc/self/status has no Cpus_allowed_list). Write --bind-to none.');
    }
    for (const level of [to, within]) {
      if (level === 'slot' || topology.every(({ at }) => at[level] !== undefined)) continue;
      const option = level === to ? '--bind-to' : '--map-by';
      throw refuse(`${option} ${level}: its system tells of no ${NAMES[level]}. Write ${option} socket, or core.`);
    }
    this.#topology = topology;
    this.#rule = { ...rule, to };
    const unit = to === 'core' ? 'core' : 'hwthread';
    this.#free = objects(topology, unit);
    const room = this.#free.length;
    if (ranks * width <= room) return;
    const each = width > 1 ? ` of ${counted(width, NAMES[unit])} each` : '';
    const most = Math.floor(room / width);
    const widest = width > 1 ? Math.floor(room / ranks) : 0;
    const fewer = [
      ...(most > 0 ? [`at most ${counted(most, 'rank')}, `] : []),
      ...(widest > 0 ? [`at most --cpus-per-rank ${widest}, `] : []),
    ].join('') || `at most ${counted(room, 'rank')} of one each, `;
    const threads = unit === 'core' && width === 1 && ranks <= topology.length ? '--bind-to hwthread, ' : '';
    throw refuse(`${counted(ranks, 'rank')}${each} cannot be bound to its ${counted(room, NAMES[unit])}. `
      + `Give it ${fewer}${threads}or write --bind-to none: ranks that share processors are not bound.`);
  }

  /** undefined: nothing is left for it. The first to be asked for is bound first. */
  of(localRank: number): RankBinding | undefined {
    while (this.#bindings.length <= localRank) this.#bindings.push(this.#next());
    return this.#bindings[localRank];
  }

  #next(): RankBinding | undefined {
    const taken = this.#take();
    if (taken === undefined) return undefined;
    const { to } = this.#rule;
    const [first] = taken;
    const own = isObject(to) ? this.#topology.filter(({ at }) => at[to] === first?.at[to]) : taken;
    const nodes = new Set(own.flatMap(({ node }) => node ?? []));
    const isOneNode = new Set(this.#topology.map(({ node }) => node)).size <= 1;
    const topology = this.#topology;
    return {
      cpus: cpuList(own.map(({ cpu }) => cpu)),
      ...(!isOneNode && { nodes: cpuList(nodes) }),
      locality: localityOf(own),
      get report() {
        return reportOf(topology, own);
      },
    };
  }

  #take(): readonly Processor[] | undefined {
    const { within, width } = this.#rule;
    if (this.#free.length < width) return undefined;
    const inTurn = within === 'slot' ? undefined : this.#inTurn(within);
    const chosen = inTurn ?? this.#within('numa') ?? this.#within('socket') ?? this.#free.slice(0, width);
    for (const unit of chosen) this.#free.splice(this.#free.indexOf(unit), 1);
    return chosen.flat();
  }

  /** Of the first object that has enough. */
  #within(level: Level): (readonly Processor[])[] | undefined {
    const count = countOf(this.#topology, level);
    for (let index = 0; index < count; index++) {
      const found = this.#freeIn(level, index);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Of the next object that has enough. */
  #inTurn(level: Level): (readonly Processor[])[] | undefined {
    const count = countOf(this.#topology, level);
    for (let tried = 0; tried < count; tried++) {
      const found = this.#freeIn(level, this.#turn);
      this.#turn = (this.#turn + 1) % count;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #freeIn(level: Level, index: number): (readonly Processor[])[] | undefined {
    const own = this.#free.filter(([first]) => first?.at[level] === index);
    return own.length < this.#rule.width ? undefined : own.slice(0, this.#rule.width);
  }
}

function countOf(topology: Topology, level: Level): number {
  return new Set(topology.map(({ at }) => at[level])).size;
}

/** Processors by the object in which they are. */
function objects(topology: Topology, level: Level): Processor[][] {
  const found = new Map<number | undefined, Processor[]>();
  for (const processor of topology) {
    const index = processor.at[level];
    found.set(index, [...(found.get(index) ?? []), processor]);
  }
  return [...found.values()];
}
