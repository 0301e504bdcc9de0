/** Asks Slurm for an allocation, by salloc, and waits for it in Slurm's queue. */

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { StciError } from '@stci/interface';
import { checkProgram } from '@stci/platform-node';
import { HeldAllocation } from './held-allocation.js';
import { EnvironmentReader, holderCommand, KEEP } from './holder.js';
import { sallocCommand } from './salloc-options.js';
import type { SallocState } from './salloc-words.js';

/** How salloc ended is known soon after the end of its words. */
const EXIT_MS = 1000;

/** Time from which on Slurm has a reason for the wait, and may be asked for it; how long that may take. */
const REASON_AFTER_MS = 2000;
const REASON_MS = 5000;

export interface AllocationRequest {
  /** salloc's. */
  readonly args: readonly string[];
  /** The caller's. */
  readonly variables: Readonly<Record<string, string>>;
  /** Aborted: the request is taken back. */
  readonly signal: AbortSignal;
  /** Remarks of Slurm. */
  onWords(text: string): void;
  /** How far it is, now and then. */
  onState?(state: SallocState, job: string | undefined): void;
}

/**
 * Waits as long as Slurm has the request in its queue. Rejects with STCI_ALLOCATION_REFUSED, STCI_USAGE inside of a job
 * of Slurm, and STCI_JOB_INTERRUPTED when it is aborted; nothing is left then, unless Slurm has not confirmed that in
 * time: salloc goes on with that, and `onWords` is told.
 */
export async function requestAllocation(request: AllocationRequest): Promise<HeldAllocation> {
  const { args, variables, signal, onWords } = request;
  checkOutside(variables);
  const [program, words] = holderCommand(findSalloc(variables), args);
  // A session of its own: no signal of the terminal.
  const stdio = ['ignore', 'pipe', 'pipe', 'pipe'] as const;
  const child: ChildProcess = spawn(program, words, { detached: true, env: variables, stdio: [...stdio] });
  const streams = { keep: child.stdio[KEEP] as Writable, words: child.stderr as Readable };
  const held = new HeldAllocation(streams, onWords);
  let onExit = (): void => undefined;
  const exited = new Promise<void>((resolve) => (onExit = resolve));
  child.on('exit', (status, by) => {
    held.log.exit = by === null ? `exit code ${status}` : `signal ${by}`;
    onExit();
  });
  // A process that cannot be started ends its streams.
  child.on('error', () => onExit());
  const unwatch = watchState(request, child, held);
  try {
    const found = await Promise.race([readEnvironment(child), held.ended, aborted(signal)]);
    if (found?.['SLURM_JOB_ID'] !== undefined) {
      held.variables = found;
      return held;
    }
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
  } finally {
    unwatch();
    child.stdout?.destroy();
    if (signal.aborted) await withdraw(child, held, onWords);
  }
  await withdraw(child, held, onWords);
  const late = setTimeout(onExit, EXIT_MS);
  await exited;
  clearTimeout(late);
  throw held.log.refusal(sallocCommand(args));
}

/** Once salloc has a command, that ends it; TERM only before. Has a deadline. */
async function withdraw(child: ChildProcess, held: HeldAllocation, onWords: (text: string) => void): Promise<void> {
  if (held.log.state === 'asking' || held.log.state === 'queued') child.kill('SIGTERM');
  if (await held.release()) return;
  child.unref();
  const request = held.job === undefined ? 'the request' : `job ${held.job}`;
  onWords(`no answer yet that ${request} is withdrawn; salloc (process ${child.pid}) goes on asking: see 'squeue'`);
}

function checkOutside(variables: AllocationRequest['variables']): void {
  const name = ['SLURM_JOB_ID', 'SLURM_JOBID'].find((each) => variables[each] !== undefined);
  if (name === undefined) return;
  throw new StciError('STCI_USAGE', `--alloc: this is in Slurm job ${variables[name]} already (${name} is set). `
    + 'Without --alloc its hosts are used; for another allocation, run it outside of that job, or, if '
    + `that job has ended, unset ${name} first.`);
}

function findSalloc(variables: AllocationRequest['variables']): string {
  const found = checkProgram({ program: 'salloc', env: variables });
  if ('path' in found) return found.path;
  throw new StciError('STCI_ALLOCATION_REFUSED', '--alloc: salloc is not on PATH here. It asks Slurm for hosts: add '
    + 'the directory of its programs to PATH, run this where they are, or name hosts with --host.');
}

/** undefined: its end came first. */
function readEnvironment(child: ChildProcess): Promise<Readonly<Record<string, string>> | undefined> {
  return new Promise((resolve, reject) => {
    const reader = new EnvironmentReader();
    child.stdout?.on('error', () => undefined).on('data', (chunk: Uint8Array) => {
      try {
        const found = reader.add(chunk);
        if (found !== undefined) resolve(found);
      } catch (thrown) {
        reject(thrown as Error);
      }
    });
  });
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail, { once: true });
  });
}

/** Tells how far the request is, and once, why it is queued. */
function watchState({ onState, onWords, variables }: AllocationRequest, child: ChildProcess, held: HeldAllocation):
() => void {
  const ending = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    const { job, log: { state } } = held;
    if (state === 'queued' && job !== undefined) {
      timer ??= setTimeout(() => askReason(job, variables, ending.signal, onWords), REASON_AFTER_MS);
    }
    onState?.(state, job);
  };
  child.stderr?.on('data', tell);
  return () => {
    child.stderr?.off('data', tell);
    clearTimeout(timer);
    ending.abort();
  };
}

function askReason(
  job: string, env: AllocationRequest['variables'], signal: AbortSignal, onWords: AllocationRequest['onWords'],
): void {
  const options = { env, signal, timeout: REASON_MS, killSignal: 'SIGKILL' } as const;
  execFile('squeue', ['-h', '--all', '-j', job, '-o', '%r'], options, (error, out) => {
    const reason = out.trim();
    if (error === null && !signal.aborted && /^\w[^\n]{0,200}$/u.test(reason) && reason !== 'None') {
      onWords(`job ${job} is queued for this reason: ${reason}`);
    }
  });
}
