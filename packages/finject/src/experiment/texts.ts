/** Short texts of an experiment file: command lines, sets of numbers, choices, distributions, triggers. */

import { didYouMean, expectedForm, parseValue } from '@stci/core';
import { TRIGGER_EVENTS, type Choice, type Distribution, type Trigger } from './contracts.js';
import { shown } from './show.js';

/** A value, or what is wrong with the text: a sentence without what was written. */
export type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string };

const good = <Value>(value: Value): Read<Value> => ({ ok: true, value });
const bad = (problem: string): { readonly ok: false; readonly problem: string } => ({ ok: false, problem });

/** Most numbers of one set. */
export const NUMBERS_MAX = 1_000_000;
/** A day. */
export const DURATION_MAX_MS = 86_400_000;

/** ms. */
export function readDuration(text: string, minMs = 0, maxMs = DURATION_MAX_MS): Read<number> {
  const spec = { type: 'duration', default: 0, help: '', min: minMs, max: maxMs } as const;
  const parsed = parseValue(spec, text);
  if (parsed.ok) return good(Number(parsed.value));
  const isClear = parsed.problem.startsWith('has no unit');
  return bad(isClear ? parsed.problem : `${parsed.problem}; expected ${expectedForm(spec)}`);
}

export interface NumberRange {
  readonly low: number;
  readonly high: number;
}

/** `3`, `0-3,7`. */
export function readRanges(text: string, max: number): Read<NumberRange[]> {
  const ranges: NumberRange[] = [];
  for (const item of text.split(',')) {
    const match = /^\s*(\d{1,10})\s*(?:-\s*(\d{1,10})\s*)?$/.exec(item);
    const isAll = item === text;
    if (match === null) {
      return bad(`${isAll ? 'is' : `has ${shown(item.trim())}, which is`} not a number or a range such as 4-6`);
    }
    const [low, high] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (low > high) return bad(`has ${low}-${high}, which is reversed: write ${high}-${low}`);
    if (high > max) return bad(`${isAll ? 'is' : `has ${high}, which is`} more than ${max}`);
    ranges.push({ low, high });
  }
  return good(ranges);
}

/**
 * Ascending within a range, each number once. Undefined: too many, which is known before any is made; a few words may
 * stand for a great many.
 */
export function numbersOf(ranges: readonly NumberRange[]): number[] | undefined {
  if (ranges.reduce((sum, { low, high }) => sum + high - low + 1, 0) > NUMBERS_MAX) return undefined;
  const numbers = new Set<number>();
  for (const { low, high } of ranges) for (let number = low; number <= high; number++) numbers.add(number);
  return [...numbers];
}

const COUNT = /^[1-9]\d{0,8}$/;

/** `all`, `random 2`, `25%`, `contiguous 3`; undefined: it is none of these. */
export function readChoice(text: string): Read<Choice> | undefined {
  const [word = '', number, ...rest] = text.trim().split(/\s+/);
  if (text.trim() === 'all') return good({ pick: 'all' });
  const percent = /^(\d+(?:\.\d+)?)\s*%$/.exec(text.trim());
  if (percent !== null) {
    const value = Number(percent[1]);
    return value > 0 && value <= 100 ? good({ pick: 'percent', percent: value })
      : bad('is not a share more than 0% and at most 100%');
  }
  if (word !== 'random' && word !== 'contiguous') return undefined;
  if (number === undefined || rest.length > 0 || !COUNT.test(number)) {
    return bad(`is not ${word} and how many, at least 1, such as ${word} 2`);
  }
  return good({ pick: word, count: Number(number) });
}

const FORMS = {
  fixed: ['duration'],
  uniform: ['least', 'most'],
  exponential: ['mean'],
  weibull: ['shape', 'scale'],
  normal: ['mean', 'deviation'],
} as const;

type Form = keyof typeof FORMS;

