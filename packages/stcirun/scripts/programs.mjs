/** The programs of a package as files of bundled code: their main files, and V8's code cache of each part. */

import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const RECORD = `process.on('exit', () => {
  for (const [path, script] of scripts) require('node:fs').writeFileSync(path + '.cache', script.createCachedData());
});
`;

/** The main file of a program. Loads the part of a piece, named as its first one; each piece is run once. */
const loader = (parts, isRecorder) => `'use strict';
const { readFileSync } = require('node:fs');
const { Script } = require('node:vm');
const pieces = Object.create(null);
const modules = Object.create(null);
const scripts = [];
const parts = ${JSON.stringify(partsOf(parts))};
function load(file) {
  const path = __dirname + '/' + (parts[file] ?? file);
  let cachedData;
  try {
    cachedData = readFileSync(path + '.cache');
  } catch {}
  const script = new Script(readFileSync(path, 'latin1'), { filename: path, cachedData });
  ${isRecorder ? 'scripts.push([path, script]);\n  ' : ''}Object.assign(pieces, script.runInThisContext());
}
function piece(id) {
  if (!id.startsWith('./')) return require(id);
  const file = id.slice(2);
  if (modules[file] !== undefined) return modules[file].exports;
  if (pieces[file] === undefined) load(file);
  const module = (modules[file] = { exports: {} });
  pieces[file](module.exports, piece, module, __filename, __dirname);
  return module.exports;
}
${isRecorder ? RECORD : ''}piece('./${parts[0][0]}');
`;

/** By piece, the part that it is in, where that has another name; of those that are there from the start, none. */
function partsOf([, ...lazy]) {
  return Object.fromEntries(lazy.flatMap(([name, ...others]) => others.map((piece) => [piece, name])));
}

/** Writes the main file of each program to `out`. `isRecorder`: it writes V8's code cache when it ends. */
export function writeLoaders(out, programs, isRecorder) {
  for (const { name, parts } of programs) writeFileSync(join(out, `${name}.cjs`), loader(parts, isRecorder));
}

/** Makes the code caches of the programs by runs of them; of two runs of a part the later counts. */
export function record(out, programs, runs) {
  writeLoaders(out, programs, true);
  runAll(out, runs);
  for (const { name, parts } of programs) {
    if (!existsSync(join(out, `${parts[0][0]}.cache`))) throw new Error(`the build made no code cache of ${name}`);
  }
  writeLoaders(out, programs, false);
}

export function runAll(out, runs) {
  for (const [program, ...args] of runs) {
    const run = spawnSync(process.execPath, [join(out, program), ...args], {
      cwd: '/',
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '' },
      timeout: 30_000,
    });
    if (run.status === 0) continue;
    throw new Error(`${program} ${args.join(' ')} failed in the build:\n${run.stdout}${run.stderr}`);
  }
}
