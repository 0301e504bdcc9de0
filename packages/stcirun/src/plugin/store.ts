/**
 * The copies of plugins that run: a directory for each, named by its hash, in the user's cache. A copy that is not what
 * its name says is not used. Beside them stand the packages of STCI that plugins import, with the exports of this
 * program.
 */

import { createHash, randomBytes } from 'node:crypto';
import {
  chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync,
  utimesSync, writeFileSync, type Stats,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { PLUGIN_BYTES_MAX, PLUGIN_FILES_MAX, StciError } from '@stci/interface';
import { distrusted, resolveDirectory, writeOwn } from '@stci/platform-node';
import { readReason } from '../files/read-file.js';
import { standIns } from './api.js';
import { hashOf, packFiles, unpackFiles, type PluginFile } from './archive.js';

const HASH = /^[0-9a-f]{64}$/u;
const DAY_MS = 86_400_000;
/** Copies that were not used for so long are removed. */
const UNUSED_DAYS_MAX = 30;
const KEY_DIGITS = 16;

/** Verified copies by hash: a process verifies each once. */
const verified = new Map<string, string>();
let directory: string | undefined;

export function isPluginHash(text: string): boolean {
  return HASH.test(text);
}

/** Directory of this user for what can be made again; the bundles of agents are there, too (launcher-ssh). */
function cacheDirectory(): string {
  const { XDG_CACHE_HOME: xdg } = process.env;
  const base = xdg !== undefined && isAbsolute(xdg) ? xdg : join(homedir(), '.cache');
  const path = resolveDirectory(join(base, 'stci'), { makes: true });
  checkModules(path);
  const stat = lstatSync(path);
  if (stat.uid !== process.geteuid?.()) throw new Error(`${path} is not a directory of this user`);
  if ((stat.mode & 0o022) !== 0) chmodSync(path, 0o700);
  return path;
}

/** Node looks above the cache for what a copy imports and lacks: nobody else may have written that. */
function checkModules(path: string): void {
  // In a container that maps few users the owner of all that the host's root has.
  const owner = statSync('/').uid;
  for (let at = path; dirname(at) !== at;) {
    at = dirname(at);
    const modules = join(at, 'node_modules');
    const stat = statSync(modules, { throwIfNoEntry: false });
    const wrong = stat && distrusted(stat);
    if (wrong === undefined || (wrong.is === 'owner' && stat?.uid === owner)) continue;
    throw new Error(`${modules} ${wrong.reason}`);
  }
}

/** Where copies for this program are. Throws STCI_PLUGIN_FAILED if there cannot be any. */
function storeDirectory(): string {
  if (directory !== undefined) return directory;
  try {
    const files = standIns();
    const key = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, KEY_DIGITS);
    const path = join(cacheDirectory(), 'plugins', key);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const at of [dirname(path), path]) checkOwn(at);
    for (const [name, text] of Object.entries(files)) writeStandIn(path, `node_modules/${name}`, text);
    prune(path);
    return (directory = path);
  } catch (thrown) {
    const { path } = thrown as NodeJS.ErrnoException;
    const why = `${path === undefined ? '' : `${path}: `}${readReason(thrown)}`;
    const message = `Plugins need a directory for their copies: ${why}. Name one by XDG_CACHE_HOME.`;
    throw new StciError('STCI_PLUGIN_FAILED', message, { cause: thrown });
  }
}

/** A directory below the cache: what nobody else could have put there. */
function checkOwn(path: string): void {
  const stat = lstatSync(path);
  const wrong = stat.isDirectory() ? distrusted(stat)?.reason : 'is no directory';
  if (wrong !== undefined) throw new Error(`${path} ${wrong}; if nothing in it is needed, remove it`);
}

function writeStandIn(directory: string, name: string, text: string): void {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  for (let at = dirname(path); at !== directory; at = dirname(at)) checkOwn(at);
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() === true && distrusted(stat) === undefined && readFileSync(path, 'utf8') === text) return;
  const next = temporary(path);
  writeOwn(next, text);
  renameSync(next, path);
}

function temporary(path: string): string {
  return `${path}.${randomBytes(8).toString('hex')}.tmp`;
}

