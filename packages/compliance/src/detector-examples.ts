/** The examples of a detector's promises, the simplest first, and how one that breaks its promise is made smaller. */

import type { DetectorModule, Position } from '@stci/interface';
import { less, lessSeed, without } from './counterexample.js';
import { LONG_PAUSE, STRANGE, seedsOf } from './detector-checks.js';
import type { DetectorExample, DetectorPromiseName } from './detector-contract.js';
import { DetectorRun, type DetectorCase } from './detector-run.js';
import { seededIntegers } from './seeded.js';

const SIZES = [2, 3, 4, 7, 12];
/** With one seed: around powers of two, where another bit is needed. The largest where most depends on the number. */
const LARGE_SIZES = [16, 17, 33];
const LARGEST_SIZE = 65;
const OF_LARGEST: readonly DetectorPromiseName[] = ['interval', 'several', 'left'];
const MEMBERS = [1, 2, 3, 64, 10_000];
const METRICS_SIZE = 7;
/** Of a machine that is up for 26 days: more than 31 bits. */
const CLOCK_MS = 26 * 86_400_000;
/** The network's seeds are others. */
const PLAN_SEED = 1_000_000;
/** Of one that is forgiven, in shortest intervals of detection. */
const SHORT_PAUSE = 0.75;

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
    for (const size of [...SIZES, ...LARGE_SIZES, ...(OF_LARGEST.includes(promise) ? [LARGEST_SIZE] : [])]) {
      const seeds = SIZES.includes(size) ? seedsOf(one) : 1;
      for (let seed = 1; seed <= seeds; seed++) {
        const random = seededIntegers(PLAN_SEED + seed);
        const run = new DetectorRun(module, one, size, seed);
        const clock = (seed % 2 === 0 || size === 17) && { clockMs: CLOCK_MS };
        yield { promise, case: label, size, seed, ...clock, ...planOf(promise, run, size, random) };
      }
    }
  }
}

type Plan = Pick<DetectorExample, 'deaths' | 'pause' | 'downMs' | 'leaves' | 'absent'>;

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
    const isLong = below(2) === 0 && minMs > 0;
    const forMs = isLong ? (LONG_PAUSE + share()) * maxMs : share() * SHORT_PAUSE * minMs;
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
    return { ...(below(2) === 0 ? { leaves: leaver } : { absent: [leaver] }), deaths: [{ position, atMs: 0 }] };
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
  if (promise === 'joined' || others.leaves !== undefined || others.absent !== undefined) {
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
