/**
 * What a detector promises, as checks of one example each on the model of a network (detector-model.ts): so many
 * agents, a seed for what the network does, who dies and stands still when. Called by the suite, detector.ts.
 */

import { DETECTOR_MESSAGE_BYTES } from '@stci/core/component';
import type { DetectorModule, Position } from '@stci/interface';
import * as assert from './assert.js';
import { less, lessSeed, without, type Contract, type Example } from './counterexample.js';
import type { DetectorModel } from './detector-model.js';
import { DetectorRun, type DetectorCase } from './detector-run.js';
import { seededIntegers } from './seeded.js';

/** As in the docstring of `DetectorModule`. */
export const DETECTOR = {
  framework: 'detector',
  again: 'detectorExample',
  more: 'cases',
  promises: {
    record: 'The registry takes it; version, help, parameters and metrics can be shown; it runs where it is named.',
    promise: 'What it promises is an interval, costs that are numbers, and a sentence; one agent alone sends nothing.',
    quiet: 'While nobody dies, nobody is reported, and it costs no more than promised.',
    interval: 'A death is reported within the promised interval, and nothing else is, nor twice by the same agent.',
    several: 'Several deaths are reported, all of them, whoever watched whom, and nothing else is.',
    standstill: 'An agent that stood still accuses nobody, and is not reported itself if that was short.',
    restart: 'Who comes back is not reported for what was before, and its next death is.',
    strange: 'Strange messages and events of strangers change nothing, and nothing is thrown.',
    metrics: 'It counts the metrics that it declares and no others; misses only where somebody is silent.',
    same: 'The same seed gives the same run.',
    sockets: 'On real sockets, under the failure watch of agents, all are told of a death, and of nothing else.',
  },
} as const satisfies Contract<string>;

export type DetectorPromiseName = keyof typeof DETECTOR.promises;

/** A counter-example: agents, and what happens to them. Times begin when everything is under way, ms. */
export interface DetectorExample extends Example<DetectorPromiseName> {
  /** Label of the case. */
  readonly case?: string;
  /** Number of agents. */
  readonly size?: number;
  /** For how long each message takes. Of `metrics`, absent: all seeds of the case. */
  readonly seed?: number;
  readonly deaths?: readonly { readonly position: Position; readonly atMs: number }[];
  /** Of `standstill`: so long it neither sends nor receives. */
  readonly pause?: { readonly position: Position; readonly atMs: number; readonly forMs: number };
  /** Of `restart`: so long after its death it comes back. */
  readonly downMs?: number;
  /** Of `strange`: one of the messages, as text. Absent: all of them, and events of strangers. */
  readonly body?: string;
}

const SIZES = [2, 3, 4, 7, 12];
const MEMBERS = [1, 2, 3, 64, 10_000];
const METRICS_SIZE = 7;
/** Of a pause that counts as a death, in longest intervals of detection. */
const LONG_PAUSE = 1.5;
/** Floating-point times. */
const ROUNDING_MS = 1e-6;
/** The network's seeds are others. */
const PLAN_SEED = 1_000_000;

export function seedsOf({ seeds = 20 }: DetectorCase): number {
  return seeds;
}

/** Those that a promise is about, the simplest first. Not of `record` and `sockets`. */
export function* detectorExamples(
  promise: DetectorPromiseName,
  module: DetectorModule,
  one: DetectorCase,
): Generator<DetectorExample> {
  const { label } = one;
  if (promise === 'promise') {
    for (const size of MEMBERS) yield { promise, case: label, size };
  } else if (promise === 'metrics') {
    yield { promise, case: label, size: METRICS_SIZE };
  } else if (promise === 'same') {
    yield { promise, case: label, size: METRICS_SIZE, seed: 42, deaths: [{ position: 3, atMs: 0 }] };
  } else {
    for (const size of SIZES) {
      for (let seed = 1; seed <= seedsOf(one); seed++) {
        const random = seededIntegers(PLAN_SEED + seed);
        const run = new DetectorRun(module, one, size, seed);
        yield { promise, case: label, size, seed, ...planOf(promise, run, size, random) };
      }
    }
  }
}

