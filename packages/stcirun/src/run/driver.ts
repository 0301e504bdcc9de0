/** Driver of a run on this machine: its terminal, sinks, signals, standard input, the file of its report. */

import { constants, openSync, statSync } from 'node:fs';
import type { RunDriver } from '@stci/core/run';
import type { JobMap, SignalName, StciError } from '@stci/interface';
import type { OutputSink } from '@stci/core/run';
import { leave } from '../process/leave.js';
import type { EventsFile } from '../output/events-file.js';
import { FilePool, PooledFile } from '../output/file-pool.js';
import { outputError } from '../process/output-error.js';
import type { Terminal } from '../output/terminal.js';
import { Progress } from './terminal/progress.js';
import type { Pty } from './terminal/pty.js';
import { watchSignals } from './terminal/signals.js';
import { StdinPump } from './terminal/stdin-pump.js';

export interface DriverParams {
  readonly forwarded: readonly SignalName[];
  readonly ignoresHangup: boolean;
  /** Signals that leave the job to its session. */
  readonly detaching?: readonly SignalName[];
  readonly map: JobMap;
  /** Where the output goes. `onFault` is called when it cannot be written. */
  readonly openTerminal: (onFault: (error: StciError) => void) => Terminal;
  readonly events?: EventsFile | undefined;
  /** Of `--pty`. */
  readonly pty?: Pty | undefined;
  readonly openSink: (terminal: Terminal, onFault: (error: StciError) => void) => OutputSink;
}

export function openDriver(params: DriverParams): RunDriver {
  const { forwarded, ignoresHangup, detaching = [], map, events, pty, openTerminal, openSink } = params;
  let terminal: Terminal;
  const reports = new FilePool();
  return {
    openScreen: (onFault) => (terminal = openTerminal(onFault)),
    openSink: (onFault) => {
      const sink = openSink(terminal, onFault);
      return pty?.sink(sink) ?? sink;
    },
    openProgress: (breakLine) => new Progress(terminal, map, breakLine),
    openStdin: (frontEnd) => pty?.stdin(frontEnd) ?? new StdinPump(frontEnd),
    watchSignals: (actions) => watchSignals(forwarded, pty?.actions(actions) ?? actions, { ignoresHangup, detaching }),
    openEvents: (onFault) => events?.open(onFault),
    writeReport: (file, text, done) => {
      const report = new PooledFile(file);
      const written = reports.write(report, [Buffer.from(text)]).then(() => reports.close(report));
      written.then(() => done(undefined), (error: Error) => done(outputError(`file ${file}`, error)));
    },
    leave,
  };
}

/**
 * Keeps a pipe open that the exit report goes to, as its reader would take a close for the end. Throws
 * STCI_OUTPUT_FAILED where it has no reader.
 */
export function keepReportPipe(file: string): void {
  try {
    const isPipe = statSync(file, { throwIfNoEntry: false })?.isFIFO() === true;
    if (isPipe) openSync(file, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    throw outputError(`file ${file}`, thrown as Error);
  }
}
