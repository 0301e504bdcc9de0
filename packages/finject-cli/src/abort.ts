/** `finject abort`: ends runs that go on, from another terminal, and waits until nothing of them is in force. */

import * as Args from '@oclif/core/args';
import { StciError } from '@stci/interface';
import { isRunning, openSessions, printOut, StciCommand } from '@stci/stcirun/front-end';
import { markedProcesses } from './marked-processes.js';
import { findRun, runningRuns, type RunIdentity } from './run-directory.js';
import { readRun } from './run-files.js';

const WAIT_MS = 180_000;
const LOOK_MS = 50;

export class AbortCommand extends StciCommand {
  static override readonly summary = 'ends runs that go on: undoes all faults, ends the targets';
  static override readonly synopsis = '[RUN]...';
  static override readonly details = `
RUN is the directory of a run; without one: all of this user's runs on this machine. Waits
until nothing of them is left, and can be repeated. A run that was killed has been ended by
its session; abort waits for that, too.

Examples:
  finject abort
  finject abort finject-runs/kill-one-rank-20261122-130501
`;

  static override strict = false;
  static override args = { run: Args.string({ ignoreStdin: true, description: 'directories of runs' }) };

  async run(): Promise<number> {
    const { argv } = await this.parse(AbortCommand);
    const sessions = openSessions({}).place.directory;
    const named = (argv as string[]).map((path) => findRun(path, sessions).identity);
    const runs = named.length > 0 ? named : runningRuns(sessions);
    if (runs.length === 0) printOut('no run goes on\n');
    await Promise.all(runs.map(abort));
    return 0;
  }
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

/** It may end just now. */
function terminate({ process: { pid } }: RunIdentity): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

function endOf({ directory }: RunIdentity): string {
  const last = readRun(directory).records.at(-1);
  return last?.type === 'run-end' ? last.text : 'ended, and its record is cut off; nothing of it is left';
}
