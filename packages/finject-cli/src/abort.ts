/** `finject abort`: ends runs that go on, from another terminal, and waits until nothing of them is in force. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { StciError } from '@stci/interface';
import { isRunning, openSessions, printOut, StciCommand } from '@stci/stcirun/front-end';
import { markedProcesses } from './marked-processes.js';
import { findRun, runningRuns, type RunIdentity } from './run-directory.js';
import { readRun } from './run-files.js';

const WAIT_MS = 180_000;
const LOOK_MS = 50;
/** Runs that a message lists. */
const NAMES_MAX = 20;

export class AbortCommand extends StciCommand {
  static override readonly summary = 'ends runs that go on: undoes all faults, ends the targets';
  static override readonly synopsis = '[RUN]... | --all';
  static override readonly page = 'finject.md#safety';
  static override readonly details = `
RUN is the directory of a run; it need not be named where only one of this user's goes on on
this machine. Waits until nothing of them is left, and can be repeated. A run that was killed
has been ended by its session; abort waits for that, too.

Examples:
  finject abort
  finject abort --all
  finject abort finject-runs/kill-one-rank-20261122-130501
`;

  static override strict = false;
  static override args = { run: Args.string({ ignoreStdin: true, description: 'directories of runs' }) };
  static override flags = { all: Flags.boolean({ description: "all of this user's runs on this machine" }) };

  async run(): Promise<number> {
    const { argv, flags } = await this.parse(AbortCommand);
    const paths = argv as string[];
    if (flags.all && paths.length > 0) {
      throw new StciError('STCI_USAGE', `--all and ${paths[0]} cannot be combined: give --all, or runs.`);
    }
    const { place } = await openSessions({});
    const runs = paths.length > 0 ? paths.map((path) => findRun(path, place).identity) : runningRuns(place);
    if (runs.length > 1 && paths.length === 0 && !flags.all) throw severalError(runs);
    if (runs.length === 0) printOut('no run goes on\n');
    // A run that does not end hides none of the others.
    const ended = await Promise.allSettled(runs.map(abort));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
    return 0;
  }
}

function severalError(runs: readonly RunIdentity[]): StciError {
  const names = runs.slice(0, NAMES_MAX).map(({ directory }) => `  ${directory}`);
  const rest = runs.length > names.length ? [`  and ${runs.length - names.length} more`] : [];
  return new StciError('STCI_USAGE',
    [`${runs.length} runs go on. Name those to end, or give --all:`, ...names, ...rest].join('\n'));
}

async function abort(run: RunIdentity): Promise<void> {
  const wasRunning = isRunning(run.process);
  if (wasRunning) terminate(run);
  const deadlineMs = performance.now() + WAIT_MS;
  const isLeft = (): boolean => isRunning(run.process) || markedProcesses(run.mark).length > 0;
  while (isLeft() && performance.now() < deadlineMs) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  if (isLeft()) {
    const left = isRunning(run.process) ? [run.process.pid] : markedProcesses(run.mark);
    throw new StciError('STCI_TOOL_SURVIVED',
      `${run.directory} has not ended within ${WAIT_MS / 1000} s. Processes that are left: ${left.join(' ')}`);
  }
  printOut(`${run.directory}: ${wasRunning ? endOf(run) : 'was not running; nothing of it is left'}\n`);
}

/** The process may end just now. */
function terminate({ process: { pid } }: RunIdentity): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

function endOf({ directory }: RunIdentity): string {
  const { isCutOff, records: [last] } = readRun(directory, ['run-end']);
  return last?.type === 'run-end' && !isCutOff ? last.text : 'ended, and its record is cut off; nothing of it is left';
}
