/**
 * Parameters of the parts of the runtime that are not frameworks: there is one implementation, and numbers that bound
 * it. They are read by these names.
 */

import { param } from '@stci/interface';
import type { ParamGroup } from '@stci/registry';
import { BIND_TO, MAP_WITHIN } from '../binding/plan.js';

const KIB = 1024;
const MIB = 1024 * KIB;

const iof: ParamGroup = {
  name: 'iof',
  help: 'Output and input of tools.',
  params: {
    window: param.size(16 * MIB, [64 * KIB, 512 * MIB], 'Output that may wait at the front-end, all ranks together; '
      + 'tools stop when it is full. Larger is quicker in bursts, smaller takes less memory.'),
    'line.max': param.size(MIB, [64, 64 * MIB], 'Longest line that is kept whole where lines are labelled; a longer '
      + 'one is shown in parts.'),
    drain: param.duration(500, [0, 600_000], 'How long output is awaited after a tool and its process group are gone: '
      + 'descendants that left the group may hold the pipe.', 'job'),
  },
};

const job: ParamGroup = {
  name: 'job',
  help: 'Bounds of a job.',
  params: {
    'size.max': param.int(1_000_000, [1, 268_435_456], 'Most ranks of one job; protects against a typing error in -n.'),
    'ranks.per.host.max': param.int(4096, [1, 1_000_000], 'Most ranks on one host; protects its process table.'),
  },
};

const binding: ParamGroup = {
  name: 'binding',
  help: 'Processors of the ranks (docs/binding.md).',
  params: {
    to: param.choice('auto', BIND_TO, 'What each rank is bound to. auto: the object of binding.map, cores where '
      + 'binding.cpus is set, else none.', 'job'),
    map: param.choice('auto', MAP_WITHIN, 'How ranks are placed within their host: slot takes the next free '
      + 'processors, the others each object in turn. auto: the object of binding.to, else slot.', 'job'),
    cpus: param.int(0, [0, 65_536], 'Cores of each rank, or hardware threads where binding.to is hwthread; 0 is one.',
      'job'),
    report: param.flag(false, 'Each rank writes to its standard error what it is bound to, before it starts.', 'job'),
  },
};

const client: ParamGroup = {
  name: 'client',
  help: 'Programs that use the client library.',
  params: {
    enable: param.flag(false, 'Whether programs can connect to the session agent of their host. It listens at a '
      + 'private socket then, which takes a few ms at the start of a job.', 'job'),
  },
};

const tool: ParamGroup = {
  name: 'tool',
  help: 'Tools, the processes of the user.',
  params: {
    grace: param.duration(2000, [0, 3_600_000], 'From TERM to KILL when a tool is ended. Longer lets programs save '
      + 'their state, shorter ends jobs sooner.', 'job'),
  },
};

const event: ParamGroup = {
  name: 'event',
  help: 'Event dispatch in every agent.',
  params: {
    'turn.max': param.int(64, [1, 65_536], 'Events handled before the agent polls its links again. More raises '
      + 'throughput, fewer lower the latency.'),
    'queue.max': param.int(65_536, [64, 16_777_216], 'Events that may wait in one queue; a link is not read while its '
      + 'share of half as many waits.'),
  },
};

const message: ParamGroup = {
  name: 'message',
  help: 'Routed messages.',
  params: {
    ttl: param.int(64, [1, 255], 'Hops after which a message is dropped as being in a loop; at least the longest route '
      + 'in use.'),
    'bytes.max': param.size(16 * MIB, [64 * KIB, 512 * MIB], 'Largest message, all its frames together.'),
  },
};

const overlay: ParamGroup = {
  name: 'overlay',
  help: 'Links between agents beside the boot tree.',
  params: {
    topology: param.text('', 'The topology of the overlay, such as bmg, tree:arity=4 or mesh:wrap=true; empty is none. '
      + 'Each link costs both ends a connection and a sign of life every quarter of bootcom.lease.'),
    open: param.choice('eager', ['eager', 'lazy'], 'When a link is opened: eager as soon as all agents are up; lazy '
      + 'when there is something to send over it, which then takes a handshake longer.'),
    queue: param.int(256, [1, 65_536], 'Messages that may wait for one link while it is opened; further ones are '
      + 'dropped.'),
  },
};

const request: ParamGroup = {
  name: 'request',
  help: 'Requests between agents.',
  params: {
    timeout: param.duration(10_000, [10, 3_600_000], 'How long a reply is awaited where the asker names no deadline.'),
  },
};

export const builtinGroups: readonly ParamGroup[] = [
  binding, client, event, iof, job, message, overlay, request, tool,
];
