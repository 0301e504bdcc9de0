/**
 * A host's topology as hwloc exports it (hwloc2.dtd), which MPI libraries take from their launcher: else each rank
 * reads some hundred files. It is made only where nothing is left out that libraries choose networks by: of OpenFabrics
 * devices, PCI domains but the first, and nodes with memory alone not all is told in files whose names are known.
 */

import { entryOf } from '@stci/interface';
import { parseCpuList } from './cpu-list.js';
import { LEVELS, readTopology, type Level, type ReadText, type Topology } from './topology.js';

const SYSTEM = '/sys/devices/system';
const PCI = '/sys/bus/pci/devices';
/** It is told to each rank; what is larger costs more than it saves. */
const XML_CHARS_MAX = 0x8_0000;
const TYPES: Readonly<Record<Level, string>> = {
  socket: 'Package', numa: 'Group', l3cache: 'L3Cache', l2cache: 'L2Cache', l1cache: 'L1Cache', core: 'Core',
  hwthread: 'PU',
};
const CACHE_DEPTHS: Partial<Record<Level, number>> = { l1cache: 1, l2cache: 2, l3cache: 3 };
const CACHES_MAX = 10;
/** Classes that hwloc keeps: storage, network, display, co-processor, InfiniBand, accelerator. */
const DEVICE = /^0x(0[123]|12|0b40|0c06)/;

type Attributes = readonly (readonly [name: string, value: string | number])[];

/** What is in an object of the topology: processors that follow each other. */
interface Part {
  readonly level: Level | undefined;
  readonly start: number;
  readonly end: number;
  readonly children: string[];
}

