/** Output that cannot be written, in words. */

import { StciError } from '@stci/interface';
import { isPipe } from './descriptor.js';

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
  EPIPE: 'its reader has gone',
  EIO: 'the device reports an error',
};

/** The caller's own streams, whatever they are named by. */
const STANDARD = /^(?:standard |file \/(?:dev\/std|dev\/fd\/|proc\/self\/fd\/))(?:out(?:put)?|err(?:or)?|[12])$/u;

/** STCI_OUTPUT_CLOSED, which is not an error to report, where the reader of a standard stream has gone. */
export function outputError(where: string, error: NodeJS.ErrnoException, remedy = ''): StciError {
  if (STANDARD.test(where)) {
    const fd = /err|2/u.test(where) ? 2 : 1;
    const isClosed = error.code === 'EPIPE' || (error.code === 'ENXIO' && isPipe(fd));
    if (isClosed) return new StciError('STCI_OUTPUT_CLOSED', `Standard ${fd === 1 ? 'output' : 'error'} was closed`);
  }
  const reason = REASONS[error.code ?? ''] ?? error.message;
  const text = `Output cannot be written to ${where}: ${reason}.${remedy}`;
  return new StciError('STCI_OUTPUT_FAILED', text, { cause: error });
}
