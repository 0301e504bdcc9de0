/**
 * Links (STCI paper, II-E.1): reliable, ordered, asynchronous, between two agents, each state watched. A link is a
 * channel whose peer has proved that it knows the session's secret.
 */

import type { Channel } from './channel.js';
import type { ErrorRecord } from './errors.js';
import type { Address } from './ids.js';
import type { ListenOptions, Listener, NetworkAddress, Platform } from './platform.js';

export type LinkState = 'connecting' | 'up' | 'suspect' | 'closed';

/**
 * Why a link closed. `goodbye`: the peer announced it; any other reason is a failure of the link or the peer. `silent`:
 * nothing was heard of the peer for the lease.
 */
export type LinkCloseReason = 'goodbye' | 'lost' | 'silent' | 'refused' | 'timeout' | 'protocol' | 'local';

/**
 * A kind of link, the component of framework `bootcom` (keyed). `stdio` and `memory` use the channel that came
 * with the child's start and never listen; `ws` listens and connects.
 */
export interface Bootcom {
  readonly kind: string;
  /** True if the child connects to its parent's listener; false if the start itself made the channel. */
  readonly needsListener: boolean;
  listen?(
    options: ListenOptions,
    accept: (channel: Channel) => void,
    done: (error: ErrorRecord | undefined, listener: Listener | undefined) => void,
  ): void;
  connect?(address: NetworkAddress, deadlineMs: number, key?: Uint8Array): Channel;
}

export interface BootcomDeps {
  readonly platform: Platform;
}

/** A link's facts, for logs, tests and `stci` status. */
export interface LinkFacts {
  readonly peer: Address;
  readonly kind: string;
  readonly state: LinkState;
  readonly framesIn: number;
  readonly framesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}
