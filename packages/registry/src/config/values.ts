/**
 * Values of parameters as text: one parser and one printer for each type, and a description of what it expects. A
 * value in memory is a number (int; duration in ms; size in bytes), a boolean, a string or a list of strings.
 * Durations need a unit, since 10 could mean seconds or milliseconds; a size without a unit is in bytes.
 */

import type { ParamSpec, ParamType, ParamValue } from '@stci/interface';

/** Result of reading one value: the value, or what is wrong with it. */
export type Parsed =
  | { readonly ok: true; readonly value: ParamValue }
  | { readonly ok: false; readonly problem: string };

const DURATION_UNITS_MS: readonly (readonly [string, number])[] = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
  ['ms', 1],
];

const SIZE_UNITS_BYTES: readonly (readonly [string, number])[] = [
  ['GiB', 2 ** 30],
  ['MiB', 2 ** 20],
  ['KiB', 2 ** 10],
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
  ['B', 1],
];

const FORMS: Readonly<Record<ParamType, string>> = {
  int: 'an integer',
  bool: 'true or false',
  string: 'text',
  enum: 'one of the values named',
  duration: 'an integer and a unit (ms, s, m, h), such as 250ms or 2s',
  size: 'an integer and a unit (B, kB, MB, GB, KiB, MiB, GiB; none is bytes), such as 64KiB',
  list: 'names separated by commas',
};

const good = (value: ParamValue): Parsed => ({ ok: true, value });
const bad = (problem: string): Parsed => ({ ok: false, problem });

const PARSERS: Readonly<Record<ParamType, (text: string, spec: ParamSpec) => Parsed>> = {
  int: (text) => (/^-?\d+$/.test(text) ? good(Number(text)) : bad('is not an integer')),
  bool: (text) => (text === 'true' || text === 'false' ? good(text === 'true') : bad('is not true or false')),
  string: (text) => good(text),
  enum: (text, spec) => (spec.values?.includes(text) === true ? good(text) : bad('is not one of the values')),
  duration: parseDuration,
  size: (text) => parseUnits(text, SIZE_UNITS_BYTES, 1, 'is not a size'),
  list: parseList,
};

function parseDuration(text: string): Parsed {
  if (text === '0') return good(0);
  if (/^\d+$/.test(text)) return bad(`has no unit; write ${text}ms or ${text}s`);
  return parseUnits(text, DURATION_UNITS_MS, undefined, 'is not a duration');
}

function parseUnits(
  text: string,
  units: readonly (readonly [string, number])[],
  bareFactor: number | undefined,
  problem: string,
): Parsed {
  const match = /^(\d+)([A-Za-z]*)$/.exec(text);
  if (match === null) return bad(problem);
  const unit = match[2] ?? '';
  const factor = unit === '' ? bareFactor : units.find(([name]) => name === unit)?.[1];
  return factor === undefined ? bad(`${problem}: no unit ${unit}`) : good(Number(match[1]) * factor);
}

function parseList(text: string): Parsed {
  if (text.trim() === '') return good(Object.freeze([]));
  const items = text.split(',').map((item) => item.trim());
  return items.includes('') ? bad('has an empty item') : good(Object.freeze(items));
}

/** Reads `text` by `spec`, and checks its bounds. */
export function parseValue(spec: ParamSpec, text: string): Parsed {
  const parsed = PARSERS[spec.type](spec.type === 'string' ? text : text.trim(), spec);
  if (!parsed.ok) return parsed;
  const problem = valueProblem(spec, parsed.value);
  return problem === undefined ? parsed : bad(problem);
}

const FLAWS: Readonly<Record<ParamType, (value: unknown, spec: ParamSpec) => string | undefined>> = {
  int: numberProblem,
  duration: numberProblem,
  size: numberProblem,
  bool: (value) => (typeof value === 'boolean' ? undefined : 'is not a boolean'),
  string: (value) => (typeof value === 'string' ? undefined : 'is not a string'),
  enum: (value, { values }) => (values?.includes(value as string) === true ? undefined : 'is not one of the values'),
  list: (value) => (isList(value) ? undefined : 'is not a list of names'),
};

/** What is wrong with a value in memory (a default, a value of a snapshot), undefined where nothing is. */
export function valueProblem(spec: ParamSpec, value: unknown): string | undefined {
  return FLAWS[spec.type](value, spec);
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string' && item !== '' && !item.includes(','));
}

function numberProblem(value: unknown, spec: ParamSpec): string | undefined {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) return 'is not a safe integer';
  if (spec.type !== 'int' && value < 0) return 'is less than 0';
  if (spec.min !== undefined && value < spec.min) return `is less than ${formatValue(spec, spec.min)}`;
  if (spec.max !== undefined && value > spec.max) return `is more than ${formatValue(spec, spec.max)}`;
  return undefined;
}

/** The text that `parseValue` reads back as the same value. */
export function formatValue(spec: ParamSpec, value: ParamValue): string {
  if (typeof value === 'object') return value.join(',');
  if (typeof value !== 'number' || value === 0) return String(value);
  if (spec.type === 'duration') return formatUnits(value, DURATION_UNITS_MS);
  if (spec.type === 'size') return formatUnits(value, SIZE_UNITS_BYTES);
  return String(value);
}

function formatUnits(value: number, units: readonly (readonly [string, number])[]): string {
  const unit = units.find(([, factor]) => value % factor === 0);
  return unit === undefined ? String(value) : `${value / unit[1]}${unit[0]}`;
}

/** `1..1024`, `at least 64KiB`, `process|inline`; empty where the type has no bounds. */
export function formatBounds(spec: ParamSpec): string {
  if (spec.type === 'enum') return (spec.values ?? []).join('|');
  const low = spec.min === undefined ? undefined : formatValue(spec, spec.min);
  const high = spec.max === undefined ? undefined : formatValue(spec, spec.max);
  if (low !== undefined && high !== undefined) return `${low}..${high}`;
  if (low !== undefined) return `at least ${low}`;
  return high === undefined ? '' : `at most ${high}`;
}

/** Description of the values that are accepted. */
export function expectedForm(spec: ParamSpec): string {
  const bounds = formatBounds(spec);
  if (spec.type === 'enum') return `one of ${bounds}`;
  if (bounds === '') return FORMS[spec.type];
  return `${FORMS[spec.type]}, ${bounds.startsWith('at ') ? bounds : `within ${bounds}`}`;
}
