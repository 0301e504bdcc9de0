/** Output that cannot be written, in words. */

import { StciError } from '@stci/interface';

/** Errors of the file system that users meet, and what to do. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left there',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'it may not grow further (raise `ulimit -f`)',
  EACCES: 'permission is denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is no directory',
  EMFILE: 'too many files are open (raise `ulimit -n`, or use a template with fewer files)',
  ENFILE: 'too many files are open on this machine',
  ENOENT: 'a directory of its path does not exist',
  ENXIO: 'it is a pipe that no program reads (start its reader before)',
  EIO: 'the device reports an error',
};

export function outputError(where: string, error: NodeJS.ErrnoException, remedy = ''): StciError {
  const reason = REASONS[error.code ?? ''] ?? error.message;
  const text = `Output cannot be written to ${where}: ${reason}.${remedy}`;
  return new StciError('STCI_OUTPUT_FAILED', text, { cause: error });
}
