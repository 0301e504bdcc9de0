/**
 * Streams (STCI paper, II-E.2c): an overlay over agents along a tree, with data up to its root and down to its leaves,
 * optionally reduced on the way up. Every job has the default stream, rooted at the controller, for output and input;
 * more can be opened.
 */

import type { StciError } from './errors.js';
import type { Address, JobId } from './ids.js';

/** 1 is every job's default stream; user-made ones are 2..65535. */
export type StreamId = number;

export const DEFAULT_STREAM: StreamId = 1;

/**
 * `none`: each contribution is forwarded separately, without decoding it. The others combine one contribution of every
 * member per round: numbers by `sum`, `min`, `max`; lists by `concat` (ordered by member); booleans by `and`, `or`.
 */
export type Reduction = 'none' | 'sum' | 'min' | 'max' | 'concat' | 'and' | 'or';

export interface StreamSpec {
  readonly id: StreamId;
  /** Default: the opening agent's own. */
  readonly job?: JobId;
  /** Position i of the stream's topology is members[i]; members[0] is the root. Root or session agents. */
  readonly members: readonly Address[];
  /** As `--overlay` writes it (`bmg`, `tree:arity=4`); `boot`: the boot tree. */
  readonly topology: string;
  readonly reduction: Reduction;
}

export interface StreamEvents {
  /**
   * At the root: a contribution (reduction `none`) or a round's result. `release` returns the credit to the source:
   * call it when the data is consumed; the sender stops while too much is unreleased.
   */
  onUp(data: unknown, source: Address, release: () => void): void;
  /** At every other member: data from the root. `release` as above. */
  onDown(data: unknown, release: () => void): void;
  /** `up` or `down` may be called again after returning false. */
  onCredit(): void;
  /** A round that was not completed in time, or data that cannot be combined. The stream is closed. */
  onFault(error: StciError): void;
}

/** Every `up` and `down` sends its data; false asks the caller to wait for `onCredit`. */
export interface Stream {
  readonly spec: StreamSpec;
  /** Contributes data, to the root or to the round. */
  up(data: unknown): boolean;
  /** From the root to all other members, or to one of them. */
  down(data: unknown, to?: Address): boolean;
  close(): void;
}
