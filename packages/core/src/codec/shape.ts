/**
 * Shapes: what a received value must be by its message type, as data from which `check` judges it, and from which tests
 * make examples and mutants. Kept small, because every agent loads them; a full validator costs more start time than
 * the whole agent. Texts, lists, bytes and records have a bound, and so every shape knows the most bytes that a value
 * takes.
 */

import { StciError } from '@stci/interface';

declare const TYPE: unique symbol;

/** Of values of the type `T`. `bytesMax`: of a value as CBOR. */
export type Shape<T> = Form & { readonly bytesMax: number; readonly [TYPE]?: () => T };

/** The type of what a shape accepts. */
export type Infer<S> = S extends Shape<infer T> ? T : never;

type Any = Shape<unknown>;
type Fields = Readonly<Record<string, Any>>;
type Tuple = readonly Any[];

/** Values within a shape that a check of one's own accepts, and such that it refuses. */
export interface Samples {
  readonly good: readonly unknown[];
  readonly bad: readonly unknown[];
}

/** What a shape accepts. `any` and `plain` are looked into by the receiver; `none`: nothing is accepted. */
export type Form =
  | { readonly kind: 'any' | 'plain' | 'bool' }
  | { readonly kind: 'none'; readonly expected: string }
  | { readonly kind: 'number'; readonly min: number; readonly max: number; readonly isWhole: boolean }
  | { readonly kind: 'text' | 'bytes'; readonly lengthMax: number }
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'list'; readonly item: Any; readonly lengthMax: number }
  | { readonly kind: 'record'; readonly item: Any; readonly keysMax: number; readonly charsMax: number }
  | { readonly kind: 'optional'; readonly item: Any }
  | { readonly kind: 'fields'; readonly fields: Fields; readonly isClosed: boolean }
  | { readonly kind: 'variant'; readonly tag: string; readonly kinds: Fields }
  | { readonly kind: 'tuple'; readonly items: Tuple }
  | { readonly kind: 'choice'; readonly among: Tuple; readonly pick: (value: unknown) => Any }
  | {
    readonly kind: 'narrowed'; readonly whole: Any; readonly samples: Samples;
    readonly flawOf: (value: never) => string | undefined;
  };

export type FormOf<Kind extends Form['kind']> = Extract<Form, { readonly kind: Kind }>;

/** Returns the value with its type, or throws STCI_MESSAGE_INVALID with the path of what is wrong. */
export function check<T>(shape: Shape<T>, value: unknown, path: string): T {
  return (CHECKS[shape.kind] as (shape: Form, value: unknown, path: string) => T)(shape, value, path);
}

type Checks = {
  readonly [Kind in Form['kind']]: (form: FormOf<Kind>, value: unknown, path: string) => unknown;
};

