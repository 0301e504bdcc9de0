/**
 * Directories that only their owner may enter: of private sockets, and of sessions with their keys and output.
 * Node cannot read the credentials of a socket's peer, so access is decided by the directory:
 * a socket in a directory that only its owner may enter has no other user as its peer. The checks hold for all time,
 * since nobody else can change a directory that passes them: it is the user's own, without rights for others, and the
 * directory above it is one in which others cannot rename what is not theirs.
 */

import type { Stats } from 'node:fs';
import { StciError } from '@stci/interface';
import { builtin } from './builtin.js';

/** Longest path of a unix socket in bytes, without the zero at its end. */
const PATH_BYTES_MAX = 107;
const OTHERS = 0o077;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/** Returns why others could have access to `directory`, or undefined if they cannot. Throws if it does not exist. */
export function publicity(directory: string): string | undefined {
  const { lstatSync } = builtin('node:fs');
  const own = process.getuid?.();
  const facts = lstatSync(directory);
  if (facts.isSymbolicLink()) return `${directory} is a symbolic link`;
  if (!facts.isDirectory()) return `${directory} is not a directory`;
  if (facts.uid !== own) return `${directory} belongs to user ${facts.uid}, not to you (${own})`;
  if ((facts.mode & OTHERS) !== 0) return `${directory} is open to others: chmod 700 ${directory}`;
  const above = builtin('node:fs').realpathSync(builtin('node:path').dirname(directory));
  return isStable(above, lstatSync(above), own)
    ? undefined : `others may rename what is in ${above}`;
}

/**
 * No other user renames the entries of such a directory: nobody else may write there, or its sticky bit leaves that to
 * their owner and its own. In a user namespace root's /tmp belongs to an unknown user.
 */
function isStable(directory: string, { mode, uid }: Stats, own: number | undefined): boolean {
  const isTrusted = uid === own || uid === 0 || directory === '/tmp';
  return isTrusted && ((mode & STICKY) !== 0 || (mode & OTHERS_WRITE) === 0);
}

/** Directories for private sockets, best first; those of login sessions end with the session's processes. */
function candidates(): string[] {
  const { tmpdir } = builtin('node:os');
  const { join } = builtin('node:path');
  const runtime = process.env['XDG_RUNTIME_DIR'];
  const name = `stci-${process.getuid?.()}`;
  const found = [join(tmpdir(), name), join('/tmp', name)];
  if (runtime?.startsWith('/') === true && isPrivate(runtime)) found.unshift(join(runtime, 'stci'));
  return [...new Set(found)];
}

function isPrivate(directory: string): boolean {
  try {
    return publicity(directory) === undefined;
  } catch {
    return false;
  }
}

/** The first usable path for a socket of that name; its directory is made where it is missing. */
export function privatePath(name: string): string {
  const { join } = builtin('node:path');
  const problems: string[] = [];
  for (const directory of candidates()) {
    const path = join(directory, name);
    const problem = Buffer.byteLength(path) > PATH_BYTES_MAX
      ? `${path} is longer than ${PATH_BYTES_MAX} bytes` : makePrivate(directory);
    if (problem === undefined) return path;
    problems.push(problem);
  }
  const message = `There is no private directory for a socket: ${problems.join('; ')}. `
    + 'Expected one of your own with mode 0700. Mend one of these, or set XDG_RUNTIME_DIR or TMPDIR.';
  throw new StciError('STCI_LISTEN_FAILED', message);
}

/** Makes the directory where it is missing. Returns why it is not private. */
export function makePrivate(directory: string): string | undefined {
  try {
    builtin('node:fs').mkdirSync(directory, { mode: 0o700 });
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code !== 'EEXIST') return `${directory} cannot be made (${message})`;
  }
  try {
    return publicity(directory);
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

/** Returns why `path` may not be connected to, or undefined if it may. Throws if there is no such socket. */
export function socketProblem(path: string): string | undefined {
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `${path} is longer than ${PATH_BYTES_MAX} bytes`;
  const problem = publicity(builtin('node:path').dirname(path));
  if (problem !== undefined) return problem;
  const facts = builtin('node:fs').lstatSync(path);
  if (!facts.isSocket()) return `${path} is not a socket`;
  return facts.uid === process.getuid?.() ? undefined : `${path} belongs to user ${facts.uid}`;
}
