/** Which processors the ranks of a host get. */

import { StciError } from '@stci/interface';
import { assert, suite } from '@stci/testkit';
import { parseCpuList } from '../../dist/binding/cpu-list.js';
import { HostBinding, ruleOf, ruleText, type BindingWish } from '../../dist/binding/plan.js';
import { topologyOf, type Machine } from './synthetic.js';

const TWO: Machine = { sockets: 2, coresPerCache: 4, threads: 2 };
const NESTED: Machine = { sockets: 2, nodesPerSocket: 2, cachesPerNode: 2, coresPerCache: 2 };

const wish = (words: string, cpusPerRank = 0): BindingWish => {
  const [to = 'auto', within = 'auto'] = words.split(' ');
  return { to, within, cpusPerRank } as BindingWish;
};

/** `0,8|1,9`: processors of each rank. */
function cpus(machine: Machine, words: string, ranks: number, cpusPerRank = 0): string {
  const binding = new HostBinding(topologyOf(machine), ruleOf(wish(words, cpusPerRank)), ranks, 'a');
  return Array.from({ length: ranks }, (_, rank) => binding.of(rank)?.cpus ?? 'none').join('|');
}

const refused = (call: () => unknown): string => {
  try {
    call();
  } catch (error) {
    if (error instanceof StciError) return `${error.code} ${error.message}`;
    throw error;
  }
  throw new Error('it was not refused');
};

