/** What `stci topology` shows of a running session. */

import type { LinkState } from '@stci/interface';

/** A link as one of its ends sees it. */
export interface LinkReport {
  /** Name of the agent at the other end: `root:3`. */
  readonly peer: string;
  readonly kind: string;
  /** What the peer is to the agent. */
  readonly role: 'parent' | 'child' | 'overlay';
  readonly state: LinkState;
  readonly inStateMs: number;
  /** Undefined: no answer in time. */
  readonly roundTripMs?: number | undefined;
}

export interface AgentLinks {
  /** `controller`, `root:3`. */
  readonly agent: string;
  /** Name of its host; none for the controller. */
  readonly host?: string | undefined;
  /** Undefined: it did not answer, or not yet. */
  readonly links?: readonly LinkReport[] | undefined;
}

export interface TopologyReport {
  /** Number of this survey. */
  readonly survey: number;
  /** All have answered, or had the time to. */
  readonly isDone: boolean;
  /** Of the overlay, as it was asked for; empty: none. */
  readonly overlay: string;
  readonly agents: readonly AgentLinks[];
}
