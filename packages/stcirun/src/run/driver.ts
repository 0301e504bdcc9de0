/** Driver of a run on this machine: its terminal, sinks, signals, standard input, the file of its report. */

import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RunDriver } from '@stci/core/run';
import type { JobMap, SignalName, StciError } from '@stci/interface';
import type { OutputSink } from '@stci/core/run';
import { leave } from '../leave.js';
import { makeDirectory } from '../output/file-pool.js';
import { outputError } from '../output/output-error.js';
import type { Terminal } from '../output/terminal.js';
import { Progress } from './progress.js';
import { watchSignals } from './signals.js';
import { StdinPump } from './stdin-pump.js';

export interface DriverParams {
  readonly forwarded: readonly SignalName[];
  readonly ignoresHangup: boolean;
  readonly map: JobMap;
  /** Where the output goes. `onFault` is called when it cannot be written. */
  readonly openTerminal: (onFault: (error: NodeJS.ErrnoException) => void) => Terminal;
  readonly openSink: (terminal: Terminal, onFault: (error: StciError) => void) => OutputSink;
}

export function openDriver({ forwarded, ignoresHangup, map, openTerminal, openSink }: DriverParams): RunDriver {
  let terminal: Terminal;
  return {
    openScreen: (onFault) => {
      return (terminal = openTerminal((error) => {
        onFault(outputError('standard output', error), error.code === 'EPIPE');
      }));
    },
    openSink: (onFault) => openSink(terminal, onFault),
    openProgress: (breakLine) => new Progress(terminal, map, breakLine),
    openStdin: (frontEnd) => new StdinPump(frontEnd),
    watchSignals: (actions) => watchSignals(forwarded, actions, ignoresHangup),
    writeReport: (file, text, done) => {
      const failed = (error: Error): void => done(outputError(`file ${file}`, error));
      makeDirectory(dirname(file)).then(() => writeFile(file, text)).then(() => done(undefined), failed);
    },
    leave,
  };
}
