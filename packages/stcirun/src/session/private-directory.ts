/**
 * Directories of sessions: only their owner may read, write or list them, so that keys and output in them are private.
 * Checked each time: below /tmp another user could have made one of that name before.
 */

import { lstatSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { StciError } from '@stci/interface';

const OTHERS = 0o077;

/** Why the directory is not private; undefined if it is. Throws the system's error if it does not exist. */
export function privacyProblem(path: string): string | undefined {
  const stat = lstatSync(path);
  const own = process.geteuid?.() ?? 0;
  if (!stat.isDirectory()) return stat.isSymbolicLink() ? 'it is a symbolic link' : 'it is not a directory';
  if (stat.uid !== own) return `it belongs to another user (uid ${stat.uid}; you are uid ${own})`;
  if ((stat.mode & OTHERS) !== 0) return `others may use it (mode ${(stat.mode & 0o777).toString(8)}; expected 700)`;
  return undefined;
}

/** Makes it, and its parent, where they do not exist. Throws STCI_SESSION_REFUSED. */
export function ensurePrivate(path: string): void {
  for (const one of [dirname(path), path]) {
    try {
      mkdirSync(one, { mode: 0o700 });
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw refused(path, (thrown as Error).message);
    }
  }
  const problem = privacyProblem(path);
  if (problem !== undefined) throw refused(path, problem);
}

function refused(path: string, reason: string): StciError {
  const remedy = 'Remove it, or choose another: --mca session.directory=PATH.';
  return new StciError('STCI_SESSION_REFUSED', `Sessions cannot be kept in ${path}: ${reason}. ${remedy}`);
}
