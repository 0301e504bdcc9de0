/** What a run of a session left for the checkers. */

import type { SessionStatus } from '@stci/core/session';
import type { JobReport } from '@stci/interface';
import type { SimProcess, World } from '@stci/platform-sim';
import type { InjectedFault } from '../scenarios/faults.js';
import { stdinBytes } from '../scenarios/job-spec.js';
import { expectedOf, type Expected } from '../scenarios/programs.js';
import { jobOf, type FrontEndPlan, type SessionOptions } from '../scenarios/session-plan.js';
import type { MemoryPeaks } from './memory-peaks.js';
import type { JobRecord } from './record.js';
import type { Wire } from './wire.js';

/** A front-end and what it got. */
export interface FrontEndRun {
  readonly plan: FrontEndPlan;
  readonly process: SimProcess;
  readonly record: JobRecord;
  /** Some of the output was reported as dropped. */
  hasMissed: boolean;
}

export interface SessionRun {
  readonly options: SessionOptions;
  readonly world: World;
  readonly frontEnds: readonly FrontEndRun[];
  /** Of the last job, which begins when everybody knows who is left. */
  readonly last: FrontEndRun | undefined;
  readonly faults: readonly InjectedFault[];
  readonly status: SessionStatus | undefined;
  /** Where it did not go on. */
  readonly stuck: string | undefined;
  readonly peaks: MemoryPeaks;
  readonly diskBytesMax: number;
  readonly unreleasedBytesMax: number;
  readonly wire: Wire;
}

/** The report of a front-end that showed the job's end. */
export function reportOf({ record }: FrontEndRun): JobReport | undefined {
  if (record.exitReports.length === 0) return undefined; // It had left, or was killed.
  return record.report?.cause?.code === 'STCI_SESSION_LOST' ? undefined : record.report;
}

/** Hosts whose root agent was killed. */
export function killedHosts({ faults }: SessionRun): ReadonlySet<string> {
  const ofAgents = faults.filter(({ step: { victim } }) => !('of' in victim && victim.of === 'links'));
  return new Set(ofAgents.map(({ target }) => target.split('/')[0] as string));
}

export function nameOf({ plan }: FrontEndRun): string {
  const leave = plan.leave === undefined ? '' : `, ${plan.leave.how} after ${plan.leave.afterMs.toFixed(0)} ms`;
  return `job ${plan.job}: ${plan.kind}${plan.all ? ' --all' : ''} at ${plan.atMs.toFixed(0)} ms${leave}`;
}

/** What a rank does where nothing disturbs it. */
export function expectedOfRank({ options }: SessionRun, job: number, rank: number, hostname: string): Expected {
  const plan = jobOf(options, job);
  const stdin = plan.app.program === 'cat' && rank === 0 ? stdinBytes(plan) : new Uint8Array(0);
  return expectedOf(plan.app, { rank, hostname, stdin });
}
