/** Kinds `link` and `partition`: who carries them out, directions from either end, every pair once, and the machine. */

import { bootHost, type FaultModule, type FaultOrder, type FaultPart, type FaultPlace, type Impairment,
  type Position } from '@stci/interface';
import { assert, seededIntegers, suite } from '@stci/testkit';
import { faultComponents } from '@stci/finject';
import type { LinkBody } from '../dist/faults/link-machine.js';

function moduleOf(name: string): FaultModule {
  const component = faultComponents.find((each) => each.name === name);
  return component?.create({} as never, {}, {} as never) as FaultModule;
}

const [link, partition] = [moduleOf('link'), moduleOf('partition')];

/** A tree; these positions are not connected. */
function place(hosts: number, down: readonly Position[] = [], arity = 2): FaultPlace {
  const parent = (position: Position): Position | undefined =>
    (position === 0 ? undefined : Math.floor((position - 1) / arity));
  const depth = (position: Position): number => (position === 0 ? 0 : 1 + depth(parent(position) as Position));
  return { hosts, isUp: (host) => !down.includes(host + 1), hostOf: () => undefined, depth, parent };
}

function order(victim: FaultOrder['victim'], args: FaultOrder['args'] = {}): FaultOrder {
  const defaults = Object.fromEntries(Object.entries(link.args).map(([name, spec]) => [name, spec.default]));
  return { id: 'x', kind: 'k', victim, args: { ...defaults, ...args }, job: 0, durationMs: 1000, timeoutMs: 1000 };
}

const positionOf = ({ at: { role, host } }: FaultPart): Position => (role === 'controller' ? 0 : host + 1);
const bodyOf = ({ body }: FaultPart): LinkBody => body as LinkBody;

function parted(sets: readonly (readonly Position[])[], at: FaultPlace): readonly FaultPart[] {
  const parts = partition.plan(order({ kind: 'partition', sets }), at);
  if (typeof parts === 'string') throw new Error(parts);
  return parts;
}

/** `a b`: position a is silent to b. */
function rules(parts: readonly FaultPart[]): string[] {
  return parts.flatMap((part) => bodyOf(part).peers.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => `${positionOf(part)} ${first + index}`)));
}

function linked(ends: [Position, Position], args: FaultOrder['args'], at = place(6)) {
  const parts = link.plan(order({ kind: 'link', ends }, args), at);
  if (typeof parts === 'string') return parts;
  const [part] = parts as [FaultPart];
  return { at: positionOf(part), ...bodyOf(part) };
}

suite('fault link', (test) => {
  test('is carried out nearer to the controller, with directions as the first agent sees them', () => {
    const inward: Impairment = { direction: 'in', isSilent: true };
    const outward: Impairment = { direction: 'out', isSilent: true };
    const down = linked([0, 2], { direction: 'out' });
    const up = linked([2, 0], { direction: 'out' });
    assert.equal(down, { at: 0, peers: [[2, 2]], how: outward, afterMs: 0,
      text: 'nothing passes from the controller to root:1' });
    assert.equal(up, { at: 0, peers: [[2, 2]], how: inward, afterMs: 0,
      text: 'nothing passes from root:1 to the controller' });
    assert.equal(linked([6, 2], { direction: 'in' }), { at: 2, peers: [[6, 6]], how: outward, afterMs: 0,
      text: 'nothing passes from root:1 to root:5' });
  });

  test('by the other agent, if that is not connected; by none, if neither is', () => {
    const far = linked([2, 6], { direction: 'out' }, place(6, [2]));
    assert.equal(typeof far === 'string' ? far : [far.at, far.how], [6, { direction: 'in', isSilent: true }]);
    assert.is(linked([2, 6], {}, place(6, [2, 6])), 'neither root:1 nor root:5 is connected');
  });

  test('its modes', () => {
    const how = (args: FaultOrder['args']) => (linked([1, 3], args) as LinkBody);
    assert.is(how({ mode: 'close' }).how, 'close');
    assert.equal(how({ mode: 'delay', delay: 20, jitter: 5 }).how, { direction: 'both', delayMs: 20, jitterMs: 5 });
    assert.is(how({ mode: 'delay', delay: 20 }).text, 'everything passes 20 ms later between root:0 and root:2');
    assert.equal(how({ mode: 'throttle', rate: 9 }).how, { direction: 'both', bytesPerSecond: 9 });
  });

  test('of an agent with itself there is none', () => {
    assert.match(link.problemOf(order({ kind: 'link', ends: [3, 3] })) ?? '', /two different ones/);
    const problem = (args: FaultOrder['args']) => link.problemOf(order({ kind: 'link', ends: [3, 4] }, args));
    assert.is(problem({}), undefined);
    assert.is(problem({ mode: 'delay', delay: 20, jitter: 5 }), undefined);
    assert.match(problem({ delay: 20 }) ?? '', /delay is of mode delay, and the mode is silent: add mode delay/);
    assert.match(problem({ mode: 'delay', rate: 9 }) ?? '', /rate is of mode throttle/);
  });
});

