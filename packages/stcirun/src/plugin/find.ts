/**
 * Finds a plugin's package: a directory, or a package of node_modules, as Node finds it. Its package.json is read here,
 * its code is not; both must be such that no other user could have written them.
 */

import { closeSync, fstatSync, lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { StciError, type AnyFramework } from '@stci/interface';
import { distrusted, openReal } from '@stci/platform-node';
import { readDescriptor, readReason } from '../files/read-file.js';
import { pluginError } from './error.js';
import { readManifest, type PluginPackage } from './manifest.js';

export const MANIFEST_FILE = 'package.json';
const MANIFEST_BYTES_MAX = 1 << 20;

export interface FoundPlugin extends PluginPackage {
  /** As it was found, absolute: for messages. */
  readonly path: string;
  /** Without symbolic links. */
  readonly directory: string;
}

/** `edit`: of the manifest, before it is checked. Throws STCI_PLUGIN_INVALID. */
export function findPlugin(
  path: string, frameworks: readonly AnyFramework[], edit = (json: string): string => json,
): FoundPlugin {
  const stat = lstatSync(path, { throwIfNoEntry: false }) && statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) {
    throw pluginError(path, 'there is no such directory, nor a package of that name in a node_modules from there up');
  }
  const file = join(path, MANIFEST_FILE);
  if (!stat.isDirectory()) {
    throw pluginError(path, `a plugin is a package, and this is ${stat.isFile() ? 'a file' : 'no directory'}. Put it `
      + `into a directory with a ${MANIFEST_FILE} whose field "stci" declares its components; docs/plugins.md`);
  }
  const directory = realpathSync(path);
  const owned = ownership(path);
  for (const one of new Set([dirname(path), dirname(directory), directory])) owned(one, statSync(one));
  const real = join(directory, MANIFEST_FILE);
  if (statSync(real, { throwIfNoEntry: false }) === undefined) {
    throw pluginError(path, `it has no ${MANIFEST_FILE}. Expected one whose field "stci" declares its components; `
      + 'docs/plugins.md');
  }
  return { path, directory, ...readManifest(edit(readJudged(path, real, owned)), file, frameworks) };
}

/** What is judged is what is read: another file may take the name meanwhile. */
function readJudged(path: string, file: string, owned: ReturnType<typeof ownership>): string {
  let fd: number | undefined;
  try {
    fd = openReal(file);
    owned(file, fstatSync(fd));
    return readDescriptor(fd, MANIFEST_BYTES_MAX);
  } catch (thrown) {
    if (thrown instanceof StciError) throw thrown;
    owned(file, statSync(file));
    throw pluginError(path, `${file} cannot be read: ${readReason(thrown)}`);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Throws for what another user could have written: a plugin is code that runs as the caller. */
export function ownership(plugin: string): (path: string, stat: Stats) => void {
  return (path, stat) => {
    const wrong = distrusted(stat);
    if (wrong === undefined) return;
    const remedy = wrong.is === 'owner' ? 'If you trust it, copy the package into a directory of your own'
      : (stat.mode & 0o1000) !== 0 ? 'It is a directory for all. Move the package into a directory of your own'
        : `If you trust what is in it: chmod -R go-w ${path}`;
    const mode = (stat.mode & 0o7777).toString(8).padStart(4, '0');
    throw pluginError(plugin, `${path} ${wrong.reason}; its mode is ${mode}. ${remedy}`);
  };
}
