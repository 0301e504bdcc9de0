/**
 * Launch policy `tree`: a k-ary boot tree. Launch time grows with the logarithm of the number of hosts, and no agent
 * has more than k links to look after.
 */

import { accept, builtinComponent, param } from '@stci/interface';
import { launcherFramework } from './framework.js';

export const launcherTree = builtinComponent({
  framework: launcherFramework,
  name: 'tree',
  help: 'Every agent starts up to arity others, level by level.',
  params: {
    arity: param.int(8, [1, 1024], 'Children of an agent in the boot tree. More makes the tree flatter and each agent '
      + 'busier; the number of levels is log(hosts) / log(arity); docs/scaling.md shows which is best for how many '
      + 'hosts.'),
  },
  query: () => accept(50),
  create: (_deps, params) => {
    const arity = params['arity'] as number;
    return { policy: 'tree', tree: () => ({ arity }) };
  },
});
