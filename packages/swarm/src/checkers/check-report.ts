/**
 * The report: each rank once, with the end that the kernel knows; the exit code that follows from what happened, as
 * far as that determines it.
 */

import { ERROR_KINDS, type JobReport, type RankReport } from '@stci/interface';
import { hitsFrontEnd, hitsRanks } from '../scenarios/scenario.js';
import { resolveSettings } from '../worlds/assembly.js';
import type { Run } from '../worlds/run.js';
import { mpiPlan } from '../mpi/mpi-program.js';
import { launchExpectation } from './check-bootstrap.js';
import { isMpi } from './check-mpi.js';
import { checkRestarts, restartsOf } from './check-restarts.js';
import { rankProcesses, truthOf, type RankTruth } from './truth.js';

const SIGNAL_NUMBERS: Readonly<Record<string, number>> = {
  SIGINT: 2, SIGABRT: 6, SIGKILL: 9, SIGUSR1: 10, SIGSEGV: 11, SIGPIPE: 13, SIGTERM: 15,
};

/** Ends further apart than this are in the same order for the runtime as for the kernel, ms. */
const ORDER_MS = 5;

/** A host whose agent did not tell the start of its ranks before it was lost: they are started once more, elsewhere. */
function placedAnew({ record }: Run): number {
  const isIt = (text: string): boolean => text.includes('its ranks had not started, and are started on other hosts');
  return record.events.filter((event) => event.type === 'warning' && isIt(event.text)).length;
}

export function checkReport(run: Run): string[] {
  const retries = restartsOf(run);
  if (retries !== undefined) return checkRestarts(run, retries);
  const { report } = run.record;
  const problems: string[] = [];
  for (const [rank, processes] of rankProcesses(run)) {
    if (processes.length > 1 + placedAnew(run)) problems.push(`rank ${rank} was started ${processes.length} times`);
  }
  if (report === undefined) return problems;
  const truths = truthOf(run);
  if (report.ranks.length !== truths.length && report.ranks.length > 0) {
    problems.push(`${report.ranks.length} ranks in the report of ${truths.length}`);
  }
  for (const rank of report.ranks) {
    const truth = truths[rank.rank];
    const problem = truth === undefined ? 'no such rank' : checkRank(run, rank, truth);
    if (problem !== undefined) problems.push(`rank ${rank.rank} (${truth?.app.program}): ${problem}`);
  }
  const reported = new Set(report.ranks.map(({ rank }) => rank));
  if (reported.size !== report.ranks.length) problems.push('a rank is reported twice');
  const wrong = checkExitCode(run, report, truths);
  return wrong === undefined ? problems : [...problems, wrong];
}

function checkRank(run: Run, report: RankReport, { process, expected }: RankTruth): string | undefined {
  const { outcome } = report;
  if (outcome === 'lost') {
    const isExplained = hasAgentFault(run) || run.options.timeoutMs !== undefined || isSlow(run);
    if (!isExplained) return 'lost, though no agent was harmed';
    return mendsAll(run) && !wasHit(run, report.host) ? 'lost, though no agent of its host was harmed' : undefined;
  }
  if (outcome === 'failed-start') {
    const code = report.error?.code;
    return expected.error === code ? undefined : `failed to start: ${code}, expected ${expected.error}`;
  }
  if (outcome === 'not-started') {
    return process === undefined || hasAgentFault(run) ? undefined : 'reported as not started, and it was';
  }
  if (process === undefined) return `reported as ${outcome}, and never started`;
  if (process.pid !== report.pid) return `pid ${report.pid} in the report, ${process.pid} in truth`;
  const end = JSON.stringify(process.end);
  const reported = JSON.stringify(report.end);
  if (reported !== end) return `${outcome} ${reported} in the report, ${end} in truth`;
  const isSignalled = process.end?.signal !== undefined;
  if (outcome === 'signalled' && !isSignalled) return 'signalled in the report, not in truth';
  if (outcome === 'exited' && isSignalled) return 'exited in the report, signalled in truth';
  return undefined;
}

/** Nothing but agents and connections were killed, when all ranks ran: each host that lives is linked again. */
function mendsAll(run: Run): boolean {
  const { remote, timeoutMs, controls } = run.options;
  const starts = [...rankProcesses(run).values()].flat().map(({ startMs }) => startMs);
  const isKill = run.faults.every(({ step, timeMs }) => step.kind === 'slow'
    || (step.kind === 'kill' && (hitsRanks(step) || (timeMs > Math.max(...starts) && !hitsFrontEnd(step)))));
  const isWhole = starts.length === truthOf(run).length;
  return remote && isWhole && isKill && timeoutMs === undefined && controls.length === 0 && !isSlow(run);
}

