/**
 * Parameters of the parts of the runtime that are not frameworks: there is one implementation, and numbers that bound
 * it. They are read by these names.
 */

import type { ParamGroup } from '@stci/registry';

const KIB = 1024;
const MIB = 1024 * KIB;

const iof: ParamGroup = {
  name: 'iof',
  help: 'Output and input of tools.',
  params: {
    window: {
      type: 'size',
      default: 16 * MIB,
      min: 64 * KIB,
      max: 512 * MIB,
      help: 'Output that may wait at the front-end, all ranks together; tools stop when it is full. Larger is quicker '
        + 'in bursts, smaller takes less memory.',
    },
    'line.max': {
      type: 'size',
      default: MIB,
      min: 64,
      max: 64 * MIB,
      help: 'Longest line that is kept whole where lines are labelled; a longer one is shown in parts.',
    },
    drain: {
      type: 'duration',
      default: 500,
      scope: 'job',
      min: 0,
      max: 600_000,
      help: 'How long output is awaited after a tool and its process group are gone: descendants that left the group '
        + 'may hold the pipe.',
    },
  },
};

const job: ParamGroup = {
  name: 'job',
  help: 'Bounds of a job.',
  params: {
    'size.max': {
      type: 'int',
      default: 1_000_000,
      min: 1,
      max: 268_435_456,
      help: 'Most ranks of one job; protects against a typing error in -n.',
    },
    'ranks.per.host.max': {
      type: 'int',
      default: 4096,
      min: 1,
      max: 1_000_000,
      help: 'Most ranks on one host; protects its process table.',
    },
  },
};

const client: ParamGroup = {
  name: 'client',
  help: 'Programs that use the client library.',
  params: {
    enable: {
      type: 'bool',
      default: false,
      scope: 'job',
      help: 'Whether programs can connect to the session agent of their host. It listens at a private socket then, '
        + 'which takes a few ms at the start of a job.',
    },
  },
};

const tool: ParamGroup = {
  name: 'tool',
  help: 'Tools, the processes of the user.',
  params: {
    grace: {
      type: 'duration',
      default: 2000,
      scope: 'job',
      min: 0,
      max: 3_600_000,
      help: 'From TERM to KILL when a tool is ended. Longer lets programs save their state, shorter ends jobs sooner.',
    },
  },
};

const event: ParamGroup = {
  name: 'event',
  help: 'Event dispatch in every agent.',
  params: {
    'turn.max': {
      type: 'int',
      default: 64,
      min: 1,
      max: 65_536,
      help: 'Events handled before the agent polls its links again. More raises throughput, fewer lower the latency.',
    },
    'queue.max': {
      type: 'int',
      default: 65_536,
      min: 64,
      max: 16_777_216,
      help: 'Events that may wait in one queue; a link is not read while its share of half as many waits.',
    },
  },
};

const message: ParamGroup = {
  name: 'message',
  help: 'Routed messages.',
  params: {
    ttl: {
      type: 'int',
      default: 64,
      min: 1,
      max: 255,
      help: 'Hops after which a message is dropped as being in a loop; at least the longest route in use.',
    },
    'bytes.max': {
      type: 'size',
      default: 16 * MIB,
      min: 64 * KIB,
      max: 512 * MIB,
      help: 'Largest message, all its frames together.',
    },
  },
};

const overlay: ParamGroup = {
  name: 'overlay',
  help: 'Links between agents beside the boot tree.',
  params: {
    topology: {
      type: 'string',
      default: '',
      help: 'The topology of the overlay, such as bmg, tree:arity=4 or mesh:wrap=true; empty is none. Each link costs '
        + 'both ends a connection and a sign of life every quarter of bootcom.lease.',
    },
    open: {
      type: 'enum',
      values: ['eager', 'lazy'],
      default: 'eager',
      help: 'When a link is opened: eager as soon as all agents are up; lazy when there is something to send over it, '
        + 'which then takes a handshake longer.',
    },
    queue: {
      type: 'int',
      default: 256,
      min: 1,
      max: 65_536,
      help: 'Messages that may wait for one link while it is opened; further ones are dropped.',
    },
  },
};

const request: ParamGroup = {
  name: 'request',
  help: 'Requests between agents.',
  params: {
    timeout: {
      type: 'duration',
      default: 10_000,
      min: 10,
      max: 3_600_000,
      help: 'How long a reply is awaited where the asker names no deadline.',
    },
  },
};

export const builtinGroups: readonly ParamGroup[] = [
  client, event, iof, job, message, overlay, request, tool,
];
