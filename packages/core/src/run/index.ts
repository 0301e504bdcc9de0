/**
 * One run of a job as its front-end sees it, from submit to exit code: pure logic over a driver (contracts.ts), the
 * same for `stcirun` and for simulated front-ends.
 */

export type {
  OutputSink, RunDriver, RunProgress, RunScreen, SignalActions, StdinSource,
} from './contracts.js';
<<<<<<< HEAD
export { JobRun } from './job-run.js';
=======
export { JobRun, type JobRunInit } from './job-run.js';
export { outputClosedCause, outputFailedCause, interruptCause, settleReport } from './outcome.js';
export { exitReport, failureSummary, finalWords, timeoutState } from './report.js';
export { eventJson } from './event-json.js';
>>>>>>> 7bbdcb7 (output: what cannot be written or ended is told, and never as done)
