/**
 * Shapes: checks of received values against their message type. Kept small, because every agent loads them; a full
 * validator costs more start time than the whole agent. A shape returns the value with its type, or throws
 * STCI_MESSAGE_INVALID with the path of the wrong value. Texts, lists, bytes and records have a bound, and so every
 * shape knows the most bytes that a value takes. Each also says as data what it accepts, its form, from which tests
 * make examples and mutants of it.
 */

import { StciError } from '@stci/interface';

export interface Shape<T> {
  (value: unknown, path: string): T;
  /** Of a value as CBOR. */
  readonly bytesMax: number;
  readonly form: Form;
}

/** The type of what a shape accepts. */
export type Infer<S> = S extends Shape<infer T> ? T : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Tuple = readonly Shape<unknown>[];

/** Values within a shape that a check of one's own accepts, and such that it refuses. */
export interface Samples {
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

/** What a shape accepts. `any` and `plain` are looked into by the receiver; `none`: nothing is accepted. */
export type Form =
  | { readonly kind: 'any' | 'plain' | 'bool' | 'none' }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly isWhole: boolean }
  | { readonly kind: 'text' | 'bytes'; readonly lengthMax: number }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'list'; readonly item: Shape<unknown>; readonly lengthMax: number }
  | { readonly kind: 'record'; readonly item: Shape<unknown>; readonly keysMax: number; readonly charsMax: number }
  | { readonly kind: 'optional'; readonly item: Shape<unknown> }
  | { readonly kind: 'fields'; readonly fields: Fields; readonly isClosed?: true }
  | { readonly kind: 'variant'; readonly tag: string; readonly kinds: Fields }
  | { readonly kind: 'tuple'; readonly items: Tuple }
  | { readonly kind: 'choice'; readonly among: Tuple }
  | { readonly kind: 'narrowed'; readonly whole: Shape<unknown>; readonly samples: Samples };

/** Bytes of CBOR: the longest head of an item; of one of 32 bits, as lengths are; of a character. */
const HEAD_BYTES_MAX = 9;
const LENGTH_BYTES = 5;
const CHAR_BYTES_MAX = 3;

/** `check` is no other shape's. */
function shape<T>(bytesMax: number, form: Form, check: (value: unknown, path: string) => T): Shape<T> {
  return Object.assign(check, { bytesMax, form });
}

function refuse(path: string, expected: string, got: unknown): never {
  const what = got === null ? 'null' : Array.isArray(got) ? 'an array' : typeof got === 'number' ? got : typeof got;
  throw new StciError('STCI_MESSAGE_INVALID', `Expected ${expected} at ${path}, got ${what}`);
}

const textBytes = (chars: number): number => LENGTH_BYTES + chars * CHAR_BYTES_MAX;
const sum = (shapes: Tuple): number => shapes.reduce((bytes, { bytesMax }) => bytes + bytesMax, 0);
const largest = (shapes: Tuple): number => Math.max(...shapes.map(({ bytesMax }) => bytesMax));

function numberForm(min: number, max: number, isWhole = false): Form {
  return { kind: 'number', min, max, isWhole };
}

const U32_MAX = 0xffff_ffff;

export const u32: Shape<number> = shape(LENGTH_BYTES, numberForm(0, U32_MAX, true), (value, path) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= U32_MAX
    ? value
    : refuse(path, 'an unsigned 32-bit integer', value));

/** Neither NaN nor infinite. */
export const num: Shape<number> = shape(
  HEAD_BYTES_MAX, numberForm(-Number.MAX_VALUE, Number.MAX_VALUE),
  (value, path) => (Number.isFinite(value) ? (value as number) : refuse(path, 'a number', value)),
);

/** Largest time that a Date holds, ms since the epoch. */
const WALL_MS_MAX = 8.64e15;

/** Wall-clock time that a Date can represent. */
export const wallTime: Shape<number> = shape(HEAD_BYTES_MAX, numberForm(0, WALL_MS_MAX), (value, path) =>
  typeof value === 'number' && value >= 0 && value <= WALL_MS_MAX ? value : refuse(path, 'a time', value));

export function integer(min: number, max: number): Shape<number> {
  return shape(HEAD_BYTES_MAX, numberForm(min, max, true), (value, path) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : refuse(path, `an integer in ${min}..${max}`, value));
}

