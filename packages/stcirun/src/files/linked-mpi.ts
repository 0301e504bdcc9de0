/**
 * The MPI library that a program is linked with, read from files: the program's, those of the libraries that it needs,
 * and the loader's cache. One reader serves this process and the hosts that `stci doctor` asks, so it is the text of a
 * program (plain old JavaScript: see host-program's loader), compiled here where it is used. Whatever the files say,
 * what is read and how often is bounded, and reads end at the end of a file.
 */

import fs from 'node:fs';
import path from 'node:path';
import { compileFunction } from 'node:vm';

/** Libraries and directories that are looked at; a program of MPI needs some 60 libraries. */
const LIBRARIES_MAX = 256;
const DIRECTORIES_MAX = 128;
/** Names of missing libraries that are told. */
export const MISSING_MAX = 8;

/** `none`: no such file; `other`: neither a script nor a program of 64 bits in ELF, little-endian. */
export const KINDS = ['none', 'script', 'other', 'elf'] as const;

/** What is found of a program. Without `library` it is not linked with MPI. */
export interface LinkedMpi {
  readonly kind: (typeof KINDS)[number];
  readonly file?: string;
  /** Of a script. */
  readonly interpreter?: string;
  /** The name by which it is needed, such as libmpi.so.40, and where it is. */
  readonly library?: string;
  readonly libraryFile?: string;
  /** The library that needs it, where the program itself does not. */
  readonly via?: string;
  /** `MPICH`, `Open MPI`, …; `unknown`. */
  readonly family?: string;
  readonly version?: string;
  /** Libraries that are needed and not found. */
  readonly missing: readonly string[];
}

/** Where a program and its libraries are looked for. `path` and `libraries`: as in PATH and LD_LIBRARY_PATH. */
export interface LinkPlaces {
  readonly wdir: string;
  readonly path: string;
  readonly libraries: string;
  /** Of the loader; those of the system unless a test has others. */
  readonly cache?: string;
  readonly defaults?: readonly string[];
}

/**
 * Functions of a program that has `fs` and `path`: `elfOf`, `programFile`, `linkedMpi`. Names of libraries are looked
 * for as ld.so(8) does, but for its directories of processor features. An Open MPI has its version behind a symbol, an
 * MPICH of before 4.1, too; later ones have it beside the date of their release.
 */
