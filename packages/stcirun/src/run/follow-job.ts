/** Follows a job, of agents of its own or of a session, to its exit code, with any driver. */

import { JobRun, type JobRunInit, type RunDriver, type RunRemarks } from '@stci/core/run';
import type { AcceptedJob, SessionClient } from '@stci/core/session';
import type { AllocatedJob, FrontEnd, FrontEndEvents, JobMap, Platform } from '@stci/interface';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { jobName } from '../session/session-name.js';

const MISSED = 'output was dropped before it could be shown: the spool was full (session.spool.max), or its disk'
  + ' (session.directory)';

/** Where the job's events and output come from. */
export interface JobSource {
  /** In a session: as `stci ps` shows it. */
  readonly name?: string;
  readonly toleratesFailures: boolean;
  readonly detach?: JobRunInit['detach'];
  startFrontEnd(events: FrontEndEvents, say: (text: string) => void): FrontEnd;
}

/**
 * A session's job that was accepted, or attached to (`isViewer`). `continues`: a failure does not end it.
 */
export function inSession(
  { client, name, continues }: { readonly client: SessionClient; readonly name: string; readonly continues: boolean },
  { job }: AcceptedJob,
  isViewer: boolean,
): JobSource {
  let isToldOfMissed = false;
  const own = jobName(name, job);
  return {
    name: own,
    toleratesFailures: continues,
    detach: { text: `left job ${own} to its session: 'stci attach ${own}' shows it again`, isViewer },
    startFrontEnd: (events, say) => client.follow(events, () => {
      if (!isToldOfMissed) say(MISSED);
      isToldOfMissed = true;
    }),
  };
}

export interface FollowedJob extends JobSource {
  /** The hosts are its: if it ends before the job, so does the job. */
  readonly allocation?: HeldAllocation | undefined;
  readonly platform: Pick<Platform, 'clock'>;
  readonly spec: AllocatedJob;
  readonly map: JobMap;
  isHere(host: string): boolean;
  remarks(): RunRemarks;
}

export interface FollowInit extends Pick<JobRunInit, 'options' | 'prefix' | 'onMapped'> {
  /** Of the session: an error that the job survives. */
  readonly say: (text: string) => void;
}

/** Resolves with its exit code. */
export function followJob(followed: FollowedJob, driver: RunDriver, { say, ...init }: FollowInit): Promise<number> {
  const { platform, spec, map, detach, toleratesFailures, isHere, remarks, allocation } = followed;
  return new Promise((resolve) => {
    const { hosts: _ofSession, ...job } = spec;
    const run = new JobRun({
      ...init,
      clock: platform.clock,
      spec: job,
      map,
      toleratesFailures,
      detach,
      driver: allocation === undefined ? driver : endedWith(allocation, driver),
      startFrontEnd: (events) => followed.startFrontEnd(events, say),
      isHere,
      remarks,
      onExit: resolve,
    });
    run.start();
  });
}

/** As with output that cannot be written: the job ends in order, with that error. */
function endedWith(allocation: HeldAllocation, driver: RunDriver): RunDriver {
  return {
    ...driver,
    openSink: (onFault) => {
      allocation.watch(onFault);
      return driver.openSink(onFault);
    },
  };
}
