/** Fault injection, as the front-ends of a session use it. */

import type { ClockOffset, ExperimentTerms, FaultOrder, FaultReport } from '@stci/interface';

/** A front-end that injects faults. */
export interface ExperimentOwner {
  onReport(report: FaultReport): void;
  /** It has gone, or did not renew its lease: all is undone. */
  onAbandoned(reason: string): void;
}

/** Fault injection: one experiment at a time. Throws StciError. */
export interface SessionFaults {
  /** Begins it, or renews it. */
  begin(owner: ExperimentOwner, terms: ExperimentTerms): void;
  /**
   * Orders that come together are sent so that none waits behind a victim of another. What becomes of each is reported,
   * with exactly one end of each part; an order that is refused, as `failed`.
   */
  inject(owner: ExperimentOwner, orders: readonly FaultOrder[]): void;
  /** Calls `done` when it is undone, or at a deadline, with the agents that are left. Empty `id`: all, and the end. */
  undo(owner: ExperimentOwner, id: string, done: (left: readonly string[]) => void): void;
  clocks(done: (clocks: readonly ClockOffset[]) => void): void;
  /** Its connection has ended. Returns whether `onAbandoned` follows: it had an experiment. */
  leave(owner: ExperimentOwner): boolean;
}
