/**
 * Requirements on every notifier: the contract of packages/interface/src/notifier.ts, in a pure network. What a
 * component promises is taken from `promise()` and checked. Run it against a notifier of yours: CONTRIBUTING.md.
 */

import { createRegistry, createSelector, resolveParams } from '@stci/core';
import { notifierFramework, topologyFramework } from '@stci/core/component';
import { NOTIFIER_PAYLOAD_MAX, StciError } from '@stci/interface';
import type { Component, NoDeps, NotifierModule, NotifierPromise, Position, Topology } from '@stci/interface';
import * as assert from './assert.js';
import { suite, type TestApi } from './suite.js';
import { isFullSwarm, swarmSeeds } from './swarm-seeds.js';
import { LATENCY_MS, NotifierNetwork, membersOf } from './notifier-network.js';
import { seededIntegers } from './seeded.js';
import type { TopologyComponent } from './topology-record.js';

export interface NotifierComplianceOptions {
  /** Those that the component may name, by default. */
  readonly topologies?: readonly TopologyComponent[];
  /** For each of so many seeds, a network with agents that fail; default: those of swarm-seeds.ts. */
  readonly seeds?: number;
}

/** All choices of failing agents up to this size: a second of work; or, with STCI_SWARM_FULL=1, half a minute. */
const EXHAUSTIVE_SIZE = isFullSwarm ? 16 : 11;
/** As the swarm's: CI names another one each time. */
const FIRST_SEED = Number(process.env['STCI_SWARM_FROM'] ?? 0);
/** Of so many failures; as many as there are of 6 of 15. */
const CHOICES_MAX = 5005;
const SLOW = { timeoutMs: 300_000 };
const PAYLOAD = Uint8Array.of(1, 2, 3);

/** Makes networks of one component. */
class Bench {
  readonly module: NotifierModule;
  readonly topologyOf: ((size: number) => Topology) | undefined;
  readonly #promises = new Map<string, NotifierPromise>();

  constructor(component: Component<NotifierModule, NoDeps>, topologies: readonly TopologyComponent[]) {
    const registry = createRegistry({
      frameworks: [notifierFramework, topologyFramework], components: [component, ...topologies],
    });
    const { params } = resolveParams(registry.catalog, { commandLine: [] }, registry.rules);
    const selector = createSelector(registry, params);
    this.module = selector.keyed(notifierFramework).create(component.name, {}, undefined);
    const kind = this.module.topology;
    const made = new Map<number, Topology>();
    const make = (size: number): Topology => selector.keyed(topologyFramework).create(kind, {}, { kind, size });
    this.topologyOf = kind === '' ? undefined : (size) => {
      const one = made.get(size) ?? make(size);
      made.set(size, one);
      return one;
    };
  }

  network(size: number, seed: number, latencyMs?: number): NotifierNetwork {
    const { module, topologyOf } = this;
    const members = membersOf(size);
    return new NotifierNetwork({ module, topologyOf, members, seed, ...(latencyMs !== undefined && { latencyMs }) });
  }

  promise(members: number, failures: number): NotifierPromise {
    const key = `${members} ${failures}`;
    const made = this.#promises.get(key)
      ?? this.module.promise({ members, failures, topology: this.topologyOf?.(members) });
    this.#promises.set(key, made);
    return made;
  }
}

/** Defines a suite. */
export function notifierCompliance(
  component: Component<NotifierModule, NoDeps>,
  options: NotifierComplianceOptions = {},
): void {
  suite(`notifier compliance: ${component.name}`, (test) => {
    const bench = new Bench(component, options.topologies ?? []);
    test('its promise can be believed', () => checkPromise(bench));
    test('nobody fails: each is told once, in time, with no more messages than promised', () => {
      for (let size = 1; size <= 40; size++) checkQuiet(bench, size, size % 7);
      for (const size of [64, 100, 1024]) checkQuiet(bench, size, size - 1);
    }, SLOW);
    failureTests(test, bench, options.seeds);
    membershipTests(test, bench);
    bodyTests(test, bench);
  });
}

function checkPromise(bench: Bench): void {
  for (const members of [1, 2, 3, 4, 5, 16, 64, 1000]) {
    for (const failures of [0, 1, 2, members - 1]) {
      const { steps, delayMs, messages, tolerates, text } = bench.promise(members, failures);
      for (const figure of [steps, delayMs, messages, tolerates]) assert.ok(Number.isFinite(figure) && figure >= 0);
      assert.ok(tolerates < members || members === 1, `of ${members} agents at most the others fail: ${tolerates}`);
      assert.match(text, /^\p{Lu}[^]*\.$/u, 'Expected sentences:');
    }
  }
}

function checkQuiet(bench: Bench, size: number, source: Position): void {
  const network = bench.network(size, size);
  source %= size;
  network.broadcast(source, PAYLOAD);
  network.run();
  checkTold(bench, network, size, source, 0);
}

