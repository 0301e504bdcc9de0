/** The examples of a detector's promises, the simplest first, and how one that breaks its promise is made smaller. */

import type { DetectorModule, Position } from '@stci/interface';
import { less, lessSeed, without } from '../kit/counterexample.js';
import { seededIntegers } from '../kit/seeded.js';
import { LONG_PAUSE, SHORT_PAUSE, STRANGE, seedsOf } from './detector-checks.js';
import type { DetectorExample, DetectorPromiseName } from './detector-contract.js';
import { DetectorRun, type DetectorCase } from './detector-run.js';

const SIZES = [2, 3, 4, 7, 12];
/** Sizes with one seed: around powers of two, where another bit is needed. The largest for most that depends on it. */
const LARGE_SIZES = [16, 17, 33];
const LARGEST_SIZE = 65;
const OF_LARGEST: readonly DetectorPromiseName[] = ['interval', 'several', 'left'];
const MEMBERS = [1, 2, 3, 64, 10_000];
const METRICS_SIZE = 7;
/** Size that no other run has: a topology that is kept is one of these runs. */
const SAME_SIZE = 10;
/** Where another bit is needed, in whatever counts agents: of `interval`, the last one dies. */
const BIT_SIZES = [31, 32, 63, 64, 127, 128, 129, 255, 256, 257];
/** Larger runs are left out: so many messages take a second. */
const MESSAGES_MAX = 100_000;
/** Bound on messages with other parameters, whose runs are many. */
const FEW_MESSAGES_MAX = 30_000;
const DAY_MS = 86_400_000;
/** Clocks of machines that are up for weeks: more bits, and those that come to be needed in the middle of a run. */
const CLOCKS_MS = [26 * DAY_MS, 60 * DAY_MS + 1 / 3, 2 ** 31 - 700, 2 ** 32 - 700, 1 / 3, 2 ** 34];
/** The network's seeds are others. */
const PLAN_SEED = 1_000_000;
/** Examples that a promise is about, the simplest first. Not of `record` and `sockets`. */
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
    yield { promise, case: label, size: SAME_SIZE, seed: 42, deaths: [{ position: 3, atMs: 0 }] };
  } else {
    for (const size of [...SIZES, ...LARGE_SIZES, ...(OF_LARGEST.includes(promise) ? [LARGEST_SIZE] : [])]) {
      const seeds = SIZES.includes(size) ? seedsOf(one) : 1;
      for (let seed = 1; seed <= seeds; seed++) {
        const random = seededIntegers(PLAN_SEED + seed);
        const run = new DetectorRun(module, one, size, seed);
        const clockMs = CLOCKS_MS[((seed >> 1) + size) % CLOCKS_MS.length];
        const clock = (seed % 2 === 0 || size === 17) && { clockMs };
        yield { promise, case: label, size, seed, ...clock, ...planOf(promise, run, size, random) };
      }
    }
    if (promise === 'interval') yield* extremes(module, one);
  }
}

function* extremes(module: DetectorModule, one: DetectorCase): Generator<DetectorExample> {
  const { label } = one;
  for (const size of SIZES) {
    const deaths = [{ position: size - 1, atMs: 0 }];
    yield { promise: 'interval', case: label, size, seed: size, isFirst: true, deaths };
  }
  for (const size of BIT_SIZES) {
    const deaths = [{ position: size - 1, atMs: 0 }];
    if (messagesOf(module, one, size) > MESSAGES_MAX) continue;
    yield { promise: 'interval', case: label, size, seed: 1, deaths };
  }
}

/** Messages of a run with a death. */
function messagesOf(module: DetectorModule, one: DetectorCase, size: number): number {
  const { promise, settleMs, detection } = new DetectorRun(module, one, size, 1);
  return promise.messagesPerSecond * size * (settleMs + detection.maxMs) / 1000;
}

/** Examples with other parameters, where it can be said what is promised. `moduleOf`: with these besides the case's. */
export function* parameterExamples(
  sets: Iterable<readonly Readonly<Record<string, string>>[]>,
  of: (params: Readonly<Record<string, string>>) => readonly [DetectorModule, DetectorCase],
  { label, detection }: DetectorCase,
): Generator<DetectorExample> {
  for (const set of sets) {
    for (const params of set) {
      const [module, one] = of(params);
      if (detection !== undefined || messagesOf(module, one, 2) > FEW_MESSAGES_MAX) continue;
      const run = new DetectorRun(module, one, 3, 1);
      // Messages take longer than it waits for them.
      if (run.detection.minMs === 0) break;
      const at = { case: label, size: 3, params };
      const deaths = [{ position: 1, atMs: 0 }];
      for (const seed of [1, 2]) {
        yield { promise: 'interval', ...at, seed, deaths: [{ position: seed, atMs: run.detection.maxMs / 3 }] };
      }
      yield { promise: 'interval', ...at, size: 2, seed: 3, deaths };
      if (4 * messagesOf(module, one, 3) <= FEW_MESSAGES_MAX) yield { promise: 'quiet', ...at, seed: 2 };
      break;
    }
  }
}

