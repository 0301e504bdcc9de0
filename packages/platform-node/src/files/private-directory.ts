/**
 * Private directories of this user, for sockets and for sessions with their keys and output. Node cannot read the
 * credentials of a socket's peer, so access is decided by the directory: a socket in one that only its owner may enter
 * has no other user as its peer.
 */

import { StciError } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { privateDirectory, UntrustedPath } from './trusted-path.js';

/** Longest path of a unix socket in bytes, without the zero at its end. */
const PATH_BYTES_MAX = 107;
const SHARED = '/tmp';

const nameOfUser = (): string => `stci-${process.geteuid?.() ?? 0}`;

/** Directory of the user on this machine; it stays when logins end. Anybody could have taken its name. */
export function usualDirectory(): string {
  return `${SHARED}/${nameOfUser()}`;
}

/** Directory that a login session has for its sockets and the like, where that is private. */
export function runtimeDirectory(runtime = process.env['XDG_RUNTIME_DIR']): string | undefined {
  return runtime?.startsWith('/') === true && isPrivate(runtime) ? `${runtime}/stci` : undefined;
}

/**
 * Directories whose names nobody can have taken, since they end at random; found again by their owner. With `makes`
 * there is one at least.
 */
export function spareDirectories(makes: boolean): readonly string[] {
  const { lstatSync, mkdtempSync, readdirSync } = builtin('node:fs');
  const prefix = `${nameOfUser()}-`;
  const names = readdirSync(SHARED).filter((name) => name.startsWith(prefix) && name.length === prefix.length + 6);
  const uid = process.geteuid?.();
  const isOwn = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.uid === uid;
  // Who owns them first: others may have made any number.
  const own = names.sort().map((name) => `${SHARED}/${name}`).filter((path) => isOwn(path) && isPrivate(path));
  return own.length > 0 || !makes ? own : [mkdtempSync(`${SHARED}/${prefix}`)];
}

function isPrivate(directory: string): boolean {
  try {
    privateDirectory(directory, false);
    return true;
  } catch {
    return false;
  }
}

/** Directories for private sockets, best first; those of login sessions end with the session's processes. */
const CANDIDATES: readonly (() => string | undefined)[] = [
  () => runtimeDirectory(),
  () => temporaryDirectory(),
  usualDirectory,
  () => spareDirectories(true)[0],
];

/** Directory in TMPDIR, which is not made: one that is missing is a slip, or went with its login. */
function temporaryDirectory(): string | undefined {
  const directory = builtin('node:os').tmpdir();
  return builtin('node:fs').existsSync(directory) ? `${directory}/${nameOfUser()}` : undefined;
}

/** The first usable path for a socket of that name; its directory is made where it is missing. */
export function privatePath(name: string): string {
  const { join } = builtin('node:path');
  const problems: string[] = [];
  for (const candidate of CANDIDATES) {
    try {
      const directory = candidate();
      if (directory === undefined) continue;
      const path = join(privateDirectory(directory), name);
      if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
      problems.push(`${path} is longer than ${PATH_BYTES_MAX} bytes`);
    } catch (thrown) {
      problems.push((thrown as Error).message);
    }
  }
  const message = `There is no private directory for a socket: ${[...new Set(problems)].join('; ')}. `
    + 'Expected one of your own with mode 0700. Mend one of these, or set XDG_RUNTIME_DIR or TMPDIR.';
  throw new StciError('STCI_LISTEN_FAILED', message);
}

/** Returns why `path` may not be connected to, or undefined if it may. Throws if there is no such socket. */
export function socketProblem(path: string): string | undefined {
  const { basename, dirname, join } = builtin('node:path');
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `${path} is longer than ${PATH_BYTES_MAX} bytes`;
  try {
    const facts = builtin('node:fs').lstatSync(join(privateDirectory(dirname(path), false), basename(path)));
    if (!facts.isSocket()) return `${path} is not a socket`;
    return facts.uid === process.geteuid?.() ? undefined : `${path} belongs to user ${facts.uid}`;
  } catch (thrown) {
    if (thrown instanceof UntrustedPath) return thrown.message;
    throw thrown;
  }
}