export function str(charsMax: number): Shape<string> {
  return shape(textBytes(charsMax), { kind: 'text', lengthMax: charsMax }, (value, path) => {
    if (typeof value !== 'string') return refuse(path, 'a string', value);
    return value.length <= charsMax ? value : refuse(path, `at most ${charsMax} characters`, value.length);
  });
}

export const bool: Shape<boolean> = shape(1, { kind: 'bool' }, (value, path) =>
  typeof value === 'boolean' ? value : refuse(path, 'a boolean', value));

export function bytes(lengthMax: number): Shape<Uint8Array> {
  return shape(LENGTH_BYTES + lengthMax, { kind: 'bytes', lengthMax }, (value, path) => {
    if (!(value instanceof Uint8Array)) return refuse(path, 'bytes', value);
    return value.length <= lengthMax ? value : refuse(path, `at most ${lengthMax} bytes`, value.length);
  });
}

/** Any value: the receiver checks it, or forwards it. Its bytes are bounded by those of the message. */
export function any(bytesMax: number): Shape<unknown> {
  return shape(bytesMax, { kind: 'any' }, (value) => value);
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Plain data that its own validator checks; here only: an object, neither list, bytes nor date. */
export function plain<T>(bytesMax: number): Shape<T> {
  return shape(bytesMax, { kind: 'plain' }, (value, path) =>
    isPlain(value) ? (value as T) : refuse(path, 'an object', value));
}

/** No value; `expected`: instead of one. */
export function none(expected: string): Shape<never> {
  return shape(0, { kind: 'none' }, (value, path) => refuse(path, expected, value));
}

/** Those values of another shape in which `flawOf` finds nothing that they have instead of what is expected. */
export function narrowed<T, Narrow extends T = T>(
  whole: Shape<T>, flawOf: (value: T) => string | undefined, samples: Samples,
): Shape<Narrow> {
  return shape(whole.bytesMax, { kind: 'narrowed', whole, samples }, (value, path) => {
    const found = whole(value, path);
    const flaw = flawOf(found);
    if (flaw === undefined) return found as Narrow;
    throw new StciError('STCI_MESSAGE_INVALID', `${flaw}, at ${path}`);
  });
}

/** One of several shapes; `pick` looks at the value's type, length and fields, and no deeper. */
export function choice<T extends Tuple>(
  among: T, pick: (value: unknown) => T[number],
): Shape<Infer<T[number]>> {
  return shape(largest(among), { kind: 'choice', among }, (value, path) =>
    pick(value)(value, path) as Infer<T[number]>);
}

/** An object with at most so many keys, of so many characters, whose values have one shape. */
export function record<T>(item: Shape<T>, keysMax: number, charsMax: number): Shape<Readonly<Record<string, T>>> {
  const bytesMax = LENGTH_BYTES + keysMax * (textBytes(charsMax) + item.bytesMax);
  return shape(bytesMax, { kind: 'record', item, keysMax, charsMax }, (value, path) => {
    if (!isPlain(value)) return refuse(path, 'an object', value);
    const keys = Object.keys(value);
    if (keys.length > keysMax) return refuse(path, `at most ${keysMax} keys`, keys.length);
    for (const key of keys) {
      if (key.length > charsMax) return refuse(path, `keys of at most ${charsMax} characters`, key.length);
      item(value[key], `${path}.${key}`);
    }
    return value as Readonly<Record<string, T>>;
  });
}

export function list<T>(item: Shape<T>, lengthMax: number): Shape<readonly T[]> {
  return shape(LENGTH_BYTES + lengthMax * item.bytesMax, { kind: 'list', item, lengthMax }, (value, path) => {
    if (!Array.isArray(value)) return refuse(path, 'an array', value);
    if (value.length > lengthMax) return refuse(path, `an array of at most ${lengthMax}`, value.length);
    for (let i = 0; i < value.length; i++) item(value[i], `${path}[${i}]`);
    return value as readonly T[];
  });
}

export function oneOf<T extends string>(...allowed: readonly T[]): Shape<T> {
  const bytesMax = textBytes(Math.max(...allowed.map(({ length }) => length)));
  return shape(bytesMax, { kind: 'words', words: allowed }, (value, path) =>
    allowed.includes(value as T) ? (value as T) : refuse(path, `one of ${allowed.join(', ')}`, value));
}

/** A field that may be absent; null counts as absent, too. */
export function optional<T>(item: Shape<T>): Shape<T | undefined> {
  return shape(item.bytesMax, { kind: 'optional', item }, (value, path) =>
    value === undefined || value === null ? undefined : item(value, path));
}

type OptionalKey<F, K extends keyof F> =
  unknown extends Infer<F[K]> ? never : undefined extends Infer<F[K]> ? K : never;
type FieldsOf<F extends Fields> = Flat<
  & { readonly [K in keyof F as K extends OptionalKey<F, K> ? never : K]: Infer<F[K]> }
  & { readonly [K in keyof F as OptionalKey<F, K>]?: Infer<F[K]> }>;
type Flat<T> = { [K in keyof T]: T[K] };

/** An object with these fields; others (of a newer peer) are kept. */
export function fields<F extends Fields>(shapes: F): Shape<FieldsOf<F>> {
  const names = Object.keys(shapes);
  const namesBytes = names.reduce((all, { length }) => all + textBytes(length), LENGTH_BYTES);
  const bytesMax = namesBytes + sum(Object.values(shapes));
  return shape(bytesMax, { kind: 'fields', fields: shapes }, (value, path) => {
    if (!isPlain(value)) return refuse(path, 'an object', value);
    for (const name of names) {
      const checked = (shapes[name] as Shape<unknown>)(value[name], `${path}.${name}`);
      if (checked === undefined && value[name] === null) delete value[name];
    }
    return value as unknown as FieldsOf<F>;
  });
}

/** As `fields`, but others are dropped: what is received is merged with what is known here, and passed on. */
export function closed<F extends Fields>(shapes: F): Shape<FieldsOf<F>> {
  const open = fields(shapes);
  return shape(open.bytesMax, { kind: 'fields', fields: shapes, isClosed: true }, (value, path) => {
    const checked = open(value, path);
    for (const key of Object.keys(checked)) if (!Object.hasOwn(shapes, key)) delete (checked as Dictionary)[key];
    return checked;
  });
}

type Dictionary = Record<string, unknown>;

/** The fields of a type; the compiler reports a field of the type that is missing here. */
type FieldsFor<T> = { readonly [K in keyof T]-?: Shape<object extends Pick<T, K> ? T[K] | undefined : T[K]> };

export function object<T extends object>(shapes: FieldsFor<T>): Shape<T> {
  return fields(shapes as unknown as Fields) as Shape<unknown> as Shape<T>;
}

/** As `closed`, of a type. */
export function closedObject<T extends object>(shapes: FieldsFor<T>): Shape<T> {
  return closed(shapes as unknown as Fields) as Shape<unknown> as Shape<T>;
}

/** The shapes of the kinds of `T`, by the text in the field `tag`. */
export type VariantKinds<Tag extends string, T extends { readonly [K in Tag]: string }> =
  { readonly [Kind in T[Tag]]: Shape<Extract<T, { readonly [K in Tag]: Kind }>> };

/** One of several kinds of object, distinguished by the text in the field `tag`. */
export function variant<Tag extends string, T extends { readonly [K in Tag]: string }>(
  tag: Tag, kinds: VariantKinds<Tag, T>,
): Shape<T> {
  const shapes = Object.values(kinds) as Shape<unknown>[];
  const kind = oneOf(...(Object.keys(kinds) as T[Tag][]));
  return shape(largest(shapes), { kind: 'variant', tag, kinds }, (value, path) => {
    if (!isPlain(value)) return refuse(path, 'an object', value);
    const name = kind(value[tag], `${path}.${tag}`);
    return (kinds[name] as Shape<unknown>)(value, path) as T;
  });
}

type TupleOf<T extends Tuple> = { readonly [K in keyof T]: Infer<T[K]> };

/** An array of fixed length: the compact form for frequent data. */
export function tuple<T extends Tuple>(...shapes: T): Shape<TupleOf<T>> {
  return shape(LENGTH_BYTES + sum(shapes), { kind: 'tuple', items: shapes }, (value, path) => {
    if (!Array.isArray(value) || value.length !== shapes.length) {
      return refuse(path, `an array of ${shapes.length}`, value);
    }
    for (let i = 0; i < shapes.length; i++) (shapes[i] as Shape<unknown>)(value[i], `${path}[${i}]`);
    return value as unknown as TupleOf<T>;
  });
}