const CHECKS: Checks = {
  any: (_, value) => value,
  plain: (_, value, path) => (isPlain(value) ? value : refuse(path, 'an object', value)),
  bool: (_, value, path) => (typeof value === 'boolean' ? value : refuse(path, 'a boolean', value)),
  none: ({ expected }, value, path) => refuse(path, expected, value),

  number: ({ min, max, isWhole }, value, path) => {
    const isNumber = isWhole ? Number.isInteger(value) : Number.isFinite(value);
    if (isNumber && (value as number) >= min && (value as number) <= max) return value;
    return refuse(path, `${isWhole ? 'an integer' : 'a number'} in ${min}..${max}`, value);
  },

  text: ({ lengthMax }, value, path) => {
    if (typeof value !== 'string') return refuse(path, 'a string', value);
    return value.length <= lengthMax ? value : refuse(path, `at most ${lengthMax} characters`, value.length);
  },

  bytes: ({ lengthMax }, value, path) => {
    if (!(value instanceof Uint8Array)) return refuse(path, 'bytes', value);
    return value.length <= lengthMax ? value : refuse(path, `at most ${lengthMax} bytes`, value.length);
  },

  words: ({ words }, value, path) =>
    words.includes(value as string) ? value : refuse(path, `one of ${words.join(', ')}`, value),

  list: ({ item, lengthMax }, value, path) => {
    if (!Array.isArray(value)) return refuse(path, 'an array', value);
    if (value.length > lengthMax) return refuse(path, `an array of at most ${lengthMax}`, value.length);
    for (let i = 0; i < value.length; i++) check(item, value[i], `${path}[${i}]`);
    return value;
  },

  record: ({ item, keysMax, charsMax }, value, path) => {
    if (!isPlain(value)) return refuse(path, 'an object', value);
    const keys = Object.keys(value);
    if (keys.length > keysMax) return refuse(path, `at most ${keysMax} keys`, keys.length);
    for (const key of keys) {
      if (key.length > charsMax) return refuse(path, `keys of at most ${charsMax} characters`, key.length);
      check(item, value[key], `${path}.${key}`);
    }
    return value;
  },

  optional: ({ item }, value, path) => (value === undefined || value === null ? undefined : check(item, value, path)),

  fields: ({ fields, isClosed }, value, path) => {
    if (!isPlain(value)) return refuse(path, 'an object', value);
    for (const [name, field] of Object.entries(fields)) {
      const checked = check(field, value[name], `${path}.${name}`);
      if (checked === undefined && value[name] === null) delete value[name];
    }
    if (isClosed) for (const key of Object.keys(value)) if (!Object.hasOwn(fields, key)) delete value[key];
    return value;
  },

  tuple: ({ items }, value, path) => {
    const isOne = Array.isArray(value) && value.length === items.length;
    if (!isOne) return refuse(path, `an array of ${items.length}`, value);
    for (let i = 0; i < items.length; i++) check(items[i] as Any, value[i], `${path}[${i}]`);
    return value as unknown[];
  },

  variant: ({ tag, kinds }, value, path) => {
    if (!isPlain(value)) return refuse(path, 'an object', value);
    const kind = value[tag];
    if (typeof kind === 'string' && Object.hasOwn(kinds, kind)) return check(kinds[kind] as Any, value, path);
    return refuse(`${path}.${tag}`, `one of ${Object.keys(kinds).join(', ')}`, kind);
  },

  choice: ({ pick }, value, path) => check(pick(value), value, path),

  narrowed: ({ whole, flawOf }, value, path) => {
    const found = check(whole, value, path);
    const flaw = flawOf(found as never);
    if (flaw !== undefined) throw new StciError('STCI_MESSAGE_INVALID', `${flaw}, at ${path}`);
    return found;
  },
};

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

function refuse(path: string, expected: string, got: unknown): never {
  const what = got === null ? 'null' : Array.isArray(got) ? 'an array' : typeof got === 'number' ? got : typeof got;
  throw new StciError('STCI_MESSAGE_INVALID', `Expected ${expected} at ${path}, got ${what}`);
}

/** Bytes of CBOR: the longest head of an item; of one of 32 bits, as lengths are; of a character. */
const HEAD_BYTES_MAX = 9;
const LENGTH_BYTES = 5;
const CHAR_BYTES_MAX = 3;

const textBytes = (chars: number): number => LENGTH_BYTES + chars * CHAR_BYTES_MAX;
const sum = (shapes: Tuple): number => shapes.reduce((bytes, { bytesMax }) => bytes + bytesMax, 0);
const largest = (shapes: Tuple): number => Math.max(...shapes.map(({ bytesMax }) => bytesMax));

const U32_MAX = 0xffff_ffff;

export const u32: Shape<number> = { kind: 'number', min: 0, max: U32_MAX, isWhole: true, bytesMax: LENGTH_BYTES };

/** Neither NaN nor infinite. */
export const num: Shape<number> = realNumber(-Number.MAX_VALUE, Number.MAX_VALUE);

/** Largest time that a Date holds, ms since the epoch. */
const WALL_MS_MAX = 8.64e15;

/** Wall-clock time that a Date can represent. */
export const wallTime: Shape<number> = realNumber(0, WALL_MS_MAX);

function realNumber(min: number, max: number): Shape<number> {
  return { kind: 'number', min, max, isWhole: false, bytesMax: HEAD_BYTES_MAX };
}

export function integer(min: number, max: number): Shape<number> {
  return { kind: 'number', min, max, isWhole: true, bytesMax: HEAD_BYTES_MAX };
}

export function str(lengthMax: number): Shape<string> {
  return { kind: 'text', lengthMax, bytesMax: textBytes(lengthMax) };
}

export const bool: Shape<boolean> = { kind: 'bool', bytesMax: 1 };

export function bytes(lengthMax: number): Shape<Uint8Array> {
  return { kind: 'bytes', lengthMax, bytesMax: LENGTH_BYTES + lengthMax };
}

/** Any value: the receiver checks it, or forwards it. Its bytes are bounded by those of the message. */
export function any(bytesMax: number): Shape<unknown> {
  return { kind: 'any', bytesMax };
}

/** Plain data that its own validator checks; here only: an object, neither list, bytes nor date. */
export function plain<T>(bytesMax: number): Shape<T> {
  return { kind: 'plain', bytesMax };
}

