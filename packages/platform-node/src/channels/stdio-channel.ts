/**
 * The channel over this process's standard input and output to the agent that started it. Node's process.stdout writes
 * to pipes synchronously, which would stop the whole agent when its parent is slow; sockets on the descriptors do not.
 */

import { StciError } from '@stci/interface';
import type { Channel } from '@stci/interface';
import { builtin } from '../system/builtin.js';
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

/**
 * A closing socket compares itself with process.stderr, which Node creates at the first access: a stream that is never
 * written to, for more than a millisecond of an agent's start. Diagnostics go to the descriptor (log.ts).
 */
function replaceStandardError(): void {
  const { writeSync } = builtin('node:fs');
  const write = (text: string): boolean => writeSync(2, text) > 0;
  Object.defineProperty(process, 'stderr', { configurable: true, enumerable: true, value: { fd: 2, write } });
}

let channel: Channel | undefined;

/** Takes over descriptors 0 and 1; nothing else may read or write them. */
export function openStdioChannel(): Channel {
  replaceStandardError();
  const ends = { readable: open(0, () => openChannelReader({ fd: 0 })), writable: open(1, () => openWriter(1)) };
  return (channel = streamChannel({ kind: 'stdio', label: 'parent', ...ends }));
}

/**
 * Reads standard input to its end, whatever comes, and calls `onEnd` then; for an agent whose channel is a connection.
 * Nothing else may read it.
 */
export function drainStdin(onEnd: () => void): void {
  replaceStandardError();
  const input = open(0, () => openChannelReader({ fd: 0 }));
  input.on('data', () => {});
  input.on('error', () => {});
  input.once('close', onEnd);
  input.resume();
}

/**
 * Gives up the standard streams, for an agent that goes on without its parent: all three become /dev/null, so that
 * whoever still holds their other ends (an ssh server) sees them end, and nothing is written to a reader that is gone.
 * Closing the channel is not enough: libuv never closes these three.
 */
export function releaseStdio(): void {
  if (channel === undefined) return;
  channel.destroy('released');
  channel = undefined;
  const { closeSync, openSync } = builtin('node:fs');
  for (const fd of [0, 1, 2]) {
    closeSync(fd);
    // The lowest free descriptor, which is this one.
    openSync('/dev/null', 'r+');
  }
}