/** A process of the host was killed: its root agent, or one of its session agents; or the step of all agents. */
function wasHit({ faults, options: { settings } }: Run, host: string): boolean {
  const isStepAll = settings['launcherproc.together.ends'] !== 'false';
  return faults.some(({ target }) => target.startsWith(`${host}/`) || (isStepAll && target.endsWith(' step')));
}

export function hasAgentFault(run: Run): boolean {
  return run.faults.some(({ step }) => !hitsRanks(step) && step.kind !== 'slow');
}

/** Starts take so long that deadlines may pass. */
function isSlow({ faults, options: { spawnMs, settings } }: Run): boolean {
  const handshakeMs = resolveSettings(settings).params.int('launcher.handshake');
  // To connect, encrypt, and prove takes up to six round trips.
  return spawnMs[1] > 10 || faults.some(({ step }) => step.kind === 'slow' && 12 * step.latencyMs >= handshakeMs);
}

/** True where something beyond the programs themselves may decide the exit code. */
function isDisturbed(run: Run): boolean {
  const { apps, timeoutMs, launchTimeoutMs, controls, faults } = run.options;
  if (launchExpectation(run) !== 'runs') return true;
  const hasMpiEnd = apps.some(({ program, args }) => isMpi(program) && ['abort', 'leave'].includes(mpiPlan(args).end));
  return hasMpiEnd || timeoutMs !== undefined || launchTimeoutMs < 60_000 || isSlow(run) || controls.length > 0
    || faults.some(({ kind }) => kind !== 'refuse-login');
}

interface OwnFailure {
  readonly code: number;
  readonly endMs: number | undefined;
}

/** Exit codes of the ranks that failed by themselves. */
function ownFailures(report: JobReport, truths: readonly RankTruth[]): OwnFailure[] {
  return report.ranks.flatMap(({ rank, outcome, error }): OwnFailure[] => {
    const process = truths[rank]?.process;
    const endMs = process?.endMs;
    if (outcome === 'failed-start') {
      const kind = ERROR_KINDS[(error?.code ?? 'STCI_INTERNAL') as keyof typeof ERROR_KINDS];
      return [{ code: kind.exitCode, endMs: undefined }];
    }
    if (outcome === 'signalled') return [{ code: 128 + (SIGNAL_NUMBERS[process?.end?.signal ?? ''] ?? 0), endMs }];
    const status = process?.end?.status ?? 0;
    return outcome === 'exited' && status !== 0 ? [{ code: status, endMs }] : [];
  });
}

function checkExitCode(run: Run, report: JobReport, truths: readonly RankTruth[]): string | undefined {
  const { exitCode } = report;
  const failures = ownFailures(report, truths);
  const hasSucceeded = ({ end, outcome }: RankReport): boolean =>
    end?.status === 0 && (outcome === 'exited' || outcome === 'ended');
  const allSucceeded = report.ranks.every(hasSucceeded);
  if (exitCode === 0 && !allSucceeded) return 'exit code 0, and not every rank ended with 0';
  if (exitCode !== 0 && report.cause === undefined) return `exit code ${exitCode} without a cause`;
  // Whether it was right to is for check-mpi.ts.
  if (isDisturbed(run) || report.failures.some(({ code }) => code === 'STCI_MPI_WORLD')) return undefined;
  if (failures.length === 0) {
    return exitCode === 0 ? undefined : `exit code ${exitCode}: ${report.cause?.message}; every rank ended with 0`;
  }
  const codes = decidingCodes(run, failures);
  return codes.has(exitCode) ? undefined : `exit code ${exitCode}, expected ${[...codes].join(' or ')}`;
}

/** The first failure decides; those that are too close to it to tell may too. */
function decidingCodes(run: Run, failures: readonly OwnFailure[]): Set<number> {
  const isUnclear = run.options.clockSkewMs > 0 || failures.some(({ endMs }) => endMs === undefined);
  const first = Math.min(...failures.map(({ endMs }) => endMs ?? 0));
  const candidates = isUnclear ? failures : failures.filter(({ endMs }) => (endMs ?? 0) <= first + ORDER_MS);
  return new Set(candidates.map(({ code }) => code));
}