/** Parameters by position: a shape as it is written, times in ms. */
export function makeDistribution(form: Form, [first = 0, second = 0]: readonly number[]): Read<Distribution> {
  switch (form) {
    case 'fixed':
      return good({ type: form, valueMs: first });
    case 'uniform':
      return first <= second ? good({ type: form, minMs: first, maxMs: second })
        : bad('is uniform from a time to one before it; expected the least time first');
    case 'exponential':
      return first > 0 ? good({ type: form, meanMs: first }) : bad('has a mean of 0; expected more than 0');
    case 'weibull':
      if (!(first >= SHAPE_MIN && first <= SHAPE_MAX)) return bad(`has a shape outside ${SHAPE_MIN}..${SHAPE_MAX}`);
      return second > 0 ? good({ type: form, shape: first, scaleMs: second })
        : bad('has a scale of 0; expected more than 0');
    case 'normal':
      return second > 0 ? good({ type: form, meanMs: first, deviationMs: second })
        : bad('has a deviation of 0; expected more than 0, or a fixed time');
  }
}

/** Smaller shapes give times beyond all limits, larger ones a fixed time. */
const SHAPE_MIN = 0.1;
const SHAPE_MAX = 100;

/** `2s`, `exponential 5s`, `weibull 0.7 10s`; a trace is read elsewhere. */
export function readDistribution(text: string): Read<Distribution> {
  const [word = '', ...values] = text.trim().split(/\s+/);
  if (/^\d/.test(word) && values.length === 0) {
    const duration = readDuration(word);
    return duration.ok ? good({ type: 'fixed', valueMs: duration.value }) : duration;
  }
  const form = word as Form;
  if (!Object.hasOwn(FORMS, form)) {
    const near = didYouMean(word, [...Object.keys(FORMS), 'trace']);
    return bad(`is not a time or a distribution.${near} Expected a duration such as 2s, uniform, exponential, weibull, `
      + 'normal or trace');
  }
  const names = FORMS[form];
  if (values.length !== names.length) return bad(`is not ${form} with ${names.join(' and ')}`);
  const numbers: number[] = [];
  for (const [at, value] of values.entries()) {
    const read = names[at] === 'shape' ? readShape(value) : readDuration(value);
    if (!read.ok) return bad(`has a ${names[at]!} that ${read.problem}`);
    numbers.push(read.value);
  }
  return makeDistribution(form, numbers);
}

function readShape(text: string): Read<number> {
  return /^\d+(\.\d+)?$/.test(text) ? good(Number(text)) : bad('is not a number');
}

/** Times one a line, in order: ms, or with a unit; `#` begins a comment. */
export function readTrace(text: string, max: number): Read<number[]> {
  const timesMs: number[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    const value = line.replace(/#.*/s, '').trim();
    if (value === '') continue;
    const read = /^\d{1,9}(\.\d+)?$/.test(value) ? good(Number(value)) : readDuration(value);
    const what = `line ${index + 1}: ${shown(value)}`;
    if (!read.ok) return bad(`${what} ${read.problem}; expected milliseconds, or a duration`);
    if (read.value > DURATION_MAX_MS) return bad(`${what} is more than a day`);
    if (read.value < (timesMs.at(-1) ?? 0)) return bad(`${what} is before the line above it`);
    if (timesMs.push(read.value) > max) return bad(`it has more than ${max} times`);
  }
  return timesMs.length === 0 ? bad('it has no time') : good(timesMs);
}

const ORDINALS = ['first', 'second', 'third'];
/** Events that belong to an injection. */
export const EVENTS_OF_FAULTS: readonly string[] = ['detection', 'suspicion', 'recovery', 'injection'];

/** `start`, `first detection`, `detection 2`, `detection of kill`. */
export function readEvent(text: string): Read<Extract<Trigger, { on: 'event' }>> {
  const words = text.trim().split(/\s+/);
  const of = words.at(-2) === 'of' ? words.splice(-2)[1] : undefined;
  const ordinal = ORDINALS.indexOf(words[0] ?? '') + 1;
  if (ordinal > 0) words.shift();
  const name = (words.shift() ?? '') as (typeof TRIGGER_EVENTS)[number];
  if (!TRIGGER_EVENTS.includes(name)) {
    return bad(`is no event.${didYouMean(name, TRIGGER_EVENTS)} Expected one of ${TRIGGER_EVENTS.join(', ')}`);
  }
  const number = ordinal === 0 ? words.shift() : undefined;
  if (words.length > 0 || (number !== undefined && !COUNT.test(number))) {
    return bad(`is not an event, its number and its fault, such as ${name} 2 or ${name} of FAULT`);
  }
  return good({ on: 'event', event: name, nth: ordinal > 0 ? ordinal : Number(number ?? 1), fault: of });
}
