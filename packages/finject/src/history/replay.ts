/**
 * Whether a record's experiment and plans are such that they can be run again. The record may be damaged, or made by
 * somebody else: it is checked as far as the runner and the target's start rely on it.
 */

import { hasTree } from '../experiment/boot-tree.js';
import { INJECTIONS_MAX } from '../experiment/check.js';
import type { TargetShape } from '../experiment/contracts.js';
import type { HistoryRecord } from './contracts.js';

/** What is wrong, and where below the value: `.injections[3].kind`. */
interface Flaw {
  readonly path: string;
  readonly expected: string;
  readonly got: unknown;
}

type Check = (value: unknown) => Flaw | undefined;
type Fields = Readonly<Record<string, Check>>;

/** As the session takes them: of an order, of a name in it. */
const ORDER_MS_MAX = 86_400_000;
const NAME_CHARS_MAX = 256;
const U32_MAX = 0xffff_ffff;
/** Bound on a list that is no plan's. */
const LIST_MAX = 1_000_000;
/** Bound on the victims of one injection. */
const VICTIMS_MAX = 100_000;

function leaf(expected: string, test: (value: unknown) => boolean): Check {
  return (value) => (test(value) ? undefined : { path: '', expected, got: value });
}

function whole(min: number, max: number): Check {
  const isWithin = (value: unknown): boolean =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max;
  return leaf(`a whole number in ${min}..${max}`, isWithin);
}

const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\0');
const text = leaf('a string', isText);
const shortText = leaf(`a string of at most ${NAME_CHARS_MAX} characters`,
  (value) => isText(value) && value.length <= NAME_CHARS_MAX);
/** Ranks and hosts by number, and how often. */
const u32 = whole(0, U32_MAX);
const count = whole(0, Number.MAX_SAFE_INTEGER);
const time = leaf('a time in ms', (value) => Number.isFinite(value) && (value as number) >= 0);
const any: Check = () => undefined;
const oneOf = (...names: readonly unknown[]): Check =>
  leaf(`one of ${names.join(', ')}`, (value) => names.includes(value));
