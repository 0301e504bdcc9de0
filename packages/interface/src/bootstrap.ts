/**
 * Bootstrap policy: the reaction to the failure of a host's agent before the job runs (STCI paper, III-B: "terminates
 * all remaining running agents; a future implementation will try to restart the failed agent"). Later failures belong
 * to the error manager.
 */

import type { ErrorRecord } from './errors.js';
import type { HostSpec } from './job.js';

export interface BootstrapFailure {
  readonly host: HostSpec;
  readonly error: ErrorRecord;
  /** Starts of an agent for this host index so far, at least 1. */
  readonly attempts: number;
}

export interface BootstrapContext {
  /** Hosts that are up or may still come up, the failed one not counted. */
  readonly hostsLeft: number;
  /** Spare hosts of the allocation that are still unused. */
  readonly sparesLeft: number;
}

/**
 * `abort`: end all, with every failure found. `retry`: start an agent on the same host again. `spare`: start one on a
 * spare host in its place. `shrink`: run without the host; the agent above it starts the agents below.
 */
export type BootstrapDecision = 'abort' | 'retry' | 'spare' | 'shrink';

/** Module of framework `bootstrap` (one). Pure. */
export interface BootstrapPolicy {
  readonly policy: string;
  decide(failure: BootstrapFailure, context: BootstrapContext): BootstrapDecision;
  /** The reason for `abort` if the failure itself does not say it: as in `only 2 hosts are left`. */
  reasonOf?(failure: BootstrapFailure, context: BootstrapContext): string;
}
