/** The front-ends of a simulated session, of every kind, and `stci stop`. All as shipped. */

import type { AcceptedJob, SessionClient } from '@stci/core/session';
import type { Allocation, HostSpec, JobSpec } from '@stci/interface';
import type { AgentContext, AgentMain } from '@stci/platform-sim';
import { hostName } from '../scenarios/job-spec.js';
import { SPARES, jobOf, type FrontEndPlan, type JobPlan, type SessionOptions } from '../scenarios/session-plan.js';
import { showJob } from './front-end.js';
import type { JobRecord } from './record.js';
import { connectTo, noOutput, type SessionProcess } from './session-process.js';
import { SimulatedDisk } from './spool-files.js';

const SLOTS = 8;
/** How often, and for how long, a front-end looks for a job that is not there yet. */
const RETRY_MS = 100;
const RETRIES_MAX = 100;

/** Of a run: what is drawn from its seed. */
export interface SimulatedSession extends SessionProcess {
  readonly options: SessionOptions;
}

/** A session that is not started yet. */
export function newSession(options: SessionOptions): SimulatedSession {
  const { seed, settings, spoolBytes, diskBytes } = options;
  const disk = new SimulatedDisk(diskBytes);
  const allocation = allocationOf(options);
  return { options, name: 'sim', seed, settings, spoolBytes, disk, allocation, unreleased: noOutput() };
}

export function stopMain(session: SimulatedSession): AgentMain {
  return (context) => {
    const client = connectTo(session, context);
    client.call('client.stop', {}, () => {
      client.close();
      context.exit(0);
    });
  };
}

/** Label of a job by which others find it. */
const labelOf = (job: number): string => `job ${job}`;

export function frontEndMain(
  session: SimulatedSession,
  plan: FrontEndPlan,
  record: JobRecord,
  onMissed: () => void,
): AgentMain {
  return (context) => {
    const spec = specOf(jobOf(session.options, plan.job));
    const show = (client: SessionClient, { map }: AcceptedJob, shown: JobSpec): void => {
      const controls = plan.leave?.how === 'detach' ? [{ kind: 'detach', atMs: plan.leave.afterMs } as const] : [];
      const { stdinBytes } = jobOf(session.options, plan.job);
      showJob(context, { releaseMs: plan.releaseMs, controls, stdinBytes }, record, {
        spec: shown,
        map,
        toleratesFailures: true,
        verbose: plan.job % 2 === 0,
        detach: { text: 'left to its session', isViewer: plan.kind === 'attach' },
        startFrontEnd: (events) => client.follow(events, onMissed),
      });
    };
    const failed = (): void => context.exit((record.exitCode = 255));
    if (plan.kind === 'submit' || plan.kind === 'detached') {
      const client = connectTo(session, context);
      const request = { wait: true, detach: plan.kind === 'detached', label: labelOf(plan.job) };
      return client.submit(spec, request, () => undefined, (_error, job) => {
        if (job === undefined) return failed();
        if (plan.kind === 'submit') return show(client, job, spec);
        client.close();
        context.exit((record.exitCode = 0));
      });
    }
    findJob(session, context, plan.job, (job) => {
      if (job === undefined) return failed();
      const client = connectTo(session, context);
      if (plan.kind === 'attach') {
        return client.call('client.attach', { job, all: plan.all, input: false }, (_error, accepted) => {
          record.acceptedMs = context.platform.clock.nowMs();
          if (accepted === undefined) failed();
          else show(client, accepted, { ...spec, stdin: { to: 'none' } });
        });
      }
      client.call('client.wait', { job }, (_error, report) => {
        client.close();
        context.exit((record.exitCode = report?.exitCode ?? 255));
      });
    });
  };
}

/** Its number, when it has one; undefined: it never came. */
function findJob(
  session: SimulatedSession,
  { platform: { clock } }: AgentContext,
  job: number,
  done: (id: number | undefined) => void,
): void {
  let tries = 0;
  const look = (): void => {
    const found = session.jobs?.status().jobs.find((each) => each.label === labelOf(job) && each.job > 0);
    if (found !== undefined || ++tries > RETRIES_MAX) done(found?.job);
    else clock.after(RETRY_MS, look);
  };
  look();
}

function allocationOf({ hosts, settings }: SessionOptions): Allocation {
  const host = (_: unknown, i: number): HostSpec =>
    ({ name: hostName(i), slots: SLOTS, slotsBound: false, origin: 'swarm' });
  const spares = settings['errmgr.loss'] === 'use-spare' ? SPARES : 0;
  const all = Array.from({ length: hosts + spares }, host);
  return { hosts: all.slice(0, hosts), spares: all.slice(hosts) };
}

function specOf({ app: { program, args, count } }: JobPlan): JobSpec {
  return {
    apps: [{ program, args, count, env: {} }], mapBy: { by: 'node' }, oversubscribe: true, env: { PATH: '/bin' },
    wdir: '/', stdin: program === 'cat' ? { to: 'rank', rank: 0 } : { to: 'none' }, launchTimeoutMs: 60_000,
    params: { errmgr: ['continue'] },
  };
}
