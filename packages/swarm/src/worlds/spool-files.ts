/** Files of a spool on a simulated disk: reads and writes take time, and the disk may be full. */

import type { SpoolFile, SpoolFiles } from '@stci/core/resident';
import { assert, type Clock } from '@stci/interface';
import type { SimRandom } from '@stci/platform-sim';

/** Longest that a read or a write takes, ms. */
const ACCESS_MS = 5;

/** The disk of all spools of a session. */
export class SimulatedDisk {
  readonly #roomBytes: number;
  readonly #files = new Set<DiskFile>();
  /** Most that was on it. */
  bytesMax = 0;

  constructor(roomBytes: number) {
    this.#roomBytes = roomBytes;
  }

  files(clock: Clock, random: SimRandom): SpoolFiles {
    const own = new Set<DiskFile>();
    const later = (call: () => void): void => void clock.after(random.between(0, ACCESS_MS), call);
    return {
      next: () => {
        const hasRoom = (bytes: number): boolean => this.#hasRoom(bytes);
        const file: DiskFile = new DiskFile(later, hasRoom, () => this.#files.delete(file));
        this.#files.add(file);
        own.add(file);
        return file;
      },
      remove: () => own.forEach((file) => file.remove()),
    };
  }

  /** For so many bytes more. Files that are removed, but still open, take room. */
  #hasRoom(more: number): boolean {
    let bytes = more;
    for (const { content } of this.#files) bytes += content.length;
    const isRoom = bytes <= this.#roomBytes;
    if (isRoom) this.bytesMax = Math.max(this.bytesMax, bytes);
    return isRoom;
  }
}

class DiskFile implements SpoolFile {
  content = new Uint8Array(0);
  readonly #later: (call: () => void) => void;
  readonly #hasRoom: (bytes: number) => boolean;
  readonly #onGone: () => void;
  #isOpen = false;
  #isRemoved = false;

  constructor(later: (call: () => void) => void, hasRoom: (bytes: number) => boolean, onGone: () => void) {
    this.#later = later;
    this.#hasRoom = hasRoom;
    this.#onGone = onGone;
  }

  open(): void {
    assert(!this.#isOpen && !this.#isRemoved, 'a file is opened once at a time, and not when it was removed');
    this.#isOpen = true;
  }

  close(): void {
    assert(this.#isOpen, 'a file is closed once');
    this.#isOpen = false;
    if (this.#isRemoved) this.#onGone();
  }

  write(offset: number, pieces: readonly Uint8Array[], done: (error?: unknown) => void): void {
    this.#later(() => {
      assert(this.#isOpen, 'a file is open while it is written');
      const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
      if (!this.#hasRoom(offset + bytes - this.content.length)) return done(new Error('no space is left'));
      const content = new Uint8Array(offset + bytes);
      content.set(this.content.subarray(0, offset));
      let at = offset;
      for (const piece of pieces) {
        content.set(piece, at);
        at += piece.length;
      }
      this.content = content;
      done();
    });
  }

  read(offset: number, length: number, done: (bytes: Uint8Array) => void): void {
    this.#later(() => {
      assert(this.#isOpen, 'a file is open while it is read');
      done(this.content.slice(offset, offset + length));
    });
  }

  remove(): void {
    this.#isRemoved = true;
    if (!this.#isOpen) this.#onGone();
  }
}
