/** Neighbours in an overlay, as the controller names them. */

import type { MemberId } from '@stci/interface';

/** `private`: unix sockets, of agents on one machine. `ws`: the kind that connects hosts. */
export type OverlayLinkKind = 'private' | 'ws';

/** A neighbour, as the controller names it. */
export interface Neighbour extends MemberId {
  /** Where it listens, best first; empty: it does not, and connects itself. */
  readonly addresses: readonly string[];
  /** Of the pair. */
  readonly key: Uint8Array;
  /** Of its listener; absent: its connections are not encrypted. */
  readonly tls?: Uint8Array | undefined;
}
