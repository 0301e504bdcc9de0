/**
 * Component `local` of framework `launcherproc`: agents on this machine. It accepts requests whose hosts are all this
 * machine; selected by name (`--launcher local`) it accepts any hosts and starts their agents here, to try trees and
 * streams without a cluster.
 */

import { accept, decline, defineComponent, launcherprocFramework } from '@stci/core/component';
import { createLocal, foreignHosts } from './local.js';

export { createLocal, foreignHosts } from './local.js';

const NAMES_SHOWN_MAX = 3;

export const launcherLocal = defineComponent({
  framework: launcherprocFramework,
  name: 'local',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Agents on this machine; with --launcher local, under any host names.',
  params: {},
  query: ({ request, named, facts }) => {
    if (named === true) return accept(50, 'selected by name');
    const hostname = facts['hostname'];
    const foreign = foreignHosts(request, typeof hostname === 'string' ? hostname.toLowerCase() : '');
    if (foreign.length === 0) return accept(50, 'all hosts are this machine');
    const more = foreign.length > NAMES_SHOWN_MAX ? ` and ${foreign.length - NAMES_SHOWN_MAX} more` : '';
    const names = foreign.slice(0, NAMES_SHOWN_MAX).join(', ') + more;
    return decline(`not this machine: ${names} (--launcher local starts their agents here)`);
  },
  create: createLocal,
});