/** The directory of a copy whose files are those of its name; undefined: there is none. */
export function storedPlugin(hash: string): string | undefined {
  const known = verified.get(hash);
  if (known !== undefined) return known;
  const path = join(storeDirectory(), hash);
  if (!HASH.test(hash) || lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
  const files = filesOf(path);
  if (files === undefined || hashOf(packFiles(files)) !== hash) {
    rmSync(path, { recursive: true, force: true });
    return undefined;
  }
  const nowS = Date.now() / 1000;
  if (Date.now() - lstatSync(path).mtimeMs > DAY_MS) utimesSync(path, nowS, nowS);
  verified.set(hash, path);
  return path;
}

/** Archives by hash, as long as they are in use: agents that start together are sent the same bytes. */
const archives = new Map<string, WeakRef<Uint8Array>>();

/** The bytes to send to another host; undefined: there is no such copy here. */
export function pluginArchive(hash: string): Uint8Array | undefined {
  const known = archives.get(hash)?.deref();
  if (known !== undefined) return known;
  const path = storedPlugin(hash);
  const files = path === undefined ? undefined : filesOf(path);
  const archive = files === undefined ? undefined : packFiles(files);
  if (archive === undefined || hashOf(archive) !== hash) return undefined;
  archives.set(hash, new WeakRef(archive));
  return archive;
}

/** Keeps a copy of these files, and returns its hash. */
export function storeFiles(files: readonly PluginFile[]): string {
  const archive = packFiles(files);
  const hash = hashOf(archive);
  storeArchive(archive, hash);
  return hash;
}

/** Throws STCI_PLUGIN_FAILED where the bytes are others than those of the hash, or cannot be kept. */
export function storeArchive(archive: Uint8Array, hash: string): string {
  const found = hashOf(archive);
  if (found !== hash) {
    throw new StciError('STCI_PLUGIN_FAILED', `the files that came have hash ${found}, expected ${hash}`);
  }
  const path = join(storeDirectory(), hash);
  const next = temporary(path);
  try {
    if (storedPlugin(hash) === undefined) {
      for (const { path: name, isExecutable, bytes } of unpackFiles(archive)) {
        const at = join(next, name);
        mkdirSync(dirname(at), { recursive: true, mode: 0o700 });
        writeFileSync(at, bytes, { mode: isExecutable ? 0o700 : 0o600 });
      }
      rename(next, path);
    }
  } catch (thrown) {
    throw new StciError('STCI_PLUGIN_FAILED', `its copy cannot be kept: ${readReason(thrown)}`, { cause: thrown });
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
  const stored = storedPlugin(hash);
  if (stored !== undefined) return stored;
  throw new StciError('STCI_PLUGIN_FAILED', `its copy ${path} is changed by somebody: it is not run`);
}

/** Another start may have been quicker. */
function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (thrown) {
    if (!existsSync(to)) throw thrown;
  }
}

/** undefined: there is something that no copy has. */
function filesOf(directory: string): readonly PluginFile[] | undefined {
  const files: PluginFile[] = [];
  let total = 0;
  const add = (path: string, prefix: string): boolean => readdirSync(path).every((name) => {
    const at = join(path, name);
    const stat = lstatSync(at);
    if (!isOwn(stat)) return false;
    if (stat.isDirectory()) return add(at, `${prefix}${name}/`);
    total += stat.size;
    if (!stat.isFile() || files.length === PLUGIN_FILES_MAX || total > PLUGIN_BYTES_MAX) return false;
    return files.push({
      path: `${prefix}${name}`, isExecutable: (stat.mode & 0o100) !== 0, bytes: readFileSync(at),
    }) > 0;
  });
  const stat = lstatSync(directory);
  return stat.isDirectory() && isOwn(stat) && add(directory, '') ? files : undefined;
}

function isOwn({ uid, mode }: Stats): boolean {
  return uid === process.geteuid?.() && (mode & 0o022) === 0;
}

/** Old copies, those for other versions of STCI, and what a start that was ended has left. */
function prune(own: string): void {
  const remove = (path: string, days: number): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || Date.now() - stat.mtimeMs <= days * DAY_MS) return;
    rmSync(path, { recursive: true, force: true });
  };
  try {
    utimesSync(own, Date.now() / 1000, Date.now() / 1000);
    const all = dirname(own);
    for (const name of readdirSync(all)) if (join(all, name) !== own) remove(join(all, name), UNUSED_DAYS_MAX);
    for (const name of readdirSync(own)) {
      if (name !== 'node_modules') remove(join(own, name), name.endsWith('.tmp') ? 1 : UNUSED_DAYS_MAX);
    }
  } catch {
    // Another start prunes, too.
  }
}
