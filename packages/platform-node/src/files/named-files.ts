/**
 * Files that programs need of their launcher, or leave to it: a directory of their job, and files that they have named,
 * to be read or removed. What is removed is decided by what it is and where it lies, not by who has named it. Loaded at
 * the first use.
 */

import { StciError, type Files } from '@stci/interface';
import { builtin } from '../system/builtin.js';
import { distrusted, makeTemporary, openReal } from './trusted-path.js';

/** Where programs share memory. */
const SHARED_MEMORY = '/dev/shm';

/** Numbers of the machine's own namespaces, which every kernel gives them. */
const MACHINE = { pid: 0xef_ff_ff_fc, ipc: 0xef_ff_ff_ff };

export function createFiles(): Files {
  const made = new Set<string>();
  return {
    makeDirectory: (prefix) => {
      const directory = makeOwn(prefix);
      made.add(directory);
      return directory;
    },
    removeDirectory: (path) => {
      if (made.delete(path)) remove(path);
    },
    removeNamed: (paths) => paths.filter((path) => !removeNamed(path, made)),
    readNamed,
    removeUnused: (prefixes, sinceWallMs) => removeUnused(prefixes, sinceWallMs),
  };
}

function makeOwn(prefix: string): string {
  const place = builtin('node:os').tmpdir();
  try {
    return makeTemporary(place, `${prefix}-`);
  } catch (thrown) {
    const text = `Cannot make a directory for a job in ${place}: ${(thrown as Error).message}. Mend it, or set TMPDIR.`;
    throw new StciError('STCI_TEMPORARY_DIRECTORY', text, { cause: thrown });
  }
}

function remove(path: string): void {
  try {
    builtin('node:fs').rmSync(path, { recursive: true, force: true });
  } catch {
    // A program that is still there has it in use: it is below the directory for temporary files, and of this user.
  }
}

/** False: it stays, or is not there. */
function removeNamed(path: string, made: ReadonlySet<string>): boolean {
  const { lstatSync, realpathSync, unlinkSync } = builtin('node:fs');
  const { basename, dirname, isAbsolute, join } = builtin('node:path');
  try {
    if (!isAbsolute(path)) return false;
    const directory = realpathSync(dirname(path));
    const isBelow = [...made].some((own) => directory === own || directory.startsWith(`${own}/`));
    if (!isBelow && directory !== realpathSync(SHARED_MEMORY)) return false;
    const file = join(directory, basename(path));
    const facts = lstatSync(file);
    if (facts.uid !== process.geteuid?.() || !facts.isFile()) return false;
    unlinkSync(file);
    return true;
  } catch {
    return false;
  }
}

/** What was judged is what is read, wherever links led to it. */
function readNamed(path: string, bytesMax: number): ReturnType<Files['readNamed']> {
  const { closeSync, fstatSync, readSync } = builtin('node:fs');
  let fd: number | undefined;
  try {
    fd = openReal(path);
    const facts = fstatSync(fd);
    const reason = !facts.isFile() ? 'is not a regular file' : distrusted(facts)?.reason;
    if (reason !== undefined) return { problem: `it ${reason}` };
    if (facts.size > bytesMax) return { problem: `it is larger than ${bytesMax} bytes` };
    const bytes = Buffer.alloc(facts.size);
    return { text: bytes.toString('utf8', 0, readSync(fd, bytes, 0, facts.size, 0)) };
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const known: Readonly<Record<string, string>> = { ENOENT: 'there is no such file', EACCES: 'it may not be read' };
    return { problem: known[code ?? ''] ?? message };
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function removeUnused(prefixes: readonly string[], sinceWallMs: number): void {
  const { lstatSync, readdirSync, unlinkSync } = builtin('node:fs');
  const unused = new Set<string>();
  if (!seesUsers()) return;
  for (const name of listed(SHARED_MEMORY, readdirSync)) {
    const path = `${SHARED_MEMORY}/${name}`;
    const facts = lstatSync(path, { throwIfNoEntry: false });
    const isOurs = facts?.isFile() === true && facts.uid === process.geteuid?.() && facts.ctimeMs >= sinceWallMs;
    if (isOurs && prefixes.some((prefix) => name.startsWith(prefix))) unused.add(path);
  }
  if (unused.size > 0) for (const path of inUse()) unused.delete(path);
  for (const path of unused) {
    try {
      unlinkSync(path);
    } catch {
      // Somebody else was quicker.
    }
  }
}

/**
 * Whether those who use the shared memory here are among the processes that can be seen: not in a container that has
 * the machine's (`--ipc=host`), but processes of its own.
 */
export function seesUsers(): boolean {
  const { statSync } = builtin('node:fs');
  const [pid, ipc] = ['pid', 'ipc'].map((kind) => statSync(`/proc/self/ns/${kind}`, { throwIfNoEntry: false })?.ino);
  return pid === MACHINE.pid || (pid !== undefined && ipc !== MACHINE.ipc);
}

/** Files of shared memory that processes have mapped or open, of those that this user may look into. */
function inUse(): Set<string> {
  const { readFileSync, readdirSync, readlinkSync } = builtin('node:fs');
  const found = new Set<string>();
  for (const pid of listed('/proc', readdirSync)) {
    if (!/^\d+$/u.test(pid)) continue;
    for (const fd of listed(`/proc/${pid}/fd`, readdirSync)) add(() => readlinkSync(`/proc/${pid}/fd/${fd}`));
    add(() => readFileSync(`/proc/${pid}/maps`, 'latin1'));
  }
  return found;

  function add(read: () => string): void {
    try {
      for (const [path] of read().matchAll(/\/dev\/shm\/[^\s]+/gu)) found.add(path);
    } catch {
      // It has ended, or is somebody else's.
    }
  }
}

function listed(directory: string, read: (path: string) => string[]): string[] {
  try {
    return read(directory);
  } catch {
    return [];
  }
}
