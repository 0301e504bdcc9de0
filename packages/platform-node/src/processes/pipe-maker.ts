/**
 * Makes pipes through a shell, since Node has no call for pipe(2). A shell makes a pipe for each here-document and
 * keeps it open while the command that reads it runs, so a recursive function holds many. This process opens both ends
 * of each through /proc/PID/fd, with its own flags, and then ends the shell. If this process dies first, the shell
 * reads the end of its standard input and exits. If here-documents are files (bash before 5.1, the /bin/sh of RHEL 8),
 * mkfifo is run instead, in a private directory that is removed at once; that needs a writable directory.
 */

import type { ChildProcess } from 'node:child_process';
import { makeTemporary } from '../files/trusted-path.js';
import { builtin } from '../system/builtin.js';
import { nowMs } from '../system/clock.js';
import { errnoOf } from '../system/program.js';

/** Descriptors of both ends of one pipe. */
export interface PipeEnds {
  readonly readFd: number;
  readonly writeFd: number;
}

/** Deadline of the shell; it usually takes about 1 ms. */
const SHELL_MS_MAX = 2000;
/** Period at which the shell's progress is polled, in ms. */
const POLL_MS = 0.1;

/** Not empty, since an empty document need not become a pipe. The shell closes descriptor 1 when it holds all pipes. */
const DOCUMENT = 'x\n';
const script = (count: number): string => `
left=${count}
hold() {
  if [ "$left" -eq 0 ]; then
    exec 1>&-
    read -r end
    exit
  fi
  left=$((left - 1))
  hold 3<<END
${DOCUMENT}END
}
hold
`;

/** Errors that may pass: a retry can succeed. */
const PASSING = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

export function isPassing(error: unknown): boolean {
  return PASSING.has(errnoOf(error));
}

/** A shell that makes `count` pipes; it begins at once, and is waited for when they are taken. */
export class PipeMaker {
  readonly #shell: string;
  readonly #count: number;
  readonly #child: ChildProcess;

  constructor(shell: string, count: number) {
    this.#shell = shell;
    this.#count = count;
    this.#child = builtin('node:child_process').spawn(shell, ['-c', script(count)], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: {},
      cwd: '/',
    });
    this.#child.on('error', () => {});
    this.#child.stdin?.on('error', () => {});
    this.#child.unref();
  }

  /** Call once. Throws if there is no such shell, or neither /proc nor a directory for named pipes can be used. */
  take(): PipeEnds[] {
    try {
      return this.#ofDocuments();
    } catch (error) {
      const pipes = isPassing(error) ? undefined : namedPipes(this.#shell, this.#count);
      if (pipes === undefined) throw error;
      return pipes;
    } finally {
      this.end();
    }
  }

  /** The pipes that were not taken are gone. */
  end(): void {
    this.#child.stdin?.destroy();
    // Without a process it would go to process 0, which is our whole group.
    if (this.#child.pid !== undefined) this.#child.kill('SIGKILL');
  }

  #ofDocuments(): PipeEnds[] {
    const { pid } = this.#child;
    // Node reports the reason later. The shell exists, since it runs the guardian, so descriptors or processes ran out.
    if (pid === undefined) throw Object.assign(new Error(`${this.#shell} cannot be started`), { code: 'EAGAIN' });
    awaitReady(pid);
    return openAll(pid, this.#count);
  }
}

function awaitReady(pid: number): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const endMs = nowMs() + SHELL_MS_MAX;
  while (linkOf(`/proc/${pid}/fd/1`) !== undefined) {
    if (nowMs() > endMs) throw new Error(`a shell made no pipes within ${SHELL_MS_MAX} ms`);
    Atomics.wait(cell, 0, 0, POLL_MS);
  }
}

/** Target of a descriptor: `pipe:[123]`, a path; undefined if it is not open. */
function linkOf(path: string): string | undefined {
  try {
    return builtin('node:fs').readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Paths of the descriptors of `process`, by their targets. */
function descriptors(process: number | 'self'): Map<string, string> {
  const directory = `/proc/${process}/fd`;
  const found = new Map<string, string>();
  for (const fd of entries(directory)) {
    const link = linkOf(`${directory}/${fd}`);
    if (link !== undefined) found.set(link, `${directory}/${fd}`);
  }
  return found;
}

/** None for a process that has ended: until it is reaped, root finds its directory empty, other users get EACCES. */
function entries(directory: string): string[] {
  try {
    return builtin('node:fs').readdirSync(directory);
  } catch {
    return [];
  }
}

function openAll(pid: number, count: number): PipeEnds[] {
  // Descriptors that the shell inherited are excluded: this process may itself have inherited them at its start.
  const inherited = descriptors('self');
  const paths = [...descriptors(pid)].filter(([link]) => link.startsWith('pipe:') && !inherited.has(link));
  if (paths.length !== count) throw new Error(`${paths.length} of ${count} here-documents of a shell were pipes`);
  const pipes: PipeEnds[] = [];
  try {
    for (const [, path] of paths) pipes.push(openPipe(path));
    return pipes;
  } catch (error) {
    for (const pipe of pipes) closeEnds(pipe);
    throw error;
  }
}

function openPipe(path: string): PipeEnds {
  const { openSync, closeSync, readSync } = builtin('node:fs');
  const readFd = openSync(path, 'r');
  try {
    readSync(readFd, Buffer.alloc(DOCUMENT.length));
    return { readFd, writeFd: openSync(path, builtin('node:fs').constants.O_WRONLY) };
  } catch (error) {
    closeSync(readFd);
    throw error;
  }
}

/** undefined if no directory is writable. Throws if descriptors or processes are short. */
function namedPipes(shell: string, count: number): PipeEnds[] | undefined {
  for (const place of new Set([process.env['XDG_RUNTIME_DIR'], builtin('node:os').tmpdir(), '/dev/shm'])) {
    try {
      if (place !== undefined) return namedPipesIn(place, shell, count);
    } catch (error) {
      if (isPassing(error)) throw error;
    }
  }
  return undefined;
}

function namedPipesIn(place: string, shell: string, count: number): PipeEnds[] {
  const directory = makeTemporary(place, 'stci-pipes-');
  const pipes: PipeEnds[] = [];
  try {
    const paths = Array.from({ length: count }, (_, i) => `${directory}/${i}`);
    const command = ['-c', 'exec mkfifo -m 600 "$@"', 'sh', ...paths];
    const { error } = builtin('node:child_process').spawnSync(shell, command, { stdio: 'ignore' });
    if (error !== undefined) throw error;
    for (const path of paths) pipes.push(openNamed(path));
    return pipes;
  } catch (error) {
    for (const pipe of pipes) closeEnds(pipe);
    throw error;
  } finally {
    builtin('node:fs').rmSync(directory, { recursive: true, force: true });
  }
}

/** Opening one end of a named pipe blocks until the other is open, so a third descriptor holds both open meanwhile. */
function openNamed(path: string): PipeEnds {
  const { constants, closeSync, openSync } = builtin('node:fs');
  const bothFd = openSync(path, 'r+');
  try {
    const readFd = openSync(path, 'r');
    try {
      return { readFd, writeFd: openSync(path, constants.O_WRONLY) };
    } catch (error) {
      closeSync(readFd);
      throw error;
    }
  } finally {
    closeSync(bothFd);
  }
}

export function closeEnds(pipe: PipeEnds): void {
  const { closeSync } = builtin('node:fs');
  closeSync(pipe.readFd);
  closeSync(pipe.writeFd);
}
