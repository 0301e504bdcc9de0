/**
 * Requirements on every detector of agents: the contract of packages/interface/src/detector.ts, on a model of a network
 * (detector-model.ts), by seeds: every death is reported within the promised interval, nobody who lives is while
 * messages keep their bound, and it costs what it promises; and on real sockets (detector-sockets.ts), under the
 * failure watch that agents run. A component's own test calls this and adds its guarantees.
 */

import { createRegistry, createSelector, resolveParams } from '@stci/core';
import { DETECTOR_MESSAGE_BYTES, detectorFramework } from '@stci/core/component';
import type {
  Component, DetectionInterval, DetectorModule, DetectorPromise, NoDeps, Position, Topology,
} from '@stci/interface';
import { subjectName } from '@stci/interface';
import * as assert from './assert.js';
import { eventually } from './deadline.js';
import { suite } from './suite.js';
import { DetectorModel, type DetectorModelInit } from './detector-model.js';
import { checkComponent } from './detector-record.js';
import { DetectorSockets } from './detector-sockets.js';

export type DetectorComponent = Component<DetectorModule, NoDeps>;

export interface DetectorCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Parameters of the component, by short name, as a user sets them. */
  readonly params?: Readonly<Record<string, string>>;
  /** The longest time of a message, ms; default 5. */
  readonly latencyBoundMs?: number;
  /** Of the module's name, over so many positions. */
  readonly topology?: (size: number) => Topology;
  /** Agents see the end of links along it when one dies: for detectors that need to. */
  links?(size: number): Topology;
  /** Somebody at each agent waits for all, from the failure on: for detectors that need to. */
  readonly waits?: boolean;
  /** Where the module promises no interval: from the failure, or the wait for it. */
  readonly detection?: DetectionInterval;
  /** After the start, time that an agent may take for its first sign of life; default 0. */
  readonly graceMs?: number;
  /** Seeds of each test and number of agents; default 20. */
  readonly seeds?: number;
}

const SIZES = [2, 3, 4, 7, 12];
/** Floating-point times. */
const ROUNDING_MS = 1e-6;
/** Of the test on real sockets. */
const REAL_SIZE = 4;
const REAL_MS_MAX = 2000;
const SLOW = { timeoutMs: 100_000 };

/** A run of one case, before anything happens. */
export class DetectorRun {
  readonly model: DetectorModel;
  readonly promise: DetectorPromise;
  readonly detection: DetectionInterval;
  readonly latencyBoundMs: number;
  /** Everything is under way by then. */
  readonly steadyMs: number;
  #waits = 0;

  constructor(
    module: DetectorModule,
    one: DetectorCase,
    size: number,
    seed: number,
    more?: Partial<DetectorModelInit>,
  ) {
    this.latencyBoundMs = one.latencyBoundMs ?? 5;
    this.promise = module.promise({ members: size, latencyBoundMs: this.latencyBoundMs });
    const detection = one.detection ?? this.promise.detection;
    if (detection === undefined) throw new Error(`case ${one.label} names no detection interval, nor does the module`);
    this.detection = detection;
    this.model = new DetectorModel({
      module, size, seed,
      latencyBoundMs: this.latencyBoundMs,
      topologyOf: one.topology,
      links: one.links?.(size),
      startSpreadMs: this.latencyBoundMs,
      ...more,
    });
    this.steadyMs = detection.maxMs + (one.graceMs ?? 0);
    if (one.waits === true) this.model.at(this.steadyMs, () => this.waitForAll());
  }

  waitForAll(): void {
    const id = ++this.#waits;
    for (const position of this.model.living) this.model.give(position, { type: 'waiting', id, on: 'all' });
  }

  /** Of one agent, from the failure to the first report of it. */
  delayOf(position: Position): number | undefined {
    const death = this.model.deaths.find(({ member }) => member.position === position);
    const report = this.model.reports.find(({ failed }) => failed.position === position);
    return death === undefined || report === undefined ? undefined : report.atMs - death.atMs;
  }
}

