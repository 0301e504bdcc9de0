/** Component `given` of framework `allocation`: the hosts that `--host` and `--hostfile` name, as they are. */

import { accept, builtinComponent, decline } from '@stci/interface';
import { namedHosts } from './allocate.js';
import { allocationFramework } from './framework.js';

export const allocationGiven = builtinComponent({
  framework: allocationFramework,
  name: 'given',
  help: 'The hosts that --host and --hostfile name, taken as they are, inside of a batch job, too.',
  query: ({ request: { hosts, hostfiles } }) => {
    if (hosts.length + hostfiles.length > 0) return accept(50, 'hosts are named');
    return decline('no host is named (--host, --hostfile)');
  },
  create: (_deps, _params, request) => ({
    place: 'among the hosts that are named',
    takesNames: true,
    hosts: () => namedHosts(request),
  }),
});
