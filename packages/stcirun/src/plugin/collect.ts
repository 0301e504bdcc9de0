/**
 * The files of a plugin: those of its package, and of its dependencies as they are installed, below it. Left out are
 * `.git`, what it does not declare as a dependency, and STCI's own packages, which it gets from the running program.
 */

import { closeSync, fstatSync, readdirSync, readSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { PLUGIN_BYTES_MAX, PLUGIN_FILES_MAX, printable } from '@stci/interface';
import { openReal } from '@stci/platform-node';
import { readReason } from '../files/read-file.js';
import { pathProblem, type PluginFile } from './archive.js';
import { pluginError } from './error.js';
import { MANIFEST_FILE, ownership, type FoundPlugin } from './find.js';
import { findPackage, isPackageName } from './locate.js';

const OWN_SCOPE = '@stci/';
const LEFT_OUT = ['.git', 'node_modules'];
const DEPTH_MAX = 64;

/** Throws STCI_PLUGIN_INVALID: a file that others could have written, too many, a dependency that is missing. */
export function collectFiles(plugin: FoundPlugin): readonly PluginFile[] {
  return new Collector(plugin.path).collect(plugin.directory);
}

/** A package that is in the copy: its directory here, and the packages around it there. */
interface Place {
  readonly directory: string;
  readonly prefix: string;
  readonly outer: Place | undefined;
  /** Directories of the packages in its node_modules, by name. */
  readonly inner: Map<string, string>;
}

class Collector {
  readonly #plugin: string;
  readonly #owned: (path: string, stat: Stats) => void;
  readonly #files: PluginFile[] = [];
  #bytes = 0;

  constructor(plugin: string) {
    this.#plugin = plugin;
    this.#owned = ownership(plugin);
  }

  collect(directory: string): readonly PluginFile[] {
    try {
      this.#addPackage({ directory, prefix: '', outer: undefined, inner: new Map() });
    } catch (thrown) {
      if (!(thrown instanceof Error) || !('syscall' in thrown)) throw thrown;
      const { path } = thrown as NodeJS.ErrnoException;
      throw pluginError(this.#plugin, `${path ?? 'a file of it'} cannot be read: ${readReason(thrown)}`);
    }
    return this.#files;
  }

  #addPackage(place: Place): void {
    const { directory, prefix } = place;
    this.#owned(dirname(directory), statSync(dirname(directory)));
    this.#addDirectory(directory, prefix, []);
    for (const [name, isNeeded] of this.#dependencies(place)) this.#addDependency(place, name, isNeeded);
  }

  /** Dependencies by the file that was collected; with whether each has to be there. */
  #dependencies({ directory, prefix }: Place): ReadonlyMap<string, boolean> {
    let json: unknown;
    try {
      const file = this.#files.find(({ path }) => path === `${prefix}${MANIFEST_FILE}`);
      if (file === undefined) throw new Error('no such file or directory');
      json = JSON.parse(Buffer.from(file.bytes).toString());
    } catch (thrown) {
      throw pluginError(this.#plugin, `${join(directory, MANIFEST_FILE)}: ${readReason(thrown)}`);
    }
    const names = (field: string): string[] => {
      const value = (json as Readonly<Record<string, unknown>> | null)?.[field];
      const own = typeof value === 'object' && value !== null ? Object.keys(value) : [];
      const wrong = own.find((name) => !isPackageName(name));
      if (wrong !== undefined) {
        throw pluginError(this.#plugin, `${join(directory, MANIFEST_FILE)}: ${field} has '${printable(wrong)}', which `
          + 'is no name of a package. Expected such as chalk or @scope/name');
      }
      return own.filter((name) => !name.startsWith(OWN_SCOPE));
    };
    return new Map([
      ...names('peerDependencies').map((name) => [name, false] as const),
      ...names('dependencies').map((name) => [name, true] as const),
      ...names('optionalDependencies').map((name) => [name, false] as const),
    ].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** Unless a package around it has the same one: cycles end so. */
  #addDependency(place: Place, name: string, isNeeded: boolean): void {
    const path = findPackage(place.directory, name);
    if (path === undefined) {
      if (!isNeeded) return;
      throw pluginError(this.#plugin, `its dependency ${name} is not installed: there is no node_modules/${name} in `
        + `${place.directory} or above. Run npm install there`);
    }
    const directory = realpathSync(path);
    this.#owned(dirname(path), statSync(dirname(path)));
    for (let at: Place | undefined = place; at !== undefined; at = at.outer) {
      const visible = at.inner.get(name);
      if (visible === directory) return;
      if (visible !== undefined) break;
    }
    place.inner.set(name, directory);
    const prefix = `${place.prefix}node_modules/${name}/`;
    if (prefix.split('node_modules/').length > DEPTH_MAX) {
      throw pluginError(this.#plugin, `its dependencies are nested more than ${DEPTH_MAX} deep, at ${directory}`);
    }
    this.#addPackage({ directory, prefix, outer: place, inner: new Map() });
  }

  /** `above`: directories around it, without links, so that a link to one of them is found. */
  #addDirectory(path: string, prefix: string, above: readonly string[]): void {
    const real = realpathSync(path);
    if (above.includes(real)) return;
    this.#owned(real, statSync(real));
    for (const name of readdirSync(real).sort()) {
      if (LEFT_OUT.includes(name)) continue;
      const at = join(real, name);
      const stat = statSync(at);
      this.#checkLink(at);
      if (stat.isDirectory()) this.#addDirectory(at, `${prefix}${name}/`, [...above, real]);
      else this.#addFile(at, `${prefix}${name}`);
    }
  }

  /** What a link leads to is judged with the directory that it stands in. */
  #checkLink(path: string): void {
    const directory = dirname(realpathSync(path));
    if (directory !== dirname(path)) this.#owned(directory, statSync(directory));
  }

  /** What is judged is what is read: another file may take the name meanwhile. */
  #addFile(path: string, name: string): void {
    const fd = openReal(path);
    try {
      this.#addOpen(fd, path, name);
    } finally {
      closeSync(fd);
    }
  }

  #addOpen(fd: number, path: string, name: string): void {
    const stat = fstatSync(fd);
    this.#owned(path, stat);
    const problem = stat.isFile() ? pathProblem(name) : 'it is neither a file nor a directory';
    if (problem !== undefined) throw pluginError(this.#plugin, `${path}: ${problem}`);
    const isLarge = stat.size > PLUGIN_BYTES_MAX - this.#bytes;
    const bytes = isLarge ? undefined : readWhole(fd, stat.size);
    if (bytes !== undefined && bytes.length !== stat.size) {
      throw pluginError(this.#plugin, `${path} changes while it is read. Try again when nobody writes it`);
    }
    this.#bytes += bytes?.length ?? 0;
    if (bytes === undefined || this.#files.length === PLUGIN_FILES_MAX || this.#bytes > PLUGIN_BYTES_MAX) {
      throw pluginError(this.#plugin, `it has more than ${PLUGIN_FILES_MAX} files or ${PLUGIN_BYTES_MAX} bytes, its `
        + 'dependencies included. Leave out what it does not need, or bundle it into one file');
    }
    const isExecutable = (stat.mode & 0o100) !== 0;
    this.#files.push({ path: name, isExecutable, bytes });
  }
}

/** One byte more than `size` where there is more. */
function readWhole(fd: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size + 1);
  let at = 0;
  for (let count = -1; count !== 0 && at < bytes.length; at += count) {
    count = readSync(fd, bytes, at, bytes.length - at, null);
  }
  return bytes.subarray(0, at);
}
