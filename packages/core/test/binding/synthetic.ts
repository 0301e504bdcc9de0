/** Machines made up: the texts of /sys and /proc that tell of their processors. */

import { cpuList } from '../../dist/binding/cpu-list.js';
import { readTopology, type Topology } from '../../dist/binding/topology.js';

export interface Machine {
  readonly sockets: number;
  readonly nodesPerSocket?: number;
  readonly cachesPerNode?: number;
  readonly coresPerCache: number;
  readonly threads?: number;
  /** Second threads are numbered behind all first ones, as on most machines; else beside them. */
  readonly isSpread?: boolean;
  readonly offline?: readonly number[];
  /** What the cpuset gives; absent: all. */
  readonly allowed?: string;
  /** Kernels before 5.3 have other names. */
  readonly isOld?: boolean;
}

export function systemOf(machine: Machine): Map<string, string> {
  const { sockets, nodesPerSocket = 1, cachesPerNode = 1, coresPerCache, threads = 1, isSpread = true } = machine;
  const coresPerNode = cachesPerNode * coresPerCache;
  const coresPerSocket = nodesPerSocket * coresPerNode;
  const cores = sockets * coresPerSocket;
  const all = Array.from({ length: cores * threads }, (_, cpu) => cpu);
  const online = all.filter((cpu) => !(machine.offline ?? []).includes(cpu));
  const coreOf = (cpu: number): number => (isSpread ? cpu % cores : Math.floor(cpu / threads));
  const sharing = (cpu: number, coresEach: number): string => {
    const group = Math.floor(coreOf(cpu) / coresEach);
    return `${cpuList(online.filter((other) => Math.floor(coreOf(other) / coresEach) === group))}\n`;
  };
  const texts = new Map([
    ['/proc/self/status', `Name:\tnode\nCpus_allowed:\tf\nCpus_allowed_list:\t${machine.allowed ?? cpuList(online)}\n`],
    ['/sys/devices/system/cpu/online', `${cpuList(online)}\n`],
    ['/sys/devices/system/cpu/possible', `${cpuList(all)}\n`],
    ['/sys/devices/system/cpu/present', `${cpuList(all)}\n`],
    ['/sys/devices/system/node/online', `${cpuList(Array.from({ length: sockets * nodesPerSocket }, (_, i) => i))}\n`],
  ]);
  const [siblings, packages] = machine.isOld ? ['thread_siblings', 'core_siblings'] : ['core_cpus', 'package_cpus'];
  const put = (path: string, list: string): void => {
    texts.set(`${path}_list`, list);
    texts.set(path, hexMask(list));
  };
  for (const cpu of online) {
    const of = `/sys/devices/system/cpu/cpu${cpu}`;
    texts.set(`${of}/online`, '1\n');
    texts.set(`${of}/topology/physical_package_id`, `${Math.floor(coreOf(cpu) / coresPerSocket)}\n`);
    texts.set(`${of}/topology/core_id`, `${coreOf(cpu) % coresPerSocket}\n`);
    put(`${of}/topology/${siblings}`, sharing(cpu, 1));
    put(`${of}/topology/${packages}`, sharing(cpu, coresPerSocket));
    const caches = [[1, 'Data', 1, 32], [1, 'Instruction', 1, 32], [2, 'Unified', 1, 512],
      [3, 'Unified', coresPerCache, 8192]] as const;
    for (const [index, [level, type, coresEach, size]] of caches.entries()) {
      texts.set(`${of}/cache/index${index}/level`, `${level}\n`);
      texts.set(`${of}/cache/index${index}/type`, `${type}\n`);
      texts.set(`${of}/cache/index${index}/size`, `${size}K\n`);
      const list = sharing(cpu, coresEach);
      texts.set(`${of}/cache/index${index}/shared_cpu_list`, list);
      texts.set(`${of}/cache/index${index}/shared_cpu_map`, hexMask(list));
    }
  }
  for (let node = 0; node < sockets * nodesPerSocket; node++) {
    const own = online.filter((cpu) => Math.floor(coreOf(cpu) / coresPerNode) === node);
    texts.set(`/sys/devices/system/node/node${node}/cpulist`, `${cpuList(own)}\n`);
    texts.set(`/sys/devices/system/node/node${node}/cpumap`, hexMask(cpuList(own)));
    texts.set(`/sys/devices/system/node/node${node}/meminfo`, `Node ${node} MemTotal:  1048576 kB\n`);
  }
  return texts;
}

export function topologyOf(machine: Machine): Topology {
  const texts = systemOf(machine);
  return readTopology((path) => texts.get(path));
}

function hexMask(list: string): string {
  let mask = 0n;
  for (const item of list.trim().split(',').filter(Boolean)) {
    const [first = 0, last = first] = item.split('-').map(Number);
    for (let cpu = first; cpu <= last; cpu++) mask |= 1n << BigInt(cpu);
  }
  const hex = mask.toString(16);
  const padded = hex.padStart(Math.ceil(hex.length / 8) * 8, '0');
  return `${(padded.match(/.{8}/gu) ?? []).join()}\n`;
}