export const LINKED_MPI = `
var CACHE = '/etc/ld.so.cache', MPI = /^libmpi(?:ch|cxx|chcxx|fort|chfort|_[a-z0-9_]+)?[.]so/;
var CORE = /^libmpi(?:ch|_cray|_(?:gnu|intel|amd|nvidia|aocc)(?:_[0-9]+)?)?[.]so/;
var CPU = { x64: 'x86_64', arm64: 'aarch64', riscv64: 'riscv64', ppc64: 'powerpc64le' }[process.arch] || process.arch;
var LIBS = ['lib/' + CPU + '-linux-gnu', 'lib64', 'lib'];
var DEFAULTS = LIBS.concat(LIBS.map(function (dir) { return 'usr/' + dir; })).map(function (dir) { return '/' + dir; });
function u64(bytes, at) { return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 4294967296; }
function isFile(file) { try { return fs.statSync(file).isFile(); } catch (e) { return false; } }
function withFile(file, use) {
  var fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK | fs.constants.O_NOCTTY);
  try {
    var facts = fs.fstatSync(fd), size = facts.isFile() ? facts.size : 0;
    return use(function (at, count) {
      if (!(at >= 0 && at < size && count > 0)) return Buffer.alloc(0);
      var bytes = Buffer.alloc(Math.min(count, size - at, 4194304)), got = 0, last = 1;
      while (last > 0 && got < bytes.length) got += last = fs.readSync(fd, bytes, got, bytes.length - got, at + got);
      return bytes.subarray(0, got);
    }, size);
  } finally { fs.closeSync(fd); }
}
function elfOf(file) {
  return withFile(file, function (readAt) {
    var head = readAt(0, 256);
    if (head.length > 2 && head.latin1Slice(0, 2) === '#!') {
      return { kind: 'script', interpreter: head.latin1Slice(2).trim().split(/[ \\t\\n]/)[0] };
    }
    var isElf = head.length >= 64 && head.readUInt32BE(0) === 0x7f454c46 && head[4] === 2 && head[5] === 1;
    return isElf ? dynamicOf(file, head, readAt) : { kind: 'other' };
  });
}
function dynamicOf(file, head, readAt) {
  var elf = { kind: 'elf', machine: head.readUInt16LE(18), needed: [], rpath: '', runpath: '' };
  var table = readAt(u64(head, 32), Math.min(head.readUInt16LE(56), 256) * 56), segments = [], names = [], tags = {};
  for (var i = 0; i + 56 <= table.length; i += 56) {
    segments.push({
      type: table.readUInt32LE(i), offset: u64(table, i + 8), address: u64(table, i + 16), bytes: u64(table, i + 32),
    });
  }
  var dynamic = segments.filter(function (one) { return one.type === 2; })[0];
  var rows = dynamic ? readAt(dynamic.offset, Math.min(dynamic.bytes, 1048576)) : Buffer.alloc(0);
  for (i = 0; i + 16 <= rows.length && u64(rows, i) !== 0; i += 16) {
    if (u64(rows, i) !== 1) tags[u64(rows, i)] = u64(rows, i + 8);
    else if (names.length < ${LIBRARIES_MAX}) names.push(u64(rows, i + 8));
  }
  function bytesOf(readAt, address, count) {
    var home = segments.filter(function (one) {
      return one.type === 1 && address >= one.address && address < one.address + one.bytes;
    })[0];
    return home ? readAt(home.offset + address - home.address, count) : Buffer.alloc(0);
  }
  function text(readAt, address) { return bytesOf(readAt, address, 4096).latin1Slice().split('\\0', 1)[0]; }
  elf.needed = names.map(function (name) { return text(readAt, tags[5] + name); });
  if (tags[15]) elf.rpath = text(readAt, tags[5] + tags[15]);
  if (tags[29]) elf.runpath = text(readAt, tags[5] + tags[29]);
  elf.textOf = function (symbol) { return withFile(file, function (readAt) { return symbolText(symbol, readAt); }); };
  function symbolText(symbol, readAt) {
    var symbols = bytesOf(readAt, tags[6], tags[5] - tags[6]), strings = bytesOf(readAt, tags[5], tags[10]);
    for (var at = 0; at + 24 <= symbols.length; at += 24) {
      var name = symbols.readUInt32LE(at), end = name + symbol.length;
      if (strings[end] === 0 && strings.latin1Slice(name, end) === symbol) return text(readAt, u64(symbols, at + 8));
    }
    return '';
  }
  return elf;
}
function programFile(program, places) {
  var dirs = program.indexOf('/') < 0 ? places.path.split(':', ${DIRECTORIES_MAX}) : [''];
  return dirs.map(function (dir) { return path.resolve(places.wdir, dir && dir + '/', program); }).filter(isFile)[0];
}
function cacheOf(file) {
  var found = Object.create(null);
  try {
    withFile(file, function (readAt) {
      var all = readAt(0, 4194304), at = all.indexOf('glibc-ld.so.cache1.1'), bytes = at < 0 ? all : all.subarray(at);
      var count = at < 0 || bytes.length < 48 ? 0 : bytes.readUInt32LE(20);
      function text(from) { return bytes.latin1Slice(from, Math.min(from + 4096, bytes.indexOf(0, from))); }
      for (var i = 0, row = 48; i < count && row + 24 <= bytes.length; i++, row += 24) {
        var name = text(bytes.readUInt32LE(row + 4));
        found[name] = (found[name] || []).concat(text(bytes.readUInt32LE(row + 8))).slice(0, 8);
      }
    });
  } catch (e) {}
  return found;
}
function expanded(list, origin, separator) {
  var all = [];
  list.split(separator, ${DIRECTORIES_MAX}).forEach(function (dir) {
    if (dir === '') return;
    var plain = dir.replace(/[$](ORIGIN|[{]ORIGIN[}])/g, function () { return origin; });
    plain = plain.replace(/[$](PLATFORM|[{]PLATFORM[}])/g, CPU);
    (/[$](LIB|[{]LIB[}])/.test(plain) ? LIBS : ['']).forEach(function (lib) {
      all.push(plain.replace(/[$](LIB|[{]LIB[}])/g, lib));
    });
  });
  return all;
}
function libraryOf(name, from, root, places) {
  var rpath = from.elf.runpath ? [] : expanded(from.elf.rpath, path.dirname(from.file), ':');
  if (!root.elf.runpath) rpath = rpath.concat(expanded(root.elf.rpath, path.dirname(root.file), ':'));
  var dirs = rpath.concat(expanded(places.libraries, '', /[:;]/));
  dirs = dirs.concat(expanded(from.elf.runpath, path.dirname(from.file), ':'));
  var files = dirs.map(function (dir) { return dir + '/' + name; }).concat(places.cached[name] || []);
  files = files.concat((places.defaults || DEFAULTS).map(function (dir) { return dir + '/' + name; }));
  if (name.indexOf('/') >= 0) files = [name];
  for (var i = 0; i < files.length; i++) {
    try {
      var file = path.resolve(places.wdir, files[i]), elf = elfOf(file);
      if (elf.kind === 'elf' && elf.machine === root.elf.machine) return { name: name, file: file, elf: elf };
    } catch (e) {}
  }
}
function versionOf(text) { return (/^[0-9]+([.][0-9]+)+[0-9a-z.]{0,16}$/.exec(text) || [])[0]; }
function makerOf(name, one) {
  var own = one && versionOf(one.elf.textOf('ompi_version_string'));
  if (own || /^libmpi[.]so[.](?:[0-2]|20|40)$/.test(name)) return { family: 'Open MPI', version: own };
  if (!/[.]so[.]1[2-9]$/.test(name)) return { family: 'unknown' };
  var made = { family: 'MPICH', version: one && versionOf(one.elf.textOf('MPII_Version_string')) };
  try {
    if (one) withFile(one.file, function (readAt, size) { readMarks(made, readAt, Math.min(size, 134217728)); });
  } catch (e) {}
  return made;
}
function readMarks(made, readAt, size) {
  var dated = /[0-9]:[0-9]{2} [A-Z]{3,4} 20[0-9]{2}\\0+([0-9][^\\0]{2,24})\\0/;
  var named = new RegExp('(Intel[(]R[)] MPI) Library(?: ([0-9.]+))?|(MVAPICH)[0-9]? ?Version'
    + '|C(?:ray|RAY) MPICH version(?: ([0-9.]+))?');
  for (var at = 0; at < size; at += 1048064) {
    var text = readAt(at, 1048576).latin1Slice(), maker = named.exec(text), date = dated.exec(text);
    if (date && made.family[0] === 'M') made.version = made.version || versionOf(date[1]);
    if (!maker) continue;
    made.family = maker[1] ? 'Intel MPI' : maker[3] || 'Cray MPICH';
    made.version = maker[3] ? made.version : maker[2] || maker[4];
    if (made.version && !maker[3]) return;
  }
}
function linkedMpi(program, asked) {
  var places = Object.assign({}, asked), found = { kind: 'none', missing: [] };
  try {
    found.file = programFile(program, places);
    if (found.file === undefined) return found;
    var root = { file: fs.realpathSync(found.file), elf: elfOf(found.file) };
  } catch (e) { return { kind: 'none', missing: [] }; }
  found.kind = root.elf.kind;
  if (root.elf.kind !== 'elf') {
    found.interpreter = root.elf.interpreter;
    return found;
  }
  places.cached = cacheOf(places.cache || CACHE);
  var todo = [root], seen = Object.create(null), best, libraries = 0;
  function need(name, from) {
    if (seen[name] || libraries++ > ${LIBRARIES_MAX}) return;
    var one = seen[name] = libraryOf(name, from, root, places) || { name: name };
    if (one.elf) todo.push(one);
    else if (found.missing.length < ${MISSING_MAX}) found.missing.push(name.slice(0, 256));
    if (MPI.test(name) && (!best || !CORE.test(best.one.name) && CORE.test(name))) best = { one: one, from: from };
  }
  for (var i = 0; i < todo.length; i++) todo[i].elf.needed.forEach(function (name) { need(name, todo[i]); });
  if (!best) return found;
  var made = makerOf(best.one.name, best.one.elf && best.one);
  found.library = best.one.name.slice(0, 256);
  found.libraryFile = best.one.file && fs.realpathSync(best.one.file);
  if (best.from !== root && !MPI.test(best.from.name)) found.via = best.from.name.slice(0, 256);
  found.family = made.family;
  found.version = made.version;
  return found;
}
`;

