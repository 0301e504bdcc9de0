/** From a request to what runs it: the session or the agents of its own, its hosts, its map; then the job itself. */

import { paramsSnapshot, withParams, type Composition } from '@stci/core';
import { StciError, type AllocatedJob, type Params } from '@stci/interface';
import { inSession, type JobSource } from './follow-job.js';
import { withHostGroups } from '../settings/host-groups.js';
import { planJob, type PlannedJob } from './plan-job.js';
import type { Prepared } from './prepare.js';
import { checkSessionParams, openSession, ownParams, submitTo, type OpenedSession } from './session-run.js';

/** All that is decided before anything is started. */
export interface PlannedRun extends Prepared, PlannedJob {
  /** undefined: it has agents of its own. */
  readonly session: OpenedSession | undefined;
  readonly scope: ReturnType<Composition['scope']>;
  /** Agents of that host run on this machine, without a login. */
  isHere(host: string): boolean;
}

const NO_WAIT = '--wait is for a job in a session, where others may have its slots: give --session as well.';
const STEP_NAME = 'launcherproc.slurm.name';
const STEP_NAME_CHARS_MAX = 40;

/** Throws StciError. */
export async function planRun(prepared: Prepared): Promise<PlannedRun> {
  const { request, registry, platform } = prepared;
  const session = await openSession(request, prepared);
  try {
    if (session !== undefined) checkSessionParams(request, registry, session.name);
    else if (request.wait) throw new StciError('STCI_USAGE', NO_WAIT);
    const planned = planJob(prepared, session?.status.hosts);
    const { spec, spares } = planned;
    // Of a session, its agents have read them.
    const params = session === undefined
      ? withStepName(prepared, withHostGroups(prepared, spec.hosts), spec.apps[0]?.program ?? '') : prepared.params;
    const scope = prepared.composition.scope('stcirun', params, platform);
    const method = session === undefined ? scope.launchMethod([...spec.hosts, ...spares]) : 'session';
    const isHere = (host: string): boolean => method === 'local' || host === platform.env.hostname;
    return { ...prepared, ...planned, params, session, scope, isHere };
  } catch (thrown) {
    session?.client.close();
    throw thrown;
  }
}

/** Names the step of these agents in a Slurm job after the program, unless the user has named it. */
function withStepName({ registry, platform }: Prepared, params: Params, program: string): Params {
  if (platform.env.variables['SLURM_JOB_ID'] === undefined) return params;
  if (params.entries().find(({ name }) => name === STEP_NAME)?.source !== 'default') return params;
  const name = program.replace(/^.*\//s, '').replaceAll(/[^\w.+-]/g, '_').slice(0, STEP_NAME_CHARS_MAX);
  return withParams(registry.catalog, params, new Map([[STEP_NAME, `stci:${name}`]]));
}

/** The job with the parameters that are its own. */
export function jobOf({ spec, registry, params }: PlannedRun): AllocatedJob {
  return { ...spec, params: ownParams(registry, params) };
}

/** The job: that of a session is submitted, one of agents of its own begins with its front-end. */
export async function openJob(run: PlannedRun): Promise<JobSource> {
  const { session, params, scope, request, say } = run;
  if (session === undefined) return ownAgents(run);
  const job = jobOf(run);
  const hasPolicy = Object.keys(job.params ?? {}).some((name) => /^errmgr(?:\.|$)/.test(name));
  const continues = hasPolicy ? scope.errorManager(params).toleratesFailures : session.status.continues;
  try {
    return inSession({ ...session, continues }, await submitTo(session, job, request, say), false);
  } catch (thrown) {
    session.client.close();
    throw thrown;
  }
}

async function ownAgents(run: PlannedRun): Promise<JobSource> {
  const { registry, params, platform, composition, spec, spares, scope } = run;
  const { createFrontEnd } = await import('@stci/core/controller');
  return {
    toleratesFailures: scope.errorManager(params).toleratesFailures,
    startFrontEnd: (events) => {
      const snapshot = paramsSnapshot(registry.catalog, params);
      const allocation = { hosts: spec.hosts, spares };
      return createFrontEnd({ platform, composition, params, snapshot, allocation }, events);
    },
  };
}
