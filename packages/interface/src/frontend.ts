/**
 * Interface of a job's front-end to a program: submit a job, follow it, write its input and read its output, end it.
 * Used by `stcirun` and by tests.
 */

import type { JobControl, JobEvent, JobSpec } from './job.js';
import type { Rank } from './ids.js';

export interface FrontEndEvents {
  onJobEvent(event: JobEvent): void;
  /**
   * A chunk of a rank's output, read at the host at `wallMs`; an empty chunk ends that stream. Call `release` when it
   * is written or dropped: the tools are stopped while too much is unreleased.
   */
  onOutput(
    rank: Rank,
    stream: 'stdout' | 'stderr',
    chunk: Uint8Array,
    wallMs: number,
    release: () => void,
  ): void;
  /** There is room again after `writeStdin` returned false. */
  onStdinDrain(): void;
  /** No rank reads standard input any longer. */
  onStdinClosed(): void;
  /** All agents that this front-end started have ended. Called once, last. */
  onStopped(): void;
}

export interface FrontEnd {
  /** One job per front-end. Throws StciError if the specification cannot be run. */
  submit(spec: JobSpec): void;
  control(control: JobControl): void;
  /** Returns false if the tools are slower: wait for `onStdinDrain`. */
  writeStdin(chunk: Uint8Array): boolean;
  closeStdin(): void;
  /**
   * Announces to the agents that this process may be silent for this many ms before it stops itself (SIGTSTP); 0 when
   * it continues. Without it they would consider it dead after the lease.
   */
  announceSilence(silenceMs: number): void;
  /** Ends the agents, in reverse order of their start. `onStopped` follows within the stop deadline. */
  stop(): void;
}
