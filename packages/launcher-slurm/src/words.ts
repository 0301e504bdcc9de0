/**
 * Slurm's words: the lines that srun and slurmstepd write to standard error, as of Slurm 22.05 to 24.11. What is not
 * known is passed on as it is.
 */

import { expandHostlist } from '@stci/core/component';
import { StciError, type ProcessEnd } from '@stci/interface';

export type SlurmLine =
  /** A step, or its job, is ended: `reason` is what follows DUE TO, in lower case. */
  | { readonly kind: 'cancelled'; readonly step: string; readonly reason?: string }
  /** srun ends the tasks that remain. */
  | { readonly kind: 'aborted' }
  /** Tasks of these hosts have ended. */
  | { readonly kind: 'ended'; readonly hosts: readonly string[]; readonly end: ProcessEnd; readonly what: string }
  /** A host cannot be reached, so that the step does not begin. */
  | { readonly kind: 'unreached'; readonly host: string; readonly what: string }
  /** A host was lost; the step goes on. */
  | { readonly kind: 'lost'; readonly hosts: readonly string[] }
  /** The step waits for its hosts. */
  | { readonly kind: 'waits'; readonly what: string }
  | { readonly kind: 'noise' | 'other' };

const CANCELLED =
  /^slurmstepd(?:-\S+)?: error: \*\*\* (?:STEP|JOB) (\S+) ON \S+ CANCELLED AT \S+(?: DUE TO (.+?))? \*\*\*$/;
const ABORTED = /^srun: (?:Job step aborted|forcing job termination|Force Terminated|Terminating )/;
const ENDED = /^srun: error: (\S+): tasks? [\d,[\]-]+: (.+)$/;
const UNREACHED = /^srun: error: Task launch for \S+ failed on node (\S+): (.+)$/;
const LOST = /^srun: error: Node failure on (\S+)$/;
const WAITS = /^srun: Job \S+ step creation (?:temporarily disabled|still disabled), retrying \((.*)\)$/;
const NOISE = /^srun: (?:cluster configuration lacks support for \w+ binding|got SIGCONT|Step created for )/;

export function readLine(line: string): SlurmLine {
  const [, step, reason] = CANCELLED.exec(line) ?? [];
  if (step !== undefined) {
    return { kind: 'cancelled', step, ...(reason !== undefined && { reason: reasonText(reason) }) };
  }
  if (ABORTED.test(line)) return { kind: 'aborted' };
  const [, endedHosts, what] = ENDED.exec(line) ?? [];
  if (endedHosts !== undefined && what !== undefined) {
    return { kind: 'ended', hosts: hostsOf(endedHosts), end: endOf(what), what };
  }
  const [, host, why] = UNREACHED.exec(line) ?? [];
  if (host !== undefined && why !== undefined) return { kind: 'unreached', host, what: why };
  const lost = LOST.exec(line)?.[1];
  if (lost !== undefined) return { kind: 'lost', hosts: hostsOf(lost) };
  const waits = WAITS.exec(line)?.[1];
  if (waits !== undefined) return { kind: 'waits', what: waits };
  return { kind: NOISE.test(line) ? 'noise' : 'other' };
}

/** `NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS` → `node failure`. */
function reasonText(words: string): string {
  return words.replace(/, SEE SLURMCTLD LOG.*/, '').toLowerCase();
}

const SIGNALS: Readonly<Record<string, ProcessEnd['signal']>> = {
  'Killed': 'SIGKILL', 'Terminated': 'SIGTERM', 'Segmentation fault': 'SIGSEGV', 'Aborted': 'SIGABRT',
  'Hangup': 'SIGHUP', 'Interrupt': 'SIGINT', 'Bus error': 'SIGBUS', 'Out Of Memory': 'SIGKILL',
};

/** End in srun's words for it; of words that are not known it is SIGKILL, as the task did not end by itself. */
function endOf(what: string): ProcessEnd {
  const status = /^Exited with exit code (\d+)/.exec(what)?.[1];
  if (status !== undefined) return { status: Number(status) };
  return { signal: SIGNALS[what.replace(/ \(core dumped\)$/, '')] ?? 'SIGKILL' };
}

/** Empty if it cannot be read. */
export function hostsOf(list: string): readonly string[] {
  try {
    return expandHostlist(list).map(({ name }) => name);
  } catch (thrown) {
    if (thrown instanceof StciError) return [];
    throw thrown;
  }
}
