/** The launcher policies of core keep the promises of their contract. */

import { launcherCompliance } from '@stci/testkit/compliance';
import { launcherFlat } from '../../dist/launcher/flat.js';
import { launcherTree } from '../../dist/launcher/tree.js';

launcherCompliance(launcherFlat, [{ label: 'any number of hosts', depthMax: () => 1 }]);
launcherCompliance(launcherTree, [
  { label: 'default', childrenMax: () => 8, depthMax: (hosts) => 1 + Math.floor(Math.log(hosts) / Math.log(8)) },
  { label: 'a chain', params: { arity: '1' }, childrenMax: () => 1, depthMax: (hosts) => hosts, largeSizes: [500] },
  { label: 'wide', params: { arity: '1024' }, childrenMax: () => 1024, depthMax: () => 2 },
]);
