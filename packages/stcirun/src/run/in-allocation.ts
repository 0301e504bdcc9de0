/** A command in an allocation of its own: the wait, with its progress line and signals that end it; its end. */

import { StciError } from '@stci/interface';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import type { SallocState } from '../alloc/salloc-words.js';
import { isTerminal } from '../process/descriptor.js';
import { printError } from '../process/print.js';
import type { Waiting } from './ask-slurm.js';

/** Time from which on the wait is shown. */
const FIRST_MS = 500;
const PERIOD_MS = 1000;
const ERASE = '\r\u001b[K';

export interface SlurmWait {
  /** Whose words these are. */
  readonly command: string;
  readonly quiet: boolean;
  readonly ignoresHangup?: boolean;
}

/** The allocation is given back at the end, however that comes, unless a session has it by then. */
export async function inAllocation<T>(
  wait: SlurmWait,
  ask: (waiting: Waiting) => Promise<HeldAllocation>,
  use: (allocation: HeldAllocation) => Promise<T>,
): Promise<T> {
  const allocation = await waitFor(ask, wait);
  try {
    return await use(allocation);
  } finally {
    if (!(await allocation.release())) {
      printError(`${wait.command}: ${allocation.unconfirmed}\n`);
    }
  }
}

/** A signal ends the process by itself, when Slurm has taken the request back. */
async function waitFor(
  ask: (waiting: Waiting) => Promise<HeldAllocation>, wait: SlurmWait,
): Promise<HeldAllocation> {
  const aborting = new AbortController();
  const { onState, stop } = showWait(wait);
  let ended: NodeJS.Signals | undefined;
  const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', ...(wait.ignoresHangup ? [] : ['SIGHUP' as const])];
  const end = (signal: NodeJS.Signals): void => {
    ended = signal;
    // A second one ends the process at once, and that the request.
    unwatch();
    aborting.abort(new StciError('STCI_JOB_INTERRUPTED', `${signal}: the request for an allocation is taken back`));
  };
  const unwatch = (): void => signals.forEach((signal) => process.off(signal, end));
  signals.forEach((signal) => process.on(signal, end));
  try {
    return await ask({ signal: aborting.signal, onState });
  } catch (thrown) {
    if (ended === undefined) throw thrown;
    stop();
    printError(`${wait.command}: ${(thrown as Error).message}\n`);
    process.kill(process.pid, ended);
    return await new Promise(() => undefined);
  } finally {
    unwatch();
    stop();
  }
}

function showWait({ command, quiet }: SlurmWait): { readonly onState: Waiting['onState']; readonly stop: () => void } {
  let now = 'asking Slurm for hosts';
  let timer: NodeJS.Timeout | undefined;
  let isShown = false;
  const isLine = isTerminal(2) && process.env['TERM'] !== 'dumb';
  const startMs = performance.now();
  const draw = (): void => {
    if (isLine) printError(`${command}: ${now}, ${Math.floor((performance.now() - startMs) / 1000)} s`, ERASE);
    else if (!isShown) printError(`${command}: ${now}\n`);
    isShown = true;
    timer = isLine ? setTimeout(draw, PERIOD_MS) : undefined;
  };
  if (!quiet) timer = setTimeout(draw, FIRST_MS);
  return {
    onState: (state: SallocState, job) => {
      if (state === 'queued') now = `waiting: Slurm job ${job ?? '?'} is queued`;
    },
    stop: () => {
      clearTimeout(timer);
      if (isShown && isLine) printError('', ERASE);
      isShown = false;
    },
  };
}
