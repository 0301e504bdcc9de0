/**
 * Network on Node: WebSockets, by the package ws, which is loaded at the first call. This file is all of it that an
 * agent without sockets carries.
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
        // Out of the promise: what `done` throws is no error of listening.
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