/** Defines a suite: tests of the component's record, and for each case tests on the model. */
export function detectorCompliance(component: DetectorComponent, cases: readonly DetectorCase[]): void {
  const { name } = component;
  suite(`detector compliance: ${name}`, (test) => {
    test('its record', () => checkComponent(component));
    for (const one of cases) {
      const module = detectorModule(component, one.params);
      const each = (check: Check) => () => forEachRun(module, one, check);
      test(`${one.label}: promises what can be printed`, () => checkPromise(module));
      test(`${one.label}: nobody who lives is reported, at the promised cost`, each(checkQuiet), SLOW);
      test(`${one.label}: a death is reported within the promised interval`, each(checkOne), SLOW);
      test(`${one.label}: several deaths are reported, and nothing else`, each(checkSeveral), SLOW);
      test(`${one.label}: an agent that stood still accuses nobody`, each(checkStandstill), SLOW);
      test(`${one.label}: who comes back is watched again`, each(checkRestart), SLOW);
      test(`${one.label}: strange messages change nothing`, each(checkStrange), SLOW);
      test(`${one.label}: counts what its metrics declare`, () => checkMetrics(module, one), SLOW);
      test(`${one.label}: the same seed gives the same run`, () => checkDeterminism(module, one), SLOW);
      // What takes longer is the same in the model.
      if (startMs(module, one) > REAL_MS_MAX) continue;
      test(`${one.label}: on real sockets, all are told of a death, and of nothing else`, () => {
        return checkSockets(component.name, module, one);
      }, SLOW);
    }
  });
}

type Check = (start: (more?: Partial<DetectorModelInit>) => DetectorRun, size: number) => void;