/** Every survivor has it once and in time, and nobody something else. */
function checkTold(bench: Bench, network: NotifierNetwork, size: number, source: Position, failures: number): void {
  const promise = bench.promise(size, failures);
  const where = `${size} agents, source ${source}, ${failures} failures`;
  const { incarnation } = network.agents.get(source)!.id;
  for (const position of network.survivors()) {
    const told = network.agents.get(position)!.delivered;
    const expected = position === source ? [] : [`${source}#${incarnation} 1,2,3`];
    if (told.length !== expected.length || told[0]?.what !== expected[0]) {
      assert.equal(told.map(({ what }) => what), expected, `${where}: agent ${position} is told once`);
    }
    const lastMs = promise.steps * LATENCY_MS + promise.delayMs;
    const atMs = told[0]?.atMs ?? 0;
    assert.ok(atMs <= lastMs, `${where}: agent ${position} is told after ${atMs} ms, promised are ${lastMs}`);
  }
  const { messages } = promise;
  assert.ok(network.sent.length <= messages, `${where}: ${network.sent.length} messages, promised are ${messages}`);
}

function failureTests(test: TestApi, bench: Bench, all: number | undefined): void {
  const dead = all ?? swarmSeeds('notifiers, agents that are dead');
  const dying = all ?? swarmSeeds('notifiers, agents that die');
  test(`agents are dead that nobody knows of: all choices that it tolerates, up to ${EXHAUSTIVE_SIZE} agents`, () => {
    for (let size = 2; size <= EXHAUSTIVE_SIZE; size++) {
      for (let failures = 1; failures <= Math.min(bench.promise(size, 0).tolerates, size - 2); failures++) {
        let number = 0;
        for (const dead of choices(1, size - 1, failures)) {
          if (number++ < CHOICES_MAX) checkDead(bench, size, 0, dead, number);
        }
      }
    }
  }, SLOW);

  test(`… and ${dead} random choices of up to 1024 agents`, () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + dead; seed++) {
      const random = seededIntegers(seed);
      const size = 2 + random(seed % 50 === 0 ? 1023 : 98);
      const source = random(size);
      const failures = Math.min(1 + random(bench.promise(size, 0).tolerates), size - 2);
      if (bench.promise(size, 0).tolerates === 0) continue;
      checkDead(bench, size, source, pick(size, failures, source, random), seed);
    }
  }, SLOW);

  test(`… that die while they send, the source too: all survivors are told, or none (${dying} seeds)`, () => {
    if (!bench.promise(64, 0).isUniform) return;
    for (let seed = FIRST_SEED; seed < FIRST_SEED + dying; seed++) checkUniform(bench, seed);
  }, SLOW);
}

function checkDead(bench: Bench, size: number, source: Position, dead: readonly Position[], seed: number): void {
  const network = bench.network(size, seed);
  for (const position of dead) network.kill(position);
  network.broadcast(source, PAYLOAD);
  network.run();
  checkTold(bench, network, size, source, dead.length);
}

function checkUniform(bench: Bench, seed: number): void {
  const random = seededIntegers(seed);
  const size = 3 + random(seed % 50 === 0 ? 300 : 60);
  const { tolerates } = bench.promise(size, 0);
  const network = bench.network(size, seed);
  const source = random(size);
  const dies = random(2) === 0 && tolerates > 0;
  const others = pick(size, Math.min(random(1 + tolerates - (dies ? 1 : 0)), size - 2), source, random);
  for (const position of others) network.kill(position, random(8));
  if (dies) network.kill(source, 1 + random(6));
  network.broadcast(source, PAYLOAD);
  network.run();
  const told = network.survivors().filter((position) => position !== source)
    .map((position) => network.deliveries(position).length);
  const expected = dies && told[0] === 0 ? 0 : 1;
  const where = `seed ${seed}, ${size} agents, source ${source}${dies ? ' (dies)' : ''}, ${others.join(' ')} die`;
  if (told.some((times) => times !== expected)) assert.unreachable(`${where}: told ${told.join(' ')}`);
}

