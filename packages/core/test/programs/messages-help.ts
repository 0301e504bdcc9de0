/** The agents that one agent sends messages of ranks to, and the end of its turn, without their messages. */

import type { HostIndex } from '@stci/interface';
import { peerOf, type Peer, type Turn } from '../../dist/programs/outgoing-messages.js';
import type { MessagingLimits } from '../../dist/programs/program-limits.js';

/** `transmit`: what goes to one agent at the end of a turn, which is `flush`. */
export function peersOf(limits: MessagingLimits, transmit: (peer: Peer, turn: Turn) => void) {
  const peers = new Map<HostIndex, Peer>();
  const peer = (host: HostIndex): Peer => {
    const known = peers.get(host) ?? peerOf(host, limits);
    peers.set(host, known);
    return known;
  };
  const turn = (of: Peer): Turn =>
    of.turn ??= { messages: [], asks: [], batches: 0, calls: [], credit: [], grants: [] };
  const flush = (): void => {
    for (const each of peers.values()) {
      const { turn: done } = each;
      each.turn = undefined;
      if (done !== undefined) transmit(each, done);
    }
  };
  return { peer, turn, flush };
}
