/**
 * Packs one program: esbuild splits it at each `import()`, and each part becomes a file of CommonJS functions by name.
 * The first part contains what a start needs; the others are loaded at their first use.
 *
 * A part is a table of functions and not a module, so that Node need not find and read a file for each chunk that
 * esbuild makes. Names contain a hash of the content, because V8 checks a code cache only against the length of its
 * source.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';

const COMMON = { platform: 'node', target: 'node20', minifySyntax: true, minifyWhitespace: true, logLevel: 'warning' };
const SMALL = { ...COMMON, minifyIdentifiers: true };

/**
 * cbor-x tests whether strings may be evaluated by calling `new` on undefined. For the message of that error V8 parses
 * the whole file again, which is a tenth of an agent's start. The value thrown there is not used.
 */
const QUICK_CBOR = {
  end: 'cbor-x/dist/index-no-eval.cjs',
  text: "new BlockedFunction ('');",
  by: 'throw undefined;',
};

/**
 * Code that is loaded after the rest of an agent only (core/src/services.ts): what else needs its pieces, too, has them
 * in one part.
 */
const LATE = [
  'fault-service', 'job-pmi', 'pmi-host', 'pmi1-server', 'pmix-connection', 'program-service', 'parts',
  'metric-service', 'overlay-service', 'watch-service', 'arbiter',
];

/**
 * Writes the parts of `entry` to `out`; returns their pieces' names, the first part first. A part is a file named as
 * its first piece. `without`: ends of paths of CommonJS modules, and names of Node's own, that are required but never
 * used; they are replaced by empty ones, or by the code that is given with them. `small`: short names, which save half
 * a megabyte of heap per agent.
 */
export async function pack({ root, name, entry, out, without = [], small = false }) {
  const pieces = await split({ root, name, entry, out, without, common: small ? SMALL : COMMON });
  const first = [...staticImports(pieces, pieces.keys().next().value)];
  const parts = [first, ...lazyParts(pieces, first, LATE.map((late) => `${name}-${late}-`))];
  for (const part of parts) writeFileSync(join(out, part[0]), table(pieces, part), 'latin1');
  return parts;
}

/** The other pieces: those that the same entries need are one part. `late`: beginnings of entries that do not count. */
function lazyParts(pieces, first, late) {
  const lazy = [...pieces.keys()].filter((file) => !first.includes(file));
  const entries = lazy.filter((file) => pieces.get(file).isEntry);
  const isLate = (file) => late.some((beginning) => file.startsWith(beginning));
  const byEntries = new Map();
  for (const file of lazy) {
    const needing = entries.filter((each) => staticImports(pieces, each).has(file));
    const others = needing.filter((each) => !isLate(each));
    const key = (others.length > 0 ? others : needing).join();
    byEntries.set(key, [...(byEntries.get(key) ?? []), file]);
  }
  return [...byEntries.values()];
}

/**
 * The whole of `entry` as one file, to be shipped to hosts: a head of plain code; a line of `//`, after which a loader
 * need not read; all pieces, minified, as functions that V8 compiles when they are called; after another `//`, V8's
 * code cache of them. Returns a function that makes the file with a given cache, or with `record` a file that writes
 * its cache beside itself when it ends.
 */
export async function packWhole({ root, name, entry, out }) {
  const pieces = await split({ root, name, entry, out, common: SMALL });
  const [first] = pieces.keys();
  const source = table(pieces, [...pieces.keys()]);
  return (cache) => {
    const isRecorder = cache === 'record';
    const text = `${head(first, source.length, isRecorder)}//\n${source}\n//`;
    return Buffer.concat([Buffer.from(text, 'latin1'), isRecorder ? Buffer.alloc(0) : cache]);
  };
}

/** `require`, `__filename` and `__dirname` are Node's, or parameters of the function that a loader makes of this. */
const head = (first, sourceBytes, isRecorder) => `'use strict';
const shipped = typeof stciShipped === 'undefined' ? undefined : stciShipped;
globalThis[Symbol.for('stci.shippedBundle')] = shipped;
const bytes = shipped ? shipped.bytes : require('node:fs').readFileSync(__filename);
// A bundle that is stored on this host is read again when it is shipped.
if (shipped && shipped.path) shipped.bytes = undefined;
const at = bytes.indexOf('\\n//\\n') + 4;
const cachedData = bytes.subarray(at + ${sourceBytes} + 3);
const source = bytes.latin1Slice(at, at + ${sourceBytes});
const script = new (require('node:vm').Script)(source, { filename: __filename, cachedData });
const pieces = script.runInThisContext();
const modules = Object.create(null);
function piece(id) {
  if (!id.startsWith('./')) return require(id);
  const file = id.slice(2);
  if (modules[file] !== undefined) return modules[file].exports;
  const module = (modules[file] = { exports: {} });
  pieces[file](module.exports, piece, module, __filename, __dirname);
  return module.exports;
}
${isRecorder ? RECORDER : ''}piece('./${first}');
`;

