/**
 * The simulated `stcirun`: the shipped run of a job (JobRun) over a front-end agent of the simulation and a driver that
 * records. It checks nothing.
 */

import { createFrontEnd, mapJob } from '@stci/core';
import { JobRun } from '@stci/core/run';
import type { FrontEndEvents } from '@stci/interface';
import type { AgentContext } from '@stci/platform-sim';
import { composition, resolveSettings } from './assembly.js';
import { allocation, jobSpec } from './job-spec.js';
import type { SwarmOptions } from './options.js';
import type { JobRecord } from './record.js';
import { simulatedDriver } from './simulated-driver.js';

/** After the runtime has stopped, nothing may be left to do in this process; checked this much later. */
const AFTERMATH_MS = 50;

/** Times at which a checker inspects the world. */
export interface FrontEndHooks {
  onReport(): void;
  /** Some time after the run's end; `ownTimers` of the timers are the driver's own. */
  onAftermath(ownTimers: number): void;
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
  const driver = simulatedDriver(context, options, record);
  const run = new JobRun({
    clock: platform.clock,
    spec,
    map: mapJob({ ...spec, hosts: hosts.hosts }, { ranksMax, ranksPerHostMax }),
    onMapped: () => undefined,
    options: {
      quiet: false,
      // Every second run prints its steps, too.
      verbose: options.seed % 2 === 0,
      json: true,
      exitReport: { format: 'json', file: 'report' },
    },
    failuresAtOnce: composition.scope('stcirun', params, platform).errorManager(params).policy === 'continue',
    driver,
    startFrontEnd: (events) => {
      const init = { platform, composition, params, snapshot, allocation: hosts };
      return createFrontEnd(init, recorded(events, context, record, hooks));
    },
    onExit: (exitCode) => {
      record.exitCode = exitCode;
      platform.clock.after(AFTERMATH_MS, () => {
        hooks.onAftermath(driver.pendingReleases);
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
        hooks.onReport();
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
