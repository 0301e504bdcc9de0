/**
 * Links (STCI paper, II-E.1): reliable, ordered, asynchronous, one between two agents, each state watched. A link
 * is a channel whose peer has proved that it knows the session's secret.
 */

import type { Channel } from './channel.js';
import type { ErrorRecord } from './errors.js';
import type { Address } from './ids.js';
import type { ListenOptions, Listener, NetworkAddress, Platform } from './platform.js';

export type LinkState = 'connecting' | 'up' | 'suspect' | 'closed';

/** Why a link closed. `goodbye`: the peer said so first; everything else is a failure of link or peer. */
export type LinkCloseReason = 'goodbye' | 'lost' | 'refused' | 'timeout' | 'protocol' | 'local';

/**
 * A kind of link, the component of framework `bootcom` (keyed). `stdio` and `memory` use the channel that came
 * with the child's start and never listen; `ws` listens and connects.
 */
export interface Bootcom {
  readonly kind: string;
  /** True where the child calls its parent back at a listener; false where the start itself made the channel. */
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
