/** Driver of a run whose output, events and report go to a caller in this process. */

import type { ExitReportJson, RunDriver, SignalActions } from '@stci/core/run';
import type { EventFeed } from './event-feed.js';
import type { JobInput } from './job-input.js';
import type { OutputFeed } from './output-feed.js';

export interface LibraryDriverParams {
  readonly events: EventFeed;
  readonly output: OutputFeed;
  readonly input: JobInput;
  readonly onReport: (report: ExitReportJson) => void;
  /** The job can be controlled until the returned function is called. */
  readonly watch: (actions: SignalActions) => () => void;
  /** Called with what tells the run that output cannot be passed on. */
  readonly onSink: (onFault: Parameters<RunDriver['openSink']>[0]) => void;
}

export function libraryDriver({ events, output, input, onReport, watch, onSink }: LibraryDriverParams): RunDriver {
  return {
    openScreen: () => ({
      message: (text, isError = false) => events.push({ type: 'message', text, isError }),
      event: (line) => events.push(line),
      abandon: () => undefined,
      flush: (done) => done(),
    }),
    openSink: (onFault) => {
      onSink(onFault);
      return output;
    },
    openProgress: () => undefined,
    openStdin: (frontEnd) => input.connect(frontEnd),
    openEvents: () => undefined,
    watchSignals: watch,
    writeReport: (_file, text, done) => {
      onReport(JSON.parse(text) as ExitReportJson);
      done(undefined);
    },
    // A third request to end at once: there is no process to leave.
    leave: () => undefined,
  };
}
