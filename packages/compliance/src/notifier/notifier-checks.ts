/**
 * What a notifier promises, as checks of one example each in a pure network (notifier-network.ts): so many agents, a
 * source, who fails when. What a component promises of its cost is taken from `promise()`. Called by the suite,
 * notifier.ts.
 */

import { createRegistry, createSelector, resolveParams } from '@stci/core';
import { notifierFramework, topologyFramework } from '@stci/core/component';
import { NOTIFIER_PAYLOAD_MAX, StciError } from '@stci/interface';
import type { Component, NoDeps, NotifierModule, NotifierPromise, Position, Topology } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { less, lessSeed, without } from '../kit/counterexample.js';
import { elsewhere, ownTopology } from '../kit/elsewhere.js';
import type { TopologyComponent } from '../topology/topology-record.js';
import type { Failing, NotifierExample, NotifierPromiseName } from './notifier-contract.js';
import { LATENCY_MS, NotifierNetwork, membersOf } from './notifier-network.js';

const PAYLOAD = Uint8Array.of(1, 2, 3);
const DAY_MS = 86_400_000;
/** Clocks of machines that are up for long: more bits, or bits that come to be needed during a run. By the seed. */
const CLOCKS_MS = [0, 26 * DAY_MS, 1 / 4, 60 * DAY_MS, 2 ** 31 - 200, 2 ** 32 - 200];

/** Makes networks of one component. */
export class NotifierBench {
  readonly module: NotifierModule;
  readonly topologyOf: ((size: number) => Topology) | undefined;
  /** Another one of the component. */
  readonly another: () => NotifierModule;
  readonly #promises = new Map<string, NotifierPromise>();

  constructor(
    component: Component<NotifierModule, NoDeps>, topologies: readonly TopologyComponent[],
    set: NotifierExample['params'] = {},
  ) {
    const registry = createRegistry({
      frameworks: [notifierFramework, topologyFramework], components: [component, ...topologies],
    });
    const prefix = `notifier.${component.name}`;
    const commandLine = Object.entries(set).map(([name, value]) => ({ key: `${prefix}.${name}`, value }));
    const { params } = resolveParams(registry.catalog, { commandLine }, registry.rules);
    const selector = createSelector(registry, params);
    this.another = () => selector.keyed(notifierFramework).create(component.name, {}, undefined);
    this.module = this.another();
    const kind = this.module.topology;
    const made = new Map<number, Topology>();
    const make = (size: number): Topology => selector.keyed(topologyFramework).create(kind, {}, { kind, size });
    this.topologyOf = kind === '' ? undefined : (size) => {
      const one = made.get(size) ?? make(size);
      made.set(size, one);
      return one;
    };
  }

  /** `absent`: positions at which nobody is. */
  network(
    size: number, seed: number, absent: readonly Position[] = [], module = this.module, topologyOf = this.topologyOf,
  ): NotifierNetwork {
    const members = membersOf(size).filter(({ position }) => !absent.includes(position));
    return new NotifierNetwork({
      module, topologyOf, members, seed, startMs: CLOCKS_MS[seed % CLOCKS_MS.length]!,
    });
  }

  promise(members: number, failures: number): NotifierPromise {
    const key = `${members} ${failures}`;
    const made = this.#promises.get(key)
      ?? this.module.promise(Object.freeze({ members, failures, topology: this.topologyOf?.(members) }));
    this.#promises.set(key, made);
    return made;
  }
}

/** Fewer failures, agents, joins and rounds, sooner deaths, lower positions, a smaller seed. */
export function* smallerNotifierExample(example: NotifierExample): Generator<NotifierExample> {
  const { size, seed, source, failures = [], present, failing, joins, rounds, batches } = example;
  if (present !== undefined) {
    for (const fewer of without(present)) if (fewer.includes(source ?? 0)) yield { ...example, present: fewer };
    return;
  }
  if (batches !== undefined) for (const fewer of less(batches, 1)) yield { ...example, batches: fewer };
  for (const fewer of without(failures)) yield { ...example, failures: fewer };
  const positions = [source ?? 0, ...failures.map(({ position }) => position)];
  if (size !== undefined) {
    for (const fewer of less(size, Math.max(LEAST_SIZE[example.promise] ?? 2, ...positions.map((one) => one + 1)))) {
      yield { ...example, size: fewer };
    }
  }
  if (joins !== undefined) for (const fewer of less(joins, 1)) yield { ...example, joins: fewer };
  if (rounds !== undefined) for (const fewer of less(rounds, 1)) yield { ...example, rounds: fewer };
  if (failing !== undefined) for (const fewer of less(failing)) yield { ...example, failing: fewer };
  if (source !== undefined) {
    const least = example.promise === 'incarnation' ? 1 : 0;
    for (const other of less(source, least)) {
      if (failures.some(({ position }) => position === other)) continue;
      const moved = failures.map((one) => (one.position === source ? { ...one, position: other } : one));
      yield { ...example, source: other, ...(moved.length > 0 && { failures: moved }) };
    }
  }
  for (const [index, one] of failures.entries()) {
    for (const sends of less(one.sends)) yield { ...example, failures: failures.with(index, { ...one, sends }) };
    if (one.position === source) continue;
    for (const position of less(one.position)) {
      if (!positions.includes(position)) yield { ...example, failures: failures.with(index, { ...one, position }) };
    }
  }
  if (seed !== undefined) for (const other of lessSeed(seed)) yield { ...example, seed: other };
}

