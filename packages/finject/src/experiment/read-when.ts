/** `when` of a fault: the trigger, the time from it to the first injection, and from one injection to the next. */

import type { ReadContext, Distribution, Trigger, When } from './contracts.js';
import { StciError } from '@stci/interface';
import type { Cursor } from './reader.js';
import { COUNT_MAX } from './schema.js';
import { shown } from './show.js';
import { EVENTS_OF_FAULTS, makeDistribution, readDistribution, readEvent, readTrace } from './texts.js';

const START: Trigger = { on: 'event', event: 'start', nth: 1, fault: undefined };
const AT_ONCE: Distribution = { type: 'fixed', valueMs: 0 };
const FORMS = ['fixed', 'uniform', 'exponential', 'weibull', 'normal'] as const;

export interface WhenContext {
  readonly readTrace: ReadContext['readTrace'];
  /** Of a fault with several injections the time between them must be known. */
  readonly count: number | undefined;
  /** Of `compose` or `sequence`: it has no trigger of its own. */
  readonly isPart: boolean;
  faultNamed(at: Cursor): string | undefined;
  faultCalled(name: string, at: Cursor): string | undefined;
}

export function readWhen(at: Cursor, context: WhenContext): When | undefined {
  if (at.isAbsent) return needEvery(at, { after: START, delay: AT_ONCE, every: AT_ONCE }, context);
  if (!at.isObject) {
    const delay = readTime(at, context);
    return delay && { after: START, delay, every: delay };
  }
  const after = at.get('after');
  if (context.isPart && !after.isAbsent) {
    at.problemOfKey('after', 'a part begins with its whole, or after the part before it. Give the trigger to the '
      + 'whole.');
  }
  const [delayAt, everyAt] = [at.get('delay'), at.get('every')];
  const trigger = after.isAbsent ? START : readTrigger(after, context);
  const delay = delayAt.isAbsent ? AT_ONCE : readTime(delayAt, context);
  const every = everyAt.isAbsent ? delay : readTime(everyAt, context);
  if (everyAt.isAbsent === false && every?.type === 'trace') {
    return everyAt.problem('a trace holds times from the trigger, not between injections. Give it as delay.');
  }
  if (trigger === undefined || delay === undefined || every === undefined) return undefined;
  const when = { after: trigger, delay, every };
  return delayAt.isAbsent && everyAt.isAbsent ? needEvery(at, when, context) : when;
}

function needEvery(at: Cursor, when: When, { count }: WhenContext): When | undefined {
  if (count === undefined || count === 1) return when;
  return at.problem(`nothing says how long it is from one of the ${count} injections to the next. `
    + 'Expected every, such as every: exponential 5s.');
}

/** A distribution as text or as an object. */
function readTime(at: Cursor, context: WhenContext): Distribution | undefined {
  const text = at.text();
  if (text === undefined) return readForm(at, context);
  const trace = /^\s*trace(?:\s+(.*))?$/s.exec(text);
  return trace === null ? at.take(readDistribution(text)) : readFile(at, (trace[1] ?? '').trim(), context);
}

function readForm(at: Cursor, context: WhenContext): Distribution | undefined {
  const trace = at.get('trace');
  if (!trace.isAbsent) return trace.string() === undefined ? undefined : readFile(trace, trace.string()!, context);
  const form = FORMS.find((known) => !at.get(known).isAbsent);
  if (form === undefined) return undefined;
  const value = at.get(form);
  if (form === 'fixed') {
    const valueMs = value.durationMs();
    return valueMs === undefined ? undefined : { type: 'fixed', valueMs };
  }
  const keys = { uniform: ['min', 'max'], exponential: ['mean'], weibull: ['shape', 'scale'],
    normal: ['mean', 'deviation'] }[form];
  const values = keys.map((key) => {
    const item = value.get(key);
    return key === 'shape' ? (typeof item.value === 'number' ? item.value : undefined) : item.durationMs();
  });
  const known = values.filter((one) => one !== undefined);
  return known.length === keys.length ? value.take(makeDistribution(form, known)) : undefined;
}

function readFile(at: Cursor, path: string, { readTrace: read }: WhenContext): Distribution | undefined {
  if (path === '') return at.problem('trace needs the name of a file, such as trace failures.txt.');
  try {
    const times = readTrace(read(path), COUNT_MAX);
    if (times.ok) return { type: 'trace', timesMs: times.value };
    return at.problem(`trace file ${shown(path)}: ${times.problem}.`);
  } catch (thrown) {
    if (!(thrown instanceof StciError)) throw thrown;
    return at.problem(`trace file ${shown(path)}: ${thrown.message}`);
  }
}

function readTrigger(at: Cursor, context: WhenContext): Trigger | undefined {
  if (at.isObject) return readTriggerObject(at, context);
  const text = at.string();
  const trigger = text === undefined ? undefined : at.take(readEvent(text));
  if (trigger?.fault === undefined) return trigger;
  const fault = context.faultCalled(trigger.fault, at);
  return fault === undefined ? undefined : ofFault({ ...trigger, fault }, at);
}

const KEYS = ['event', 'output', 'mark'] as const;

function readTriggerObject(at: Cursor, context: WhenContext): Trigger | undefined {
  const given = KEYS.filter((key) => !at.get(key).isAbsent);
  const [key] = given;
  if (key === undefined || given.length > 1) {
    return at.problem(`exactly one of ${KEYS.join(', ')} says what is waited for.`);
  }
  const [of, rankAt] = [at.get('of'), at.get('rank')];
  if (key !== 'event' && !of.isAbsent) at.problemOfKey('of', 'only events belong to faults. Leave it out.');
  if (key === 'event' && !rankAt.isAbsent) at.problemOfKey('rank', 'only output and mark are of a rank. Leave it out.');
  const value = at.get(key).string();
  if (value === undefined) return undefined;
  const nth = at.get('nth').integer() ?? 1;
  const rank = rankAt.integer();
  if (key === 'mark') return { on: 'mark', name: value, rank, nth };
  if (key === 'output') return isPattern(at.get(key), value) ? { on: 'output', pattern: value, rank, nth } : undefined;
  const read = readEvent(value);
  // An event that is unknown was told of by the schema.
  if (!read.ok) return undefined;
  const fault = of.isAbsent ? undefined : context.faultNamed(of);
  return ofFault({ ...read.value, nth, fault }, at);
}

function ofFault(trigger: Extract<Trigger, { on: 'event' }>, at: Cursor): Trigger | undefined {
  if (trigger.fault === undefined || EVENTS_OF_FAULTS.includes(trigger.event)) return trigger;
  return at.problem(`${trigger.event} is not of a fault. Expected one of ${EVENTS_OF_FAULTS.join(', ')}, or no fault.`);
}

/** Tells what is wrong with a regular expression. */
export function isPattern(at: Cursor, pattern: string): boolean {
  try {
    new RegExp(pattern);
    return true;
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.replace(/^Invalid regular expression: /, '') : '';
    at.problem(`${shown(pattern)} is no regular expression of JavaScript: ${why}. Special characters need a `
      + 'backslash.');
    return false;
  }
}