suite('binding', (test) => {
  test('to cores and hardware threads, one after another', () => {
    assert.is(cpus(TWO, 'core', 5), '0,8|1,9|2,10|3,11|4,12');
    assert.is(cpus(TWO, 'hwthread', 5), '0|8|1|9|2');
    assert.is(cpus({ ...TWO, allowed: '2-5,9-10' }, 'core', 5), '9|2,10|3|4|5');
    assert.is(cpus({ ...TWO, offline: [0, 9] }, 'core', 2), '1|2,10');
    assert.is(cpus({ sockets: 1, coresPerCache: 1 }, 'core', 1), '0');
  });

  test('by socket, NUMA node or cache in turn, to cores or to all of the object', () => {
    assert.is(cpus(TWO, 'core socket', 5), '0,8|4,12|1,9|5,13|2,10');
    assert.is(cpus(TWO, 'socket', 3), '0-3,8-11|4-7,12-15|0-3,8-11');
    assert.is(cpus(TWO, 'socket slot', 3), '0-3,8-11|0-3,8-11|0-3,8-11');
    assert.is(cpus(NESTED, 'numa', 5), '0-3|4-7|8-11|12-15|0-3');
    assert.is(cpus(NESTED, 'l3cache', 3), '0-1|2-3|4-5');
    assert.is(cpus(NESTED, 'auto numa', 2), '0-3|4-7');
    assert.is(cpus(NESTED, 'hwthread socket', 3), '0|8|1');
    assert.is(cpus({ ...NESTED, allowed: '3-9' }, 'socket', 2), '3-7|8-9');
  });

  test('an object that is full is passed over', () => {
    assert.is(cpus({ ...NESTED, allowed: '0-7,8' }, 'core socket', 5), '0|8|1|2|3');
    assert.is(cpus(NESTED, 'core numa', 4, 3), '0-2|4-6|8-10|12-14');
  });

  test('several for a rank, of one NUMA node or socket where that has enough', () => {
    assert.is(cpus(TWO, 'auto', 3, 2), '0-1,8-9|2-3,10-11|4-5,12-13');
    assert.is(cpus(NESTED, 'core', 4, 3), '0-2|4-6|8-10|12-14');
    assert.is(cpus(NESTED, 'core', 2, 6), '0-5|8-13');
    assert.is(cpus(NESTED, 'core', 1, 12), '0-11');
    assert.is(cpus(NESTED, 'core', 5, 3), '0-2|4-6|8-10|12-14|3,7,11');
    assert.is(cpus(TWO, 'hwthread', 2, 3), '0-1,8|2,9-10');
  });

  test('no two ranks share a processor, whatever the machine, unless they are bound to objects', () => {
    for (const machine of [TWO, NESTED, { ...TWO, allowed: '1-6,9,14' }, { ...NESTED, offline: [2, 7] }]) {
      const topology = topologyOf(machine);
      for (const within of ['slot', 'l3cache', 'numa', 'socket']) {
        for (let width = 1; width <= 4; width++) {
          const ranks = Math.floor(new Set(topology.map(({ at }) => at.core)).size / width);
          const lists = cpus(machine, `core ${within}`, ranks, width).split('|');
          const all = lists.flatMap((list) => parseCpuList(list) ?? []);
          assert.is(new Set(all).size, all.length);
          assert.ok(all.every((cpu) => topology.some((processor) => processor.cpu === cpu)));
        }
      }
    }
  });

  test('more ranks than there is room for are refused, with what would do', () => {
    assert.match(refused(() => cpus(TWO, 'core', 9)), 'STCI_BINDING_IMPOSSIBLE a: 9 ranks cannot be bound to its '
      + '8 cores. Give it at most 8 ranks, --bind-to hwthread, or write --bind-to none');
    assert.match(refused(() => cpus(TWO, 'core', 17)), 'at most 8 ranks, or write');
    const wide = (ranks: number, each: number): string => refused(() => cpus(TWO, 'core', ranks, each));
    assert.match(wide(2, 9), '8 cores. Give it at most --cpus-per-rank 4, or write --bind-to none');
    assert.match(wide(3, 4), '8 cores. Give it at most 2 ranks, at most --cpus-per-rank 2, or write');
    assert.match(wide(9, 2), '8 cores. Give it at most 4 ranks, or write');
    assert.match(wide(9, 9), '8 cores. Give it at most 8 ranks of one each, or write');
    assert.match(wide(1, 9), '8 cores. Give it at most --cpus-per-rank 8, or write');
    assert.match(refused(() => cpus(TWO, 'socket', 17)), '17 ranks cannot be bound to its 16 hardware threads');
    assert.match(refused(() => cpus(TWO, 'socket', 2, 2)), 'STCI_PARAM_INVALID binding.cpus = 2');
    assert.match(refused(() => new HostBinding([], ruleOf(wish('core')), 1, 'a')), 'processors are not known');
    const flat = topologyOf(TWO).map(({ cpu, node, at: { l3cache: _, ...at } }) => ({ cpu, node, at }));
    assert.match(refused(() => new HostBinding(flat, ruleOf(wish('l3cache')), 1, 'a')), 'tells of no L3 cache');
  });

  test('one that comes later is bound to what is left, or not at all', () => {
    const binding = new HostBinding(topologyOf({ sockets: 1, coresPerCache: 2 }), ruleOf(wish('core')), 1, 'a');
    assert.equal([1, 0, 2, 1].map((rank) => binding.of(rank)?.cpus), ['1', '0', undefined, '1']);
  });

  test('what it is told as: nodes where there are several, locality, the mask', () => {
    const of = (machine: Machine, words: string, rank: number) =>
      new HostBinding(topologyOf(machine), ruleOf(wish(words)), rank + 1, 'a').of(rank)!;
    assert.is(of({ ...TWO, sockets: 1 }, 'core', 0).nodes, undefined);
    const second = of(TWO, 'core socket', 1);
    assert.equal([second.nodes, second.locality], ['1', 'SK1:L31:L24:L14:CR4:HT8-9:NM1']);
    assert.is(second.report, 'socket 1[core 4[hwt 0-1]]: [../../../..][BB/../../..]');
    assert.is(of(NESTED, 'numa', 1).locality, 'SK0:L32-3:L24-7:L14-7:CR4-7:HT4-7:NM1');
    assert.is(of({ ...TWO, allowed: '2-5,9' }, 'hwthread', 1).report, 'socket 0[core 1[hwt 0]]: [./B/.][./.]');
    assert.is(of({ sockets: 1, coresPerCache: 2 }, 'socket', 0).report, 'socket 0[core 0[hwt 0]], '
      + 'socket 0[core 1[hwt 0]]: [B/B]');
  });

  test('what is not said follows from the rest', () => {
    const words = (text: string, cpusPerRank = 0): string => ruleText(ruleOf(wish(text, cpusPerRank)));
    assert.is(words('auto'), 'none');
    assert.is(words('auto slot'), 'none');
    assert.is(words('none socket'), 'none');
    assert.is(words('auto socket'), 'each rank to the processors of one socket, placed by socket');
    assert.is(words('auto socket', 2), 'each rank to 2 cores, placed by socket');
    assert.is(words('numa'), 'each rank to the processors of one NUMA node, placed by numa');
    assert.is(words('core'), 'each rank to 1 core, placed by slot');
    assert.match(refused(() => ruleOf(wish('none', 2))), 'expected binding.to (--bind-to) core or hwthread, got none');
  });
});
