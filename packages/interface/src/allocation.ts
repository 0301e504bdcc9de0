/**
 * Allocation: which hosts a session, or a job with agents of its own, may have. A source of hosts is what the user
 * named, a batch system's job, or this machine.
 */

import type { HostSpec } from './job.js';

/** Hosts as the user named them; none of both: no host is named. */
export interface AllocationRequest {
  /** Each `--host` as it was given. */
  readonly hosts: readonly string[];
  /** Each `--hostfile`, read. */
  readonly hostfiles: readonly { readonly name: string; readonly text: string }[];
}

/** What a source of hosts may look at. */
export interface AllocationDeps {
  /** The environment of the process that asks. */
  readonly variables: Readonly<Record<string, string>>;
  readonly thisMachine: { readonly hostname: string; readonly cpuCount: number };
  /**
   * The text of the file that a variable names: a regular file, which belongs to the caller or to root and which nobody
   * else may write. Throws STCI_ALLOCATION_INVALID, with variable, file and reason.
   */
  readFile(variable: string, path: string): string;
}

/**
 * Module of framework `allocation` (one). The front-end asks once, before anything is started. Its `query` sees the
 * request, and `facts.variables`; it accepts where a batch system's variables are set, even if they turn out to be
 * wrong: `hosts` tells that, so that a job of a batch system never runs on this machine by mistake.
 */
export interface HostSource {
  /** Ends a sentence that begins with a host's name: `is not`, `in Slurm job 17`. */
  readonly place: string;
  /** True: the hosts are those that the request names. Else names in the request choose among its hosts. */
  readonly takesNames: boolean;
  /** At least one, each name once. Throws StciError. */
  hosts(): readonly HostSpec[];
}
