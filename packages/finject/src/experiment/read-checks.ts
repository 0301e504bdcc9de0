/** The checks of a file. */

import { didYouMean } from '@stci/core';
import type { Check } from './contracts.js';
import { isPattern } from './read-when.js';
import type { Cursor } from './reader.js';
import { shown } from './show.js';

const TYPES = [
  'exit-code', 'output', 'no-output', 'command', 'time-limit', 'failed-ranks', 'detected', 'injected',
  'no-false-detection', 'no-orphan',
] as const;
type Type = (typeof TYPES)[number];

/** Types that need no value. */
const BARE = ['no-false-detection', 'no-orphan'] as const;
/** Keys beside the one that says the type → the types that have them. */
const OPTIONS: Readonly<Record<string, readonly Type[]>> = {
  rank: ['output', 'no-output'], phase: ['command'], timeout: ['command'],
};
const COMMAND_TIMEOUT_MS = 10_000;
const EXIT_CODE_MAX = 255;

type Body = Check extends infer One ? (One extends Check ? Omit<One, 'name' | 'place' | 'path'> : never) : never;

export function readChecks(at: Cursor): { readonly at: Cursor; readonly check: Check | undefined }[] {
  const names = new Set<string>();
  return at.items().map((item) => {
    const body = readCheck(item);
    if (body === undefined) return { at: item, check: undefined };
    const given = item.get('name').string();
    if (given !== undefined && names.has(given)) {
      item.get('name').problem(`two checks are called ${shown(given)}. Give each a name of its own.`);
    }
    const name = given ?? unused(body.type === 'output' && body.expect === 'none' ? 'no-output' : body.type, names);
    names.add(name);
    return { at: item, check: { name, place: item.place, path: item.path, ...body } as Check };
  });
}

function unused(type: string, names: ReadonlySet<string>): string {
  let name = type;
  for (let number = 2; names.has(name); number++) name = `${type}-${number}`;
  return name;
}

function readCheck(at: Cursor): Body | undefined {
  const text = at.string();
  if (text !== undefined) {
    const bare = BARE.find((known) => known === text);
    if (bare !== undefined) return { type: bare };
    const needsValue = TYPES.some((known) => known === text);
    return at.problem(needsValue ? `${text} needs a value. Write it as an object: {${text}: …}.`
      : `there is no check ${shown(text)}.${didYouMean(text, TYPES)} Expected one of ${TYPES.join(', ')}.`);
  }
  if (!at.isObject) return undefined;
  const types = TYPES.filter((type) => !at.get(type).isAbsent);
  const [type] = types;
  if (type === undefined || types.length > 1) {
    return at.problem(`exactly one of ${TYPES.join(', ')} says what is checked.`);
  }
  for (const [key, of] of Object.entries(OPTIONS)) {
    if (!at.get(key).isAbsent && !of.includes(type)) {
      at.problemOfKey(key, `it belongs to ${of.join(' and ')}, not to ${type}. Leave it out.`);
    }
  }
  return readBody(at, type);
}

function readBody(at: Cursor, type: Type): Body | undefined {
  const value = at.get(type);
  switch (type) {
    case 'exit-code': {
      const anyOf = value.numbers(EXIT_CODE_MAX);
      return anyOf && { type, anyOf };
    }
    case 'output':
    case 'no-output': {
      const pattern = value.string();
      if (pattern === undefined || !isPattern(value, pattern)) return undefined;
      const rank = at.get('rank').integer();
      return { type: 'output', pattern, expect: type === 'output' ? 'some' : 'none', rank };
    }
    case 'command':
      return readCommand(at, value);
    case 'time-limit': {
      const limitMs = value.durationMs(1);
      return limitMs === undefined ? undefined : { type, limitMs };
    }
    case 'failed-ranks': {
      if (value.value === 'victims') return { type, ranks: 'victims' };
      const ranks = value.value === 'none' ? [] : value.numbers(undefined, ['victims', 'none']);
      return ranks && { type, ranks };
    }
    case 'detected': {
      const withinMs = value.durationMs(1);
      return withinMs === undefined ? undefined : { type, withinMs };
    }
    case 'injected': {
      if (value.value === 'all') return { type, least: 'all' };
      const least = value.integer();
      return least === undefined ? value.problem(`${shown(value.value)} is neither all nor a number of victims.`)
        : { type, least };
    }
    default:
      return value.isTrue() ? { type }
        : value.problem(`${shown(value.value)} is not what is expected: true. To leave the check out, remove it.`);
  }
}

function readCommand(at: Cursor, value: Cursor): Body | undefined {
  const command = value.words();
  if (command === undefined) return undefined;
  if (command.length === 0 || command[0] === '') return value.problem('it has no program. Expected a command line.');
  const phase = at.get('phase').string() as 'before' | 'during' | 'after' | undefined;
  const timeoutMs = at.get('timeout').durationMs(1) ?? COMMAND_TIMEOUT_MS;
  return { type: 'command', command, phase: phase ?? 'after', timeoutMs };
}
