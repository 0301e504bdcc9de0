/**
 * Parameters of plugins. What a user names are paths, each relative to the file or the command line that names it; what
 * agents get are the hashes of copies.
 */

import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { PLUGIN_COPIES, type ParamGroup } from '@stci/core';
import { StciError } from '@stci/interface';
import { callerDirectory, resolveFrom } from '../files/caller-directory.js';
import { locatePlugin } from './locate.js';

export const PATHS = 'plugin.paths';
export const TIMEOUT = 'plugin.timeout';

export const pluginGroup: ParamGroup = {
  name: 'plugin',
  help: 'Components of packages outside.',
  params: {
    paths: {
      type: 'list',
      default: [],
      scope: 'front-end',
      help: 'Directories of packages whose components are added, or names of installed packages; relative to the file '
        + 'that names them. What --plugin names is added to them. Not in the environment.',
    },
    copies: {
      type: 'list',
      default: [],
      scope: 'job',
      level: 'developer',
      help: 'Hashes of the copies of these packages that run, each with its path. Made from plugin.paths; it cannot be '
        + 'set.',
    },
    timeout: {
      type: 'duration',
      default: 10_000,
      min: 100,
      max: 3_600_000,
      help: 'How long a call of a plugin may take, while its process may run, before the process is ended. Longer lets '
        + 'slow code through, shorter tells sooner of code that hangs.',
    },
  },
  rules: [{
    param: PATHS,
    check: (params) => {
      const given = params.entries().find(({ name }) => name === PATHS);
      return given?.source !== 'environment' ? undefined
        : 'plugins are not named in the environment. Write --plugin PATH, or plugin.paths in a file of parameters.';
    },
  }, {
    param: PLUGIN_COPIES,
    check: (params) => {
      const given = params.entries().find(({ name }) => name === PLUGIN_COPIES);
      return given === undefined || given.source === 'default' || given.source === 'boot record' ? undefined
        : 'it is made from plugin.paths, and cannot be set. Write --plugin PATH.';
    },
  }],
};

/** What `--plugin` stands for. `mayBeAbsent`: what is not there is judged with the others. Throws StciError. */
export function pluginPairs(
  paths: readonly string[] = [], mayBeAbsent = false,
): readonly { readonly key: string; readonly value: string; readonly origin: string }[] {
  if (paths.length === 0) return [];
  const wdir = paths.every((path) => isAbsolute(path)) ? undefined : callerDirectory();
  const located = paths.map((path) => {
    const found = wdir === undefined ? resolveFrom(wdir, path, '--plugin') : locatePlugin(wdir, path);
    // A plugin that is named by its whole path is told as the others of `plugin.paths` are.
    if (!mayBeAbsent && found !== path && !existsSync(found)) {
      throw new StciError('STCI_PLUGIN_INVALID', `--plugin ${path}: there is no such directory, nor a package of that `
        + `name in a node_modules from there up (${found}).`);
    }
    if (!found.includes(',')) return found;
    throw new StciError('STCI_USAGE', `--plugin ${path}: a path with a comma cannot be named. Use a symbolic link.`);
  });
  const value = located.join(',');
  return [{ key: PATHS, value, origin: paths.map((path) => `--plugin ${path}`).join(' ') }];
}

/** A copy as agents know it: hash, and the path that it was made of. */
export interface CopyName {
  readonly hash: string;
  readonly path: string;
}

export function copyText({ hash, path }: CopyName): string {
  // A list has no commas in its items; the path is for messages.
  return `${hash} ${path.replaceAll(',', '?')}`;
}

export function copyNames(texts: readonly string[]): readonly CopyName[] {
  return texts.map((text) => {
    const [hash = '', ...path] = text.split(' ');
    return { hash, path: path.join(' ') };
  });
}
