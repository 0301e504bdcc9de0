/** What the starter tells the process of a new session, by its standard input; and what that reports, by a pipe. */

import type { HostSpec } from '@stci/interface';
import type { ParamsRequest } from '../settings/params.js';
import type { ProcessIdentity } from './process-identity.js';

/** The word that makes the main program of `stci` the process of a session. A user never writes it. */
export const SESSION_WORD = '--session-process';

/** The descriptor of its reports. */
export const REPORT_FD = 3;
/** Descriptors of an allocation's streams (alloc/held-allocation.ts). */
export const KEEP_FD = 4;
export const WORDS_FD = 5;

export interface Instruction extends ParamsRequest {
  readonly name: string;
  /** The directory that gets its name. */
  readonly staged: string;
  readonly wdir: string | undefined;
  readonly hosts: readonly HostSpec[];
  readonly spares: readonly HostSpec[];
  /** File of its events, by its absolute path. */
  readonly events?: string;
  /** It ends with its first job. */
  readonly isForOneJob: boolean;
  /** Number of the job of Slurm that it holds, by the streams at KEEP_FD and WORDS_FD. */
  readonly slurmJob?: string | undefined;
  /** It ends with this process. */
  readonly owner?: ProcessIdentity;
}

/** One line of JSON each. */
export type Report =
  /** Commands find it. */
  | { readonly type: 'listening' }
  | { readonly type: 'step'; readonly text: string }
  /** All hosts are up that will be. */
  | { readonly type: 'ready'; readonly up: number }
  | { readonly type: 'failed'; readonly message: string; readonly code: string };
