/** The files of a spool in a private directory of their own, made when they are needed. */

import { close, constants, read, rmSync, writev } from 'node:fs';
import type { SpoolFile, SpoolFiles } from '@stci/core/resident';
import { openOwn, privateDirectory } from '@stci/platform-node';

export function spoolDirectory(directory: string): SpoolFiles {
  let files = 0;
  let resolved = '';
  return {
    next: () => {
      if (resolved === '') resolved = privateDirectory(directory);
      files += 1;
      return spoolFile(`${resolved}/${files}`);
    },
    remove: () => {
      if (resolved !== '') rmSync(resolved, { recursive: true, force: true });
    },
  };
}

function spoolFile(path: string): SpoolFile {
  let fd = -1;
  let isMade = false;
  return {
    open: () => {
      fd = openOwn(path, constants.O_RDWR | (isMade ? 0 : constants.O_CREAT | constants.O_EXCL));
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
