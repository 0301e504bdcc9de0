/** Rows of hosts for `stci ps`. */

import type { HostStatus } from '../session/contracts.js';
import type { Bootstrap } from './bootstrap.js';

/** `taken`: by host, slots that jobs have. */
export function hostStatus(bootstrap: Bootstrap, taken: readonly number[]): HostStatus[] {
  return bootstrap.hosts.map((spec, host) => {
    const { state, incarnation, isDraining, evidence } = bootstrap.table.get(host);
    const isRestarting = bootstrap.isRestarting(host);
    return { host, spec, state, incarnation, isDraining, isRestarting, evidence, used: taken[host] ?? 0 };
  });
}
