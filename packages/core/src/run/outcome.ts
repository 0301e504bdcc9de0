/**
 * The one outcome of a run. The exit rule (job/exit-rule.ts) decides it where the job's failures are kept; what ends a
 * job from outside, a signal to the front-end or output that cannot be written, is sent to the controller as a cause
 * and enters that rule. What happens after the job has ended, while its last output is written, is settled here by the
 * same rule: an earlier failure of the job decides; without one, the first later failure does. The process's exit
 * status, the exit report and `--json` all show the settled report.
 */

import { EXIT, StciError, toErrorRecord } from '@stci/interface';
import type { EndCause, ErrorCode, JobMap, JobReport, SignalName } from '@stci/interface';
import { counted } from '@stci/registry';
import { foldSorted } from '../job/hostset.js';
import { signalExitCode } from '../job/signals.js';

/** The user ended the job; `why`: instead of the signal's name, where a program did. */
export function interruptCause(signal: SignalName, why = `Interrupted by ${signal}`): EndCause {
  const error = { code: 'STCI_JOB_INTERRUPTED', message: why, data: { signal } };
  return { kind: 'interrupt', error, exitCode: signalExitCode(signal) };
}

/**
 * `output`: it cannot be written, or its reader has gone. `tool-status`: the job's programs did not do what they were
 * started for, though they ended well.
 */
export function causeOf(kind: EndCause['kind'], error: StciError): EndCause {
  return { kind, error: toErrorRecord(error), exitCode: error.exitCode };
}

/** `--strict`: hosts did not come up, and the job ran without them. */
export function leftOutCause(hosts: Iterable<string>): EndCause {
  const text = `The job ran without ${foldSorted(hosts)}, which did not come up (--strict)`;
  return causeOf('agent-launch', new StciError('STCI_LAUNCH_FAILED', text));
}

const OWN_CODES: ReadonlySet<string> = new Set<ErrorCode>([
  'STCI_JOB_INTERRUPTED', 'STCI_OUTPUT_CLOSED', 'STCI_OUTPUT_FAILED',
]);

/** True for a failure that the front-end caused, and has reported, itself. */
export function isOwnFailure({ code }: { readonly code: string }): boolean {
  return OWN_CODES.has(code);
}

/** What ended the job if it was another front-end, or a command such as stci kill. */
export function causeElsewhere({ cause }: JobReport, causes: readonly EndCause[]): string | undefined {
  if (cause === undefined || !isOwnFailure(cause)) return undefined;
  return causes.some(({ error }) => error.code === cause.code) ? undefined : cause.message;
}

/**
 * The report with the causes of the front-end, in that order; a cause that the controller has entered changes
 * nothing.
 */
export function settleReport(report: JobReport, causes: readonly EndCause[]): JobReport {
  const { exitCode, failures } = report;
  const missing = causes.filter(({ error }) => !failures.some(({ code }) => code === error.code));
  const [first] = missing;
  if (first === undefined) return report;
  return {
    ...report,
    failures: [...failures, ...missing.map(({ error }) => error)],
    ...(exitCode === 0 && { exitCode: first.exitCode, cause: first.error }),
  };
}

/** Exit code where no report came: the agents ended before, or the first cause was ours. */
export function exitCodeWithoutReport(causes: readonly EndCause[]): number {
  return causes[0]?.exitCode ?? EXIT.internal;
}

/** What an interrupt does, and what the next one would. */
export function signalText(signal: SignalName, map: JobMap, hasRanks: boolean): string {
  const place = `${counted(map.size, 'rank')} on ${counted(map.hosts.length, 'host')}`;
  const [word, again] = signal === 'SIGINT' ? ['interrupted', 'Ctrl-C'] : [`received ${signal}`, signal];
  if (hasRanks) return `${word}: ending ${place}; ${again} again to kill`;
  return `${word}: all ranks have ended, their output is being written; ${again} again to drop it`;
}
