/** The private socket of a session's process, and the front-ends that are connected to it. */

import { fromErrorRecord, type Params, type Platform, type StciError } from '@stci/interface';
import { selectEviction } from '../bootcom/eviction.js';
import { SessionConnection } from './connection.js';
import type { SessionService } from './contracts.js';
import type { SessionKey } from './session-link.js';

/** Connections whose peer has not proved the key. */
const PENDING_MAX = 64;
/** How long, when the session ends, front-ends may take for what is left. */
const DISCONNECT_MS = 10_000;
/**
 * Interval at which it is looked whether they have it: at most 500 times, at the session's end only. A channel tells of
 * room in its queue, and not that it is empty.
 */
const DISCONNECT_PERIOD_MS = 20;

export interface SessionServerInit {
  readonly platform: Platform;
  readonly params: Params;
  readonly key: SessionKey;
  readonly service: SessionService;
}

export class SessionServer {
  readonly #init: SessionServerInit;
  readonly #connections = new Set<SessionConnection>();
  #close: () => void = () => undefined;

  constructor(init: SessionServerInit) {
    this.#init = init;
  }

  /** Calls back with the path of the socket. */
  listen(done: (error: StciError | undefined, path: string) => void): void {
    const { network } = this.#init.platform;
    network.listenPrivate({ prefix: 'session', pendingMax: PENDING_MAX, selectEviction }, (channel) => {
      const onClosed = (): void => void this.#connections.delete(connection);
      const connection: SessionConnection = new SessionConnection({ ...this.#init, channel, onClosed });
      this.#connections.add(connection);
    }, (error, listener) => {
      this.#close = () => listener?.close();
      done(error && fromErrorRecord(error), listener?.path ?? '');
    });
  }

  /** The session ends with this error: who waits for something of it is told. */
  fail(error: StciError): void {
    for (const connection of this.#connections) connection.fail(error);
  }

  /** No more connect; those that do get what there is for them, unless they do not read. */
  disconnect(done: () => void): void {
    const { clock } = this.#init.platform;
    this.#close();
    const untilMs = clock.nowMs() + DISCONNECT_MS;
    const check = (): void => {
      for (const connection of this.#connections) if (connection.isIdle) connection.close();
      if (this.#connections.size === 0 || clock.nowMs() >= untilMs) done();
      else clock.after(DISCONNECT_PERIOD_MS, check);
    };
    check();
  }
}
