/** The processes of a simulated session: the session itself, front-ends of every kind, `stci stop`. All as shipped. */

import type { Composition } from '@stci/core';
import { SessionJobs, SessionServer, openBackend } from '@stci/core/resident';
import { SessionClient, makeSessionKey, type AcceptedJob, type SessionKey } from '@stci/core/session';
import type { Allocation, FrontEndEvents, HostSpec, JobSpec } from '@stci/interface';
import { SimRandom, type AgentContext, type AgentMain } from '@stci/platform-sim';
import { composition, resolveSettings } from './assembly.js';
import { showJob } from './front-end.js';
import { hostName } from './job-spec.js';
import type { JobRecord } from './record.js';
import { SPARES, jobOf, type FrontEndPlan, type JobPlan, type SessionOptions } from './session-plan.js';
import type { SimulatedDisk } from './spool-files.js';

const SLOTS = 8;
const CONNECT_MS = 10_000;
/** How often, and for how long, a front-end looks for a job that is not there yet. */
const RETRY_MS = 100;
const RETRIES_MAX = 100;

export interface SimulatedSession {
  readonly options: SessionOptions;
  readonly disk: SimulatedDisk;
  /** Output that the front-end agents have not been told to release. */
  readonly unreleased: { bytes: number; max: number };
  /** The session's process sets these. */
  jobs?: SessionJobs;
  isReady?: boolean;
  socket?: string;
  key?: SessionKey;
}

export function sessionMain(session: SimulatedSession, onNode: Composition['onNode']): AgentMain {
  return ({ platform, exit }) => {
    const { options, disk } = session;
    const { params, snapshot } = resolveSettings(options.settings);
    const nothing = (): void => undefined;
    const backend = openBackend({
      init: {
        platform, composition: { ...composition, ...(onNode !== undefined && { onNode }) }, params, snapshot,
        allocation: allocationOf(options),
      },
      onStep: nothing,
      onReady: () => (session.isReady = true),
      onHostsChanged: () => session.jobs?.onHostsChanged(),
      onAborted: nothing,
    });
    const jobs: SessionJobs = new SessionJobs({
      name: 'sim',
      version: '1',
      clock: platform.clock,
      backend: { ...backend, openFrontEnd: (events) => backend.openFrontEnd(counted(session, events)) },
      spoolFiles: (name) => disk.files(platform.clock, new SimRandom(`disk ${options.seed} ${name}`)),
      spoolBytesMax: options.spoolBytes,
      onStopped: () => server.disconnect(() => exit(0)),
    });
    session.jobs = jobs;
    session.key = makeSessionKey(platform);
    const server = new SessionServer({ platform, params, key: session.key, service: jobs });
    server.listen((_error, path) => (session.socket = path));
  };
}

/** Counts the output between the session's agents and the spool. */
function counted({ unreleased }: SimulatedSession, events: FrontEndEvents): FrontEndEvents {
  return {
    onJobEvent: (event) => events.onJobEvent(event),
    onOutput: (rank, stream, chunk, wallMs, release) => {
      unreleased.bytes += chunk.length;
      unreleased.max = Math.max(unreleased.max, unreleased.bytes);
      events.onOutput(rank, stream, chunk, wallMs, () => {
        unreleased.bytes -= chunk.length;
        release();
      });
    },
    onStdinDrain: () => events.onStdinDrain(),
    onStdinClosed: () => events.onStdinClosed(),
    onStopped: () => events.onStopped(),
  };
}

function connect({ options, socket = '', key }: SimulatedSession, { platform }: AgentContext): SessionClient {
  const { params } = resolveSettings(options.settings);
  const channel = platform.network.connectPrivate(socket, CONNECT_MS);
  return new SessionClient({ platform, params, channel, key: key as SessionKey, name: 'sim' });
}

export function stopMain(session: SimulatedSession): AgentMain {
  return (context) => {
    const client = connect(session, context);
    client.request('client.stop', {}, () => {
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
        failuresAtOnce: true,
        verbose: plan.job % 2 === 0,
        detach: { text: 'left to its session', isViewer: plan.kind === 'attach' },
        startFrontEnd: (events) => client.follow(events, onMissed),
      });
    };
    const failed = (): void => context.exit((record.exitCode = 255));
    if (plan.kind === 'submit' || plan.kind === 'detached') {
      const client = connect(session, context);
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
      const client = connect(session, context);
      if (plan.kind === 'attach') {
        return client.attach(job, { all: plan.all, input: false }, (_error, accepted) => {
          if (accepted === undefined) failed();
          else show(client, accepted, { ...spec, stdin: { to: 'none' } });
        });
      }
      client.wait(job, (_error, report) => {
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