function forEachRun(module: DetectorModule, one: DetectorCase, check: Check): void {
  for (const size of SIZES) {
    for (let seed = 1; seed <= (one.seeds ?? 20); seed++) {
      try {
        check((more) => new DetectorRun(module, one, size, seed, more), size);
      } catch (error) {
        throw new Error(`${size} agents, seed ${seed}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
}

/** Made as in a program: by the registry, with the parameters as a user sets them. */
export function detectorModule(
  component: DetectorComponent,
  params: Readonly<Record<string, string>> = {},
): DetectorModule {
  // The framework's components that always run are not needed here.
  const framework = { ...detectorFramework, always: [] };
  const registry = createRegistry({ frameworks: [framework], components: [{ ...component, framework }] });
  const set = Object.entries(params).map(([name, value]) => ({ key: `detector.${component.name}.${name}`, value }));
  const commandLine = [{ key: 'detector', value: component.name }, ...set];
  const resolved = resolveParams(registry.catalog, { commandLine }, registry.rules).params;
  const [selected] = createSelector(registry, resolved).many(framework);
  if (selected === undefined) throw new Error(`detector ${component.name} was not selected`);
  return selected.create({}, undefined);
}

function checkPromise(module: DetectorModule): void {
  for (const members of [1, 2, 3, 64, 10_000]) {
    const { detection, messagesPerSecond, bytesPerSecond, text } = module.promise({ members, latencyBoundMs: 10 });
    assert.match(text, /^\p{Lu}[^]*\.$/u, 'the promise is told in sentences:');
    const { minMs, maxMs } = detection ?? { minMs: 0, maxMs: 0 };
    assert.ok(minMs >= 0 && minMs <= maxMs && Number.isFinite(maxMs), `an interval of ${minMs} to ${maxMs} ms`);
    assert.ok(messagesPerSecond >= 0 && Number.isFinite(bytesPerSecond), 'costs are numbers');
    const leastBytes = messagesPerSecond * DETECTOR_MESSAGE_BYTES;
    assert.ok(bytesPerSecond >= leastBytes, `${bytesPerSecond} bytes/s are fewer than the headers of the messages`);
    if (members === 1) assert.is(messagesPerSecond, 0, 'one agent alone has nobody to send to');
  }
}

function checkQuiet(start: Parameters<Check>[0], size: number): void {
  const run = start();
  const { model, promise, steadyMs } = run;
  model.run(steadyMs);
  const before = { messages: model.messages, bytes: model.bodyBytes };
  const durationMs = 4 * run.detection.maxMs;
  model.run(steadyMs + durationMs);
  assert.equal(model.reports, [], 'nobody died');
  const seconds = (size * durationMs) / 1000;
  const messages = model.messages - before.messages;
  const bytes = messages * DETECTOR_MESSAGE_BYTES + model.bodyBytes - before.bytes;
  if (promise.messagesPerSecond === 0) return;
  // A period may begin or end at the measurement's.
  const allowed = 1.05 * promise.messagesPerSecond * seconds + 3 * size;
  assert.ok(messages <= allowed, `${messages} messages, promised ${promise.messagesPerSecond * seconds}`);
  assert.ok(messages >= 1, 'an agent that watches sends');
  const perMessage = promise.bytesPerSecond / promise.messagesPerSecond;
  assert.ok(bytes <= 1.1 * perMessage * messages, `${bytes / messages} bytes a message, promised ${perMessage}`);
}

function checkOne(start: Parameters<Check>[0], size: number): void {
  const run = start();
  const { model, steadyMs, detection } = run;
  const position = victim(model, size);
  const atMs = steadyMs + model.random() * detection.maxMs;
  if (run.promise.detection === undefined) model.at(atMs, () => run.waitForAll());
  model.at(atMs, () => model.crash(position));
  model.run(atMs + detection.maxMs + run.latencyBoundMs + 1);
  const delay = run.delayOf(position);
  assert.ok(delay !== undefined, `the death of ${position} is reported, ${JSON.stringify(detection)}`);
  const { minMs, maxMs } = detection;
  const isInside = delay! >= minMs - ROUNDING_MS && delay! <= maxMs + ROUNDING_MS;
  assert.ok(isInside, `reported after ${delay} ms, promised ${minMs} to ${maxMs}`);
  checkReports(model);
}

function checkSeveral(start: Parameters<Check>[0], size: number): void {
  const run = start();
  const { model, steadyMs, detection } = run;
  const count = 1 + model.below(Math.max(1, size - 2));
  const isTogether = model.below(2) === 0;
  const base = 1 + model.below(Math.max(1, size - 1));
  // Next to one another, or anywhere; at once, or one after another.
  const isContiguous = model.below(2) === 0;
  for (let i = 0; i < count; i++) {
    const position = isContiguous ? 1 + ((base + i) % (size - 1)) : victim(model, size);
    model.at(steadyMs + (isTogether ? 0 : model.random() * 2 * detection.maxMs), () => model.crash(position));
  }
  // T(f) of the IJHPCA paper, 3.3, with the promise in place of the timeout.
  const stableMs = 2 * detection.maxMs + count * (count + 1) * (detection.maxMs + 2 * run.latencyBoundMs) + 100;
  const unreported = (): Position[] => {
    const reported = new Set(model.reports.map(({ failed }) => failed.position));
    return model.deaths.map(({ member }) => member.position).filter((position) => !reported.has(position));
  };
  model.run(steadyMs + 3 * detection.maxMs);
  while (unreported().length > 0 && model.nowMs < steadyMs + stableMs) model.run(model.nowMs + detection.maxMs);
  assert.equal(unreported(), [], 'all dead are reported');
  checkReports(model);
}

function checkStandstill(start: Parameters<Check>[0], size: number): void {
  const run = start();
  const { model, steadyMs, detection } = run;
  const position = victim(model, size);
  const isLong = model.below(2) === 0 && detection.minMs > 0;
  const share = isLong ? 1.5 + model.random() : model.random() / 3;
  const forMs = share * (isLong ? detection.maxMs : detection.minMs);
  model.at(steadyMs + model.random() * detection.maxMs, () => model.freeze(position, forMs));
  model.run(steadyMs + 8 * detection.maxMs + 100);
  const wrong = model.reports.filter(({ failed }) => failed.position !== position || !isLong);
  assert.equal(wrong, [], `${position} stood still for ${forMs} ms`);
}

function checkRestart(start: Parameters<Check>[0], size: number): void {
  const run = start();
  const { model, steadyMs, detection } = run;
  const position = victim(model, size);
  model.at(steadyMs, () => model.crash(position));
  // Before anybody has noticed, or when all know that it died.
  const downMs = model.below(2) === 0 ? detection.minMs / 2 : detection.maxMs + 2 * run.latencyBoundMs;
  const backMs = steadyMs + downMs;
  model.at(backMs, () => model.restart(position));
  const againMs = backMs + 2 * steadyMs;
  model.run(againMs);
  const reports = model.reports.filter(({ failed }) => failed.incarnation > 1 || failed.position !== position);
  assert.equal(reports, [], 'nobody died since');
  if (run.promise.detection === undefined) run.waitForAll();
  model.crash(position);
  model.run(againMs + detection.maxMs + steadyMs + run.latencyBoundMs + 1);
  assert.ok(model.reports.some(({ failed }) => failed.incarnation === 2), `incarnation 2 of ${position} is reported`);
  checkReports(model);
}

const STRANGE: readonly unknown[] = [
  undefined, null, 0, -1, 1.5, NaN, true, 'ping', '', [], [[]], {}, { type: 'ping' }, { type: 'answer', n: -1 },
  { type: 'heartbeat', lagMs: -1 }, { type: 'heartbeat', lagMs: 'x' }, { type: 'round', hops: 1e300 }, { type: {} },
  { type: 'ping', n: 1, rumours: [[0, 0, 1, 1e300]] }, { type: 'ping-for', n: 1, position: -1, rumours: [] },
  new Uint8Array(3),
];

function checkStrange(start: Parameters<Check>[0], size: number): void {
  const run = start();
  const { model, steadyMs, detection } = run;
  const to = model.below(size);
  const strangers = [{ position: 999_999, incarnation: 1 }, { position: (to + 1) % size, incarnation: 0 }];
  for (const body of STRANGE) {
    for (const from of [...strangers, model.agent((to + 1) % size).member]) {
      if (from.position === 999_999) continue;
      model.at(steadyMs + model.random() * detection.maxMs, () => model.give(to, { type: 'message', from, body }));
    }
  }
  for (const member of strangers) {
    model.at(steadyMs, () => model.give(to, { type: 'gone', member: { ...member, position: 999_998 } }));
    model.at(steadyMs, () => model.give(to, { type: 'over', id: 77 }));
  }
  model.run(steadyMs + 6 * detection.maxMs);
  assert.equal(model.reports, [], 'nobody died');
}

/** Misses only while somebody is silent; and all that is declared once an agent stood still, a link ended, one died. */
function checkMetrics(module: DetectorModule, one: DetectorCase): void {
  const counted = new Set<string>();
  for (let seed = 1; seed <= (one.seeds ?? 20); seed++) {
    const { model, steadyMs, detection: { minMs, maxMs }, ...run } = new DetectorRun(module, one, 7, seed);
    model.run(steadyMs + maxMs);
    assert.is(model.counted.get('misses') ?? 0, 0, `seed ${seed}: misses while nobody is silent`);
    model.freeze(3, minMs / 2);
    const closed = { type: 'link', peer: model.agent(4).member, state: 'closed', reason: 'lost', text: '' } as const;
    if (one.links !== undefined) model.give(2, closed);
    model.run(model.nowMs + 4 * maxMs);
    model.crash(5);
    model.run(model.nowMs + maxMs + run.latencyBoundMs + 1);
    if ('misses' in module.metrics) assert.ok(model.counted.has('misses'), `seed ${seed}: misses`);
    for (const metric of model.counted.keys()) counted.add(metric);
  }
  assert.equal([...counted].sort(), Object.keys(module.metrics).sort(), 'metrics that were counted');
}

function checkDeterminism(module: DetectorModule, one: DetectorCase): void {
  const lines = [1, 2].map(() => {
    const { model, steadyMs, detection } = new DetectorRun(module, one, 7, 42);
    const seen: string[] = [];
    model.trace = (line) => seen.push(line);
    model.at(steadyMs, () => model.crash(3));
    model.run(steadyMs + 2 * detection.maxMs);
    return seen;
  });
  assert.ok(lines[0]!.length > 10, 'something happens');
  assert.equal(lines[1], lines[0]);
}

/** Until an agent that is silent from the start is reported, at most. */
function startMs(module: DetectorModule, one: DetectorCase): number {
  const { detection } = new DetectorRun(module, one, REAL_SIZE, 1);
  return detection.maxMs + (one.graceMs ?? 0);
}

async function checkSockets(name: string, module: DetectorModule, one: DetectorCase): Promise<void> {
  const latencyBoundMs = one.latencyBoundMs ?? 5;
  const sockets = new DetectorSockets({
    name, module, size: REAL_SIZE, latencyBoundMs, topologyOf: one.topology, links: one.links?.(REAL_SIZE),
  });
  try {
    await sockets.start();
    sockets.silence(2);
    if (one.waits === true) sockets.waitForAll();
    const subjects = () => sockets.told.map((notices) => notices.map(({ subject }) => subjectName(subject)));
    await eventually(() => subjects().every(({ length }) => length > 0), {
      what: 'all that live are told', deadlineMs: 10_000,
    });
    assert.equal(subjects(), sockets.told.map(() => ['host 1']));
    assert.equal(sockets.faults, []);
  } finally {
    sockets.end();
  }
}

/** Never the controller. */
function victim(model: DetectorModel, size: number): Position {
  return 1 + model.below(size - 1);
}

/** Only the dead are reported, and nobody twice by the same agent. */
function checkReports(model: DetectorModel): void {
  assert.equal(model.reports.filter(({ isAlive }) => isAlive), [], 'who lives is not reported');
  const keys = model.reports.map(({ by, failed }) => `${by}: ${failed.position}#${failed.incarnation}`);
  assert.is(new Set(keys).size, keys.length, `a report is not repeated: ${keys.join(', ')}`);
}

type TopologyOf = (size: number) => Topology;

/** The first suspicion of a detector that hears nothing, at 0, of an agent that was there at the start, or joined. */
export function firstSuspicionMs(module: DetectorModule, joinedMs?: number, topologyOf?: TopologyOf): number {
  const member = (position: Position) => ({ position, incarnation: 1 });
  const members = joinedMs === undefined ? [member(0), member(1)] : [member(0)];
  const detector = module.open({ self: member(0), members, topologyOf, random: () => 0 });
  detector.on({ type: 'start' }, 0);
  if (joinedMs !== undefined) detector.on({ type: 'joined', member: member(1) }, joinedMs);
  for (let now = joinedMs ?? 0; now < 60_000; now = Math.max(now, detector.dueMs ?? Infinity)) {
    if (detector.on({ type: 'due' }, now).some(({ type }) => type === 'suspect')) return now;
  }
  return Infinity;
}