/** Undefined: libraries should look for themselves. */
export function hwlocXml(read: ReadText): string | undefined {
  const topology = readTopology(read);
  const nodes = parseCpuList(read(`${SYSTEM}/node/online`) ?? '') ?? [];
  const hasMemoryAlone = nodes.some((node) => (read(`${SYSTEM}/node/node${node}/cpulist`) ?? '').trim() === '');
  const devices = pciDevices(read);
  const parts = partsOf(topology);
  if (topology.length === 0 || parts === undefined || devices === undefined || hasMemoryAlone) return undefined;
  if (read('/sys/class/infiniband_verbs/abi_version') !== undefined) return undefined;
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE topology SYSTEM "hwloc2.dtd">\n`
    + `<topology version="2.0">${new Writer(read, topology).machine(parts, devices)}</topology>\n`;
  return xml.length > XML_CHARS_MAX ? undefined : xml;
}

/** From the wide to the narrow, in the order of what is in them; undefined: two cross each other. */
function partsOf(topology: Topology): Part[] | undefined {
  const parts: Part[] = [];
  for (const level of LEVELS) {
    const seen = new Set<number>();
    for (let start = 0, end = 0; start < topology.length; start = end) {
      const number = topology[start]!.at[level];
      end = start + 1;
      while (end < topology.length && topology[end]!.at[level] === number) end++;
      if (number === undefined) continue;
      if (seen.has(number)) return undefined;
      seen.add(number);
      parts.push({ level, start, end, children: [] });
    }
  }
  const order = ({ level }: Part): number => LEVELS.indexOf(level as Level);
  parts.sort((a, b) => a.start - b.start || b.end - a.end || order(a) - order(b));
  const open: Part[] = [];
  for (const part of parts) {
    while ((open.at(-1)?.end ?? Infinity) <= part.start) open.pop();
    if ((open.at(-1)?.end ?? Infinity) < part.end) return undefined;
    open.push(part);
  }
  return parts;
}

interface Device {
  readonly attributes: Attributes;
  /** The system's numbers of processors near to it; none: it is not told. */
  readonly near: readonly number[];
  readonly bus: string;
}

/** Undefined: one is in another domain. */
function pciDevices(read: ReadText): Device[] | undefined {
  const devices: Device[] = [];
  const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
  for (const line of (read('/proc/bus/pci/devices') ?? '').split('\n')) {
    const place = Number.parseInt(/^[0-9a-f]{4}\s/.exec(line)?.[0] ?? '', 16);
    if (Number.isNaN(place)) continue;
    const bus = hex(place >> 8, 2);
    const id = `0000:${bus}:${hex((place >> 3) & 0x1f, 2)}.${place & 7}`;
    const of = (name: string): string | undefined => read(`${PCI}/${id}/${name}`)?.trim();
    const type = of('class');
    if (type === undefined) return undefined;
    if (!DEVICE.test(type)) continue;
    const word = (name: string): string => (of(name) ?? '0x0000').slice(2, 6);
    const ids = `[${word('vendor')}:${word('device')}] [${word('subsystem_vendor')}:${word('subsystem_device')}]`;
    const revision = (of('revision') ?? '0x00').slice(2, 4);
    const attributes = [
      ['pci_busid', id], ['pci_type', `${type.slice(2, 6)} ${ids} ${revision}`], ['pci_link_speed', '0.000000'],
    ] as const;
    devices.push({ attributes, near: parseCpuList(of('local_cpulist') ?? '') ?? [], bus });
  }
  return devices;
}

class Writer {
  readonly #read: ReadText;
  readonly #topology: Topology;
  readonly #caches: ReadonlyMap<number, Attributes>;
  #count = 0;

  constructor(read: ReadText, topology: Topology) {
    this.#read = read;
    this.#topology = topology;
    this.#caches = this.#cacheFacts();
  }

  machine(parts: readonly Part[], devices: readonly Device[]): string {
    const machine: Part = { level: undefined, start: 0, end: this.#topology.length, children: [] };
    this.#addDevices(machine, parts, devices);
    const open: Part[] = [machine];
    const close = (): void => {
      const part = open.pop()!;
      open.at(-1)!.children.push(this.#object(part));
    };
    let hasMemory = false;
    for (const part of parts) {
      while (open.at(-1)!.end <= part.start) close();
      const above = open.at(-1)!;
      if (part.level === 'numa') {
        hasMemory = true;
        const isSame = above.start === part.start && above.end === part.end;
        const owner = isSame ? above : part;
        owner.children.push(this.#memory(owner));
        if (isSame) continue;
      }
      open.push(part);
    }
    while (open.length > 1) close();
    if (!hasMemory) machine.children.push(this.#memory(machine));
    return this.#object(machine);
  }

  /** Devices are below a bridge of their bus, in the smallest object that has all processors near to them. */
  #addDevices(machine: Part, parts: readonly Part[], devices: readonly Device[]): void {
    const holders = [machine, ...parts.filter(({ level }) => level === 'socket' || level === 'numa')];
    const bridges = new Map<Part, Map<string, string[]>>();
    for (const { attributes, near, bus } of devices) {
      const places = near.map((cpu) => this.#topology.findIndex((own) => own.cpu === cpu)).filter((at) => at >= 0);
      const [low, high] = [Math.min(...places), Math.max(...places)];
      const fits = holders.filter(({ start, end }) => places.length > 0 && start <= low && high < end);
      const holder = fits.reduce((least, each) =>
        (each.end - each.start < least.end - least.start ? each : least), machine);
      const buses = entryOf(bridges, holder, () => new Map<string, string[]>());
      entryOf(buses, bus, () => []).push(this.#element('PCIDev', attributes, []));
    }
    for (const [holder, buses] of bridges) {
      for (const [bus, inner] of buses) {
        const attributes = [['bridge_type', '0-1'], ['depth', 0], ['bridge_pci', `0000:[${bus}-${bus}]`]] as const;
        holder.children.push(this.#element('Bridge', attributes, inner));
      }
    }
  }

  #object(part: Part): string {
    const { level, start, end, children } = part;
    if (level === undefined) return this.#element('Machine', [['os_index', 0], ...this.#sets(part)], children);
    const first = this.#topology[start]!;
    const number = level === 'hwthread' ? first.cpu : first.at[level] ?? 0;
    const depth = CACHE_DEPTHS[level];
    const more: Attributes = depth === undefined ? [] : this.#caches.get(depth) ?? [];
    const kind: Attributes = level === 'numa' ? [['kind', 1001], ['subkind', 0]] : [];
    const own: Attributes = level === 'numa' ? [] : [['os_index', number]];
    return this.#element(TYPES[level], [...own, ...this.#sets({ start, end }), ...more, ...kind], children);
  }

  #memory({ start, end }: Pick<Part, 'start' | 'end'>): string {
    const node = this.#topology[start]!.node ?? 0;
    const kibibytes = /MemTotal:\s*(\d{1,15})/.exec(this.#read(`${SYSTEM}/node/node${node}/meminfo`) ?? '')?.[1] ?? 0;
    const bytes = String(BigInt(kibibytes) * 1024n);
    return this.#element('NUMANode', [['os_index', node], ...this.#sets({ start, end }), ['local_memory', bytes]], []);
  }

  #sets({ start, end }: Pick<Part, 'start' | 'end'>): Attributes {
    const inside = this.#topology.slice(start, end);
    const sets = [['cpuset', inside.map(({ cpu }) => cpu)], ['nodeset', inside.map(({ node }) => node ?? 0)]] as const;
    return sets.flatMap(([name, numbers]) => {
      const mask = maskOf(numbers);
      return [[name, mask], [`complete_${name}`, mask], [`allowed_${name}`, mask]] as const;
    });
  }

  #element(type: string, attributes: Attributes, children: readonly string[]): string {
    this.#count += 1;
    const all = [['type', type], ...attributes, ['gp_index', this.#count]] as const;
    const text = all.map(([name, value]) => ` ${name}="${value}"`).join('');
    return children.length === 0 ? `<object${text}/>` : `<object${text}>${children.join('')}</object>`;
  }

  /** By depth, what the caches of the first processor are like. */
  #cacheFacts(): Map<number, Attributes> {
    const facts = new Map<number, Attributes>();
    for (let index = 0; index < CACHES_MAX; index++) {
      const of = (name: string): string =>
        this.#read(`${SYSTEM}/cpu/cpu${this.#topology[0]!.cpu}/cache/index${index}/${name}`)?.trim() ?? '';
      const [, size = '0'] = /^(\d{1,9})K$/.exec(of('size')) ?? [];
      const [line = '64'] = /^\d{1,5}$/.exec(of('coherency_line_size')) ?? [];
      const type = of('type');
      if (type === '' || type === 'Instruction') continue;
      facts.set(Number(of('level')), [
        ['cache_size', Number(size) * 1024], ['depth', Number(of('level'))], ['cache_linesize', line],
        ['cache_associativity', 0], ['cache_type', type === 'Unified' ? 0 : 1],
      ]);
    }
    return facts;
  }
}

/** `0x00000001,0x000000f0`: words of 32 bits, the highest first. */
function maskOf(numbers: readonly number[]): string {
  const words: number[] = [];
  for (const number of numbers) {
    const word = number >> 5;
    while (words.length <= word) words.push(0);
    words[word] = (words[word]! | (1 << (number & 31))) >>> 0;
  }
  return words.reverse().map((word) => `0x${word.toString(16).padStart(8, '0')}`).join();
}
