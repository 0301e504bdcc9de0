/**
 * One run of a job as its front-end sees it, from submit to exit code: pure logic over a driver (contracts.ts), the
 * same for `stcirun` and for simulated front-ends.
 */

export type {
  EventFile, OutputSink, RunDriver, RunProgress, RunRemarks, RunScreen, SignalActions, StdinSource,
} from './contracts.js';
export { eventJson } from './event-json.js';
export type { AttemptJson, EventJson, ExitReportJson, RankJson, RecordJson, ReportJson } from './json-types.js';
export { JobRun, type JobRunInit } from './job-run.js';
export { finalLines, withHosts, type ShownFailures } from './report.js';