type Plan = Pick<DetectorExample, 'deaths' | 'pause' | 'downMs'>;

/** Who dies and stands still when; never the controller. */
function planOf(promise: DetectorPromiseName, run: DetectorRun, size: number, below: (limit: number) => number): Plan {
  const { detection: { minMs, maxMs }, latencyBoundMs } = run;
  const share = (): number => below(1000) / 1000;
  const victim = (): Position => 1 + below(size - 1);
  if (promise === 'interval') return { deaths: [{ position: victim(), atMs: share() * maxMs }] };
  if (promise === 'several') {
    const count = 1 + below(Math.max(1, size - 2));
    const isTogether = below(2) === 0;
    const base = 1 + below(Math.max(1, size - 1));
    // Next to one another, or anywhere; at once, or one after another.
    const isContiguous = below(2) === 0;
    const next = (i: number): Position => (isContiguous ? 1 + ((base + i) % (size - 1)) : victim());
    const dead = new Set(Array.from({ length: count }, (_, i) => next(i)));
    return { deaths: [...dead].map((position) => ({ position, atMs: isTogether ? 0 : share() * 2 * maxMs })) };
  }
  if (promise === 'standstill') {
    const isLong = below(2) === 0 && minMs > 0;
    const forMs = isLong ? (LONG_PAUSE + share()) * maxMs : (share() / 3) * minMs;
    return { pause: { position: victim(), atMs: share() * maxMs, forMs } };
  }
  if (promise === 'restart') {
    // Before anybody has noticed, or when all know that it died.
    const downMs = below(2) === 0 ? minMs / 2 : maxMs + 2 * latencyBoundMs;
    return { deaths: [{ position: victim(), atMs: 0 }], downMs };
  }
  return {};
}

/** Fewer deaths, fewer agents, smaller seeds, lower positions, whole times; then one message in place of all. */
export function* smallerDetectorExample(example: DetectorExample, one: DetectorCase): Generator<DetectorExample> {
  const { promise, size = 2, seed, deaths = [], pause, body } = example;
  if (promise === 'promise') {
    for (const fewer of less(size, 1)) yield { ...example, size: fewer };
    return;
  }
  if (promise === 'metrics' && seed === undefined) {
    for (let each = 1; each <= seedsOf(one); each++) yield { ...example, seed: each };
    return;
  }
  if (deaths.length > 1) for (const fewer of without(deaths)) yield { ...example, deaths: fewer };
  const last = Math.max(1, pause?.position ?? 1, ...deaths.map(({ position }) => position));
  if (promise !== 'metrics') for (const fewer of less(size, last + 1)) yield { ...example, size: fewer };
  if (seed !== undefined) for (const fewer of lessSeed(seed, 1)) yield { ...example, seed: fewer };
  for (const [index, death] of deaths.entries()) {
    for (const other of [...lower(death), ...sooner(death)]) {
      if (other.position !== death.position && deaths.some(({ position }) => position === other.position)) continue;
      yield { ...example, deaths: deaths.with(index, other) };
    }
  }
  if (pause !== undefined) {
    for (const other of [...lower(pause), ...sooner(pause)]) yield { ...example, pause: other };
    if (!Number.isInteger(pause.forMs)) yield { ...example, pause: { ...pause, forMs: Math.ceil(pause.forMs) } };
  }
  if (promise === 'strange' && body === undefined) {
    for (const each of STRANGE.keys()) yield { ...example, body: each };
  }
}

function* lower<Event extends { readonly position: Position }>(event: Event): Generator<Event> {
  for (const position of less(event.position, 1)) yield { ...event, position };
}

