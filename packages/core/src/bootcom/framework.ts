/**
 * Framework `bootcom` (boot communication; STCI paper, II-E.1), keyed by kind of link. Its own parameters bound what a
 * peer can cost: frames, queues, handshakes, unauthenticated connections.
 */

import { defineFramework } from '@stci/interface';
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
    boot: {
      type: 'enum',
      values: ['native', 'ws'],
      default: 'native',
      help: 'Kind of the link between an agent and its parent: the channel that came with the start, or a WebSocket '
        + 'connection back to a listener.',
    },
    'ws.interface': {
      type: 'list',
      default: [],
      help: 'Addresses to which WebSocket listeners are bound; empty is loopback only.',
    },
    'ws.encrypt': {
      type: 'enum',
      values: ['auto', 'true', 'false'],
      default: 'auto',
      help: 'Whether WebSocket links are encrypted (TLS with a key of the session): auto does so where a listener is '
        + 'not on loopback only; false leaves all data after the handshake unprotected on the network.',
    },
    'ws.ports': {
      type: 'string',
      default: '',
      help: 'Ports that WebSocket listeners may take, such as 40000-40100; empty is any free port.',
    },
    'pending.max': {
      type: 'int',
      default: 64,
      min: 1,
      max: 65_536,
      help: 'Unauthenticated connections per listener; beyond it, those with the least progress are dropped, of the '
        + 'source that has most.',
    },
    handshake: {
      type: 'duration',
      default: 5000,
      min: 10,
      max: 600_000,
      help: 'Deadline for the mutual authentication of the two ends of a new link.',
    },
    lease: {
      type: 'duration',
      default: 10_000,
      min: 200,
      max: 86_400_000,
      help: 'Silence after which a link is lost, never earlier: an agent that is cut off then ends its tools and '
        + 'itself. Each end sends every quarter of it. Shorter detects a loss sooner, longer allows longer stalls.',
    },
    'frame.max': {
      type: 'size',
      default: MIB,
      min: 64 * KIB,
      max: 64 * MIB,
      help: 'Largest frame on a link. Larger costs less per byte, smaller lets small messages pass sooner.',
    },
    'queue.max': {
      type: 'size',
      default: 64 * MIB,
      min: 4 * MIB,
      max: 1024 * MIB,
      help: 'Largest send queue of a link in bytes; the link to a peer that reads too slowly is closed.',
    },
  },
});

export const bootcomRules: readonly ParamRule[] = [
  { param: 'bootcom.ws.ports', check: (params) => portsProblem(params.string('bootcom.ws.ports')) },
];
