/** The processors of machines made up, by hand and as hwloc reads the same texts. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { assert, skip, suite } from '@stci/testkit';
import { cpuList, parseCpuList } from '../../dist/binding/cpu-list.js';
import { hwlocXml } from '../../dist/binding/hwloc-xml.js';
import { LEVELS, readTopology, type Level, type Topology } from '../../dist/binding/topology.js';
import { systemOf, topologyOf, type Machine } from './synthetic.js';

const MACHINES: Readonly<Record<string, Machine>> = {
  'one core': { sockets: 1, coresPerCache: 1 },
  'two sockets, threads behind': { sockets: 2, coresPerCache: 4, threads: 2 },
  'two sockets, threads beside': { sockets: 2, coresPerCache: 4, threads: 2, isSpread: false },
  'nodes and caches inside sockets': { sockets: 2, nodesPerSocket: 2, cachesPerNode: 2, coresPerCache: 2, threads: 2 },
  'a hole: processors offline': { sockets: 2, coresPerCache: 4, threads: 2, offline: [1, 3, 12] },
  'a cpuset with processors offline': { sockets: 2, coresPerCache: 2, threads: 2, offline: [1, 6], allowed: '0-6' },
  'a cpuset that cuts cores': { sockets: 2, coresPerCache: 4, threads: 2, allowed: '2-5,9-10' },
  'a cpuset of the second socket': { sockets: 2, coresPerCache: 4, threads: 2, isSpread: false, allowed: '9-12' },
  'names of old kernels': { sockets: 2, coresPerCache: 2, threads: 2, isOld: true },
  'four threads a core': { sockets: 1, nodesPerSocket: 2, coresPerCache: 3, threads: 4 },
};

/** `0-3|4-7`: processors of each object of a level. */
const shown = (topology: Topology, level: Level): string => {
  const count = new Set(topology.map(({ at }) => at[level])).size;
  const own = (index: number): string =>
    cpuList(topology.flatMap(({ cpu, at }) => (at[level] === index ? [cpu] : [])));
  return Array.from({ length: count }, (_, index) => own(index)).join('|');
};

const HWLOC: Readonly<Record<Level, string>> = {
  socket: 'Package', numa: 'NUMANode', l3cache: 'L3Cache', l2cache: 'L2Cache', l1cache: 'L1Cache', core: 'Core',
  hwthread: 'PU',
};

