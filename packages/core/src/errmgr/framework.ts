/**
 * Framework `errmgr` (STCI paper, II-F.4 and III-B), mode one: what follows a failure. Its module is the global part,
 * at the controller: the session asks it about hosts, each job about its ranks. It never acts itself.
 */

import { defineFramework } from '@stci/interface';
import type { ErrorManager } from '@stci/interface';
import { hostPolicyParams, type HostPolicy } from './host-policy.js';

export interface ErrorManagerDeps {
  /** What the session's parameters say about hosts: see `decideOnHost`. */
  readonly hosts: HostPolicy;
}

export const errmgrFramework = defineFramework<ErrorManager, ErrorManagerDeps>({
  name: 'errmgr',
  mode: 'one',
  version: 1,
  scope: 'job',
  help: 'Error manager: what follows a failure.',
  params: hostPolicyParams,
});
