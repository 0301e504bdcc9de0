/** Which agents are a host's. */

import { addressIndex, addressKind, type Address, type HostIndex } from '@stci/interface';
import type { MembershipTable } from '../membership/table.js';

/** Whether it is the root agent or a session agent of one of these hosts. */
export function isOnHost(agent: Address, hosts: Pick<ReadonlySet<HostIndex>, 'has'>): boolean {
  const kind = addressKind(agent);
  return (kind === 'root' || kind === 'session') && hosts.has(addressIndex(agent));
}

/** Whether it is no agent of a host that takes part, or may take part again. */
export function isGoneFrom(table: MembershipTable | undefined, agent: Address): boolean {
  const host = addressIndex(agent);
  return table === undefined || !isOnHost(agent, { has: () => host < table.size }) || table.isGone(host);
}
