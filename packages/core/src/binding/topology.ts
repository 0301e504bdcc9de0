/**
 * The processors that this process may use, and what they share: from texts of /sys and /proc, in hwloc's order and
 * with its numbers, so that the two can be compared. Objects are ordered by their first processor; those of which the
 * cpuset leaves nothing are not counted.
 */

import { parseCpuList } from './cpu-list.js';

/** Of the wide to the narrow. A level that the system does not tell has no objects. */
export const LEVELS = ['socket', 'numa', 'l3cache', 'l2cache', 'l1cache', 'core', 'hwthread'] as const;

export type Level = (typeof LEVELS)[number];

/** A hardware thread: what the system calls a processor. */
export interface Processor {
  /** Its number in the system. */
  readonly cpu: number;
  /** Number of the node in the system; undefined: it tells none. */
  readonly node: number | undefined;
  /** By level, the number of the object in which it is, from 0. */
  readonly at: Readonly<Partial<Record<Level, number>>>;
}

/** In their order: those of one core, one cache, one socket follow each other. */
export type Topology = readonly Processor[];

/** Text of a file of the system; undefined: there is none. */
export type ReadText = (path: string) => string | undefined;

const CPUS = '/sys/devices/system/cpu';
const NODES = '/sys/devices/system/node';
const CACHE_LEVELS: readonly Level[] = ['l1cache', 'l2cache', 'l3cache'];
/** Caches of one processor that are looked at. */
const CACHES_MAX = 10;

/** Processors of the object at a level in which a processor is. */
type Sharing = (cpu: number) => readonly number[] | undefined;

/** Empty where the system does not tell which processors this process may use. */
export function readTopology(read: ReadText): Topology {
  const status = read('/proc/self/status') ?? '';
  const listed = parseCpuList(/^Cpus_allowed_list:\s*(\S+)$/m.exec(status)?.[1] ?? '') ?? [];
  const online = parseCpuList(read(`${CPUS}/online`) ?? '') ?? [];
  const allowed = online.length === 0 ? listed : listed.filter((cpu) => online.includes(cpu));
  const nodes = numaNodes(read);
  const sharing = sharings(read, nodes, allowed[0] ?? 0);
  const firsts = new Map(allowed.map((cpu) => [cpu, LEVELS.map((level) => sharing[level]?.(cpu)?.[0])] as const));
  const order = (a: number, b: number): number => {
    const [mine, others] = [firsts.get(a)!, firsts.get(b)!];
    const level = mine.findIndex((first, i) => first !== others[i]);
    return (mine[level] ?? 0) - (others[level] ?? 0) || a - b;
  };
  const numbers = LEVELS.map(() => new Map<number, number>());
  return [...allowed].sort(order).map((cpu) => {
    const at = LEVELS.flatMap((level, i) => {
      const first = firsts.get(cpu)![i];
      if (first === undefined) return [];
      const seen = numbers[i]!;
      if (!seen.has(first)) seen.set(first, seen.size);
      return [[level, seen.get(first)!] as const];
    });
    return { cpu, node: nodes.find(({ cpus }) => cpus.includes(cpu))?.node, at: Object.fromEntries(at) };
  });
}

function sharings(
  read: ReadText, nodes: readonly NumaNode[], first: number,
): Partial<Record<Level, Sharing>> {
  const alone: Sharing = (cpu) => [cpu];
  const core = lists(read, ['topology/core_cpus_list', 'topology/thread_siblings_list']);
  const socket = lists(read, ['topology/package_cpus_list', 'topology/core_siblings_list']);
  const all = [0];
  const found: Partial<Record<Level, Sharing>> = {
    hwthread: alone,
    core: (cpu) => core(cpu) ?? [cpu],
    socket: (cpu) => socket(cpu) ?? all,
    numa: (cpu) => nodes.find(({ cpus }) => cpus.includes(cpu))?.cpus ?? all,
  };
  for (let index = 0; index < CACHES_MAX; index++) {
    const cache = `cache/index${index}`;
    const level = CACHE_LEVELS[Number(read(`${CPUS}/cpu${first}/${cache}/level`)) - 1];
    const isOfData = read(`${CPUS}/cpu${first}/${cache}/type`)?.trim() !== 'Instruction';
    if (level !== undefined && isOfData) found[level] = lists(read, [`${cache}/shared_cpu_list`]);
  }
  return found;
}

/** Each list is read once, with the first of its processors that is asked for. */
function lists(read: ReadText, names: readonly string[]): Sharing {
  const known = new Map<number, readonly number[]>();
  return (cpu) => {
    if (known.has(cpu)) return known.get(cpu);
    const text = names.map((name) => read(`${CPUS}/cpu${cpu}/${name}`)).find((each) => each !== undefined);
    const list = text === undefined ? [] : parseCpuList(text) ?? [];
    if (!list.includes(cpu)) return undefined;
    for (const each of list) known.set(each, list);
    return list;
  };
}

interface NumaNode {
  readonly node: number;
  readonly cpus: readonly number[];
}

function numaNodes(read: ReadText): NumaNode[] {
  const numbers = parseCpuList(read(`${NODES}/online`) ?? '') ?? [];
  return numbers.map((node) => ({ node, cpus: parseCpuList(read(`${NODES}/node${node}/cpulist`) ?? '') ?? [] }));
}