function* sooner<Event extends { readonly atMs: number }>(event: Event): Generator<Event> {
  if (event.atMs === 0) return;
  yield { ...event, atMs: 0 };
  if (!Number.isInteger(event.atMs)) yield { ...event, atMs: Math.floor(event.atMs) };
}

interface Started {
  readonly run: DetectorRun;
  readonly size: number;
  readonly example: DetectorExample;
}

export function checkDetectorExample(module: DetectorModule, one: DetectorCase, example: DetectorExample): void {
  const { promise, size = 2, seed = 1 } = example;
  switch (promise) {
    case 'promise':
      return checkPromise(module, size);
    case 'metrics':
      return checkMetrics(module, one, size, example.seed);
    case 'same':
      return checkSame(module, one, example);
    case 'record':
    case 'sockets':
      return;
    default:
      CHECKS[promise]({ run: new DetectorRun(module, one, size, seed), size, example });
  }
}

const CHECKS: Readonly<Record<
  'quiet' | 'interval' | 'several' | 'standstill' | 'restart' | 'strange', (started: Started) => void
>> = {
  quiet: checkQuiet, interval: checkInterval, several: checkSeveral, standstill: checkStandstill,
  restart: checkRestart, strange: checkStrange,
};

function checkPromise(module: DetectorModule, members: number): void {
  const { detection, messagesPerSecond, bytesPerSecond, text } = module.promise({ members, latencyBoundMs: 10 });
  assert.match(text, /^\p{Lu}[^]*\.$/u, 'the promise is told in sentences:');
  const { minMs, maxMs } = detection ?? { minMs: 0, maxMs: 0 };
  assert.ok(minMs >= 0 && minMs <= maxMs && Number.isFinite(maxMs), `an interval of ${minMs} to ${maxMs} ms`);
  assert.ok(messagesPerSecond >= 0 && Number.isFinite(bytesPerSecond), 'costs are numbers');
  const leastBytes = messagesPerSecond * DETECTOR_MESSAGE_BYTES;
  assert.ok(bytesPerSecond >= leastBytes, `${bytesPerSecond} bytes/s are fewer than the headers of the messages`);
  if (members === 1) assert.is(messagesPerSecond, 0, 'one agent alone has nobody to send to');
}

function checkQuiet({ run, size }: Started): void {
  const { model, promise, steadyMs } = run;
  model.run(steadyMs);
  const before = { messages: model.messages, bytes: model.bodyBytes };
  const durationMs = 4 * run.detection.maxMs;
  model.run(steadyMs + durationMs);
  checkNobody(model);
  const seconds = (size * durationMs) / 1000;
  const messages = model.messages - before.messages;
  const bytes = messages * DETECTOR_MESSAGE_BYTES + model.bodyBytes - before.bytes;
  if (promise.messagesPerSecond === 0) return;
  // A period may begin or end at the measurement's.
  const allowed = 1.05 * promise.messagesPerSecond * seconds + 3 * size;
  assert.ok(messages <= allowed, `${messages} messages, promised ${promise.messagesPerSecond * seconds}`);
  assert.ok(messages >= 1, 'no message: an agent that watches sends');
  const perMessage = promise.bytesPerSecond / promise.messagesPerSecond;
  assert.ok(bytes <= 1.1 * perMessage * messages, `${bytes / messages} bytes a message, promised ${perMessage}`);
}

function checkInterval({ run, example: { deaths = [] } }: Started): void {
  const { model, steadyMs, detection: { minMs, maxMs } } = run;
  for (const { position, atMs } of deaths) {
    if (run.promise.detection === undefined) model.at(steadyMs + atMs, () => run.waitForAll());
    model.at(steadyMs + atMs, () => model.crash(position));
    model.run(steadyMs + atMs + maxMs + run.latencyBoundMs + 1);
    const delay = run.delayOf(position);
    assert.ok(delay !== undefined, `agent ${position} is not reported within ${maxMs} ms`);
    const isInside = delay! >= minMs - ROUNDING_MS && delay! <= maxMs + ROUNDING_MS;
    assert.ok(isInside, `agent ${position} is reported after ${delay} ms, promised are ${minMs} to ${maxMs} ms`);
  }
  checkReports(model);
}

