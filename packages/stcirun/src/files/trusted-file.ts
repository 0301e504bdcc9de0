/**
 * Configuration files that are found without being named are used only if no one but the caller and root could have
 * written them, since a parameter may name a program. The file and the directory it stands in must belong to the caller
 * or root, and neither may be writable for group or others; where the name is a symbolic link, this holds for the
 * directory of the link, too. Directories farther up are not checked: a user who may rename there can put another
 * directory in the place of this one, but not one that belongs to the caller and holds what the caller never wrote.
 * docs/security.md states the rules.
 */

import { closeSync, fstatSync, lstatSync, realpathSync, statSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import { distrusted, openReal } from '@stci/platform-node';
import { readDescriptor, readReason } from './read-file.js';

export type FileState =
  | { readonly state: 'absent' }
  | { readonly state: 'read'; readonly text: string }
  /** Somebody else could have written it. `remedy` is what to do where the user trusts it. */
  | { readonly state: 'ignored'; readonly reason: string; readonly remedy: string }
  | { readonly state: 'unreadable'; readonly reason: string };

const ABSENT = ['ENOENT', 'ENOTDIR'];

export function readTrustedFile(path: string, bytesMax: number): FileState {
  try {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { state: 'absent' };
    return readChecked(path, realpathSync(path), bytesMax);
  } catch (thrown) {
    if (ABSENT.includes((thrown as NodeJS.ErrnoException).code ?? '')) return { state: 'absent' };
    return { state: 'unreadable', reason: readReason(thrown) };
  }
}

/**
 * The owner is that of the descriptor that is read, so a rename between check and reading has no effect;
 * directories are checked after it was opened.
 */
function readChecked(path: string, real: string, bytesMax: number): FileState {
  const directories = [...new Set([dirname(real), realpathSync(dirname(path))])];
  let fd: number | undefined;
  try {
    fd = openReal(real);
    const stat = fstatSync(fd);
    const wrong = distrust(stat, 'it', path) ?? firstWrong(directories);
    if (wrong !== undefined) return { state: 'ignored', ...wrong };
    if (!stat.isFile()) return { state: 'unreadable', reason: 'it is not a regular file' };
    return { state: 'read', text: readDescriptor(fd, bytesMax) };
  } catch (thrown) {
    // Another user's file that cannot even be read is not a mistake of the caller.
    const wrong = distrust(statSync(real), 'it', path) ?? firstWrong(directories);
    if (wrong === undefined) throw thrown;
    return { state: 'ignored', ...wrong };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

type Wrong = { readonly reason: string; readonly remedy: string };

function firstWrong(directories: readonly string[]): Wrong | undefined {
  for (const directory of directories) {
    const wrong = distrust(statSync(directory), `its directory ${directory}`, directory);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** Why another user could have written what `stat` describes; undefined if none could. */
function distrust(stat: Stats, what: string, path: string): Wrong | undefined {
  const found = distrusted(stat);
  if (found === undefined) return undefined;
  const reason = `${what} ${found.reason}`;
  if (found.is === 'owner') return { reason, remedy: 'If you trust the file, name it with --am' };
  const isOrdinary = stat.isFile() || stat.isDirectory();
  return { reason, remedy: isOrdinary ? `To use the file: chmod go-w ${path}` : 'Put an ordinary file in its place' };
}
