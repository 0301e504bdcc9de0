/** Which agents are a host's. */

import { addressIndex, addressKind, type Address, type HostIndex } from '@stci/interface';

/** Whether it is the root agent or a session agent of one of these hosts. */
export function isOnHost(agent: Address, hosts: Pick<ReadonlySet<HostIndex>, 'has'>): boolean {
  const kind = addressKind(agent);
  return (kind === 'root' || kind === 'session') && hosts.has(addressIndex(agent));
}
