/**
 * Network on Node: WebSockets with the package ws, and unix sockets; each is loaded at its first use. Agents without
 * sockets load this file only.
 */

import { DeferredChannel, toErrorRecord } from '@stci/interface';
import type { Channel, ErrorRecord, Network } from '@stci/interface';

const loadWs = () => import('./ws-network.js');
const loadPrivate = () => import('./private-sockets.js');

export function createNetwork(): Network {
  return {
    listen: (options, accept, done) => settle(loadWs().then((sockets) => sockets.listenWs(options, accept)), done),
    connect: (address, deadlineMs, key) =>
      deferred('ws', address, loadWs().then((sockets) => sockets.connectWs(address, deadlineMs, key)),
        (error) => `cannot connect: ${(error as Error).message}`),
    listenPrivate: (options, accept, done) =>
      settle(loadPrivate().then((sockets) => sockets.listenPrivate(options, accept)), done),
    connectPrivate: (path, deadlineMs, done) =>
      deferred('unix', path, loadPrivate().then((sockets) => sockets.connectPrivate(path, deadlineMs)), (thrown) => {
        const error = toErrorRecord(thrown);
        done?.(error);
        return String(error.data?.['reason'] ?? error.message);
      }, () => done?.(undefined)),
  };
}

/** `done` is called outside the promise: an error that it throws is not one of listening. */
function settle<T>(made: Promise<T>, done: (error: ErrorRecord | undefined, listener: T | undefined) => void): void {
  made.then(
    (listener) => setImmediate(done, undefined, listener),
    (error: unknown) => setImmediate(done, toErrorRecord(error), undefined),
  );
}

/** `fail` returns why the channel closes. `opened` is called when it is connected. */
function deferred(
  kind: string,
  label: string,
  made: Promise<Channel>,
  fail: (error: unknown) => string,
  opened?: () => void,
): Channel {
  const channel = new DeferredChannel({ kind, label, soon: (fire) => void setImmediate(fire) });
  made.then(
    (inner) => setImmediate(() => {
      opened?.();
      channel.become(inner);
    }),
    (error: unknown) => setImmediate(() => channel.end(fail(error))),
  );
  return channel;
}
