/** The files of a spool in a private directory of their own, made when they are needed. */

import { close, mkdirSync, openSync, read, rmSync, writev } from 'node:fs';
import type { SpoolFile, SpoolFiles } from '@stci/core/resident';

export function spoolDirectory(directory: string): SpoolFiles {
  let files = 0;
  return {
    next: () => {
      if (files === 0) mkdirSync(directory, { recursive: true, mode: 0o700 });
      files += 1;
      return spoolFile(`${directory}/${files}`);
    },
    remove: () => {
      if (files > 0) rmSync(directory, { recursive: true, force: true });
    },
  };
}

function spoolFile(path: string): SpoolFile {
  let fd = -1;
  let isMade = false;
  return {
    open: () => {
      fd = openSync(path, isMade ? 'r+' : 'w+', 0o600);
      isMade = true;
    },
    close: () => close(fd),
    write: (offset, pieces, done) => {
      const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
      writev(fd, pieces, offset, (error, written) => {
        const isShort = error === null && written < bytes;
        done(isShort ? Object.assign(new Error('no space is left'), { code: 'ENOSPC' }) : error ?? undefined);
      });
    },
    read: (offset, length, done) => {
      const block = Buffer.allocUnsafeSlow(length);
      read(fd, block, 0, length, offset, (error, bytes) => done(block.subarray(0, error === null ? bytes : 0)));
    },
    remove: () => rmSync(path, { force: true }),
  };
}
