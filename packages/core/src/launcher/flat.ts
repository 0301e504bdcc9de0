/**
 * Launch policy `flat`: the controller starts every root agent itself. The least hops for a few hosts, and the policy
 * to compare others with; its cost grows with the number of hosts.
 */

import { accept, builtinComponent, type BootTreePlan, type HostSpec } from '@stci/interface';
import { TOPOLOGY_ARITY_MAX } from '../topology/options.js';
import { launcherFramework } from './framework.js';

/** The plan is by arity, so that hosts that are added later are the controller's children, too, as far as that goes. */
function flatTree(hosts: readonly HostSpec[]): BootTreePlan {
  if (hosts.length <= TOPOLOGY_ARITY_MAX) return { arity: TOPOLOGY_ARITY_MAX };
  return { parents: hosts.map(() => undefined) };
}

export const launcherFlat = builtinComponent({
  framework: launcherFramework,
  name: 'flat',
  help: 'The controller starts all root agents itself.',
  query: () => accept(10, 'a tree scales better'),
  create: () => ({ policy: 'flat', tree: flatTree }),
});
