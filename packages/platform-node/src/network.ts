/**
 * Network on Node: WebSockets with the package ws, which is loaded at the first call. Agents without sockets load this
 * file only.
 */

import { DeferredChannel, toErrorRecord } from '@stci/interface';
import type { Network } from '@stci/interface';
import { closedChannel } from './closed-channel.js';

const load = () => import('./ws-network.js');

export function createNetwork(): Network {
  return {
    listen: (options, accept, done) => {
      load()
        .then((sockets) => sockets.listenWs(options, accept))
        // Outside the promise: an error that `done` throws is not one of listening.
        .then(
          (listener) => setImmediate(done, undefined, listener),
          (error: unknown) => setImmediate(done, toErrorRecord(error), undefined),
        );
    },
    connect: (address, deadlineMs, key) => {
      const channel = new DeferredChannel({ kind: 'ws', label: address, soon: (fire) => void setImmediate(fire) });
      load()
        .then((sockets) => sockets.connectWs(address, deadlineMs, key))
        .catch((error: Error) => closedChannel('ws', address, `cannot connect: ${error.message}`))
        .then((inner) => setImmediate(() => channel.become(inner)));
      return channel;
    },
  };
}
