/**
 * Framework `bootcom` (boot communication; STCI paper, II-E.1), keyed by kind of link. Its own parameters bound what a
 * peer can cost: frames, queues, handshakes, unauthenticated connections.
 */

import { defineFramework, param } from '@stci/interface';
import type { Bootcom, BootcomDeps } from '@stci/interface';
import type { ParamRule } from '@stci/registry';
import { portsProblem } from './port-range.js';

const KIB = 1024;
const MIB = 1024 * KIB;

export const bootcomFramework = defineFramework<Bootcom, BootcomDeps>({
  name: 'bootcom',
  mode: 'keyed',
  version: 1,
  help: 'Links between agents: how they are made, and their bounds.',
  params: {
    boot: param.choice('native', ['native', 'ws'], 'Kind of the link between an agent and its parent: the channel that '
      + 'came with the start, or a WebSocket connection back to a listener.'),
    'ws.interface': param.names('Addresses to which WebSocket listeners are bound; empty is loopback only.'),
    'ws.encrypt': param.choice('auto', ['auto', 'true', 'false'], 'Whether WebSocket links are encrypted (TLS with a '
      + 'key of the session): auto does so where a listener is not on loopback only; false leaves all data after the '
      + 'handshake unprotected on the network.'),
    'ws.ports': param.text('', 'Ports that WebSocket listeners may take, such as 40000-40100; empty is any free port.'),
    'pending.max': param.int(64, [1, 65_536], 'Unauthenticated connections per listener; beyond it, those with the '
      + 'least progress are dropped, of the source that has most.'),
    handshake: param.duration(5000, [10, 600_000], 'Deadline for the mutual authentication of the two ends of a new '
      + 'link.'),
    lease: param.duration(10_000, [200, 86_400_000], 'Silence after which a link is lost, never earlier: an agent that '
      + 'is cut off then ends its tools and itself. Each end sends every quarter of it. Shorter detects a loss sooner, '
      + 'longer allows longer stalls.'),
    'frame.max': param.size(MIB, [64 * KIB, 64 * MIB], 'Largest frame on a link. Larger costs less per byte, smaller '
      + 'lets small messages pass sooner.'),
    'queue.max': param.size(64 * MIB, [4 * MIB, 1024 * MIB], 'Largest send queue of a link in bytes; the link to a '
      + 'peer that reads too slowly is closed.'),
  },
});

export const bootcomRules: readonly ParamRule[] = [
  { param: 'bootcom.ws.ports', check: (params) => portsProblem(params.string('bootcom.ws.ports')) },
];
