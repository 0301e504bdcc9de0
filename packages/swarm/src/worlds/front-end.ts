/**
 * The simulated `stcirun`: the shipped run of a job (JobRun) over a front-end of the simulation, or a client of a
 * session, and a driver that records. It checks nothing.
 */

import { mapJob, type Composition } from '@stci/core';
import { createFrontEnd } from '@stci/core/controller';
import { JobRun, type JobRunInit } from '@stci/core/run';
import type { FrontEnd, FrontEndEvents, JobMap, JobSpec } from '@stci/interface';
import type { AgentContext } from '@stci/platform-sim';
import { allocation, jobSpec } from '../scenarios/job-spec.js';
import type { SwarmOptions } from '../scenarios/options.js';
import { composition, resolveSettings } from './assembly.js';
import type { JobRecord } from './record.js';
import { simulatedDriver, type UserPlan } from './simulated-driver.js';

/** After the runtime has stopped, nothing may be left to do in this process; checked this much later. */
const AFTERMATH_MS = 50;

/** Times at which a checker inspects the world. */
export interface FrontEndHooks {
  onReport?(): void;
  readonly onNode?: Composition['onNode'] | undefined;
  /** Some time after the run's end; `ownTimers` of the timers are the driver's own. */
  onAftermath?(ownTimers: number): void;
}

export interface ShownJob {
  readonly spec: JobSpec;
  readonly map: JobMap;
  readonly toleratesFailures: boolean;
  readonly verbose: boolean;
  readonly detach?: JobRunInit['detach'];
  startFrontEnd(events: FrontEndEvents): FrontEnd;
}

export function startSimulatedRun(
  context: AgentContext,
  options: SwarmOptions,
  record: JobRecord,
  hooks: FrontEndHooks,
): void {
  const { platform } = context;
  const { params, snapshot } = resolveSettings(options.settings);
  const spec = jobSpec(options);
  const hosts = allocation(options);
  const ranksMax = params.int('job.size.max');
  const ranksPerHostMax = params.int('job.ranks.per.host.max');
  const job: ShownJob = {
    spec,
    map: mapJob({ ...spec, hosts: hosts.hosts }, { ranksMax, ranksPerHostMax }),
    toleratesFailures: composition.scope('stcirun', params, platform).errorManager(params).toleratesFailures,
    // Every second run prints its steps, too.
    verbose: options.seed % 2 === 0,
    startFrontEnd: (events) => {
      const observed = hooks.onNode === undefined ? composition : { ...composition, onNode: hooks.onNode };
      const init = { platform, composition: observed, params, snapshot, allocation: hosts };
      return createFrontEnd(init, events);
    },
  };
  showJob(context, options, record, job, hooks);
}

/** Shows a job in a process of its own, which ends with it. */
export function showJob(
  context: AgentContext,
  user: UserPlan,
  record: JobRecord,
  { verbose, startFrontEnd, ...job }: ShownJob,
  hooks: FrontEndHooks = {},
): void {
  const { clock } = context.platform;
  const driver = simulatedDriver(context, user, record);
  const run = new JobRun({
    ...job,
    clock,
    onMapped: () => undefined,
    options: { quiet: false, verbose, json: true, strict: false, exitReport: { format: 'json', file: 'report' } },
    driver,
    startFrontEnd: (events) => startFrontEnd(recorded(events, context, record, hooks)),
    onExit: (exitCode) => {
      record.exitCode = exitCode;
      clock.after(AFTERMATH_MS, () => {
        hooks.onAftermath?.(driver.pendingReleases);
        context.exit(exitCode);
      });
    },
  });
  run.start();
}

/** The events on their way to the run: each is recorded, and those after `onStopped` are only counted. */
function recorded(
  events: FrontEndEvents,
  { platform }: AgentContext,
  record: JobRecord,
  hooks: FrontEndHooks,
): FrontEndEvents {
  const alive = (): boolean => {
    if (record.stoppedMs !== undefined) record.lateCalls++;
    return record.stoppedMs === undefined;
  };
  return {
    onJobEvent: (event) => {
      if (!alive()) return;
      record.events.push(event);
      if (event.type === 'ended') {
        hooks.onReport?.();
        record.report = event.report;
        record.reportMs = platform.clock.nowMs();
      }
      events.onJobEvent(event);
    },
    onOutput: (...output) => alive() && events.onOutput(...output),
    onStdinDrain: () => alive() && events.onStdinDrain(),
    onStdinClosed: () => alive() && events.onStdinClosed(),
    onStopped: () => {
      if (!alive()) return;
      record.stoppedMs = platform.clock.nowMs();
      events.onStopped();
    },
  };
}
