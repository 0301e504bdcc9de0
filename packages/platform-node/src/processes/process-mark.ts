/**
 * Two marks that the descendants of an agent inherit. One is a variable in their environment. The other is the soft
 * limit of file locks (RLIMIT_LOCKS), which Linux has not enforced since 2.4: a process that clears its environment and
 * starts a session of its own keeps it. The shell that becomes the agent sets it (start-script.ts): a constant, so that
 * neither chance nor an administrator's limit looks like it, 24 random bits, then the 22 of the agent's process id, so
 * that an agent can tell its own mark from one that it inherited from another agent.
 */

import { builtin } from '../system/builtin.js';
import { isMainThread } from '../system/main-thread.js';

/** As many bits as the largest process id of Linux takes. */
const PID_BITS = 22n;
/** The constant, and how many bits stand below it. */
export const MARK_TAG = 0x5354;
/**
 * The constant of the shell that becomes stcirun (bin/stcirun.cjs), which may have an agent in its process, or start
 * what outlives it: so this one shows whose descendant a process is, and never that it was left behind.
 */
export const COMMAND_TAG = 0x5355;
export const TAG_SHIFT = 46;
const LIMIT_LINE = /^Max file locks\s+(\d+)/m;

/** The shell function `stci_mark`, for the shell that becomes an agent. dash calls the limit w, bash x. */
export const MARK_FUNCTION = `
stci_mark() {
  { IFS=- read -r stci_x stci_y; } 2>/dev/null </proc/sys/kernel/random/uuid || return
  stci_x=$(((${MARK_TAG} << 24 | 0x$stci_x & 0xffffff) << 22 | $$))
  ulimit -S -w "$stci_x" 2>/dev/null || ulimit -S -x "$stci_x" 2>/dev/null
}`;

/** For the shell: takes away the limit that it inherited from another agent. Lowering it is always allowed. */
export const UNMARK = 'ulimit -S -w 0 2>/dev/null || ulimit -S -x 0 2>/dev/null';

let own: string | undefined | false = false;

/**
 * The number that marks this agent's descendants, as in /proc/PID/limits; undefined if it has none. That of the process
 * of an agent in a thread marks all else that is in the process, too.
 */
export function ownLimit(): string | undefined {
  if (own === false) own = readOwn();
  return own;
}

function readOwn(): string | undefined {
  const limit = isMainThread ? limitOf('self') : undefined;
  if (limit === undefined) return undefined;
  const number = BigInt(limit);
  const isTagged = [MARK_TAG, COMMAND_TAG].includes(Number(number >> BigInt(TAG_SHIFT)));
  const isOwn = isTagged && BigInt.asUintN(Number(PID_BITS), number) === BigInt(process.pid);
  return isOwn ? limit : undefined;
}

/** The soft limit of file locks of a process; undefined if it has none or cannot be read. */
export function limitOf(pid: string): string | undefined {
  try {
    return LIMIT_LINE.exec(builtin('node:fs').readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1];
  } catch {
    return undefined;
  }
}
