/** The command's run: what it prints before the job, and the job on its terminal. */

import { promiseText } from '@stci/core';
import type { CommandLine, RunRequest } from '../cli/parse.js';
import { colorErrors } from '../process/fault.js';
import { watchCommand } from '../plugin/watch-command.js';
import { printError, printOut, printStarted } from '../process/print.js';
import { jobName } from '../session/session-name.js';
import { withAgentHere } from './agent-here.js';
import { callerOf } from './caller.js';
import { checkDry } from './check-dry.js';
import { mpiRemarks } from './mpi-program.js';
import { jobOf, openJob, planRun, type PlannedRun } from './plan-run.js';
import { prepare, type Prepared } from './prepare.js';
import { startOwnSession, submitTo } from './session-run.js';
import { checkOutput, openEvents, showJob, type ShowParams } from './show-job.js';
import { namedPromises, showPlan } from './show-plan.js';

type RunLine = Extract<CommandLine, { kind: 'run' }>;

/** The session of `--detach`: its hosts come up while the job is submitted. */
const ownLife = { command: '--detach', until: 'listening', life: { isForOneJob: true } } as const;

/**
 * The exit code. `agents`: directory of the agent's files. Throws StciError for what is wrong before anything is
 * started.
 */
export async function startRun(line: RunLine, agents: string, ignoresHangup = false): Promise<number> {
  const caller = callerOf(agents);
  colorErrors(line.request.color);
  const prepared = await prepare(line.request, caller, (defaults) => line.withDefaults(defaults));
  const { request } = prepared;
  colorErrors(request.color);
  await watchCommand('stcirun', prepared.params);
  if (request.alloc === undefined) return runJob(await planRun(prepared), agents, ignoresHangup);
  if (request.dryRun) return showRequest(prepared);
  const { askSlurm, withAllocation } = await import('./ask-slurm.js');
  const { inAllocation } = await import('./in-allocation.js');
  return inAllocation({ command: 'stcirun', quiet: request.quiet, ignoresHangup },
    (waiting) => askSlurm(prepared, waiting),
    async (allocation) => runJob(await planRun(withAllocation(prepared, allocation)), agents, ignoresHangup));
}

/** What would be asked of Slurm: the hosts, and with them map and plan, are known when it has given them. */
async function showRequest({ request, platform }: Prepared): Promise<number> {
  const { allocationArguments } = await import('./ask-slurm.js');
  const { sallocCommand } = await import('../alloc/salloc-options.js');
  const args = allocationArguments(request, platform.env.variables);
  const text = sallocCommand(args);
  printOut(request.json ? `${JSON.stringify({ type: 'allocation', asked: ['salloc', ...args] })}\n` : `asks ${text}\n`);
  return 0;
}

async function runJob(run: PlannedRun, agents: string, ignoresHangup: boolean): Promise<number> {
  const { request } = run;
  const pty = request.pty ? await import('./terminal/pty.js') : undefined;
  pty?.checkPty(run.map);
  if (request.dryRun) checkDry(run);
  if (request.dryRun || request.display !== undefined) {
    const text = showPlan(run);
    if (request.dryRun || request.json) printOut(text);
    else printError(text);
  }
  if (request.verbose && !request.dryRun && run.session === undefined) {
    await sayBatchJob(run);
    namedPromises(run).forEach((promise) => run.say(promiseText(promise)));
  }
  const show: ShowParams = { ...run, ignoresHangup, remarks: () => mpiRemarks(run) };
  checkOutput(show);
  if (request.dryRun) return 0;
  if (request.each !== undefined) return (await import('./each.js')).runEach(run, request.each, ignoresHangup);
  const events = await openEvents(show);
  if (request.detach) return startDetached(request, run, agents);
  const here = withAgentHere(run);
  if (pty === undefined) return showJob({ ...show, events, ...(await openJob(here)) });
  const spec = pty.ptyJob(run.spec);
  return showJob({ ...show, spec, events, pty: new pty.Pty(), ...(await openJob({ ...here, spec })) });
}

async function sayBatchJob({ platform: { env, clock }, say }: PlannedRun): Promise<void> {
  if (env.variables['SLURM_JOB_ID'] === undefined) return;
  const { slurmRemark } = await import('./slurm-remark.js');
  say(slurmRemark(env.variables, clock.wallMs()) ?? '');
}

async function startDetached(request: RunRequest, run: PlannedRun, agents: string): Promise<number> {
  const { spec, spares, say } = run;
  const init = { ...run, ...ownLife, programs: agents, onStep: say };
  const session = run.session ?? (await startOwnSession(request, init, { hosts: spec.hosts, spares }));
  const accepted = await submitTo(session, jobOf(run), request, say);
  printStarted('stcirun', 'job', jobName(session.name, accepted.job));
  return 0;
}
