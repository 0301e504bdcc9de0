/** How each type is written and read, bfrops v41; the same in both buffer forms. */

import { fromByteText, toByteText } from '../../bytes/byte-text.js';
import { refuseBody } from '../../bytes/refusal.js';
import { ByteReader, ByteWriter } from './bytes.js';
import {
  PMIX_TYPE, type BufferForm, type PmixData, type PmixInfo, type PmixTypeName, type PmixTypes, type PmixValue,
} from './types.js';

export interface Codec<T> {
  read(reader: ByteReader): T;
  write(writer: ByteWriter, data: T): void;
}

const U32_MAX = 0xffff_ffff;
const U16_MAX = 0xffff;
const FRACTION_DIGITS = 6;

const unsigned = (max: number): Codec<number> =>
  ({ read: (reader) => reader.flex(max), write: (writer, data) => writer.flex(data) });
const signed = (bits: number): Codec<number> =>
  ({ read: (reader) => reader.signed(bits), write: (writer, data) => writer.signed(data) });
const unsigned64: Codec<bigint> =
  { read: (reader) => reader.flexBig(), write: (writer, data) => writer.flexBig(data) };
const raw: Codec<number> = { read: (reader) => reader.byte(), write: (writer, data) => writer.byte(data) };

const string: Codec<string | null> = {
  read(reader) {
    const length = reader.signed(32);
    if (length === 0) return null;
    if (length < 0) refuseBody('a length of a string', length);
    const bytes = reader.take(length);
    if (bytes[length - 1] !== 0) refuseBody('a string that ends with NUL', `${length} bytes`);
    return toByteText(bytes.subarray(0, bytes.indexOf(0)));
  },
  write(writer, data) {
    if (data === null) return writer.signed(0);
    writer.signed(data.length + 1);
    writer.put(fromByteText(data));
    writer.byte(0);
  },
};

/** A string that is not NULL: a key, or a word of a list. */
const name: Codec<string> = {
  read: (reader) => string.read(reader) ?? refuseBody('a text', 'NULL'),
  write: string.write,
};

