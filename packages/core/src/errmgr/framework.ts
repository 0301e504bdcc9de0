/**
 * Framework `errmgr` (STCI paper, II-F.4 and III-B), mode one: what follows a failure. Its module is the global manager
 * at the controller, which the session asks about hosts and each job about its ranks, and the local one at a session
 * agent, about its tools. It never acts itself. The parameters `errmgr.tool`, … select another component for what
 * failed: see by-subject.ts.
 */

import { defineFramework } from '@stci/interface';
import type { ErrorManager, ParamSpec } from '@stci/interface';
import { hostPolicyParams, type HostPolicy } from './host-policy.js';

export interface ErrorManagerDeps {
  /** What the session's parameters say about hosts: see `decideOnHost`. */
  readonly hosts: HostPolicy;
}

function selection(what: string, otherwise: string): ParamSpec {
  const help = `Error manager for ${what}; empty: ${otherwise}.`;
  return { type: 'list', default: [], scope: 'job', selects: true, help };
}

export const errmgrFramework = defineFramework<ErrorManager, ErrorManagerDeps>({
  name: 'errmgr',
  mode: 'one',
  version: 1,
  scope: 'job',
  help: 'Error manager: what follows a failure.',
  params: {
    ...hostPolicyParams,
    tool: selection('a rank whose program failed', 'that of errmgr'),
    agent: selection('a session agent that is lost, of a host that is not', 'that of errmgr.host'),
    host: selection('a host that is lost', 'that of errmgr'),
  },
});
