/**
 * What follows when the agent of a host does not come up, or is lost later (STCI paper, III-B: "terminates all
 * remaining running agents; a future implementation will try to restart the failed agent"). Pure, and shared by all
 * error managers: it is a matter of the session's parameters, not of what a job's ranks need.
 */

import { param } from '@stci/interface';
import type { HostAction, ParamSpecs, Params, SessionContext } from '@stci/interface';
import { counted } from '@stci/registry';
import { backoffMs } from '../event/backoff.js';

export interface HostPolicy {
  readonly launch: 'abort' | 'retry' | 'shrink' | 'spare';
  readonly launchRetries: number;
  readonly launchPauseMs: number;
  readonly launchMin: number;
  readonly loss: 'leave-out' | 'start-again' | 'use-spare';
  readonly lossRetries: number;
  readonly lossPauseMs: number;
}

/** The longest pause before a lost host's agent is started again: that of a host that is being repaired. */
const PAUSE_MS_MAX = 600_000;

export const hostPolicyParams: ParamSpecs = {
  launch: param.choice('abort', ['abort', 'retry', 'shrink', 'spare'], 'What follows when a host does not come up: '
    + 'abort ends the launch, with all failures found; retry starts its agent again on the same host; shrink goes on '
    + 'without it, if enough are left; spare takes a spare host.'),
  'launch.retries': param.int(2, [1, 100], 'With errmgr.launch=retry: further starts of one agent before the launch is '
    + 'ended.'),
  'launch.pause': param.duration(1000, [0, PAUSE_MS_MAX], 'With errmgr.launch=retry: pause before the first further '
    + 'start; each next one is twice as long, up to ten minutes. Longer gives a host time to boot, shorter has it '
    + 'sooner.'),
  'launch.min': param.int(1, [1, 1_000_000], 'With errmgr.launch=shrink: hosts that must come up; with fewer the '
    + 'launch is ended.'),
  'launch.collect': param.duration(1000, [0, 600_000], 'Before a launch that failed is ended, how long further '
    + 'failures are awaited, so that all are reported. Longer finds more bad hosts in one go, shorter returns sooner.'),
  loss: param.choice('leave-out', ['leave-out', 'start-again', 'use-spare'], 'What follows when the agent of a host is '
    + 'lost after the launch: leave-out goes on without the host; start-again starts its agent again; use-spare starts '
    + 'one on a spare host, which takes its place. Later jobs use the host again; ranks that were lost stay lost, '
    + 'unless errmgr=restart starts them again.'),
  'loss.retries': param.int(5, [1, 100], "With errmgr.loss=start-again: starts of a lost host's agent before the host "
    + 'is left out. They are counted anew when the agent has run for a minute.'),
  'loss.pause': param.duration(1000, [0, PAUSE_MS_MAX], 'With errmgr.loss=start-again: pause before the first start; '
    + 'each further one is twice as long, up to ten minutes. Longer gives a host time to boot, shorter has it back '
    + 'sooner.'),
};

export function hostPolicyOf(params: Params): HostPolicy {
  return {
    launch: params.string('errmgr.launch') as HostPolicy['launch'],
    launchRetries: params.int('errmgr.launch.retries'),
    launchPauseMs: params.int('errmgr.launch.pause'),
    launchMin: params.int('errmgr.launch.min'),
    loss: params.string('errmgr.loss') as HostPolicy['loss'],
    lossRetries: params.int('errmgr.loss.retries'),
    lossPauseMs: params.int('errmgr.loss.pause'),
  };
}

export function decideOnHost(policy: HostPolicy, context: SessionContext): HostAction {
  return context.phase === 'launching' ? decideOnLaunch(policy, context) : decideOnLoss(policy, context);
}

function decideOnLaunch(
  { launch, launchRetries, launchPauseMs, launchMin }: HostPolicy, context: SessionContext,
): HostAction {
  const { hostName, starts, hostsLeft, sparesLeft } = context;
  const endLaunch = (reason: string): HostAction => ({ type: 'end-launch', reason });
  switch (launch) {
    case 'abort':
      return { type: 'end-launch' };
    case 'retry':
      if (starts <= launchRetries) return startAgain(launchPauseMs, starts);
      return endLaunch(`${hostName} was started ${starts} times (errmgr.launch.retries)`);
    case 'spare':
      return sparesLeft > 0 ? { type: 'use-spare' } : endLaunch('no spare host is left (--spares)');
    case 'shrink':
      if (hostsLeft >= launchMin) return { type: 'leave-out' };
      return endLaunch(`at most ${counted(hostsLeft, 'host')} can come up, fewer than the ${launchMin} that `
        + '--min-hosts (errmgr.launch.min) asks for');
  }
}

function decideOnLoss({ loss, lossRetries, lossPauseMs }: HostPolicy, context: SessionContext): HostAction {
  const { starts, sparesLeft } = context;
  const leaveOut = (reason: string): HostAction => ({ type: 'leave-out', reason });
  switch (loss) {
    case 'leave-out':
      return { type: 'leave-out' };
    case 'start-again':
      if (starts <= lossRetries) return startAgain(lossPauseMs, starts);
      return leaveOut(`its agent was started ${counted(starts - 1, 'more time')} (errmgr.loss.retries)`);
    case 'use-spare':
      if (sparesLeft > 0) return { type: 'use-spare' };
      return leaveOut('no spare host is left (--spares)');
  }
}

function startAgain(firstMs: number, starts: number): HostAction {
  return { type: 'start-again', afterMs: backoffMs({ firstMs, maxMs: PAUSE_MS_MAX }, starts) };
}