suite('fault partition', (test) => {
  const range = (first: number, last: number): number[] =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);

  test('halves: the controller\'s side is silent to the other, nobody waits', () => {
    const parts = parted([[0, 1, 2], [3, 4, 5]], place(5));
    assert.equal(parts.map(positionOf).sort(), [0, 1, 2]);
    for (const part of parts) assert.equal([bodyOf(part).peers, bodyOf(part).afterMs], [[[3, 5]], 0]);
    assert.is(positionOf(parts.at(-1) as FaultPart), 0, 'the controller comes last');
  });

  test('1000 hosts in halves: one small part for each agent of a side', () => {
    const parts = parted([range(0, 500), range(501, 1000)], place(1000));
    assert.equal([parts.length, JSON.stringify(parts).length < 150_000], [501, true]);
    assert.is(rules(parts).length, 501 * 500);
  });

  test('a bridge talks to both sides; an agent in no set is alone', () => {
    const found = rules(parted([[0, 1, 2], [2, 3]], place(4)));
    assert.equal(found.sort(), ['0 3', '0 4', '1 3', '1 4', '2 4', '3 4']);
  });

  test('those that others cut off come first, the farthest before all', () => {
    const parts = parted([[0, 1], [2, 6], [5]], place(6));
    const waits = new Map(parts.map((part) => [positionOf(part), bodyOf(part).afterMs]));
    const order = parts.map(positionOf);
    assert.ok((waits.get(2) ?? 0) < (waits.get(0) ?? 0) && order.indexOf(2) < order.indexOf(0));
    for (const part of parts) if (positionOf(part) > 2) assert.is(waits.get(positionOf(part)), 0);
  });

  test('an agent of the controller\'s side beyond one of the other is parted from that by the upper one', () => {
    const found = rules(parted([[0, 2, 3], [1, 4]], place(4, [], 1)));
    assert.equal(found.sort(), ['0 1', '0 4', '1 2', '1 3', '2 4', '3 4']);
  });

  test('any sets and trees: all can be told to undo it, from the controller down', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const draw = seededIntegers(seed);
      const hosts = 2 + draw(12);
      const at = place(hosts, [], 1 + draw(3));
      const sets = Array.from({ length: 1 + draw(4) }, () => range(0, hosts).filter(() => draw(2) === 0));
      const plan = partition.plan(order({ kind: 'partition', sets }), at);
      const cut = new Set(typeof plan === 'string' ? [] : rules(plan));
      const canBeTold = (position: Position): boolean => {
        const parent = at.parent(position);
        const isCut = cut.has(`${parent} ${position}`) || cut.has(`${position} ${parent}`);
        return parent === undefined || (!isCut && canBeTold(parent));
      };
      for (const position of range(0, hosts)) {
        assert.ok(canBeTold(position), `seed ${seed}: ${position}`);
        for (const rule of [...cut]) if (Number(rule.split(' ')[0]) === position) cut.delete(rule);
      }
    }
  });

  test('nothing to part is said', () => {
    const all = order({ kind: 'partition', sets: [[0, 1, 2]] });
    assert.match(partition.plan(all, place(2)) as string, /^no two agents are parted/);
  });

  test('any sets: each parted pair once, by an agent that is connected; no other pair', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const draw = seededIntegers(seed);
      const hosts = 2 + draw(12);
      const sets = Array.from({ length: 1 + draw(4) }, () => range(0, hosts).filter(() => draw(3) === 0));
      const down = range(1, hosts).filter(() => draw(6) === 0);
      const plan = partition.plan(order({ kind: 'partition', sets }), place(hosts, down));
      const found = typeof plan === 'string' ? [] : rules(plan);
      const expected: string[] = [];
      const isUp = (position: Position): boolean => position === 0 || place(hosts, down).isUp(bootHost(position));
      for (const a of range(0, hosts)) {
        for (const b of range(a + 1, hosts)) {
          const isParted = !sets.some((set) => set.includes(a) && set.includes(b));
          if (isParted && (isUp(a) || isUp(b))) expected.push(`${a} ${b}`);
        }
      }
      for (const rule of found) assert.ok(isUp(Number(rule.split(' ')[0])), `seed ${seed}: ${rule}`);
      const pairs = found.map((rule) => rule.split(' ').map(Number).sort((a, b) => a - b).join(' '));
      assert.equal(pairs.sort(), expected.sort(), `seed ${seed}`);
    }
  });
});