/** Where it is not 2. */
const LEAST_SIZE: Readonly<Partial<Record<NotifierPromiseName, number>>> = {
  promise: 1, quiet: 1, joined: 1, incarnation: 3,
};

interface Given {
  readonly bench: NotifierBench;
  readonly size: number;
  readonly source: Position;
  readonly seed: number;
  readonly failures: readonly Failing[];
  readonly example: NotifierExample;
}

export function checkNotifierExample(bench: NotifierBench, example: NotifierExample): void {
  const { promise, size = 2, source = 0, seed = 1, failures = [] } = example;
  // Beyond what it tolerates nothing is promised.
  const { tolerates, isUniform } = bench.promise(size, 0);
  const unknown = failures.filter(({ isKnown }) => isKnown !== true).length;
  if (promise !== 'gone' && unknown > Math.min(tolerates, size - 1)) return;
  if (promise === 'record' || (promise === 'uniform' && !isUniform)) return;
  CHECKS[promise]({ bench, size, source, seed, failures, example });
}

const CHECKS: Readonly<Record<Exclude<NotifierPromiseName, 'record'>, (given: Given) => void>> = {
  promise: ({ bench, size, example: { failing = 0 } }) => {
    const { steps, delayMs, messages, tolerates, text } = bench.promise(size, failing);
    for (const [name, figure] of Object.entries({ steps, delayMs, messages, tolerates })) {
      assert.ok(Number.isFinite(figure) && figure >= 0, `${name} is ${String(figure)}`);
    }
    assert.ok(tolerates < size || size === 1, `of ${size} agents at most the others fail, it tolerates ${tolerates}`);
    assert.match(text, /^\p{Lu}[^]*\.$/u, 'Expected sentences:');
  },
  quiet: (given) => {
    const state = { isOver: false };
    checkTold(given, ownTopology(given.bench.topologyOf, state));
    state.isOver = true;
  },
  failures: (given) => checkTold(given),
  uniform: checkUniform,
  gone: checkGone,
  joined: checkJoined,
  incarnation: checkIncarnation,
  repeated: checkRepeated,
  payload: ({ bench, size, source }) => {
    for (const bytes of [0, 1, 255, 256, 257, 4096, NOTIFIER_PAYLOAD_MAX]) {
      const network = bench.network(size, 1);
      // As messages come: a part of what was read.
      const read = Uint8Array.from({ length: bytes + 12 }, (_, at) => at % 251);
      const payload = read.subarray(7, 7 + bytes);
      const expected = payload.join();
      network.broadcast(source, payload);
      network.run();
      checkTimes(network, source, 1);
      const { incarnation } = network.agent(source).member;
      const isRight = network.survivors().every((position) =>
        position === source || network.deliveries(position)[0] === `${source}#${incarnation} ${expected}`);
      assert.ok(isRight && payload.join() === expected, `${bytes} bytes are delivered as others`);
    }
    const network = bench.network(size, 1);
    assert.throws(() => network.broadcast(source, new Uint8Array(NOTIFIER_PAYLOAD_MAX + 1)), 'Assertion failed');
  },
  malformed: checkMalformed,
  same: ({ bench, size, source, seed }) => {
    const run = (others: readonly NotifierNetwork[]) => elsewhere(() => {
      const state = { isOver: false };
      const network = bench.network(size, seed, [], bench.module, ownTopology(bench.topologyOf, state));
      network.broadcast(source, PAYLOAD);
      for (const other of others) other.broadcast(0, Uint8Array.of(4));
      while (network.step()) for (const other of others) other.step();
      state.isOver = true;
      return network.sent;
    });
    const first = run([]);
    for (const other of [size, size + 3, 2]) {
      const second = run([bench.network(other, seed + 1, [], bench.another())]);
      const isSame = JSON.stringify(second) === JSON.stringify(first);
      assert.ok(isSame, 'the same broadcast again: other messages');
    }
  },
};

