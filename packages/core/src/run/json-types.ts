/**
 * Shapes of the job's events, report and failures as JSON, as `--json`, `--events` and `--exit-report=json` write
 * them and the library gives them. Hosts are named; times are ISO 8601 in UTC, with milliseconds; durations are
 * milliseconds. What is not known is left out.
 */

import type {
  FailureRecord, JobEvent, JobReport, MemberEvent, ProcessEnd, RankAttempt, RankReport, RecoveryEvent,
} from '@stci/interface';

type Of<Type extends JobEvent['type']> = Extract<JobEvent, { readonly type: Type }>;
type Replaced<T, Names extends string> = T extends unknown ? Omit<T, Names> : never;

/** One attempt of a rank: `status` where it exited, `signal` where one killed it. */
export interface AttemptJson extends Omit<RankAttempt, 'startWallMs' | 'endWallMs' | 'end'>, ProcessEnd {
  readonly start?: string;
  readonly end?: string;
  readonly durationMs?: number;
}

/** The last attempt of a rank, and those before it. */
export interface RankJson extends AttemptJson, Pick<RankReport, 'rank' | 'app'> {
  readonly earlier?: readonly AttemptJson[];
}

export interface ReportJson extends Omit<JobReport, 'submitWallMs' | 'endWallMs' | 'ranks'> {
  readonly submitted: string;
  readonly ended: string;
  readonly ranks: readonly RankJson[];
}

/** A failure with all that is known of it. */
export interface RecordJson extends Omit<
  FailureRecord, 'failedWallMs' | 'heardWallMs' | 'suspectedWallMs' | 'confirmedWallMs' | 'notifiedWallMs'
> {
  readonly failed?: string;
  readonly heard?: string;
  readonly suspected: string;
  readonly confirmed: string;
  readonly lastNotified?: string;
}

/** What `--exit-report=json` writes. */
export interface ExitReportJson extends ReportJson {
  /** In the order in which they were told. */
  readonly failureRecords?: readonly RecordJson[];
}

interface Placed {
  readonly host: string;
  readonly time: string;
}

/** An event of a job; the comments are at `JobEvent`. */
export type EventJson =
  | Of<'mapped' | 'running' | 'mpi' | 'failure' | 'warning' | 'ending'>
  | (Replaced<Of<'host-up'> | RecoveryEvent, 'host'> & { readonly host: string })
  | (Replaced<MemberEvent, 'host' | 'name' | 'wallMs'> & Placed)
  | (Replaced<Of<'started' | 'mark'>, 'host' | 'wallMs'> & Placed)
  /** `next`: the host of the next attempt, where it is known. */
  | (Omit<Of<'restarting'>, 'report' | 'host'> & Omit<RankJson, 'earlier'> & { readonly next?: string })
  | ({ readonly type: 'exited' } & RankJson)
  | ({ readonly type: 'failure-record' } & RecordJson)
  | { readonly type: 'ended'; readonly report: ReportJson };
