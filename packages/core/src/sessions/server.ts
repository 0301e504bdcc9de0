/** The private socket of a session's process, and the front-ends that are connected to it. */

import { fromErrorRecord, type Channel, type Params, type Platform, type StciError } from '@stci/interface';
import { Gate } from '../bootcom/gate.js';
import type { Scope } from '../event/scope.js';
import { heldTimer } from '../event/timers.js';
import { SessionConnection } from './connection.js';
import type { SessionJobs } from './session-jobs.js';
import type { SessionKey } from './session-link.js';

/** Connections whose peer has not proved the key. */
const PENDING_MAX = 64;
/** How long, when the session ends, front-ends may take for what is left. */
const DISCONNECT_MS = 10_000;

export interface SessionServerInit {
  readonly platform: Platform;
  readonly params: Params;
  readonly key: SessionKey;
  readonly service: SessionJobs;
}

export class SessionServer {
  readonly #init: SessionServerInit;
  readonly #connections = new Set<SessionConnection>();
  readonly #holds: Scope;
  readonly #gate: Gate;
  #onDisconnected: () => void = () => undefined;

  constructor(init: SessionServerInit) {
    this.#init = init;
    const accept = (channel: Channel): undefined => this.#accept(channel);
    this.#holds = init.service.session.holds.child('front-ends');
    this.#gate = new Gate({
      holds: this.#holds, of: 'front-ends', platform: init.platform, pendingMax: PENDING_MAX, accept,
    });
  }

  /** Calls back with the path of the socket. */
  listen(done: (error: StciError | undefined, path: string) => void): void {
    this.#gate.openPrivate('session', (error) => done(error && fromErrorRecord(error), this.#gate.addresses[0] ?? ''));
  }

  /** The session ends with this error: who waits for something of it is told. */
  fail(error: StciError): void {
    for (const connection of this.#connections) connection.fail(error);
  }

  /** No more connect; those that do get what there is for them, unless they do not read. */
  disconnect(done: () => void): void {
    this.#gate.close();
    if (this.#connections.size === 0) return done();
    const end = (): void => {
      this.#onDisconnected = () => undefined;
      timer.cancel();
      done();
    };
    const timer = heldTimer(this.#holds, this.#init.platform.clock, 'disconnect', DISCONNECT_MS, end);
    this.#onDisconnected = end;
    for (const connection of this.#connections) connection.finish();
  }

  #accept(channel: Channel): undefined {
    const onClosed = (): void => {
      this.#connections.delete(connection);
      if (this.#connections.size === 0) this.#onDisconnected();
    };
    const connection: SessionConnection = new SessionConnection({
      ...this.#init, channel, onClosed, holds: this.#holds.child('front-end'),
    });
    this.#connections.add(connection);
  }
}