/** What hwloc reads, by level as `shown` has it: of the same texts, or of our XML; undefined: it is not installed. */
function hwlocSays(machine: Machine, xmlOfOurs?: string): Record<string, string> | undefined {
  const root = mkdtempSync(join(tmpdir(), 'stci-hwloc-'));
  try {
    for (const [path, text] of systemOf(machine)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const allowed = parseCpuList(machine.allowed ?? '') ?? [];
    const mask = allowed.reduce((sum, cpu) => sum + 2 ** cpu, 0).toString(16);
    const cut = allowed.length > 0 ? ['--restrict', `0x${mask}`] : [];
    if (xmlOfOurs !== undefined) writeFileSync(join(root, 'ours.xml'), xmlOfOurs);
    const input = xmlOfOurs === undefined
      ? ['--if', 'fsroot', '--input', root, ...cut]
      : ['--if', 'xml', '--input', join(root, 'ours.xml')];
    const args = [...input, '--of', 'xml', '-'];
    const xml = execFileSync('lstopo-no-graphics', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return Object.fromEntries(LEVELS.map((level) => {
      const objects = xml.matchAll(new RegExp(`<object type="${HWLOC[level]}"[^>]* cpuset="0x([0-9a-f,x]+)"`, 'gu'));
      return [level, [...objects].map(([, hex = '']) => cpuList(bitsOf(hex))).filter(Boolean).join('|')];
    }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function bitsOf(hex: string): number[] {
  const bits = [...BigInt(`0x${hex.replaceAll(/,(?:0x)?/gu, '')}`).toString(2)].reverse();
  return bits.flatMap((bit, index) => (bit === '1' ? [index] : []));
}

suite('lists of processors', (test) => {
  test('are read and written as the kernel has them', () => {
    assert.equal(parseCpuList('0-2,5,7-8\n'), [0, 1, 2, 5, 7, 8]);
    assert.equal(parseCpuList('\n'), []);
    assert.equal(parseCpuList('3,1'), [1, 3]);
    for (const bad of ['a', '3-1', '1-', '-1', '0-99999999', '1,x']) assert.is(parseCpuList(bad), undefined, bad);
    assert.is(cpuList([8, 0, 1, 2, 5, 7, 5]), '0-2,5,7-8');
    assert.is(cpuList([]), '');
  });
});

suite('topology', (test) => {
  test('has the objects in order, of what is allowed and online', () => {
    const nested = topologyOf(MACHINES['nodes and caches inside sockets']!);
    assert.is(shown(nested, 'socket'), '0-7,16-23|8-15,24-31');
    assert.is(shown(nested, 'numa'), '0-3,16-19|4-7,20-23|8-11,24-27|12-15,28-31');
    assert.is(shown(nested, 'l3cache').split('|')[1], '2-3,18-19');
    assert.equal(nested.slice(0, 3).map(({ cpu, node }) => [cpu, node]), [[0, 0], [16, 0], [1, 0]]);
    const cut = topologyOf(MACHINES['a cpuset that cuts cores']!);
    assert.is(shown(cut, 'core'), '9|2,10|3|4|5');
    assert.is(shown(cut, 'socket'), '2-3,9-10|4-5');
    assert.is(shown(topologyOf(MACHINES['a hole: processors offline']!), 'core'), '0,8|2,10|9|11|4|5,13|6,14|7,15');
  });

  test('caches of instructions are not counted', () => {
    const texts = systemOf({ sockets: 1, coresPerCache: 4 });
    const cpus = '/sys/devices/system/cpu';
    for (let cpu = 0; cpu < 4; cpu++) texts.set(`${cpus}/cpu${cpu}/cache/index1/shared_cpu_list`, '0-3');
    assert.is(shown(readTopology((path) => texts.get(path)), 'l1cache'), '0|1|2|3');
  });

  test('what is offline is not there, though the cpuset may have it', () => {
    assert.is(shown(topologyOf(MACHINES['a cpuset with processors offline']!), 'core'), '0,4|5|2|3');
  });

  test('a system that tells less: each processor is a core, all one socket and node', () => {
    const texts = new Map([['/proc/self/status', 'Cpus_allowed_list:\t1,4\n']]);
    const bare = readTopology((path) => texts.get(path));
    assert.equal(bare.map(({ cpu, node, at }) => [cpu, node, at.core, at.socket, at.numa, at.l3cache]),
      [[1, undefined, 0, 0, 0, undefined], [4, undefined, 1, 0, 0, undefined]]);
    assert.equal(readTopology(() => undefined), []);
    assert.equal(readTopology(() => 'Cpus_allowed_list:\t1-x'), []);
  });

  for (const [name, machine] of Object.entries(MACHINES)) {
    test(`as hwloc has it: ${name}`, () => {
      const theirs = hwlocSays(machine);
      if (theirs === undefined) return skip('lstopo-no-graphics (hwloc-nox) is not installed');
      const ours = topologyOf(machine);
      // What restricts lstopo orders its objects anew; what restricts a program does not.
      const inOrder = (text = ''): string => (machine.allowed === undefined ? text : text.split('|').sort().join('|'));
      for (const level of LEVELS) assert.is(inOrder(shown(ours, level)), inOrder(theirs[level]), level);
      const texts = systemOf(machine);
      const xml = hwlocXml((path) => texts.get(path));
      assert.ok(xml);
      const read = hwlocSays(machine, xml) ?? {};
      for (const level of LEVELS) assert.is(inOrder(read[level]), inOrder(theirs[level]), `${level} of the XML`);
    });
  }
});

suite('topology as hwloc exports it', (test) => {
  const two = systemOf({ sockets: 2, coresPerCache: 2 });
  const PCI = '/sys/bus/pci/devices/0000:41:02.3';
  const withDevice = (more: readonly (readonly [string, string])[] = []): ((path: string) => string | undefined) => {
    const texts = new Map([...two,
      ['/proc/bus/pci/devices', '4113\t15b31017\t0\n0000\t80860d57\t0\n'], [`${PCI}/class`, '0x020000\n'],
      [`${PCI}/vendor`, '0x15b3\n'], [`${PCI}/device`, '0x1017\n'], [`${PCI}/revision`, '0x07\n'],
      [`${PCI}/local_cpulist`, '2-3\n'], ['/sys/bus/pci/devices/0000:00:00.0/class', '0x060000\n'], ...more]);
    return (path) => texts.get(path);
  };

  test('devices are in the socket that is near to them', () => {
    const xml = hwlocXml(withDevice()) ?? '';
    const second = xml.slice(xml.lastIndexOf('type="Package"'));
    assert.match(second, 'bridge_pci="0000:[41-41]"');
    assert.match(second, 'pci_busid="0000:41:02.3" pci_type="0200 [15b3:1017] [0000:0000] 07"');
    assert.is(xml.split('PCIDev').length, 2, 'a bridge of the host is none that libraries look for');
    assert.match(xml, 'type="NUMANode" os_index="1" cpuset="0x0000000c"');
    assert.match(xml, 'local_memory="1073741824"');
    const far = hwlocXml(withDevice([[`${PCI}/local_cpulist`, '\n']])) ?? '';
    assert.ok(far.indexOf('Bridge') < far.indexOf('Package') || far.indexOf('Bridge') > far.lastIndexOf('</object><'));
  });

  test('none where something that libraries look for would be left out', () => {
    for (const [path, text] of [
      ['/sys/class/infiniband_verbs/abi_version', '6\n'], ['/proc/bus/pci/devices', '0010\t15b31017\t0\n'],
      ['/sys/devices/system/node/node1/cpulist', '\n'], ['/proc/self/status', 'Name:\tnode\n'],
    ] as const) {
      assert.is(hwlocXml(withDevice([[path, text]])), undefined, path);
    }
    const crossing = new Map(two);
    for (const cpu of [0, 3]) crossing.set(`/sys/devices/system/cpu/cpu${cpu}/cache/index3/shared_cpu_list`, '0,3\n');
    for (const cpu of [1, 2]) crossing.set(`/sys/devices/system/cpu/cpu${cpu}/cache/index3/shared_cpu_list`, '1-2\n');
    assert.is(hwlocXml((path) => crossing.get(path)), undefined, 'caches that cross sockets');
  });
});
