// @ts-check
/**
 * Launch policy `cabinets`: the boot tree follows the cabinets, so that most of its links stay behind one switch. The
 * controller's tree reaches the first host of each cabinet; that one starts the others of its cabinet.
 */

import { accept, defineComponent, launcherFramework } from '@stci/core/component';
import { cabinetsOf, parentsOf } from './cabinets.js';

export const launcherCabinets = defineComponent({
  framework: launcherFramework,
  name: 'cabinets',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'A boot tree that follows cabinets: few links go from one switch to another.',
  params: {
    of: {
      type: 'string',
      default: 'name',
      hostGroupsAs: 'cabinets:',
      help: 'Which host is in which cabinet: name is the host\'s name without the number at its end (rack2n07 is in '
        + 'rack2n); cabinets:0*4,1*4 says that the first 4 hosts are in cabinet 0, the next 4 in 1; file:PATH names a '
        + 'file with a line `HOSTS CABINET` for the hosts of each.',
    },
    between: {
      type: 'int', default: 8, min: 1, max: 1024,
      help: 'Cabinets that the controller, and the first host of each cabinet, start at most.',
    },
    within: {
      type: 'int', default: 16, min: 1, max: 1024,
      help: 'Hosts of its own cabinet that an agent starts at most.',
    },
  },
  query: () => accept(10),
  create: (_deps, params) => ({
    policy: 'cabinets',
    tree: (hosts) => {
      const cabinets = cabinetsOf(String(params['of']), hosts.map(({ name }) => name));
      return { parents: parentsOf(cabinets, Number(params['between']), Number(params['within'])) };
    },
  }),
});
