/** Rows of hosts for `stci ps`. */

import type { HostIndex, HostSpec } from '@stci/interface';
import type { MembershipTable, MemberState } from '../membership/table.js';

export interface HostStatus {
  readonly host: HostIndex;
  readonly spec: HostSpec;
  readonly state: MemberState;
  /** Of its agent, which may have been started again. */
  readonly incarnation: number;
  /** It gets no more jobs, and leaves when those that it has are over. */
  readonly isDraining: boolean;
  /** Another incarnation is being started, or is to be. */
  readonly isRestarting: boolean;
  /** Why it is in this state, where there is something to say; else empty. */
  readonly evidence: string;
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