/** Decimal fraction as a text, which is all that their wire has. */
const fraction: Codec<number> = {
  read(reader) {
    const text = name.read(reader).trim();
    if (/^[+-]?inf/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity;
    if (/^[+-]?nan/i.test(text)) return NaN;
    return /^[+-]?[0-9.]+(e[+-]?[0-9]+)?$/i.test(text) ? Number(text) : refuseBody('a decimal number', text);
  },
  write: (writer, data) => string.write(writer, Number.isFinite(data) ? data.toFixed(FRACTION_DIGITS)
    : Number.isNaN(data) ? 'nan' : data < 0 ? '-inf' : 'inf'),
};

const bytes: Codec<Uint8Array> = {
  read(reader) {
    return reader.take(reader.flex(reader.left)).slice();
  },
  write(writer, data) {
    writer.flex(data.length);
    writer.put(data);
  },
};

const proc: Codec<PmixTypes['proc']> = {
  read: (reader) => ({ nspace: name.read(reader), rank: reader.flex(U32_MAX) }),
  write(writer, data) {
    name.write(writer, data.nspace);
    writer.flex(data.rank);
  },
};

const pid: Codec<number> = {
  read(reader) {
    const type = reader.flex(U16_MAX);
    return type === PMIX_TYPE.uint32 ? reader.flex(U32_MAX) : refuseBody('a process number as UINT32', type);
  },
  write(writer, data) {
    writer.flex(PMIX_TYPE.uint32);
    writer.flex(data);
  },
};

const procInfo: Codec<PmixTypes['procInfo']> = {
  read: (reader) => ({
    proc: proc.read(reader), host: string.read(reader), program: string.read(reader), pid: pid.read(reader),
    state: reader.byte(),
  }),
  write(writer, data) {
    proc.write(writer, data.proc);
    string.write(writer, data.host);
    string.write(writer, data.program);
    pid.write(writer, data.pid);
    writer.byte(data.state);
  },
};

/** A type's number, then a value of it. */
const value: Codec<PmixValue> = {
  read(reader) {
    const type = typeOf(reader.flex(U16_MAX));
    return reader.nested(() => ({ type, data: CODECS[type].read(reader) }) as PmixValue);
  },
  write(writer, data) {
    writer.flex(PMIX_TYPE[data.type]);
    codecOf(data.type).write(writer, data.data);
  },
};

const info: Codec<PmixInfo> = {
  read(reader) {
    const key = name.read(reader);
    const directives = reader.flex(U32_MAX);
    return { key, ...(directives !== 0 && { directives }), value: value.read(reader) };
  },
  write(writer, data) {
    name.write(writer, data.key);
    writer.flex(data.directives ?? 0);
    value.write(writer, data.value);
  },
};

/** `count` and then as many; the count is a SIZE, or an INT32. */
function list<T>(item: Codec<T>, isSigned = false): Codec<readonly T[]> {
  return {
    read: (reader) => reader.many(isSigned ? reader.signedCount() : reader.count(), item.read),
    write(writer, data) {
      if (isSigned) writer.signed(data.length);
      else writer.flex(data.length);
      for (const each of data) item.write(writer, each);
    },
  };
}

const infos = list(info);
const words = list(name, true);

const app: Codec<PmixTypes['app']> = {
  read: (reader) => ({
    command: string.read(reader), args: words.read(reader), env: words.read(reader), cwd: string.read(reader),
    processesMax: reader.signed(32), infos: infos.read(reader),
  }),
  write(writer, data) {
    string.write(writer, data.command);
    words.write(writer, data.args);
    words.write(writer, data.env);
    string.write(writer, data.cwd);
    writer.signed(data.processesMax);
    infos.write(writer, data.infos);
  },
};

const dataArray: Codec<PmixTypes['dataArray']> = {
  read(reader) {
    const type = typeOf(reader.flex(U16_MAX));
    const count = reader.count();
    if (type === 'undef' && count > 0) refuseBody('an array of values', 'one of none');
    return { type, items: reader.nested(() => reader.many<PmixData>(count, CODECS[type].read)) };
  },
  write(writer, data) {
    writer.flex(PMIX_TYPE[data.type]);
    writer.flex(data.items.length);
    for (const item of data.items) codecOf(data.type).write(writer, item);
  },
};

/** The value's bytes are walked, and kept as they are. */
const kval: Codec<PmixTypes['kval']> = {
  read(reader) {
    const key = name.read(reader);
    const start = reader.at;
    value.read(reader);
    return { key, bytes: reader.bytes.slice(start, reader.at) };
  },
  write(writer, data) {
    name.write(writer, data.key);
    writer.put(data.bytes);
  },
};

const pdata: Codec<PmixTypes['pdata']> = {
  read: (reader) => ({ proc: proc.read(reader), key: name.read(reader), value: value.read(reader) }),
  write(writer, data) {
    proc.write(writer, data.proc);
    name.write(writer, data.key);
    value.write(writer, data.value);
  },
};

const buffer: Codec<PmixTypes['buffer']> = {
  read(reader) {
    const form = reader.byte();
    if (form !== 1 && form !== 2) refuseBody('a buffer of form 1 or 2', form);
    return { form: form as BufferForm, bytes: bytes.read(reader) };
  },
  write(writer, data) {
    writer.byte(data.form);
    bytes.write(writer, data.bytes);
  },
};

export const CODECS: { readonly [K in PmixTypeName]: Codec<PmixTypes[K]> } = {
  undef: { read: () => undefined, write: () => undefined },
  bool: { read: (reader) => reader.byte() !== 0, write: (writer, data) => writer.byte(data ? 1 : 0) },
  int8: { read: (reader) => (reader.byte() << 24) >> 24, write: raw.write },
  byte: raw, uint8: raw, persistence: raw, scope: raw, range: raw, command: raw, procState: raw, allocDirective: raw,
  jobState: raw, linkState: raw,
  string, nspace: string, float: fraction, double: fraction,
  size: unsigned64, uint64: unsigned64, time: unsigned64, devType: unsigned64,
  uint: unsigned(U32_MAX), uint32: unsigned(U32_MAX), rank: unsigned(U32_MAX), infoDirectives: unsigned(U32_MAX),
  uint16: unsigned(U16_MAX), dataType: unsigned(U16_MAX), iofChannel: unsigned(U16_MAX), locType: unsigned(U16_MAX),
  int: signed(32), int32: signed(32), status: signed(32), int16: signed(16),
  int64: { read: (reader) => reader.signedBig(), write: (writer, data) => writer.signedBig(data) },
  timeval: {
    read: (reader) => ({ seconds: reader.signedBig(), microseconds: reader.signedBig() }),
    write(writer, data) {
      writer.signedBig(data.seconds);
      writer.signedBig(data.microseconds);
    },
  },
  pointer: { read: (reader) => void reader.byte(), write: (writer) => writer.byte(1) },
  byteObject: bytes, compressed: bytes,
  pid, value, proc, procInfo, app, info, pdata, buffer, kval, dataArray,
  query: {
    read: (reader) => ({ keys: words.read(reader), qualifiers: infos.read(reader) }),
    write(writer, data) {
      words.write(writer, data.keys);
      infos.write(writer, data.qualifiers);
    },
  },
  envar: {
    read: (reader) => ({ name: string.read(reader), value: string.read(reader), separator: reader.byte() }),
    write(writer, data) {
      string.write(writer, data.name);
      string.write(writer, data.value);
      writer.byte(data.separator);
    },
  },
  regattr: {
    read: (reader) => ({
      name: string.read(reader), key: string.read(reader), type: reader.flex(U16_MAX), descriptions: words.read(reader),
    }),
    write(writer, data) {
      string.write(writer, data.name);
      string.write(writer, data.key);
      writer.flex(data.type);
      words.write(writer, data.descriptions);
    },
  },
};

/** The codec of a type that is known at run time only. */
function codecOf(type: PmixTypeName): Codec<PmixData> {
  return CODECS[type] as Codec<PmixData>;
}

const NAMES = new Map(Object.entries(PMIX_TYPE).map(([type, code]) => [code as number, type as PmixTypeName]));

function typeOf(code: number): PmixTypeName {
  return NAMES.get(code) ?? refuseBody('a type that is known', code);
}

/** A value as the bytes of a PmixKval. */
export function encodeValue(data: PmixValue): Uint8Array {
  const writer = new ByteWriter();
  value.write(writer, data);
  return writer.finish();
}

/** Throws a refused body. */
export function decodeValue(wire: Uint8Array): PmixValue {
  const reader = new ByteReader(wire);
  const data = value.read(reader);
  return reader.left === 0 ? data : refuseBody('nothing behind a value', `${reader.left} bytes`);
}
