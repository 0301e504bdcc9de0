/**
 * Shapes: checks of received values against their message type. Kept small, because every agent loads them; a full
 * validator costs more start time than the whole agent. A shape returns the value with its type, or throws
 * STCI_MESSAGE_INVALID with the path of the wrong value.
 */

import { StciError } from '@stci/interface';

export type Shape<T> = (value: unknown, path: string) => T;

function refuse(path: string, expected: string, got: unknown): never {
  const what = got === null ? 'null' : Array.isArray(got) ? 'an array' : typeof got === 'number' ? got : typeof got;
  throw new StciError('STCI_MESSAGE_INVALID', `Expected ${expected} at ${path}, got ${what}`);
}

export const u32: Shape<number> = (value, path) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff
    ? value
    : refuse(path, 'an unsigned 32-bit integer', value);

/** Neither NaN nor infinite. */
export const num: Shape<number> = (value, path) =>
  Number.isFinite(value) ? (value as number) : refuse(path, 'a number', value);

/** Largest time that a Date holds, ms since the epoch. */
const WALL_MS_MAX = 8.64e15;

/** Wall-clock time that a Date can represent. */
export const wallTime: Shape<number> = (value, path) =>
  typeof value === 'number' && value >= 0 && value <= WALL_MS_MAX ? value : refuse(path, 'a time', value);

export function integer(min: number, max: number): Shape<number> {
  return (value, path) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : refuse(path, `an integer in ${min}..${max}`, value);
}

export const str: Shape<string> = (value, path) =>
  typeof value === 'string' ? value : refuse(path, 'a string', value);

export function shortStr(charsMax: number): Shape<string> {
  return (value, path) =>
    str(value, path).length <= charsMax ? (value as string) : refuse(path, `at most ${charsMax} characters`, value);
}

export const bool: Shape<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'a boolean', value);

export const bytes: Shape<Uint8Array> = (value, path) =>
  value instanceof Uint8Array ? value : refuse(path, 'bytes', value);

/** Any value: the receiver checks it, or forwards it. */
export const any: Shape<unknown> = (value) => value;

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Plain data that its own validator checks; here only: an object, neither list, bytes nor date. */
export function plain<T>(): Shape<T> {
  return (value, path) => (isPlain(value) ? (value as T) : refuse(path, 'an object', value));
}

/** An object with any keys, whose values have one shape. */
export function record<T>(item: Shape<T>): Shape<Readonly<Record<string, T>>> {
  return (value, path) => {
    if (!isPlain(value)) return refuse(path, 'an object', value);
    for (const key of Object.keys(value)) item(value[key], `${path}.${key}`);
    return value as Readonly<Record<string, T>>;
  };
}

export function list<T>(item: Shape<T>): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) return refuse(path, 'an array', value);
    for (let i = 0; i < value.length; i++) item(value[i], `${path}[${i}]`);
    return value as readonly T[];
  };
}

export function oneOf<T extends string>(...allowed: readonly T[]): Shape<T> {
  return (value, path) =>
    allowed.includes(value as T) ? (value as T) : refuse(path, `one of ${allowed.join(', ')}`, value);
}

/** In an object's field, null counts as absent. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, path) => (value === undefined || value === null ? undefined : shape(value, path));
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type FieldsOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Shape<infer T> ? T : never };

/** An object with these fields; others (of a newer peer) are kept. */
export function fields<F extends Fields>(shapes: F): Shape<FieldsOf<F>> {
  const names = Object.keys(shapes);
  return (value, path) => {
    if (typeof value !== 'object' || value === null) return refuse(path, 'an object', value);
    const record = value as Record<string, unknown>;
    for (const name of names) {
      const checked = (shapes[name] as Shape<unknown>)(record[name], `${path}.${name}`);
      if (checked === undefined && record[name] === null) delete record[name];
    }
    return value as FieldsOf<F>;
  };
}

/** The fields of a type; the compiler reports a field of the type that is missing here. */
type FieldsFor<T> = { readonly [K in keyof T]-?: Shape<object extends Pick<T, K> ? T[K] | undefined : T[K]> };

export function object<T extends object>(shapes: FieldsFor<T>): Shape<T> {
  return fields(shapes as unknown as Fields) as Shape<unknown> as Shape<T>;
}

/** One of several kinds of object, distinguished by the text in the field `tag`. */
export function variant<Tag extends string, T extends { readonly [K in Tag]: string }>(
  tag: Tag,
  kinds: { readonly [Kind in T[Tag]]: Shape<Extract<T, { readonly [K in Tag]: Kind }>> },
): Shape<T> {
  const kind = oneOf(...(Object.keys(kinds) as T[Tag][]));
  return (value, path) => {
    const name = kind(plain<Record<string, unknown>>()(value, path)[tag], `${path}.${tag}`);
    return (kinds[name] as Shape<unknown>)(value, path) as T;
  };
}

type Tuple = readonly Shape<unknown>[];
type TupleOf<T extends Tuple> = { readonly [K in keyof T]: T[K] extends Shape<infer U> ? U : never };

/** An array of fixed length: the compact form for frequent data. */
export function tuple<T extends Tuple>(...shapes: T): Shape<TupleOf<T>> {
  return (value, path) => {
    if (!Array.isArray(value) || value.length !== shapes.length) {
      return refuse(path, `an array of ${shapes.length}`, value);
    }
    for (let i = 0; i < shapes.length; i++) (shapes[i] as Shape<unknown>)(value[i], `${path}[${i}]`);
    return value as unknown as TupleOf<T>;
  };
}
