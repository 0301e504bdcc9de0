/** Failure records of the controller itself, with their messages. */

import {
  StciError,
  type ErrorRecord,
  type Failure,
  type FailureCause,
  type HostIndex,
  type HostSpec,
  type RankReport,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { failureBy } from '../job/exit-rule.js';
import { foldSorted } from '../job/hostset.js';

/** Causes of ranks that failed by themselves. */
export const RANK_CAUSES: Readonly<Partial<Record<RankReport['outcome'], FailureCause>>> = {
  exited: 'exited', signalled: 'signalled', 'failed-start': 'not-started',
};

/** Process ids listed in a message; the rest is counted. */
const PIDS_SHOWN = 8;

/** Error of a host below a lost one; its own agent may be well. */
export function cutOffRecord(hosts: readonly HostSpec[], host: HostIndex, lost: HostIndex): ErrorRecord {
  const name = (index: HostIndex): string => hosts[index]?.name ?? String(index);
  return {
    code: 'STCI_AGENT_LOST',
    message: `Host ${name(host)} is cut off: it was reached through host ${name(lost)}, whose agent is lost`,
    host: name(host),
  };
}

/** Error of a job that does not fit on the hosts that are up. */
export function restartingError(names: readonly string[]): StciError {
  const text = `The job does not fit now: agents are being started again on ${foldSorted(names)}. Wait for them `
    + "(--wait), or ask for fewer ranks (-n). 'stci ps' shows them.";
  return new StciError('STCI_SLOTS_EXCEEDED', text, { data: { busy: true } });
}

/** Error of a host that reported nothing after its ranks were to end. */
export function unansweredHostError(hosts: readonly HostSpec[], index: HostIndex): ErrorRecord {
  const host = hosts[index]?.name ?? String(index);
  const message = `Host ${host} does not answer: the outcome of its ranks is unknown`;
  return { code: 'STCI_AGENT_LOST', message, host };
}

/** Text on hosts that have not said that their output was taken. */
export function undrainedText(hosts: readonly HostSpec[], undrained: readonly HostIndex[]): string {
  const names = foldSorted(undrained.map((index) => hosts[index]?.name ?? String(index)));
  const host = undrained.length === 1 ? 'host' : 'hosts';
  return `Output of ${host} ${names} may be missing: the job ended before all of it was taken`;
}

export function launchTimeoutError(
  timeoutMs: number, hasWaited: boolean, missing: readonly string[], ranksOpen: number,
): StciError {
  const hosts = `hosts not up: ${foldSorted(missing)}`;
  const what = missing.length > 0 ? hosts : `${ranksOpen} ranks not running`;
  const since = hasWaited ? 'had waited for hosts or slots' : 'was submitted';
  const text = `Job was not running ${formatDuration(timeoutMs)} after it ${since} (--launch-timeout): ${what}`;
  return new StciError('STCI_LAUNCH_TIMEOUT', text);
}

/** `waits`: what programs wait for. */
export function jobTimeoutError(timeoutMs: number, ranksOpen: number, waits: string): StciError {
  const ranks = `${ranksOpen} ${ranksOpen === 1 ? 'rank' : 'ranks'} had not ended`;
  const text = `Job timed out after ${formatDuration(timeoutMs)} (--timeout): ${ranks}`;
  return new StciError('STCI_JOB_TIMEOUT', waits === '' ? text : `${text}; ${waits}`);
}

/** Failure of processes that survived SIGKILL; undefined if there are none. */
export function survivorsFailure(
  hosts: readonly HostSpec[],
  index: HostIndex,
  pids: readonly number[],
  wallMs: number,
): Failure | undefined {
  if (pids.length === 0) return undefined;
  const host = hosts[index]?.name ?? String(index);
  const [what, them] = pids.length === 1 ? ['Process', 'it'] : ['Processes', 'them'];
  const text = `${what} ${firstOf(pids)} on host ${host} could not be ended by SIGKILL\n`
    + `  what to do: \`ps -o pid,user,stat,args -p ${pids.join(',')}\` there shows ${them}. Another user's is ended by `
    + 'that user or root, one in state D when its device or file system answers.';
  const error = new StciError('STCI_TOOL_SURVIVED', text, { host, data: { pids: pids.join(',') } });
  return { ...failureBy('tool-survived', error, wallMs), host: index };
}

function firstOf(pids: readonly number[]): string {
  const shown = pids.slice(0, PIDS_SHOWN).join(', ');
  return pids.length > PIDS_SHOWN ? `${shown} and ${pids.length - PIDS_SHOWN} more` : shown;
}

export function behindError(): StciError {
  const text = 'Other jobs wait for slots before it. Wait behind them (--wait), or use no slots (--oversubscribe). '
    + "'stci ps' shows them.";
  return new StciError('STCI_SLOTS_EXCEEDED', text, { data: { busy: true } });
}
