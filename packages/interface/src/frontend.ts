/**
 * The front-end agent's face to a program: submit a job, follow it, feed and read it, end it. `stcirun` is one
 * user of it; tests and later tools are others.
 */

import type { JobControl, JobEvent, JobSpec } from './job.js';
import type { Rank } from './ids.js';

export interface FrontEndEvents {
  onJobEvent(event: JobEvent): void;
  /**
   * A chunk of a rank's output, as it was read at the host at `wallMs`; an empty chunk ends that stream. Call
   * `release` when it is written or dropped: the tools stop when too much is not.
   */
  onOutput(
    rank: Rank,
    stream: 'stdout' | 'stderr',
    chunk: Uint8Array,
    wallMs: number,
    release: () => void,
  ): void;
  /** `writeStdin` takes more. */
  onStdinDrain(): void;
  /** No rank reads standard input any more. */
  onStdinClosed(): void;
  /** All agents that this front-end started have ended; nothing of it is left. Told once, last. */
  onStopped(): void;
}

export interface FrontEnd {
  /** One job a front-end, for now. Throws StciError on a spec that cannot be run. */
  submit(spec: JobSpec): void;
  control(control: JobControl): void;
  /** False when the tools are slower: wait for `onStdinDrain`. */
  writeStdin(chunk: Uint8Array): boolean;
  closeStdin(): void;
  /**
   * Tells the agents that this process may be silent for so long, in ms, before it stops itself (SIGTSTP); 0 when it
   * goes on. Without it they would take it for dead after the lease.
   */
  announceSilence(silenceMs: number): void;
  /** Ends the agents, in reverse order of their start. `onStopped` follows within the stop deadline. */
  stop(): void;
}
