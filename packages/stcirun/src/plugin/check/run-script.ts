/**
 * Runs a script of this installation that runs a plugin's code: in a process of its own, with what it starts in a group
 * that ends with it, and with this process.
 */

import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

/** Descriptor on which the script tells what it finds. */
export const TOLD_FD = 3;

const SAID_CHARS_MAX = 2000;
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Time after its end for those that have left its group and hold its pipes. */
const HELD_MS = 1000;

export interface ScriptRun {
  readonly path: string;
  readonly args?: readonly string[];
  readonly input?: string;
  /** Time until it is killed, from its start, and from each call of `onProgress`. */
  limitMs(): number;
  /** Reads what it tells. */
  read(told: Readable, onProgress: () => void): void;
}

export interface ScriptEnd {
  /** `SIGSEGV`, `exit code 3`; undefined: it was killed, being late. */
  readonly how: string | undefined;
  /** The last of what it said on standard error, or why it could not be started. */
  readonly said: string;
}

export function runScript({ path, args = [], input = '', limitMs, read }: ScriptRun): Promise<ScriptEnd> {
  return new Promise((resolve) => {
    const stdio = ['pipe', 'ignore', 'pipe', 'pipe'] as const;
    const child: ChildProcess = spawn(process.execPath, [path, ...args], { stdio: [...stdio], detached: true });
    const release = endGroup(child);
    let said = '';
    let isLate = false;
    const kill = (): void => {
      isLate = true;
      child.kill('SIGKILL');
    };
    let timer = setTimeout(kill, limitMs());
    const onProgress = (): void => {
      clearTimeout(timer);
      timer = setTimeout(kill, limitMs());
    };
    child.stdin?.on('error', () => undefined).end(input);
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-SAID_CHARS_MAX)));
    read(child.stdio[TOLD_FD] as Readable, onProgress);
    child.on('error', (error) => (said = error.message));
    child.on('exit', release);
    child.on('close', (status, signal) => {
      clearTimeout(timer);
      release();
      resolve({ how: isLate ? undefined : signal ?? `exit code ${status}`, said: said.trim() });
    });
  });
}

/** Ends the child's group with this process. The returned function ends it now: the child has ended. */
function endGroup(child: ChildProcess): () => void {
  const kill = (): void => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // There is none.
    }
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    kill();
    for (const each of ENDING) process.off(each, onSignal);
    process.kill(process.pid, signal);
  };
  for (const signal of ENDING) process.on(signal, onSignal);
  let isReleased = false;
  return () => {
    if (isReleased) return;
    isReleased = true;
    kill();
    for (const signal of ENDING) process.off(signal, onSignal);
    setTimeout(() => child.stdio.forEach((stream) => stream?.destroy()), HELD_MS).unref();
  };
}