/** No value; `expected`: instead of one. */
export function none(expected: string): Shape<never> {
  return { kind: 'none', expected, bytesMax: 0 };
}

/** Those values of another shape in which `flawOf` finds nothing that they have instead of what is expected. */
export function narrowed<T, Narrow extends T = T>(
  whole: Shape<T>, flawOf: (value: T) => string | undefined, samples: Samples,
): Shape<Narrow> {
  return { kind: 'narrowed', whole, flawOf, samples, bytesMax: whole.bytesMax };
}

/** One of several shapes; `pick` looks at the value's type, length and fields, and no deeper. */
export function choice<T extends Tuple>(among: T, pick: (value: unknown) => T[number]): Shape<Infer<T[number]>> {
  return { kind: 'choice', among, pick, bytesMax: largest(among) };
}

/** An object with at most so many keys, of so many characters, whose values have one shape. */
export function record<T>(item: Shape<T>, keysMax: number, charsMax: number): Shape<Readonly<Record<string, T>>> {
  const bytesMax = LENGTH_BYTES + keysMax * (textBytes(charsMax) + item.bytesMax);
  return { kind: 'record', item, keysMax, charsMax, bytesMax };
}

export function list<T>(item: Shape<T>, lengthMax: number): Shape<readonly T[]> {
  return { kind: 'list', item, lengthMax, bytesMax: LENGTH_BYTES + lengthMax * item.bytesMax };
}

export function oneOf<T extends string>(...words: readonly T[]): Shape<T> {
  return { kind: 'words', words, bytesMax: textBytes(Math.max(...words.map(({ length }) => length))) };
}

/** A field that may be absent; null counts as absent, too. */
export function optional<T>(item: Shape<T>): Shape<T | undefined> {
  return { kind: 'optional', item, bytesMax: item.bytesMax };
}

type OptionalKey<F, K extends keyof F> =
  unknown extends Infer<F[K]> ? never : undefined extends Infer<F[K]> ? K : never;
type FieldsOf<F extends Fields> = Flat<
  & { readonly [K in keyof F as K extends OptionalKey<F, K> ? never : K]: Infer<F[K]> }
  & { readonly [K in keyof F as OptionalKey<F, K>]?: Infer<F[K]> }>;
type Flat<T> = { [K in keyof T]: T[K] };

/** An object with these fields; others (of a newer peer) are kept. */
export function fields<F extends Fields>(shapes: F): Shape<FieldsOf<F>> {
  return { kind: 'fields', fields: shapes, isClosed: false, bytesMax: fieldsBytes(shapes) };
}

/** As `fields`, but others are dropped: what is received is merged with what is known here, and passed on. */
export function closed<F extends Fields>(shapes: F): Shape<FieldsOf<F>> {
  return { kind: 'fields', fields: shapes, isClosed: true, bytesMax: fieldsBytes(shapes) };
}

function fieldsBytes(shapes: Fields): number {
  const names = Object.keys(shapes).reduce((all, { length }) => all + textBytes(length), LENGTH_BYTES);
  return names + sum(Object.values(shapes));
}

/** The fields of a type; the compiler reports a field of the type that is missing here. */
type FieldsFor<T> = { readonly [K in keyof T]-?: Shape<object extends Pick<T, K> ? T[K] | undefined : T[K]> };

export function object<T extends object>(shapes: FieldsFor<T>): Shape<T> {
  return fields(shapes as unknown as Fields) as Any as Shape<T>;
}

/** As `closed`, of a type. */
export function closedObject<T extends object>(shapes: FieldsFor<T>): Shape<T> {
  return closed(shapes as unknown as Fields) as Any as Shape<T>;
}

/** The shapes of the kinds of `T`, by the text in the field `tag`. */
export type VariantKinds<Tag extends string, T extends { readonly [K in Tag]: string }> =
  { readonly [Kind in T[Tag]]: Shape<Extract<T, { readonly [K in Tag]: Kind }>> };

/** One of several kinds of object, distinguished by the text in the field `tag`. */
export function variant<Tag extends string, T extends { readonly [K in Tag]: string }>(
  tag: Tag, kinds: VariantKinds<Tag, T>,
): Shape<T> {
  return { kind: 'variant', tag, kinds, bytesMax: largest(Object.values(kinds) as Any[]) };
}

type TupleOf<T extends Tuple> = { readonly [K in keyof T]: Infer<T[K]> };

/** An array of fixed length: the compact form for frequent data. */
export function tuple<T extends Tuple>(...items: T): Shape<TupleOf<T>> {
  return { kind: 'tuple', items, bytesMax: LENGTH_BYTES + sum(items) };
}
