/** Checks of what a program gives to the library. All throw ClientError, which names the function. */

import { PROGRAM_KEY_CHARS_MAX, PROGRAM_TAG_CHARS_MAX } from '@stci/interface';
import { ClientError, argumentError } from './errors.js';

export function checkRank(call: string, rank: unknown, size: number): number {
  if (typeof rank !== 'number' || !Number.isInteger(rank)) throw argumentError(call, `${show(rank)} is no rank`);
  if (rank >= 0 && rank < size) return rank;
  throw new ClientError('STCI_CLIENT_RANK', `${call}: there is no rank ${rank}: the job has ${size}, from 0`);
}

/** Tags that begin with `_` are the library's own. */
export function checkTag(call: string, tag: unknown, charsMax = PROGRAM_TAG_CHARS_MAX): string {
  const chars = `1 to ${charsMax} printable ASCII characters`;
  const isOne = typeof tag === 'string' && tag.length <= charsMax && /^[!-^`-~][!-~]*$/u.test(tag);
  if (isOne) return tag;
  const text = `expected a tag of ${chars} without space, not beginning with _, got ${show(tag)}`;
  throw argumentError(call, text);
}

export function checkKey(call: string, key: unknown): string {
  if (typeof key === 'string' && key.length <= PROGRAM_KEY_CHARS_MAX && /^[!-~]+$/u.test(key)) return key;
  const expected = `a key of 1 to ${PROGRAM_KEY_CHARS_MAX} printable ASCII characters without space`;
  throw argumentError(call, `expected ${expected}, got ${show(key)}`);
}

/** A word that is mistyped would be ignored otherwise. */
export function checkOptions(call: string, options: unknown, names: readonly string[]): void {
  const expected = `expected an object of ${names.join(', ')}`;
  if (typeof options !== 'object' || options === null) throw argumentError(call, `${expected}, got ${show(options)}`);
  const wrong = Object.keys(options).find((name) => !names.includes(name));
  if (wrong !== undefined) throw argumentError(call, `there is no option '${wrong}': ${expected}`);
}

export function checkInteger(call: string, what: string, value: unknown, min: number, max: number): number {
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
  throw argumentError(call, `expected ${what} in ${min}..${max}, got ${show(value)}`);
}

export function checkFunction(call: string, value: unknown): void {
  if (typeof value !== 'function') throw argumentError(call, `expected a function, got ${show(value)}`);
}

function show(value: unknown): string {
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  const other = isPlain ? `{${Object.keys(value).join(', ')}}` : String(value);
  const text = typeof value === 'string' ? `'${value}'` : other;
  return text.length <= 80 ? text : `${text.slice(0, 77)}...`;
}
