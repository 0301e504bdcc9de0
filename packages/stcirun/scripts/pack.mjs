/**
 * Packs one program: esbuild splits it where it says `import()`, and each part becomes one file that holds
 * CommonJS functions by name. The first part has what a start needs; the others are loaded when they are asked for.
 *
 * A part is a table of functions and not a module of its own, so that Node neither searches nor reads a file for
 * each of the pieces that esbuild cuts. Names hold a hash of the content: V8 checks a code cache against nothing but
 * its source's length.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build, transform } from 'esbuild';

const COMMON = { platform: 'node', target: 'node20', minifySyntax: true, minifyWhitespace: true, logLevel: 'warning' };
const SMALL = { ...COMMON, minifyIdentifiers: true };

/**
 * cbor-x finds out whether code may be made of strings by `new` on undefined. For the message of that error V8 parses
 * the whole file again, which is a tenth of all that an agent does in its start. What is thrown there is not looked at.
 */
const QUICK_CBOR = {
  end: 'cbor-x/dist/index-no-eval.cjs',
  text: "new BlockedFunction ('');",
  by: 'throw undefined;',
};

/**
 * Writes the parts of `entry` to `out`; returns the file names, the first part's first. `without`: ends of paths of
 * CommonJS modules that are required but never used; they are left empty. `small`: short names, which are half a
 * megabyte less of heap for each agent.
 */
export async function pack({ root, name, entry, out, without = [], small = false }) {
  const pieces = await split({ root, name, entry, out, without, common: small ? SMALL : COMMON });
  const first = [...staticImports(pieces, pieces.keys().next().value)];
  const lazy = [...pieces.keys()].filter((file) => !first.includes(file));
  const parts = [first, ...lazy.map((file) => [file])];
  for (const part of parts) writeFileSync(join(out, part[0]), table(pieces, part), 'latin1');
  return parts.map(([file]) => file);
}

/**
 * The whole of `entry` as one file: what is sent to hosts. A head of plain code; a line of `//`, behind which whoever
 * carries the file need not look; all pieces, small rather than readable, as functions that V8 compiles when they
 * are called; behind another `//`, V8's code cache of them as it is. Returns what makes the file: of a cache, or of
 * `record`, for a file that writes one beside itself when it ends.
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

/** `require`, `__filename` and `__dirname` are Node's, or those of the function that a carrier makes of the head. */
const head = (first, sourceBytes, isRecorder) => `'use strict';
const carrier = typeof stciShipped === 'undefined' ? undefined : stciShipped;
globalThis[Symbol.for('stci.shippedBundle')] = carrier;
const bytes = carrier ? carrier.bytes : require('node:fs').readFileSync(__filename);
// One that is kept on this host is read again when it is sent on.
if (carrier && carrier.path) carrier.bytes = undefined;
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

/** File name → CommonJS text and the files that it needs at once; the entry first. */
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
  for (const [file, { imports }] of outputs) {
    const needs = imports.filter(({ kind, external }) => kind === 'import-statement' && !external);
    const code = await toCommonJs(texts.get(file), common);
    pieces.set(file, { code, needs: needs.map(({ path }) => basename(path)) });
  }
  return pieces;
}

const emptied = (end) => changed(end, () => 'module.exports = {};');

const replaced = ({ end, text, by }) => changed(end, (code) => {
  if (code.split(text).length !== 2) throw new Error(`${end} does not have once: ${text}`);
  return code.replace(text, by);
});

/** Refuses the build where there is no such module: what was changed would be back unseen. */
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