function checkSeveral({ run, example: { deaths = [] } }: Started): void {
  const { model, steadyMs, detection: { maxMs } } = run;
  for (const { position, atMs } of deaths) model.at(steadyMs + atMs, () => model.crash(position));
  // T(f) of the IJHPCA paper, 3.3, with the promise in place of the timeout.
  const count = deaths.length;
  const stableMs = 2 * maxMs + count * (count + 1) * (maxMs + 2 * run.latencyBoundMs) + 100;
  const unreported = (): Position[] => {
    const reported = new Set(model.reports.map(({ failed }) => failed.position));
    return model.deaths.map(({ member }) => member.position).filter((position) => !reported.has(position));
  };
  model.run(steadyMs + 3 * maxMs);
  while (unreported().length > 0 && model.nowMs < steadyMs + stableMs) model.run(model.nowMs + maxMs);
  assert.equal(unreported(), [], `after ${stableMs} ms dead agents are not reported: ${unreported().join(' ')}`);
  checkReports(model);
}

function checkStandstill({ run, example: { pause } }: Started): void {
  const { model, steadyMs, detection: { minMs, maxMs } } = run;
  if (pause === undefined) return;
  const { position, atMs, forMs } = pause;
  const isLong = minMs > 0 && forMs >= LONG_PAUSE * maxMs;
  model.at(steadyMs + atMs, () => model.freeze(position, forMs));
  model.run(steadyMs + 8 * maxMs + 100);
  const wrong = model.reports.filter(({ failed }) => failed.position !== position || !isLong);
  const [first] = wrong;
  assert.ok(first === undefined, `agent ${first?.by} reports agent ${first?.failed.position}, which lives`);
}

function checkRestart({ run, example: { deaths: [death] = [], downMs = 0 } }: Started): void {
  const { model, steadyMs, detection } = run;
  if (death === undefined) return;
  const { position } = death;
  const diesMs = steadyMs + death.atMs;
  model.at(diesMs, () => model.crash(position));
  model.at(diesMs + downMs, () => model.restart(position));
  const againMs = diesMs + downMs + 2 * steadyMs;
  model.run(againMs);
  const wrong = model.reports.find(({ failed }) => failed.incarnation > 1 || failed.position !== position);
  assert.ok(wrong === undefined, `agent ${wrong?.by} reports agent ${wrong?.failed.position}, which lives again`);
  if (run.promise.detection === undefined) run.waitForAll();
  model.crash(position);
  model.run(againMs + detection.maxMs + steadyMs + run.latencyBoundMs + 1);
  const isReported = model.reports.some(({ failed }) => failed.incarnation === 2);
  assert.ok(isReported, `the death of incarnation 2 of agent ${position} is not reported`);
  checkReports(model);
}

/** By their text. */
const STRANGE: ReadonlyMap<string, unknown> = new Map([
  undefined, null, 0, -1, 1.5, NaN, true, 'ping', '', [], [[]], {}, { type: 'ping' }, { type: 'answer', n: -1 },
  { type: 'heartbeat', lagMs: -1 }, { type: 'heartbeat', lagMs: 'x' }, { type: 'round', hops: 1e300 }, { type: {} },
  { type: 'ping', n: 1, rumours: [[0, 0, 1, 1e300]] }, { type: 'ping-for', n: 1, position: -1, rumours: [] },
  new Uint8Array(3),
].map((body): [string, unknown] => [bodyText(body), body]));

function bodyText(body: unknown): string {
  if (body instanceof Uint8Array) return `${body.length} bytes`;
  return Number.isNaN(body) || body === undefined ? String(body) : JSON.stringify(body);
}