/** Every survivor has it once and in time, and nobody something else. */
function checkTold({ bench, size, source, seed, failures }: Given, topologyOf = bench.topologyOf): void {
  const network = bench.network(size, seed, [], bench.module, topologyOf);
  for (const { position } of failures) network.kill(position);
  network.broadcast(source, PAYLOAD);
  network.run();
  const promise = bench.promise(size, failures.length);
  const { incarnation } = network.agent(source).member;
  const lastMs = promise.steps * LATENCY_MS + promise.delayMs;
  for (const position of network.survivors()) {
    const told = network.agent(position).delivered;
    const expected = position === source ? [] : [`${source}#${incarnation} 1,2,3`];
    if (told.length !== expected.length || told[0]?.what !== expected[0]) {
      const what = told.map((one) => one.what).join('; ') || 'nothing';
      assert.unreachable(`agent ${position} is told ${what}, expected ${expected.join() || 'nothing'}`);
    }
    const atMs = told[0]?.atMs ?? 0;
    assert.ok(atMs <= lastMs, `agent ${position} is told after ${atMs} ms, promised are ${lastMs}`);
  }
  const { messages } = promise;
  assert.ok(network.sent.length <= messages, `${network.sent.length} messages, promised are ${messages}`);
}

function checkUniform({ bench, size, source, seed, failures }: Given): void {
  const network = bench.network(size, seed);
  for (const { position, sends } of failures) network.kill(position, sends);
  network.broadcast(source, PAYLOAD);
  network.run();
  const others = network.survivors().filter((position) => position !== source);
  const told = others.map((position) => network.deliveries(position).length);
  const expected = !network.isAlive(source) && told[0] === 0 ? 0 : 1;
  const wrong = told.findIndex((times) => times !== expected);
  if (wrong >= 0) assert.unreachable(`agent ${others[wrong]} is told ${told[wrong]} times, others ${expected} times`);
}

function checkGone({ bench, size, source, seed, failures, example: { present } }: Given): void {
  const absent = present === undefined ? failures.filter(({ isAbsent }) => isAbsent).map(({ position }) => position)
    : Array.from({ length: size }, (_, position) => position).filter((position) => !present.includes(position));
  const network = bench.network(size, seed, absent);
  // Of one that has never been there.
  network.tell({ type: 'gone', member: { position: size + 7, incarnation: 1 } });
  const known = failures.filter(({ isKnown }) => isKnown).map(({ position }) => position);
  for (const position of known) {
    if (absent.includes(position)) continue;
    network.kill(position);
    network.tell({ type: 'gone', member: network.agent(position).member });
  }
  const unknown = failures.filter(({ isKnown }) => !isKnown);
  const { tolerates } = bench.promise(size - known.length, 0);
  for (const { position } of unknown.slice(0, tolerates)) network.kill(position);
  network.broadcast(source, PAYLOAD);
  network.run();
  const wrong = network.sent.find(({ to }) => known.includes(to));
  assert.ok(wrong === undefined, `agent ${wrong?.from.position} sends to agent ${wrong?.to}, known to be dead`);
  checkTimes(network, source, 1);
}

/** Checks that all survivors but the source got it so often. */
function checkTimes(network: NotifierNetwork, source: Position, times: number): void {
  for (const position of network.survivors()) {
    const [found, expected] = [network.deliveries(position).length, position === source ? 0 : times];
    assert.ok(found === expected, `agent ${position} is told ${found} times, expected ${expected}`);
  }
}

function checkJoined({ bench, size, seed, example: { joins = 1, rounds = 0 } }: Given): void {
  const network = bench.network(size, seed);
  for (let round = 0; round < rounds; round++) {
    for (let source = 0; source < size; source++) network.broadcast(source, Uint8Array.of(200, round));
    network.run();
  }
  const total = size + joins;
  // The later one may be there sooner.
  const joining = Array.from({ length: joins }, (_, index) => (seed % 2 === 0 ? total - 1 - index : size + index));
  for (const position of joining) network.join({ position, incarnation: 1 });
  // A member was reported, and lives.
  const { member } = network.agent(total - 1);
  for (const type of ['gone', 'joined'] as const) {
    network.tellOthers(member.position, { type, member });
  }
  for (let source = 0; source < total; source++) network.broadcast(source, Uint8Array.of(source));
  network.run();
  for (let position = 0; position < total; position++) {
    const all = membersOf(total).filter((member) => member.position !== position);
    const expected = all.map((member) => `${member.position}#${member.incarnation} ${member.position}`);
    const before = network.deliveries(position).filter((what) => what.includes(' 200,'));
    assert.is(before.length, position < size ? (size - 1) * rounds : 0, `agent ${position} before: ${before.length}`);
    expectTold(network, position, [...expected, ...before]);
  }
}