suite('the machine of faults at links', (test) => {
  const open = (body: Partial<LinkBody>) => link.open({
    order: order({ kind: 'link', ends: [0, 1] }), random: () => 0,
    body: { peers: [[1, 2], [5, 5]], how: { direction: 'both', isSilent: true }, text: 'cut', afterMs: 0, ...body },
  });
  const peers = [1, 2, 5];

  test('reports, impairs, restores', () => {
    const machine = open({});
    assert.equal(machine.on({ type: 'set-up' }, 0), []);
    assert.equal(machine.on({ type: 'inject' }, 0), [{ type: 'injected', text: 'cut' },
      { type: 'impair', key: 'links', peers, how: { direction: 'both', isSilent: true } }]);
    assert.equal(machine.on({ type: 'done', key: 'links' }, 1), []);
    assert.equal(machine.on({ type: 'undo' }, 2), [{ type: 'restore', key: 'links', peers }, { type: 'undone' }]);
    assert.equal(machine.on({ type: 'tear-down' }, 3), []);
  });

  test('waits; undone or torn down before, it does nothing', () => {
    const machine = open({ afterMs: 50 });
    assert.equal([machine.on({ type: 'inject' }, 7), machine.dueMs], [[], 57]);
    assert.equal([machine.on({ type: 'due' }, 57).length, machine.dueMs], [2, undefined]);
    assert.equal(machine.on({ type: 'tear-down' }, 60), [{ type: 'restore', key: 'links', peers }]);
    const undone = open({ afterMs: 50 });
    undone.on({ type: 'inject' }, 7);
    assert.equal([undone.on({ type: 'undo' }, 8), undone.dueMs], [[{ type: 'undone' }], undefined]);
  });

  test('closes once, and says why it could not', () => {
    const machine = open({ how: 'close' });
    assert.equal(machine.on({ type: 'inject' }, 0)[1], { type: 'close', key: 'links', peers });
    assert.equal(machine.on({ type: 'done', key: 'links', problem: 'no link' }, 1),
      [{ type: 'failed', reason: 'no link' }]);
    assert.equal(machine.on({ type: 'undo' }, 2), [{ type: 'undone' }]);
  });
});
