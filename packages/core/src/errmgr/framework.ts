/**
 * Framework `errmgr` (STCI paper, II-F.4 and III-B), mode one: what follows a failure. Its module is the global manager
 * at the controller, which the session asks about hosts and each job about its ranks, and the local one at a session
 * agent, about its tools. It never acts itself. The parameters `errmgr.tool`, … select another component for what
 * failed: see by-subject.ts.
 */

import { defineFramework, param } from '@stci/interface';
import type { ErrorManager, ParamSpec } from '@stci/interface';
import { hostPolicyParams, type HostPolicy } from './host-policy.js';

export interface ErrorManagerDeps {
  /** What the session's parameters say about hosts: see `decideOnHost`. */
  readonly hosts: HostPolicy;
}

function selection(what: string, otherwise: string): ParamSpec {
  const help = `Error manager for ${what}; empty: ${otherwise}.`;
  return { ...param.names(help, 'job'), selects: true };
}

export const errmgrFramework = defineFramework<ErrorManager, ErrorManagerDeps>({
  name: 'errmgr',
  mode: 'one',
  version: 1,
  scope: 'job',
  help: 'Error manager: what follows a failure.',
  params: {
    ...hostPolicyParams,
    elsewhere: param.int(2, [0, 100], 'A rank that has failed so often on one host, each time within errmgr.quick of '
      + 'its start, is started again on another that has a free slot; 0: never, nor a rank whose start nobody had told '
      + 'when its host was lost.', 'job'),
    quick: param.duration(10_000, [0, 3_600_000], 'A rank that fails so soon after its start may have failed for its '
      + 'host.', 'job'),
    aside: param.int(3, [1, 1_000_000], 'A host on which so many different ranks have failed as errmgr.elsewhere says '
      + 'is set aside: ranks of the job that are started again go to others while these have free slots.', 'job'),
    tool: selection('a rank whose program failed', 'that of errmgr'),
    agent: selection('a session agent that is lost, of a host that is not', 'that of errmgr.host'),
    host: selection('a host that is lost', 'that of errmgr'),
  },
});
