/** From a parsed command line to a job: its hosts, its map, its agents or the session that has them. */

import { checkFailureParts, createFrontEnd, paramsSnapshot, promiseText, type Composition } from '@stci/core';
import type { CommandLine } from '../cli/parse.js';
import { printError, printOut, printStarted } from '../print.js';
import { jobName } from '../session/session-name.js';
import { checkPrograms } from './check-programs.js';
import { withHostGroups } from './host-groups.js';
import { mpiRemarks } from './mpi-program.js';
import { planJob, type PlannedJob } from './plan-job.js';
import { prepare, type Prepared } from './prepare.js';
import {
  checkSessionParams, openSession, ownParams, startOwnSession, submitTo,
} from './session-run.js';
import { checkOutput, inSession, openEvents, showJob, type JobSource, type ShowParams } from './show-job.js';
import { namedPromises, showPlan } from './show-plan.js';

type RunLine = Extract<CommandLine, { kind: 'run' }>;

/** Of the session of `--detach`: its hosts come up while the job is submitted. */
const ownLife = {
  command: '--detach',
  until: 'listening',
  onStep: (text: string) => printError(`stcirun: ${text}\n`),
  life: { isForOneJob: true },
} as const;

type Scope = ReturnType<Composition['scope']>;

/**
 * The exit code. `agents`: directory of the agent's files. Throws StciError for what is wrong before anything is
 * started.
 */
export async function startRun(line: RunLine, agents: string, ignoresHangup = false): Promise<number> {
  const prepared = await prepare(line.request, agents, (defaults) => line.withDefaults(defaults));
  const { request, platform, registry } = prepared;
  const session = await openSession(request, prepared);
  if (session !== undefined) checkSessionParams(request, registry, session.name);
  const planned = planJob(prepared, session?.status.hosts);
  const { spec, spares, map } = planned;
  // Of a session, its agents have read them.
  const params = session === undefined ? withHostGroups(prepared, spec.hosts) : prepared.params;
  const scope = prepared.composition.scope('stcirun', params, platform);
  const method = session === undefined ? scope.launchMethod([...spec.hosts, ...spares]) : 'session';
  const isHere = (host: string): boolean => method === 'local' || host === platform.env.hostname;
  if (request.dryRun) {
    checkPrograms(spec, map, isHere);
    if (session === undefined) checkFailureParts(scope, params, spec.hosts.length, false);
  }
  if (request.dryRun || request.display !== undefined) {
    const text = showPlan({ request, spec, spares, map, params, scope, hasAgents: session !== undefined });
    if (request.dryRun || request.json) printOut(text);
    else printError(text);
  }
  if (request.verbose && !request.dryRun && session === undefined) {
    const promises = namedPromises(scope, spec.hosts.length + 1, params);
    printError(promises.map((promise) => `stcirun: ${promiseText(promise)}\n`).join(''));
  }
  const show: ShowParams = { ...prepared, ignoresHangup, map, spec, isHere, remarks: () => mpiRemarks(spec, map) };
  checkOutput(show);
  if (request.dryRun) return 0;
  const events = await openEvents(show);
  const job = { ...spec, params: ownParams(registry, params) };
  if (request.detach) {
    const hosts = { hosts: spec.hosts, spares };
    const own = session ?? (await startOwnSession(request, { ...prepared, ...ownLife, programs: agents }, hosts));
    const accepted = await submitTo(own, job, request);
    printStarted('stcirun', 'job', jobName(own.name, accepted.job));
    return 0;
  }
  if (session === undefined) return showJob({ ...show, events, ...ownAgents({ ...prepared, params }, planned, scope) });
  const hasPolicy = Object.keys(job.params).some((name) => /^errmgr(?:\.|$)/.test(name));
  const continues = hasPolicy ? scope.errorManager(params).goesOn : session.status.continues;
  const accepted = await submitTo(session, job, request);
  return showJob({ ...show, events, ...inSession({ ...session, continues }, accepted, false) });
}

function ownAgents(
  { registry, params, platform, composition }: Prepared, planned: PlannedJob, scope: Scope,
): JobSource {
  const { spec, spares } = planned;
  return {
    failuresAtOnce: scope.errorManager(params).goesOn,
    startFrontEnd: (events) => {
      const snapshot = paramsSnapshot(registry.catalog, params);
      const allocation = { hosts: spec.hosts, spares };
      return createFrontEnd({ platform, composition, params, snapshot, allocation }, events);
    },
  };
}
