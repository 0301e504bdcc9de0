/**
 * Runs one program to its end, with a deadline and a bound on its output. At the deadline it is killed with its process
 * group.
 */

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { patient } from '@stci/compliance/patience';
import { HostsError } from './names.js';

export const DEFAULT_DEADLINE_MS = 20_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

export interface RunOptions {
  /** Standard input; empty by default. */
  readonly input?: string | Uint8Array;
  /** Added to the environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Default 20 000. */
  readonly deadlineMs?: number;
}

export interface RunResult {
  /** null if a signal ended it: 128 + the signal's number is for shells. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program and its arguments, for child_process.spawn. */
export type Argv = readonly [string, ...string[]];

/** Resolves at the program's end, whatever its status. Rejects if it cannot run, at the deadline, at the bound. */
export async function runProgram(argv: Argv, options: RunOptions = {}): Promise<RunResult> {
  const [file, ...args] = argv;
  const deadlineMs = options.deadlineMs ?? DEFAULT_DEADLINE_MS;
  const child = spawn(file, args, {
    cwd: options.cwd, env: { ...process.env, ...options.env }, stdio: ['pipe', 'pipe', 'pipe'], detached: true,
  });
  const ended = new Promise<RunResult>((resolve, reject) => {
    const fail = (why: string): void => {
      killGroup(child);
      reject(new HostsError(`${argv.join(' ')}: ${why}; so far: ${tail(stdout() + stderr())}`));
    };
    const stdout = collect(child.stdout, fail);
    const stderr = collect(child.stderr, fail);
    const timer = setTimeout(() => fail(`not done within ${patient(deadlineMs)} ms`), patient(deadlineMs));
    child.on('error', (error) => fail(error.message));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code, signal, stdout: stdout(), stderr: stderr() });
    });
  });
  // A program may end without reading its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  return ended;
}

/** Like run, but any status other than 0 is an error with the program's output. */
export async function runOrThrow(argv: Argv, options: RunOptions = {}): Promise<string> {
  const { code, signal, stdout, stderr } = await runProgram(argv, options);
  if (code === 0) return stdout;
  throw new HostsError(`${argv.join(' ')} ended with ${signal ?? code}: ${tail(stderr || stdout) || 'no word'}`);
}

/** The last lines, for a message. */
export function tail(text: string): string {
  return text.trim().split('\n').slice(-8).join('\n');
}

function collect(stream: NodeJS.ReadableStream, fail: (why: string) => void): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > OUTPUT_BYTES_MAX) fail(`it printed more than ${OUTPUT_BYTES_MAX} bytes`);
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended by itself meanwhile.
  }
}
