/**
 * What follows when the agent of a host does not come up, or is lost later (STCI paper, III-B: "terminates all
 * remaining running agents; a future implementation will try to restart the failed agent"). Pure, and shared by all
 * error managers: it is a matter of the session's parameters, not of what a job's ranks need.
 */

import type { HostAction, ParamSpecs, Params, SessionContext } from '@stci/interface';
import { counted } from '../job/text.js';

export interface HostPolicy {
  readonly launch: 'abort' | 'retry' | 'shrink' | 'spare';
  readonly launchRetries: number;
  readonly launchMin: number;
}

export const hostPolicyParams: ParamSpecs = {
  launch: {
    type: 'enum',
    values: ['abort', 'retry', 'shrink', 'spare'],
    default: 'abort',
    help: 'What follows when a host does not come up: abort ends the launch, with all failures found; retry starts its '
      + 'agent again on the same host; shrink goes on without it, if enough are left; spare takes a spare host.',
  },
  'launch.retries': {
    type: 'int',
    default: 2,
    min: 1,
    max: 100,
    help: 'With errmgr.launch=retry: further starts of one agent before the launch is ended.',
  },
  'launch.min': {
    type: 'int',
    default: 1,
    min: 1,
    max: 1_000_000,
    help: 'With errmgr.launch=shrink: hosts that must come up; with fewer the launch is ended.',
  },
  'launch.collect': {
    type: 'duration',
    default: 1000,
    min: 0,
    max: 600_000,
    help: 'Before a launch that failed is ended, how long further failures are awaited, so that all are reported. '
      + 'Longer finds more bad hosts in one go, shorter returns sooner.',
  },
};

export function hostPolicyOf(params: Params): HostPolicy {
  return {
    launch: params.string('errmgr.launch') as HostPolicy['launch'],
    launchRetries: params.int('errmgr.launch.retries'),
    launchMin: params.int('errmgr.launch.min'),
  };
}

export function decideOnHost(policy: HostPolicy, context: SessionContext): HostAction {
  return context.phase === 'launching' ? decideOnLaunch(policy, context) : { type: 'leave-out' };
}

function decideOnLaunch({ launch, launchRetries, launchMin }: HostPolicy, context: SessionContext): HostAction {
  const { hostName, starts, hostsLeft, sparesLeft } = context;
  const endLaunch = (reason: string): HostAction => ({ type: 'end-launch', reason });
  switch (launch) {
    case 'abort':
      return { type: 'end-launch' };
    case 'retry':
      if (starts <= launchRetries) return { type: 'start-again', afterMs: 0 };
      return endLaunch(`${hostName} was started ${starts} times (errmgr.launch.retries)`);
    case 'spare':
      return sparesLeft > 0 ? { type: 'use-spare', afterMs: 0 } : endLaunch('no spare host is left (--spares)');
    case 'shrink':
      if (hostsLeft >= launchMin) return { type: 'leave-out' };
      return endLaunch(`at most ${counted(hostsLeft, 'host')} can come up, fewer than the ${launchMin} that `
        + '--min-hosts (errmgr.launch.min) asks for');
  }
}
