/**
 * The channel to an agent's starter over its own standard input and output. Node's process.stdout writes to pipes
 * synchronously, which would stop the whole agent when its parent is slow; sockets on the bare descriptors do not.
 */

import type { Socket } from 'node:net';
import { StciError } from '@stci/interface';
import type { Channel } from '@stci/interface';
import { builtin } from './builtin.js';
import { streamChannel } from './stream-channel.js';

function openSocket(fd: 0 | 1): Socket {
  const { Socket } = builtin('node:net');
  try {
    return new Socket({ fd, readable: fd === 0, writable: fd === 1 });
  } catch (error) {
    const name = fd === 0 ? 'standard input' : 'standard output';
    throw new StciError(
      'STCI_USAGE',
      `An agent's ${name} must be a pipe from the agent that starts it; this one is a terminal, a file or closed.\n` +
        'Agents are started by stcirun, not by hand.',
      { cause: error },
    );
  }
}

/** Takes over fds 0 and 1; nothing else may read the one or write to the other. */
export function openStdioChannel(): Channel {
  return streamChannel({ kind: 'stdio', label: 'parent', readable: openSocket(0), writable: openSocket(1) });
}