function checkStrange({ run, size, example: { body: only } }: Started): void {
  const { model, steadyMs, detection } = run;
  const to = model.below(size);
  const neighbour = model.agent((to + 1) % size).member;
  for (const [text, body] of STRANGE) {
    if (only !== undefined && text !== only) continue;
    for (const from of [{ ...neighbour, incarnation: 0 }, neighbour]) {
      model.at(steadyMs + model.random() * detection.maxMs, () => model.give(to, { type: 'message', from, body }));
    }
  }
  if (only === undefined) {
    for (const incarnation of [0, 1]) {
      model.at(steadyMs, () => model.give(to, { type: 'gone', member: { position: 999_998, incarnation } }));
      model.at(steadyMs, () => model.give(to, { type: 'over', id: 77 }));
    }
  }
  model.run(steadyMs + 6 * detection.maxMs);
  checkNobody(model);
}

/** Misses only while somebody is silent; and all that is declared once an agent stood still, a link ended, one died. */
function checkMetrics(module: DetectorModule, one: DetectorCase, size: number, only: number | undefined): void {
  const counted = new Set<string>();
  const seeds = only === undefined ? Array.from({ length: seedsOf(one) }, (_, index) => index + 1) : [only];
  for (const seed of seeds) {
    const { model, steadyMs, detection: { minMs, maxMs }, ...run } = new DetectorRun(module, one, size, seed);
    model.run(steadyMs + maxMs);
    assert.is(model.counted.get('misses') ?? 0, 0, 'misses while nobody is silent');
    model.freeze(3, minMs / 2);
    const closed = { type: 'link', peer: model.agent(4).member, state: 'closed', reason: 'lost', text: '' } as const;
    if (one.links !== undefined) model.give(2, closed);
    model.run(model.nowMs + 4 * maxMs);
    model.crash(5);
    model.run(model.nowMs + maxMs + run.latencyBoundMs + 1);
    if ('misses' in module.metrics) assert.ok(model.counted.has('misses'), 'no misses, though an agent is dead');
    for (const metric of model.counted.keys()) counted.add(metric);
  }
  if (only !== undefined) return;
  const missing = Object.keys(module.metrics).filter((metric) => !counted.has(metric));
  assert.equal(missing, [], `declared, and not counted: ${missing.join(', ')}`);
}

function checkSame(module: DetectorModule, one: DetectorCase, example: DetectorExample): void {
  const { size = 2, seed = 1, deaths = [] } = example;
  const [first = [], second = []] = [1, 2].map(() => {
    const { model, steadyMs, detection } = new DetectorRun(module, one, size, seed);
    const seen: string[] = [];
    model.trace = (line) => seen.push(line);
    for (const { position, atMs } of deaths) model.at(steadyMs + atMs, () => model.crash(position));
    model.run(steadyMs + 2 * detection.maxMs);
    return seen;
  });
  assert.ok(first.length > 0, 'nothing happens');
  const at = first.findIndex((line, index) => line !== second[index]);
  assert.ok(at < 0, `once: ${first[at]}, then: ${second[at]}`);
  assert.is(second.length, first.length, 'the second run is longer');
}

function checkNobody(model: DetectorModel): void {
  const [wrong] = model.reports;
  assert.ok(wrong === undefined, `agent ${wrong?.by} reports agent ${wrong?.failed.position}, and nobody died`);
}

/** Only the dead are reported, and nobody twice by the same agent. */
function checkReports(model: DetectorModel): void {
  const wrong = model.reports.find(({ isAlive }) => isAlive);
  assert.ok(wrong === undefined, `agent ${wrong?.by} reports agent ${wrong?.failed.position}, which lives`);
  const seen = new Set<string>();
  for (const { by, failed } of model.reports) {
    const key = `${by}: ${failed.position}#${failed.incarnation}`;
    assert.ok(!seen.has(key), `agent ${by} reports agent ${failed.position} twice`);
    seen.add(key);
  }
}