type Plan = Pick<DetectorExample, 'deaths' | 'pause' | 'downMs' | 'leaves' | 'leftEarly' | 'absent'>;

/** Who dies and stands still when; never the controller. */
function planOf(promise: DetectorPromiseName, run: DetectorRun, size: number, below: (limit: number) => number): Plan {
  const { detection: { minMs, maxMs }, latencyBoundMs } = run;
  const share = (): number => below(1000) / 1000;
  const victim = (): Position => 1 + below(size - 1);
  if (promise === 'interval') return { deaths: [{ position: victim(), atMs: share() * maxMs }] };
  if (promise === 'several') {
    // Of many, more than half, in a row.
    const isLarge = size > Math.max(...SIZES);
    const count = (isLarge ? size >> 1 : 1) + below(Math.max(1, (isLarge ? size >> 1 : size) - 2));
    const isTogether = below(2) === 0;
    const base = 1 + below(Math.max(1, size - 1));
    // Next to one another, or anywhere; at once, or one after another.
    const isContiguous = below(2) === 0 || isLarge;
    const next = (i: number): Position => (isContiguous ? 1 + ((base + i) % (size - 1)) : victim());
    const dead = new Set(Array.from({ length: count }, (_, i) => next(i)));
    return { deaths: [...dead].map((position) => ({ position, atMs: isTogether ? 0 : share() * 2 * maxMs })) };
  }
  if (promise === 'standstill') {
    const shortMs = SHORT_PAUSE * minMs;
    // Forgiven, for certain or perhaps, or not; now and then for long.
    const forMs = [
      share() * shortMs, shortMs + share() * (maxMs - shortMs), (LONG_PAUSE + 10 * share() ** 4) * maxMs,
    ][minMs > 0 ? (size + below(3)) % 3 : 0] ?? 0;
    return { pause: { position: victim(), atMs: share() * maxMs, forMs } };
  }
  if (promise === 'restart') {
    // Before anybody has noticed, or when all know that it died.
    const downMs = below(2) === 0 ? minMs / 2 : maxMs + 2 * latencyBoundMs;
    return { deaths: [{ position: victim(), atMs: 0 }], downMs };
  }
  if (promise === 'joined') return { deaths: [{ position: size, atMs: 0 }] };
  if (promise === 'refuted') return { deaths: [{ position: victim(), atMs: 0 }] };
  if (promise === 'left') {
    if (size < 3) return {};
    // One leaves, or has left before; then another dies, the next one as often as not.
    const leaver = victim();
    const next = 1 + (leaver % (size - 1));
    const others = Array.from({ length: size - 1 }, (_, index) => index + 1).filter((position) => position !== leaver);
    const position = below(2) === 0 ? next : others[below(others.length)] as Position;
    const left = [{ leaves: leaver }, { absent: [leaver] }, { leftEarly: leaver }][(size + below(3)) % 3];
    return { ...left, deaths: [{ position, atMs: 0 }] };
  }
  return {};
}

/** Fewer deaths, fewer agents, smaller seeds, lower positions, whole times; then one message in place of all. */
export function* smallerDetectorExample(example: DetectorExample, one: DetectorCase): Generator<DetectorExample> {
  const { promise, size = 2, seed, deaths = [], pause, body, clockMs, ...others } = example;
  if (promise === 'promise') {
    for (const fewer of less(size, 1)) yield { ...example, size: fewer };
    return;
  }
  if (promise === 'metrics' && seed === undefined) {
    for (let each = 1; each <= seedsOf(one); each++) yield { ...example, seed: each };
    return;
  }
  if (clockMs !== undefined) {
    const { clockMs: _, ...rest } = example;
    yield rest;
  }
  // Who joins is the last one; who has left is no other.
  if (promise === 'joined' || (others.leaves ?? others.leftEarly ?? others.absent) !== undefined) {
    for (const fewer of promise === 'joined' ? less(size, 1) : []) {
      yield { ...example, size: fewer, deaths: deaths.map((death) => ({ ...death, position: fewer })) };
    }
    if (seed !== undefined) for (const fewer of lessSeed(seed, 1)) yield { ...example, seed: fewer };
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
