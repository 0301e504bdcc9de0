/** What is checked of a session's parameters before anything is started. */

import { StciError, type HostSpec, type Params } from '@stci/interface';
import { LOCAL } from '../boot/agent-launcher.js';
import type { ServiceScope } from '../service/contracts.js';

/** Throws StciError if these hosts cannot have the overlay that is asked for. */
export function checkOverlay(scope: ServiceScope, params: Params, hosts: readonly HostSpec[]): void {
  if (params.string('overlay.topology') === '' || scope.launchMethod(hosts) === LOCAL) return;
  if (params.list('bootcom.ws.interface').length > 0) return;
  const text = 'The agents of an overlay on several machines connect to each other, and bootcom.ws.interface names '
    + 'no interface to listen on. Set it, for example --mca bootcom.ws.interface=eth0, or run without --overlay.';
  throw new StciError('STCI_PARAM_INVALID', text, { data: { name: 'bootcom.ws.interface' } });
}