const RECORDER = `process.on('exit', () => {
  require('node:fs').writeFileSync(__filename + '.cache', script.createCachedData());
});
`;

/** A small program as one file of CommonJS. */
export async function packOne({ root, entry, outfile }) {
  await build({ ...COMMON, absWorkingDir: root, entryPoints: [entry], outfile, bundle: true, format: 'cjs' });
}

/** File name → CommonJS text and the files that it imports statically; the entry first. */
async function split({ root, name, entry, out, without = [], common = COMMON }) {
  const result = await build({
    ...common,
    absWorkingDir: root,
    entryPoints: { [name]: entry },
    entryNames: '[name]-[hash]',
    chunkNames: `${name}-[name]-[hash]`,
    outdir: out,
    bundle: true,
    splitting: true,
    format: 'esm',
    legalComments: 'none',
    metafile: true,
    write: false,
    plugins: [...without.map(emptied), replaced(QUICK_CBOR)],
  });
  const outputs = Object.entries(result.metafile.outputs).map(([path, facts]) => [basename(path), facts]);
  outputs.sort(([, a], [, b]) => Number(isEntry(b, entry)) - Number(isEntry(a, entry)));
  const texts = new Map(result.outputFiles.map((file) => [basename(file.path), file.text]));
  const pieces = new Map();
  for (const [file, { imports, entryPoint }] of outputs) {
    const needs = imports.filter(({ kind, external }) => kind === 'import-statement' && !external);
    const code = await toCommonJs(texts.get(file), common);
    pieces.set(file, { code, isEntry: entryPoint !== undefined, needs: needs.map(({ path }) => basename(path)) });
  }
  return pieces;
}

const EMPTY = 'module.exports = {};';

function emptied(without) {
  if (Array.isArray(without)) return changed(without[0], () => without[1]);
  return without.startsWith('node:') ? emptiedBuiltin(without) : changed(without, () => EMPTY);
}

function emptiedBuiltin(name) {
  return {
    name: `without ${name}`,
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: new RegExp(`^${name}$`) }, () => ({ path: name, namespace: 'empty' }));
      onLoad({ filter: new RegExp(`^${name}$`), namespace: 'empty' }, () => ({ contents: EMPTY, loader: 'js' }));
    },
  };
}

const replaced = ({ end, text, by }) => changed(end, (code) => {
  if (code.split(text).length !== 2) throw new Error(`${end} does not have once: ${text}`);
  return code.replace(text, by);
});

/** Fails the build if there is no such module: the change would be lost unnoticed. */
function changed(end, change) {
  const filter = new RegExp(`${end.replaceAll('.', '\\.')}$`);
  let found = false;
  return {
    name: `change of ${end}`,
    setup: ({ onLoad, onEnd }) => {
      onLoad({ filter }, ({ path }) => {
        found = true;
        return { contents: change(readFileSync(path, 'utf8')), loader: 'js' };
      });
      onEnd(() => (found ? undefined : { errors: [{ text: `there is no module ${end} to be changed` }] }));
    },
  };
}

function isEntry({ entryPoint }, entry) {
  return entryPoint === entry;
}

async function toCommonJs(text, common) {
  // Without dynamic import esbuild makes `import()` a promise of `require`, which is the loader's.
  const { code } = await transform(text, { ...common, format: 'cjs', supported: { 'dynamic-import': false } });
  return code;
}

function staticImports(pieces, file, found = new Set()) {
  if (found.has(file)) return found;
  found.add(file);
  for (const needed of pieces.get(file).needs) staticImports(pieces, needed, found);
  return found;
}

function table(pieces, files) {
  const entries = files.map((file) => {
    const { code } = pieces.get(file);
    return `${JSON.stringify(file)}(exports,require,module,__filename,__dirname){${code}}`;
  });
  return `({${entries.join(',\n')}})`;
}
