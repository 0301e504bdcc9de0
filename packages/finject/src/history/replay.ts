/**
 * Whether a record's experiment and plans are such that they can be run again. The record may be damaged, or made by
 * somebody else: it is checked as far as the runner and the target's start rely on it.
 */

import { hasTree } from '../experiment/boot-tree.js';
import type { TargetShape } from '../experiment/contracts.js';
import type { HistoryRecord } from './contracts.js';

type Check = (value: unknown) => boolean;
type Fields = Readonly<Record<string, Check>>;

const text: Check = (value) => typeof value === 'string' && !value.includes('\0');
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const time: Check = (value) => Number.isFinite(value) && (value as number) >= 0;
const any: Check = () => true;
const oneOf = (...names: readonly unknown[]): Check => (value) => names.includes(value);
const maybe = (check: Check): Check => (value) => value === undefined || value === null || check(value);
const list = (check: Check): Check => (value) => Array.isArray(value) && value.every(check);
const isObject: Check = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const object = (fields: Fields): Check => (value) => isObject(value) && wrongOf(value, fields) === undefined;
const both = (one: Check, other: Check): Check => (value) => one(value) && other(value);
/** Becomes a part of a path. */
const fileName = both(text, (value) => /^[^/\\]{1,200}$/u.test(value as string) && value !== '.' && value !== '..');
const words = both(list(text), (value) => (value as unknown[]).length > 0);
const pattern: Check = (value) => {
  try {
    return text(value) && new RegExp(value as string) !== undefined;
  } catch {
    return false;
  }
};

/** Name of the first field that is not as expected. */
function wrongOf(value: unknown, fields: Fields): string | undefined {
  const record = value as Readonly<Record<string, unknown>>;
  return Object.entries(fields).find(([name, check]) => !check(record[name]))?.[0];
}

const variant = (tag: string, kinds: Readonly<Record<string, Fields>>): Check => (value) => {
  if (!isObject(value)) return false;
  const kind = (value as Readonly<Record<string, unknown>>)[tag];
  const fields = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  return fields !== undefined && wrongOf(value, fields) === undefined;
};

const trigger = variant('on', {
  event: { event: text, nth: count, fault: maybe(text) },
  output: { pattern, rank: maybe(count), nth: count },
  mark: { name: text, rank: maybe(count), nth: count },
});
const victim = variant('kind', {
  rank: { rank: count }, host: { host: count },
  agent: { role: oneOf('front-end', 'controller', 'root', 'session'), host: count },
  link: { ends: both(list(count), (ends) => (ends as unknown[]).length === 2) }, partition: { sets: list(list(count)) },
});
const check = both(object({ name: text }), variant('type', {
  'exit-code': { anyOf: list(count) }, 'output': { pattern, expect: oneOf('some', 'none'), rank: maybe(count) },
  'command': { command: words, phase: oneOf('before', 'during', 'after'), timeoutMs: time },
  'time-limit': { limitMs: time }, 'failed-ranks': { ranks: (value) => value === 'victims' || list(count)(value) },
  'detected': { withinMs: time },
  'injected': { least: (value) => value === 'all' || count(value) }, 'no-false-detection': {}, 'no-orphan': {},
}));

const EXPERIMENT: Fields = {
  name: fileName,
  target: object({ options: list(text), program: words, simulated: maybe(words), session: maybe(text) }),
  seed: count, hosts: list(text), warmUpMs: time, timeLimitMs: time, checks: list(check), victimsMax: count,
  faults: list(object({ name: text, kind: text, count, parts: list(isObject) })),
  stop: object({ failuresMax: count, timeMs: maybe(time) }),
  outputs: object({ directory: maybe(text), outputBytesMax: count }),
  allow: list(oneOf('controller', 'front-end')),
  configurations: list(object({ name: text, options: list(text), hosts: maybe(list(text)) })),
};
const SHAPE: Fields = {
  hosts: list(text), hostOfRank: list(count), arity: maybe(count), parents: maybe(list(count)),
  configurations: maybe((value) => isObject(value) && Object.values(value as object).every(isShape)),
};
const isShape: Check = (value) => isObject(value) && shapeProblem(value) === undefined;

const INJECTION: Fields = {
  id: text, fault: text, kind: text, args: isObject, victims: list(victim), trigger, delayMs: time, coolDownMs: time,
  timeoutMs: time, durationMs: maybe(time), atMs: maybe(time),
  follows: maybe(object({ id: text, state: oneOf('injected', 'over') })), impact: any,
};
const PLAN: Fields = {
  repeat: count, configuration: text, keep: object({ ranks: list(count), hosts: list(count) }),
  injections: list(object(INJECTION)),
};

/** What is wrong with a record of type `run` or `repeat`; undefined: it can be run again. */
export function replayProblem(record: HistoryRecord): string | undefined {
  if (record.type === 'repeat') {
    const wrong = wrongOf(record.plan, PLAN);
    return wrong === undefined ? undefined : `the plan of a repeat has no proper '${wrong}'`;
  }
  if (record.type !== 'run') return undefined;
  const wrong = wrongOf(record.experiment, EXPERIMENT);
  if (wrong !== undefined) return `its experiment has no proper '${wrong}'`;
  const shape = shapeProblem(record.shape);
  return shape === undefined ? undefined : `its shape has no proper '${shape}'`;
}

/** Older records have an arity only. */
function shapeProblem(shape: unknown): string | undefined {
  return wrongOf(shape, SHAPE) ?? (hasTree(shape as TargetShape) ? undefined : 'parents');
}
