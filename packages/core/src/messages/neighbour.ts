/** Neighbours in an overlay, as the controller names them. */

import { bytes, fields, optional, u32, type Infer } from '../codec/shape.js';
import { addresses } from '../launcher/host-login.js';

/** Keys of links. */
const KEY_BYTES_MAX = 64;

/** `private`: unix sockets, of agents on one machine. `ws`: the kind that connects hosts. */
export type OverlayLinkKind = 'private' | 'ws';

export const neighbour = fields({
  position: u32,
  incarnation: u32,
  /** Where it listens, best first; empty: it does not, and connects itself. */
  addresses,
  /** Of the pair. */
  key: bytes(KEY_BYTES_MAX),
  /** Of its listener; absent: its connections are not encrypted. */
  tls: optional(bytes(KEY_BYTES_MAX)),
});
export type Neighbour = Infer<typeof neighbour>;
