/**
 * The channel to an agent's starter over its own standard input and output. Node's process.stdout writes to pipes
 * synchronously, which would stop the whole agent when its parent is slow; sockets on the bare descriptors do not.
 */

import { StciError } from '@stci/interface';
import type { Channel } from '@stci/interface';
import { openChannelReader, openWriter } from './sockets.js';
import { streamChannel } from './stream-channel.js';

function open<Stream>(fd: 0 | 1, make: () => Stream): Stream {
  try {
    return make();
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
  const ends = { readable: open(0, () => openChannelReader({ fd: 0 })), writable: open(1, () => openWriter(1)) };
  return streamChannel({ kind: 'stdio', label: 'parent', ...ends });
}
