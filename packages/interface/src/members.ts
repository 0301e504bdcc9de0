/** Members of a session, as detectors and notifiers see them. */

import type { MemberId } from './failure.js';
import type { Position } from './topology.js';

/**
 * The agents that take part, as one of them knows them: the same to all its detectors and notifiers, which are told of
 * each change right after it. The controller is a member always: an agent that does not hear it is cut off itself.
 */
export interface Members {
  /** Positions 0..size-1 are, or were, members' at some time, or nobody's. */
  readonly size: number;
  /** Those of them at which nobody lives. */
  readonly absent: ReadonlySet<Position>;
  /** Number of those that live, this agent included. */
  readonly alive: number;
  /** Those that live, by position. */
  living(): readonly MemberId[];
  /** The living member at this position. */
  at(position: Position): MemberId | undefined;
  /** It lives. */
  has(member: MemberId): boolean;
  /** It is dead, has left, or was replaced; one that is not known yet is not. */
  isGone(member: MemberId): boolean;
}
