/** The caller's working directory, which may have been removed, and paths that are relative to it. */

import { isAbsolute, resolve } from 'node:path';
import { StciError } from '@stci/interface';

/** undefined where it was removed; this process then changes to `/`, so that what it starts has a directory. */
export function callerDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    process.chdir('/');
    return undefined;
  }
}

/** Throws STCI_PROGRAM_WDIR for a relative path where there is nothing that it could be relative to. */
export function resolveFrom(directory: string | undefined, path: string, option: string): string {
  if (directory !== undefined) return resolve(directory, path);
  if (isAbsolute(path)) return resolve(path);
  throw removed(`${option} ${path} is relative to it: give an absolute path, or change to another directory.`);
}

export function removed(more: string): StciError {
  return new StciError('STCI_PROGRAM_WDIR', `The current working directory was removed. ${more}`);
}
