/**
 * Launch policy `flat`: the controller starts every root agent itself. The least hops for a few hosts, and the policy
 * to compare others with; its cost grows with the number of hosts.
 */

import { accept, defineComponent } from '@stci/interface';
import { TOPOLOGY_ARITY_MAX } from '../topology/options.js';
import { launcherFramework } from './framework.js';

export const launcherFlat = defineComponent({
  framework: launcherFramework,
  name: 'flat',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'The controller starts all root agents itself.',
  params: {},
  query: () => accept(10, 'a tree scales better'),
  // Hosts that are added later are the controller's children as well, as far as it may have so many.
  create: () => ({ policy: 'flat', tree: (hosts) => ({ arity: Math.max(hosts.length, TOPOLOGY_ARITY_MAX) }) }),
});
