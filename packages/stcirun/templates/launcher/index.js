// @ts-check
/**
 * Launch policy `sample`: hosts in groups, in their order. The controller starts the agent of the first host of each
 * group, which starts those of the others.
 */

import { accept, defineComponent, launcherFramework } from '@stci/core/component';

export const component = defineComponent({
  framework: launcherFramework,
  name: 'sample',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Groups of hosts: the controller starts the first of each, which starts the others.',
  params: {
    group: { type: 'int', default: 16, min: 2, max: 1024, help: 'Hosts of a group.' },
  },
  query: () => accept(1, 'only by name'),
  create: (_deps, params) => ({
    policy: 'sample',
    tree: (hosts) => ({
      parents: hosts.map((_host, index) => {
        const first = index - (index % Number(params['group']));
        return index === first ? undefined : first;
      }),
    }),
  }),
});
