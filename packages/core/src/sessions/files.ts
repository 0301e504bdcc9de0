/** Where a spool keeps output that exceeds its memory: on the disk, or in a simulation. */

/** One file. `read` and `write` are called between `open` and `close`, one `write` at a time, and call back later. */
export interface SpoolFile {
  /** The first time it is made. Throws the system's error. */
  open(): void;
  close(): void;
  /** All of the pieces from `offset` on; `error`: not all could be written. */
  write(offset: number, pieces: readonly Uint8Array[], done: (error?: unknown) => void): void;
  /** Up to `length` bytes from `offset` on; none where they cannot be read. */
  read(offset: number, length: number, done: (bytes: Uint8Array) => void): void;
  /** It can be read until it is closed. */
  remove(): void;
}

/** The files of one spool. */
export interface SpoolFiles {
  /** The next file, not open. Throws the system's error. */
  next(): SpoolFile;
  /** Removes all that are left. */
  remove(): void;
}
