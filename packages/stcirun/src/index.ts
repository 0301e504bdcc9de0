/**
 * stcirun as a library (docs/library.md): `launch` runs a job, `plan` says what it would do.
 *
 *     import { launch } from '@stci/stcirun';
 *
 *     const job = launch({ program: 'hostname', hosts: ['n1', 'n2'] });
 *     for await (const { rank, line } of job.lines()) console.log(rank, line);
 *     const { exitCode } = await job.result;
 */

export { launch, type Job, type JobResult } from './library/job.js';
export { plan, type JobPlan } from './library/plan.js';
export type { JobEvent } from './library/event-feed.js';
export type { InputChunk, JobOptions, LaunchOptions, ProgramOptions } from './library/options.js';
export type { OutputChunk } from './library/output-feed.js';
export type { OutputLine } from '@stci/core/iof';
export type { AttemptJson, EventJson, ExitReportJson, RankJson, RecordJson, ReportJson } from '@stci/core/run';
export { EXIT, StciError, type ErrorCode, type ErrorRecord } from '@stci/interface';
export { VERSION } from './process/version.js';
