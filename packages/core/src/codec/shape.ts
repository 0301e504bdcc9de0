/**
 * Shapes: checks of what arrived against what its message type promises. Small on purpose, for they are loaded by
 * every agent; a full validator costs more start time than the whole agent. A shape returns the value with its
 * type, or throws STCI_MESSAGE_INVALID which names the path.
 */

import { StciError } from '@stci/interface';

export type Shape<T> = (value: unknown, path: string) => T;

function refuse(path: string, expected: string, got: unknown): never {
  const what = got === null ? 'null' : Array.isArray(got) ? 'an array' : typeof got;
  throw new StciError('STCI_MESSAGE_INVALID', `Expected ${expected} at ${path}, got ${what}`);
}

export const u32: Shape<number> = (value, path) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 0xffff_ffff
    ? value
    : refuse(path, 'an unsigned 32-bit integer', value);

export const num: Shape<number> = (value, path) =>
  typeof value === 'number' ? value : refuse(path, 'a number', value);

export const str: Shape<string> = (value, path) =>
  typeof value === 'string' ? value : refuse(path, 'a string', value);

export const bool: Shape<boolean> = (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'a boolean', value);

export const bytes: Shape<Uint8Array> = (value, path) =>
  value instanceof Uint8Array ? value : refuse(path, 'bytes', value);

/** Anything: the receiver checks it, or passes it on. */
export const any: Shape<unknown> = (value) => value;

/** Plain data whose inside its own validator checks; here only: no list, bytes or date. */
export function plain<T>(): Shape<T> {
  return (value, path) =>
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
      ? (value as T)
      : refuse(path, 'an object', value);
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

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, path) => (value === undefined || value === null ? undefined : shape(value, path));
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type FieldsOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Shape<infer T> ? T : never };

/** An object with these fields; further ones (of a newer peer) are let through. */
export function fields<F extends Fields>(shapes: F): Shape<FieldsOf<F>> {
  const names = Object.keys(shapes);
  return (value, path) => {
    if (typeof value !== 'object' || value === null) return refuse(path, 'an object', value);
    const record = value as Record<string, unknown>;
    for (const name of names) (shapes[name] as Shape<unknown>)(record[name], `${path}.${name}`);
    return value as FieldsOf<F>;
  };
}

type Tuple = readonly Shape<unknown>[];
type TupleOf<T extends Tuple> = { readonly [K in keyof T]: T[K] extends Shape<infer U> ? U : never };

/** An array of fixed length: the compact form of what is sent often. */
export function tuple<T extends Tuple>(...shapes: T): Shape<TupleOf<T>> {
  return (value, path) => {
    if (!Array.isArray(value) || value.length !== shapes.length) {
      return refuse(path, `an array of ${shapes.length}`, value);
    }
    for (let i = 0; i < shapes.length; i++) (shapes[i] as Shape<unknown>)(value[i], `${path}[${i}]`);
    return value as unknown as TupleOf<T>;
  };
}
