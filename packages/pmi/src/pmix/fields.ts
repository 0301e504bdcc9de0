/** Fields of bodies: each knows how it is packed and unpacked, so that one table describes both sides. */

import { Packer, Unpacker } from './bfrops/packing.js';
import type { BufferForm, PmixKval, PmixProc, PmixTypeName, PmixTypes } from './bfrops/types.js';

export interface Field<T> {
  read(source: Unpacker): T;
  write(sink: Packer, value: T): void;
}

/** What a record of fields is. */
export type RecordOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never };
export type Fields = Readonly<Record<string, Field<unknown>>>;

/** Fields one after the other, in the order of the table. */
export function readFields<F extends Fields>(fields: F, source: Unpacker): RecordOf<F> {
  const values: Record<string, unknown> = {};
  for (const key in fields) values[key] = fields[key]!.read(source);
  return values as RecordOf<F>;
}

export function writeFields(fields: Fields, sink: Packer, values: Readonly<Record<string, unknown>>): void {
  for (const key in fields) fields[key]!.write(sink, values[key]);
}

export function one<K extends PmixTypeName>(type: K): Field<PmixTypes[K]> {
  return { read: (source) => source.one(type), write: (sink, value) => sink.pack(type, value) };
}

/** A string that is not NULL. */
export const text: Field<string> = {
  read: (source) => source.one('string') ?? '',
  write: (sink, value) => sink.pack('string', value),
};

/** SIZE n and, unless it is 0, a pack of n. */
export function counted<K extends PmixTypeName>(type: K): Field<readonly PmixTypes[K][]> {
  return {
    read(source) {
      const count = source.count();
      return count === 0 ? [] : source.unpack(type, count);
    },
    write(sink, values) {
      sink.pack('size', BigInt(values.length));
      if (values.length > 0) sink.pack(type, ...values);
    },
  };
}

/** SIZE n and n packs of one. */
export function eachCounted<T>(item: Field<T>): Field<readonly T[]> {
  return {
    read: (source) => Array.from({ length: source.count() }, () => item.read(source)),
    write(sink, values) {
      sink.pack('size', BigInt(values.length));
      for (const value of values) item.write(sink, value);
    },
  };
}

/** Packs of one to the end of the body. */
export function rest<T>(item: Field<T>): Field<readonly T[]> {
  return {
    read(source) {
      const values: T[] = [];
      while (!source.isAtEnd) values.push(item.read(source));
      return values;
    },
    write(sink, values) {
      for (const value of values) item.write(sink, value);
    },
  };
}

/** A field that the body may end before. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return {
    read: (source) => (source.isAtEnd ? undefined : field.read(source)),
    write(sink, value) {
      if (value !== undefined) field.write(sink, value);
    },
  };
}

export const kvals = rest(one('kval'));

/** Fields in bytes of their own, in the buffer's form. */
function boxed<F extends Fields>(fields: F): Field<RecordOf<F>> {
  return {
    read: (source) => readFields(fields, new Unpacker(source.form, source.one('byteObject'))),
    write: (sink, value) => sink.pack('byteObject', encodeFields(fields, sink.form, value)),
  };
}

function encodeFields(fields: Fields, form: BufferForm, values: Readonly<Record<string, unknown>>): Uint8Array {
  const sink = new Packer(form);
  writeFields(fields, sink, values);
  return sink.finish();
}

/** A rank's data, as answers to a get hold them. */
export interface RankData {
  readonly proc: PmixProc;
  readonly kvals: readonly PmixKval[];
}
const RANK_DATA = { proc: one('proc'), kvals };
export const rankData: Field<RankData> = boxed(RANK_DATA);

/** As `encodeGet` takes it. */
export function encodeRankData(form: BufferForm, { proc, kvals: pairs }: RankData): Uint8Array {
  return encodeFields(RANK_DATA, form, { proc, kvals: pairs });
}

/** A job's info, as answers to a connect hold those of foreign jobs. */
export interface NspaceData {
  readonly nspace: string;
  readonly kvals: readonly PmixKval[];
}
export const nspaceData: Field<NspaceData> = boxed({ nspace: text, kvals });

/** What a rank commits for one scope. */
export interface ScopeData {
  readonly scope: number;
  readonly kvals: readonly PmixKval[];
}
export const scopeData: Field<ScopeData> = {
  read(source) {
    const scope = source.one('scope');
    const { form, bytes } = source.one('buffer');
    return { scope, kvals: kvals.read(new Unpacker(form, bytes)) };
  },
  write(sink, value) {
    sink.pack('scope', value.scope);
    const inner = new Packer(sink.form);
    kvals.write(inner, value.kvals);
    sink.pack('buffer', { form: sink.form, bytes: inner.finish() });
  },
};
