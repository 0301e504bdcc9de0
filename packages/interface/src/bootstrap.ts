/**
 * Bootstrap policy: what follows when a host's agent fails before the job runs (STCI paper, III-B: "terminates all
 * remaining running agents; a future implementation will try to restart the failed agent"). Later failures belong to
 * the error manager.
 */

import type { ErrorRecord } from './errors.js';
import type { HostSpec } from './job.js';

export interface BootstrapFailure {
  readonly host: HostSpec;
  readonly error: ErrorRecord;
  /** Starts of an agent for this place so far, at least 1. */
  readonly attempts: number;
}

export interface BootstrapContext {
  /** Hosts that are up or may still come up, the failed one not counted. */
  readonly hostsLeft: number;
  /** Spare hosts of the allocation that were not used yet. */
  readonly sparesLeft: number;
}

/**
 * `abort`: end all, with every failure found. `retry`: start an agent on the same host again. `spare`: start one on a
 * spare host in its place. `shrink`: run without the host; its starter starts the agents below it.
 */
export type BootstrapDecision = 'abort' | 'retry' | 'spare' | 'shrink';

/** Module of framework `bootstrap` (one). Pure. */
export interface BootstrapPolicy {
  readonly policy: string;
  decide(failure: BootstrapFailure, context: BootstrapContext): BootstrapDecision;
  /** Why it answered `abort`, where the failure itself does not say: as in `only 2 hosts are left`. */
  reasonOf?(failure: BootstrapFailure, context: BootstrapContext): string;
}
