/**
 * Delta debugging of a plan: it is made simpler, step by step, as long as what was found is found again. Values become
 * those of the plain plan, lists lose halves, quarters, single elements, numbers become smaller and rounder.
 */

import { encode } from './plan-text.js';

export interface ShrinkInit<Plan> {
  readonly plan: Plan;
  readonly plain: Plan;
  /** The plan shows what was found. */
  shows(plan: Plan): boolean;
  /** As those of Kind. */
  fewer(plan: Plan): Iterable<Plan>;
  fit(plan: Plan): Plan | undefined;
  readonly boundMs: number;
  /** Real time. */
  nowMs(): number;
}

export interface Shrunk<Plan> {
  readonly plan: Plan;
  readonly tries: number;
  /** False: the time was over before. */
  readonly isSmallest: boolean;
}

/** Tries no two equal plans; begins no try after `boundMs`. */
export function shrink<Plan extends object>(init: ShrinkInit<Plan>): Shrunk<Plan> {
  const { plain, fewer, fit, boundMs, nowMs } = init;
  const untilMs = nowMs() + boundMs;
  const tried = new Set<string>();
  let best = init.plan;
  let tries = 0;
  const shows = (candidate: Plan): boolean => {
    const text = encode(candidate);
    if (tried.has(text)) return false;
    tried.add(text);
    tries++;
    return init.shows(candidate);
  };
  for (let isBetter = true; isBetter;) {
    isBetter = false;
    // After each step the candidates are those of the new plan; the ones before that place were tried just now.
    let candidates = [...fewer(best), ...simpler(best, plain)] as Plan[];
    for (let index = 0; index < candidates.length;) {
      const candidate = fit(candidates[index] as Plan);
      if (candidate === undefined || !isSimpler(candidate, best, plain)) {
        index++;
        continue;
      }
      if (nowMs() >= untilMs) return { plan: best, tries, isSmallest: false };
      if (shows(candidate)) {
        best = candidate;
        isBetter = true;
        candidates = [...fewer(best), ...simpler(best, plain)] as Plan[];
      } else index++;
    }
  }
  return { plan: best, tries, isSmallest: true };
}

/** Fewer characters of what is not plain; as many, and smaller numbers. */
function isSimpler(one: object, other: object, plain: object): boolean {
  const [a, b] = [beyond(one, plain), beyond(other, plain)];
  const shorter = encode(a).length - encode(b).length;
  return shorter === 0 ? sumOf(a) < sumOf(b) : shorter < 0;
}

/** What is not as in `plain`. */
function beyond(value: unknown, plain: unknown): unknown {
  if (!isRecord(value) || !isRecord(plain)) return value;
  const entries = Object.entries(value).filter(([key, each]) => encode(each) !== encode(plain[key]));
  return Object.fromEntries(entries.map(([key, each]) => [key, beyond(each, plain[key])]));
}

function sumOf(value: unknown): number {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.abs(value) : 0;
  if (typeof value === 'string') return isNumber(value) ? Math.abs(Number(value)) : 0;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, each) => sum + sumOf(each), 0);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNumber(text: string): boolean {
  return /^\d+(\.\d+)?$/.test(text);
}

/** Values like this one, the simplest first. Without a plain value, an object keeps all of its fields. */
function* simpler(value: unknown, plain: unknown): Iterable<unknown> {
  if (encode(value) === encode(plain)) return;
  if (plain !== undefined) yield plain;
  if (typeof value === 'number') yield* simplerNumbers(value);
  else if (typeof value === 'string' && isNumber(value)) yield* [...simplerNumbers(Number(value))].map(String);
  else if (Array.isArray(value)) yield* simplerLists(value);
  else if (isRecord(value)) yield* simplerRecords(value, plain);
}

function* simplerRecords(value: Readonly<Record<string, unknown>>, plain: unknown): Iterable<unknown> {
  const known = isRecord(plain) ? plain : undefined;
  if (known !== undefined) {
    for (const key of Object.keys(value)) {
      const { [key]: _, ...rest } = value;
      if (!(key in known)) yield rest;
    }
  }
  for (const [key, each] of Object.entries(value)) {
    for (const one of simpler(each, known?.[key])) yield { ...value, [key]: one };
  }
}

function* simplerLists(value: readonly unknown[]): Iterable<unknown> {
  for (let size = value.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < value.length; at += size) yield value.toSpliced(at, size);
  }
  for (const [index, each] of value.entries()) {
    for (const one of simpler(each, undefined)) yield value.with(index, one);
  }
}

/** Zero, rounder ones, a half, one less. */
function* simplerNumbers(value: number): Iterable<number> {
  if (!Number.isFinite(value) || value <= 0) return;
  yield 0;
  for (const digits of [1, 2, 3]) yield Number(value.toPrecision(digits));
  yield Math.round(value);
  yield Math.floor(value / 2);
  if (Number.isInteger(value)) yield value - 1;
}
