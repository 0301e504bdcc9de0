/** Files as compilers and ldconfig make them, of a few bytes: what is read of a program's libraries, and no more. */

export interface ElfParts {
  readonly needed?: readonly string[];
  readonly rpath?: string;
  readonly runpath?: string;
  /** Symbols of texts. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Bytes behind everything that tables name. */
  readonly tail?: string;
  readonly machine?: number;
}

const ADDRESS = 0x40_0000;
const HEAD_BYTES = 64 + 2 * 56;

/** A 64-bit ELF file of one segment, with its dynamic table. */
export function elfFile({ needed = [], rpath, runpath, texts = {}, tail = '', machine = 62 }: ElfParts): Buffer {
  let strings = '\0';
  const stringAt = (text: string): number => {
    strings += `${text}\0`;
    return strings.length - text.length - 1;
  };
  const rows: [number, number][] = needed.map((name) => [1, stringAt(name)]);
  if (rpath !== undefined) rows.push([15, stringAt(rpath)]);
  if (runpath !== undefined) rows.push([29, stringAt(runpath)]);
  const symbols = Object.entries(texts).map(([name, text]) => ({ name: stringAt(name), text: stringAt(text) }));
  const symbolsAt = HEAD_BYTES + 16 * (rows.length + 4);
  const stringsAt = symbolsAt + 24 * symbols.length;
  rows.push([5, ADDRESS + stringsAt], [6, ADDRESS + symbolsAt], [10, strings.length], [0, 0]);
  const file = Buffer.alloc(stringsAt + strings.length + tail.length);
  file.writeUInt32BE(0x7f45_4c46, 0);
  file.set([2, 1, 1], 4);
  file.writeUInt16LE(machine, 18);
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(2, 56);
  const segment = (at: number, type: number, offset: number, bytes: number): void => {
    file.writeUInt32LE(type, at);
    file.writeBigUInt64LE(BigInt(offset), at + 8);
    file.writeBigUInt64LE(BigInt(ADDRESS + offset), at + 16);
    file.writeBigUInt64LE(BigInt(bytes), at + 32);
  };
  segment(64, 1, 0, file.length);
  segment(120, 2, HEAD_BYTES, 16 * rows.length);
  rows.forEach(([tag, value], i) => {
    file.writeBigUInt64LE(BigInt(tag), HEAD_BYTES + 16 * i);
    file.writeBigUInt64LE(BigInt(value), HEAD_BYTES + 16 * i + 8);
  });
  symbols.forEach(({ name, text }, i) => {
    file.writeUInt32LE(name, symbolsAt + 24 * i);
    file.writeBigUInt64LE(BigInt(ADDRESS + stringsAt + text), symbolsAt + 24 * i + 8);
  });
  file.write(strings + tail, stringsAt, 'latin1');
  return file;
}

/** ld.so.cache with these names and files. */
export function loaderCache(entries: readonly (readonly [string, string])[]): Buffer {
  const head = 48 + 24 * entries.length;
  let strings = '';
  const file = Buffer.alloc(head);
  file.write('glibc-ld.so.cache1.1', 0, 'latin1');
  file.writeUInt32LE(entries.length, 20);
  entries.forEach((entry, i) => entry.forEach((text, which) => {
    file.writeUInt32LE(head + strings.length, 48 + 24 * i + 4 + 4 * which);
    strings += `${text}\0`;
  }));
  return Buffer.concat([file, Buffer.from(strings, 'latin1')]);
}