interface Reader {
  readonly elfOf: (file: string) => { readonly kind: LinkedMpi['kind']; readonly needed?: readonly string[] };
  readonly programFile: (program: string, places: LinkPlaces) => string | undefined;
  readonly linkedMpi: (program: string, places: LinkPlaces) => LinkedMpi;
  readonly MPI: RegExp;
}

let compiled: Reader | undefined;

function reader(): Reader {
  const answer = 'return { elfOf: elfOf, programFile: programFile, linkedMpi: linkedMpi, MPI: MPI };';
  return (compiled ??= compileFunction(LINKED_MPI + answer, ['fs', 'path', 'process', 'Buffer'])(
    fs, path, process, Buffer) as Reader);
}

/** Names of the libraries that a program is linked with; none for what is no program in ELF, or cannot be read. */
export function neededLibraries(file: string): readonly string[] {
  try {
    return reader().elfOf(file).needed ?? [];
  } catch {
    return [];
  }
}

/** The program itself needs a library of MPI: what a library of its may need for purposes of its own is not asked. */
export function needsMpi(program: string, places: Pick<LinkPlaces, 'wdir' | 'path'>): boolean {
  const file = reader().programFile(program, { ...places, libraries: '' });
  return file !== undefined && neededLibraries(file).some((name) => reader().MPI.test(name));
}

export function linkedMpi(program: string, places: LinkPlaces): LinkedMpi {
  return reader().linkedMpi(program, places);
}