function expectTold(network: NotifierNetwork, position: Position, expected: readonly string[]): void {
  const told = network.deliveries(position).sort();
  const [found, wanted] = [told, expected].map((list) => list.join('; ') || 'nothing');
  const text = `agent ${position} is told ${found}, expected ${wanted}`;
  assert.ok(JSON.stringify(told) === JSON.stringify([...expected].sort()), text);
}

function checkIncarnation({ bench, size, source, seed }: Given): void {
  checkReplaced({ bench, size, source, seed });
  const network = bench.network(size, seed);
  const other = (source + 2) % size;
  const gone = { type: 'gone', member: { position: source, incarnation: 1 } } as const;
  network.broadcast(source, PAYLOAD);
  network.kill(source);
  network.tell(gone);
  network.join({ position: source, incarnation: 2 });
  network.tell(gone);
  network.broadcast(source, PAYLOAD);
  network.broadcast(other, PAYLOAD);
  network.run();
  const ofOther = `${other}#${Math.min(other, 1)} 1,2,3`;
  for (let position = 0; position < size; position++) {
    const expected = [
      ...(position === source ? [] : [`${source}#2 1,2,3`]), ...(position === other ? [] : [ofOther]),
    ];
    // The last broadcast of the one that died may have come, or not.
    const late = `${source}#1 1,2,3`;
    const mayCome = position !== source && network.deliveries(position).includes(late) ? [late] : [];
    expectTold(network, position, [...expected, ...mayCome]);
  }
}

/** A source that starts again: others are told of it soon, so that nothing is lost that was under way. */
function checkReplaced({ bench, size, source, seed }: Pick<Given, 'bench' | 'size' | 'source' | 'seed'>): void {
  const network = bench.network(size, seed);
  const expected: string[] = [];
  for (const incarnation of [1, 2, 3, 4]) {
    if (incarnation > 1) network.join({ position: source, incarnation });
    network.broadcast(source, Uint8Array.of(incarnation));
    expected.push(`${source}#${incarnation} ${incarnation}`);
    // The last message of one and the first of the next are under way at a time.
    if (incarnation % 2 === 0) network.run();
  }
  const other = (source + 1) % size;
  network.broadcast(other, Uint8Array.of(9));
  network.run();
  const last = `${other}#${Math.min(other, 1)} 9`;
  for (const position of network.survivors()) {
    expectTold(network, position, [...(position === source ? [] : expected), ...(position === other ? [] : [last])]);
  }
}

function checkRepeated({ bench, size, seed, failures, example }: Given): void {
  const { rounds = 1, batches = 1 } = example;
  const network = bench.network(size, seed);
  for (const { position } of failures) network.kill(position);
  const alive = network.survivors();
  const sources = example.source === undefined ? alive : [example.source];
  // Two broadcasts say the same.
  const isTwice = seed % 2 === 0;
  const [all, distinct] = [rounds * batches, isTwice ? Math.ceil(rounds * batches / 2) : rounds * batches];
  for (let round = 0; round < rounds * batches; round++) {
    const said = isTwice ? round >> 1 : round;
    for (const source of sources) network.broadcast(source, Uint8Array.of(said, said >> 8, said >> 16));
    if (round % rounds === rounds - 1) network.run();
  }
  const tellings = alive.map((position) => [position, network.deliveries(position)] as const);
  for (const [position, told] of tellings) {
    const { length: others } = sources.filter((source) => source !== position);
    const found = new Set(told).size;
    const text = `agent ${position} is told ${told.length} times, of ${found} different broadcasts; expected `
      + `${others * all}, of ${others * distinct}`;
    assert.ok(found === others * distinct && told.length === others * all, text);
  }
  for (const { from, to, body } of [...network.sent]) network.receive(to, from, body);
  network.run();
  for (const [position, told] of tellings) {
    assert.is(network.deliveries(position).length, told.length, `agent ${position} is told again what came twice`);
  }
}

function checkMalformed({ bench, size, source, seed }: Given): void {
  const network = bench.network(size, seed);
  network.broadcast(source, PAYLOAD);
  const [sent] = network.sent;
  assert.ok(sent !== undefined, 'a broadcast sends nothing');
  const { from, to, body } = sent!;
  let refused = 0;
  for (const wrong of mutations(body)) {
    const { machine } = bench.network(size, seed).agent(to);
    try {
      machine.on({ type: 'message', from, body: wrong }, 0);
    } catch (error) {
      refused++;
      if (!(error instanceof StciError) || error.code !== 'STCI_MESSAGE_INVALID') throw error;
    }
  }
  assert.ok(refused > GARBAGE.length / 2, `only ${refused} bodies that mean nothing were refused`);
  network.run();
  checkTimes(network, source, 1);
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
