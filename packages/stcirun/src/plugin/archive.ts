/**
 * A plugin's files as one sequence of bytes, the same for the same files: its SHA-256 is the plugin's name on every
 * host. A line `stci-plugin 1`; for each file, by path, a line `x|- BYTES PATH` and its bytes.
 */

import { createHash } from 'node:crypto';
import { PLUGIN_BYTES_MAX, PLUGIN_FILES_MAX } from '@stci/interface';

export interface PluginFile {
  /** In the package, with `/` between its parts. */
  readonly path: string;
  readonly isExecutable: boolean;
  readonly bytes: Uint8Array;
}

const HEAD = 'stci-plugin 1\n';
const PATH_BYTES_MAX = 4096;
/** Largest archive: the files, and a line for each. */
export const ARCHIVE_BYTES_MAX = PLUGIN_BYTES_MAX + PLUGIN_FILES_MAX * (PATH_BYTES_MAX + 16) + HEAD.length;

/** Bytes of one file and its line. */
const LINE = /^([x-]) (\d{1,9}) ([^\n]+)$/u;

export function packFiles(files: readonly PluginFile[]): Uint8Array {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : 1));
  const parts = sorted.flatMap(({ path, isExecutable, bytes }) =>
    [Buffer.from(`${isExecutable ? 'x' : '-'} ${bytes.length} ${path}\n`), bytes]);
  return Buffer.concat([Buffer.from(HEAD), ...parts]);
}

export function hashOf(archive: Uint8Array): string {
  return createHash('sha256').update(archive).digest('hex');
}

/** Throws Error for anything that `packFiles` does not make. */
export function unpackFiles(archive: Uint8Array): readonly PluginFile[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.length);
  if (bytes.subarray(0, HEAD.length).toString() !== HEAD) throw new Error('it is no archive of a plugin');
  const files: PluginFile[] = [];
  for (let at = HEAD.length; at < bytes.length;) {
    const end = bytes.indexOf('\n', at);
    const [, kind, size, path] = LINE.exec(bytes.toString('utf8', at, end < 0 ? at : end)) ?? [];
    const from = end + 1;
    const to = from + Number(size);
    if (path === undefined || pathProblem(path) !== undefined || to > bytes.length) {
      throw new Error(`the archive of a plugin is damaged at byte ${at}`);
    }
    files.push({ path, isExecutable: kind === 'x', bytes: bytes.subarray(from, to) });
    at = to;
  }
  return files;
}

/** Why a file with this path cannot be in an archive. */
export function pathProblem(path: string): string | undefined {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `its path is longer than ${PATH_BYTES_MAX} bytes`;
  if (/[\n\0\uFFFD]/u.test(path)) return 'its path has a newline, or is no UTF-8';
  return path.split('/').some((part) => ['', '.', '..'].includes(part)) ? 'its path leaves the package' : undefined;
}