const maybe = (check: Check): Check => (value) => (value === undefined || value === null ? undefined : check(value));
const plain = leaf('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value));
/** Becomes a part of a path. */
const fileName = leaf('the name of a file',
  (value) => isText(value) && /^[^/\\]{1,200}$/u.test(value) && value !== '.' && value !== '..');
const pattern = leaf('a regular expression', (value) => {
  try {
    return isText(value) && new RegExp(value) !== undefined;
  } catch {
    return false;
  }
});

function list(check: Check, max = LIST_MAX, min = 0): Check {
  return (value) => {
    if (!Array.isArray(value)) return { path: '', expected: 'an array', got: value };
    if (value.length > max) return { path: '', expected: `at most ${max} values`, got: value.length };
    if (value.length < min) return { path: '', expected: `at least ${min} values`, got: value.length };
    for (const [index, one] of value.entries()) {
      const flaw = check(one);
      if (flaw !== undefined) return { ...flaw, path: `[${index}]${flaw.path}` };
    }
    return undefined;
  };
}

function object(fields: Fields): Check {
  return (value) => {
    const flaw = plain(value);
    if (flaw !== undefined) return flaw;
    const record = value as Readonly<Record<string, unknown>>;
    for (const [name, check] of Object.entries(fields)) {
      const below = check(record[name]);
      if (below !== undefined) return { ...below, path: `.${name}${below.path}` };
    }
    return undefined;
  };
}

/** Any names, one kind of value. */
function entries(check: Check): Check {
  return (value) => plain(value) ?? object(Object.fromEntries(Object.keys(value as object).map((name) =>
    [name, check])))(value);
}

function both(one: Check, other: Check): Check {
  return (value) => one(value) ?? other(value);
}

function variant(tag: string, kinds: Readonly<Record<string, Fields>>): Check {
  const names = Object.keys(kinds);
  return (value) => {
    const wrong = object({ [tag]: oneOf(...names) })(value);
    return wrong ?? object(kinds[(value as Readonly<Record<string, string>>)[tag] as string] as Fields)(value);
  };
}

const words = list(text, LIST_MAX, 1);
/** As parameters have: of a fault's argument. */
const argument: Check = (value) => (Array.isArray(value) ? list(text)(value)
  : leaf('a string, a number, a truth value or a list of strings',
    (one) => isText(one) || Number.isFinite(one) || typeof one === 'boolean')(value));

const trigger = variant('on', {
  event: { event: text, nth: u32, fault: maybe(text) },
  output: { pattern, rank: maybe(u32), nth: u32 },
  mark: { name: text, rank: maybe(u32), nth: u32 },
});
const victim = variant('kind', {
  rank: { rank: u32 }, host: { host: u32 },
  agent: { role: oneOf('front-end', 'controller', 'root', 'session'), host: u32 },
  link: { ends: list(u32, 2, 2) }, partition: { sets: list(list(u32)) },
});
const check = both(object({ name: text }), variant('type', {
  'exit-code': { anyOf: list(count) }, 'output': { pattern, expect: oneOf('some', 'none'), rank: maybe(u32) },
  'command': { command: words, phase: oneOf('before', 'during', 'after'), timeoutMs: time },
  'time-limit': { limitMs: time }, 'detected': { withinMs: time },
  'failed-ranks': { ranks: (value) => (value === 'victims' ? undefined : list(u32)(value)) },
  'injected': { least: (value) => (value === 'all' ? undefined : count(value)) }, 'no-false-detection': {},
  'no-orphan': {},
}));

const EXPERIMENT = object({
  name: fileName,
  target: object({ options: list(text), program: words, simulated: maybe(words), session: maybe(text) }),
  seed: count, hosts: list(text), warmUpMs: time, timeLimitMs: time, checks: list(check), victimsMax: u32,
  faults: list(object({ name: text, kind: text, count: u32, parts: list(plain) })),
  stop: object({ failuresMax: count, timeMs: maybe(time) }),
  outputs: object({ directory: maybe(text), outputBytesMax: count }),
  allow: list(oneOf('controller', 'front-end')),
  configurations: list(object({
    name: text, options: list(text), hosts: maybe(list(text)), program: maybe(words),
  })),
});
/** Older records have an arity only. */
const treeShape = both(
  object({ hosts: list(text), hostOfRank: list(u32), arity: maybe(u32), parents: maybe(list(u32)) }),
  (value) => (hasTree(value as TargetShape) ? undefined
    : { path: '.parents', expected: 'a boot tree over its hosts', got: (value as TargetShape).parents }),
);
const SHAPE = both(treeShape, object({ configurations: maybe(entries(treeShape)) }));
const INJECTION = object({
  id: shortText, fault: text, kind: shortText, args: entries(argument), victims: list(victim, VICTIMS_MAX), trigger,
  delayMs: time, coolDownMs: time, timeoutMs: whole(1, ORDER_MS_MAX), durationMs: maybe(whole(0, ORDER_MS_MAX)),
  atMs: maybe(time), follows: maybe(object({ id: text, state: oneOf('injected', 'over') })), impact: any,
});
const PLAN = object({
  repeat: u32, number: u32, configuration: text, keep: object({ ranks: list(u32), hosts: list(u32) }),
  injections: list(INJECTION, INJECTIONS_MAX),
});
const RUN = object({ experiment: EXPERIMENT, shape: SHAPE });

const SHOWN_CHARS_MAX = 60;

/** What is wrong with a record of type `run` or `repeat`, by the name of its field; undefined: it can be run again. */
export function replayProblem(record: HistoryRecord): string | undefined {
  if (record.type !== 'run' && record.type !== 'repeat') return undefined;
  const flaw = (record.type === 'run' ? RUN : object({ plan: PLAN }))(record);
  if (flaw === undefined) return undefined;
  const got = (JSON.stringify(flaw.got) ?? 'nothing').slice(0, SHOWN_CHARS_MAX);
  return `no proper '${flaw.path.slice(1)}': expected ${flaw.expected}, got ${got}`;
}
