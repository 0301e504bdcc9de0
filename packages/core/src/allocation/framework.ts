/**
 * Framework `allocation`, mode one: where hosts come from. By priority: a batch system's job, inside of one; the hosts
 * that the user named; this machine. It is the front-end's: agents are told their hosts.
 */

import { defineFramework } from '@stci/interface';
import type { AllocationDeps, AllocationRequest, HostSource } from '@stci/interface';

export const allocationFramework = defineFramework<HostSource, AllocationDeps, AllocationRequest>({
  name: 'allocation',
  mode: 'one',
  version: 1,
  scope: 'front-end',
  help: 'Where hosts come from: a batch system, the hosts that were named, this machine.',
  params: {},
});
