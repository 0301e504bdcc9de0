/** Rows of hosts for `stci ps`. */

import type { Member, MembershipTable } from '../membership/table.js';

type Columns = 'host' | 'spec' | 'state' | 'incarnation' | 'isDraining' | 'evidence';

export interface HostStatus extends Pick<Member, Columns> {
  /** Another incarnation is being started, or is to be. */
  readonly isRestarting: boolean;
  /** Ranks of running jobs. */
  readonly used: number;
}

/** `taken`: by host, slots that jobs have. */
export function hostStatus(table: MembershipTable, taken: readonly number[]): HostStatus[] {
  return table.hosts().map((host) => {
    const { spec, state, incarnation, isDraining, evidence } = table.get(host);
    const isRestarting = table.isRestarting(host);
    return { host, spec, state, incarnation, isDraining, isRestarting, evidence, used: taken[host] ?? 0 };
  });
}