function membershipTests(test: TestApi, bench: Bench): void {
  test('most agents are known to be dead: all others are told, though one more dies', () => {
    for (let seed = 0; seed < 200; seed++) {
      const random = seededIntegers(seed);
      const size = 8 + random(60);
      const network = bench.network(size, seed);
      const source = random(size);
      const [unknown, ...known] = pick(size, Math.floor(size * 3 / 4), source, random);
      for (const position of known) {
        network.kill(position);
        network.tell({ type: 'gone', member: network.agents.get(position)!.id });
      }
      if (bench.promise(size - known.length, 0).tolerates > 0) network.kill(unknown!);
      network.broadcast(source, PAYLOAD);
      network.run();
      for (const position of network.survivors()) {
        const times = network.deliveries(position).length;
        assert.is(times, position === source ? 0 : 1, `seed ${seed}: agent ${position} of ${size}`);
      }
      for (const { to } of network.sent) assert.ok(!known.includes(to), `seed ${seed}: nothing is sent to the dead`);
    }
  });

  test('agents that join are told, by all, and tell all', () => {
    const network = bench.network(5, 1);
    for (let position = 5; position < 9; position++) network.join({ position, incarnation: 1 });
    for (let source = 0; source < 9; source++) network.broadcast(source, Uint8Array.of(source));
    network.run();
    for (let position = 0; position < 9; position++) {
      const all = membersOf(9).filter((member) => member.position !== position);
      const expected = all.map((member) => `${member.position}#${member.incarnation} ${member.position}`);
      assert.equal(network.deliveries(position).sort(), expected, `agent ${position}`);
    }
  });

  test('the next incarnation counts from the beginning, and what the last one sent still counts', () => {
    const network = bench.network(8, 1);
    network.broadcast(3, PAYLOAD);
    network.kill(3);
    network.tell({ type: 'gone', member: { position: 3, incarnation: 1 } });
    network.join({ position: 3, incarnation: 2 });
    network.tell({ type: 'gone', member: { position: 3, incarnation: 1 } });
    network.broadcast(3, PAYLOAD);
    network.broadcast(5, PAYLOAD);
    network.run();
    assert.equal(network.deliveries(3), ['5#1 1,2,3']);
    for (const position of [0, 1, 2, 4, 6, 7]) {
      const told = network.deliveries(position).filter((what) => what !== '3#1 1,2,3');
      assert.equal(told.sort(), ['3#2 1,2,3', '5#1 1,2,3'], `agent ${position}`);
    }
  });
}

function bodyTests(test: TestApi, bench: Bench): void {
  test('many broadcasts of all at a time; old messages that come again count once', () => {
    const network = bench.network(12, 1);
    for (let round = 0; round < 50; round++) {
      for (let source = 0; source < 12; source++) network.broadcast(source, Uint8Array.of(round));
    }
    network.run();
    const all = Array.from({ length: 12 }, (_, position) => network.deliveries(position));
    for (const told of all) assert.equal([told.length, new Set(told).size], [550, 550]);
    for (const { from, to, body } of [...network.sent]) network.receive(to, from, body);
    network.run();
    assert.equal(Array.from({ length: 12 }, (_, position) => network.deliveries(position)), all);
  });

  test('the largest payload is delivered, a larger one is the caller\'s mistake', () => {
    const network = bench.network(3, 1);
    network.broadcast(1, new Uint8Array(NOTIFIER_PAYLOAD_MAX));
    network.run();
    assert.equal([0, 2].map((position) => network.deliveries(position).length), [1, 1]);
    assert.throws(() => network.broadcast(1, new Uint8Array(NOTIFIER_PAYLOAD_MAX + 1)), 'Assertion failed');
  });

  test('the same events lead to the same actions', () => {
    const runs = [1, 2].map(() => {
      const network = bench.network(20, 7);
      network.broadcast(4, PAYLOAD);
      network.run();
      return network.sent;
    });
    assert.equal(runs[0], runs[1]);
  });

  test('a malformed message is refused with its name, and changes nothing', () => {
    const network = bench.network(4, 1);
    network.broadcast(1, PAYLOAD);
    const { from, to, body } = network.sent[0]!;
    let refused = 0;
    for (const wrong of mutations(body)) {
      const { agents } = bench.network(4, 1);
      try {
        agents.get(to)!.notifier.on({ type: 'message', from, body: wrong }, 0);
      } catch (error) {
        refused++;
        assert.ok(error instanceof StciError && error.code === 'STCI_MESSAGE_INVALID', `${String(error)}`);
      }
    }
    assert.ok(refused > GARBAGE.length / 2, `${refused} were refused`);
    network.run();
    assert.equal([0, 2, 3].map((position) => network.deliveries(position).length), [1, 1, 1]);
  });
}

const GARBAGE: readonly unknown[] = [
  undefined, null, 'text', -1, 1.5, Number.NaN, 2 ** 40, true, [], {}, [[]], new Uint8Array(NOTIFIER_PAYLOAD_MAX + 1),
];

/** Garbage in place of the body, and of each of its parts. */
function* mutations(body: unknown): Generator<unknown> {
  yield* GARBAGE;
  if (typeof body !== 'object' || body === null || body instanceof Uint8Array) return;
  for (const key of Object.keys(body)) {
    for (const wrong of mutations((body as Record<string, unknown>)[key])) {
      yield Array.isArray(body) ? body.map((item, i) => (String(i) === key ? wrong : item) as unknown)
        : { ...body, [key]: wrong };
    }
  }
}

/** All sets of `count` of the integers first..last. */
function* choices(first: number, last: number, count: number): Generator<number[]> {
  if (count === 0) return void (yield []);
  for (let one = first; one <= last - count + 1; one++) {
    for (const rest of choices(one + 1, last, count - 1)) yield [one, ...rest];
  }
}

/** So many different positions, not the source; half the time next to each other. */
function pick(size: number, count: number, source: Position, random: (below: number) => number): Position[] {
  const first = random(size);
  const order = Array.from({ length: size }, (_, i) => (first + i) % size).filter((position) => position !== source);
  if (random(2) === 0) return order.slice(0, count);
  const picked = new Set<Position>();
  while (picked.size < count) picked.add(order[random(order.length)]!);
  return [...picked];
}
