/** Network on Node; see ws-network. */
import type { Network } from '@stci/interface';
import { builtin } from './builtin.js';
import { streamChannel } from './stream-channel.js';

export function createNetwork(): Network {
  return {
    listen: (_options, _accept, done) =>
      setImmediate(() => done({ code: 'STCI_LINK_UNREACHABLE', message: 'sockets are not there yet' }, undefined)),
    connect: (label) => {
      const { PassThrough } = builtin('node:stream');
      const channel = streamChannel({ kind: 'ws', label, readable: new PassThrough(), writable: new PassThrough() });
      channel.destroy('sockets are not there yet');
      return channel;
    },
  };
}
