/**
 * Network on Node: WebSockets with the package ws, TLS, and unix sockets; each is loaded at its first use. Agents
 * without sockets load this file only.
 */

import { DeferredChannel, toErrorRecord } from '@stci/interface';
import type { Channel, ErrorRecord, Network } from '@stci/interface';
import type { Done } from './connecting.js';

const loadWs = () => import('./ws-network.js');
const loadTls = () => import('./tls-sockets.js');
const loadLoopback = () => import('./loopback-sockets.js');
const loadPrivate = () => import('./private-sockets.js');

export function createNetwork(): Network {
  return {
    listen: (options, accept, done) => settle(options.stream === true
      ? loadTls().then((sockets) => sockets.listenTls(options, accept))
      : loadWs().then((sockets) => sockets.listenWs(options, accept)), done),
    connect: (address, deadlineMs, key, done) => (address.startsWith('tls:')
      ? connect('tls', address, done, (tell) =>
        loadTls().then((sockets) => sockets.connectTls(address, deadlineMs, key, tell)))
      : connect('ws', address, done, (tell) =>
        loadWs().then((sockets) => sockets.connectWs(address, deadlineMs, key, tell)))),
    listenLoopback: (options, accept, done) =>
      settle(loadLoopback().then((sockets) => sockets.listenLoopback(options, accept)), done),
    listenPrivate: (options, accept, done) =>
      settle(loadPrivate().then((sockets) => sockets.listenPrivate(options, accept)), done),
    connectPrivate: (path, deadlineMs, done) => connect('unix', path, done, (tell) =>
      loadPrivate().then((sockets) => sockets.connectPrivate(path, deadlineMs, tell))),
  };
}

/** `done` is called outside the promise: an error that it throws is not one of listening. */
function settle<T>(made: Promise<T>, done: (error: ErrorRecord | undefined, listener: T | undefined) => void): void {
  made.then(
    (listener) => setImmediate(done, undefined, listener),
    (error: unknown) => setImmediate(done, toErrorRecord(error), undefined),
  );
}

class ConnectingChannel extends DeferredChannel {
  isDestroyed = false;

  override destroy(reason: string): void {
    this.isDestroyed = true;
    super.destroy(reason);
  }
}

/** `begin` is passed what is to be called once, as `done`; it rejects if it cannot even begin. */
function connect(
  kind: string,
  label: string,
  done: Done | undefined,
  begin: (tell: Done) => Promise<Channel>,
): Channel {
  const channel = new ConnectingChannel({ kind, label, soon: (fire) => void setImmediate(fire) });
  const tell: Done = (error) => {
    if (!channel.isDestroyed) done?.(error);
  };
  begin(tell).then(
    (inner) => setImmediate(() => channel.become(inner)),
    (thrown: unknown) => setImmediate(() => {
      const error = toErrorRecord(thrown);
      tell(error);
      channel.end(String(error.data?.['reason'] ?? error.message));
    }),
  );
  return channel;
}
