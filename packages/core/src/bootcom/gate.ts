/**
 * Gate: where others connect to this agent, a listener or a private socket. It keeps a bounded number of links whose
 * peers are not authenticated, and may be closed while it is being opened.
 */

import { defined } from '@stci/interface';
import type { Bootcom, Channel, ErrorRecord, ListenOptions, Network, Params, Platform } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { selectEviction } from './eviction.js';
import type { LinkEvents } from './link.js';
import { PendingLinks, type Pending } from './pending-links.js';
import { portRange } from './port-range.js';

type Hooks = Pick<LinkEvents, 'onClosed'> & Partial<Pick<LinkEvents, 'onUp'>>;

/** The hooks of a link that is made here, through which it is no longer pending. */
export type Watch = (hooks: Hooks) => Pick<LinkEvents, 'onUp' | 'onClosed'>;

export interface GateInit {
  /** Of its agent: it is closed with it. */
  readonly holds: Scope;
  /** Who connects there. */
  readonly of: string;
  readonly platform: Pick<Platform, 'clock' | 'random' | 'network'>;
  /** Number of peers that are not authenticated. */
  readonly pendingMax: number;
  /** Makes the link of a connection; undefined: the platform's bound is enough. */
  accept(channel: Channel, watch: Watch): Pending | undefined;
}

type Done = (error: ErrorRecord | undefined) => void;

export class Gate {
  readonly #init: GateInit;
  readonly #pending: PendingLinks;
  readonly #watch: Watch;
  #listener: { close(): void } | undefined;
  #addresses: readonly string[] = [];
  #forget: () => void = () => undefined;
  #isClosed = false;
  #port = 0;

  constructor(init: GateInit) {
    this.#init = init;
    this.#pending = new PendingLinks(init.pendingMax, init.platform);
    this.#watch = ({ onUp, onClosed }) => ({
      onUp: (link) => {
        this.settled(link);
        onUp?.(link);
      },
      onClosed: (link, reason, text) => {
        this.settled(link);
        onClosed(link, reason, text);
      },
    });
    this.#forget = init.holds.holdAll(() => this.#labels(), () => this.close());
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Where it was opened: addresses, best first, or the path of the socket; none: it was not. */
  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** Where it was opened by `openLoopback`. */
  get port(): number {
    return this.#port;
  }

  openPrivate(prefix: string, done: Done): void {
    const options = { prefix, pendingMax: this.#init.pendingMax, selectEviction };
    this.#init.platform.network.listenPrivate(options, (channel) => this.#accept(channel), (error, listener) =>
      this.#opened(listener, listener === undefined ? [] : [listener.path], () => done(error)));
  }

  /** At a port of this machine, for this user's programs. */
  openLoopback(done: Done): void {
    const options = { pendingMax: this.#init.pendingMax, selectEviction };
    this.#init.platform.network.listenLoopback(options, (channel) => this.#accept(channel), (error, listener) => {
      this.#port = listener?.port ?? 0;
      this.#opened(listener, listener === undefined ? [] : [`127.0.0.1:${listener.port}`], () => done(error));
    });
  }

  /** By a network, or a kind of links; of one that does not listen, nothing is heard. */
  open(
    by: Pick<Network | Bootcom, 'listen'>, own: Omit<ListenOptions, 'pendingMax' | 'selectEviction'>, done: Done,
  ): void {
    const options = { ...own, pendingMax: this.#init.pendingMax, selectEviction };
    by.listen?.(options, (channel) => this.#accept(channel), (error, listener) =>
      this.#opened(listener, listener?.addresses ?? [], () => done(error)));
  }

  /** The connection is authenticated, or closed: of what is not watched. */
  settled(pending: Pending): void {
    this.#pending.delete(pending);
  }

  close(): void {
    this.#isClosed = true;
    this.#forget();
    this.#listener?.close();
    this.#pending.clear('the listener has closed');
  }

  #labels(): string[] {
    const pending = new Array<string>(this.#pending.count).fill(`connection of ${this.#init.of}, not authenticated`);
    return this.#addresses.length === 0 ? pending : [`listener for ${this.#init.of}`, ...pending];
  }

  #opened(listener: { close(): void } | undefined, addresses: readonly string[], done: () => void): void {
    this.#listener = listener;
    this.#addresses = addresses;
    if (this.#isClosed) listener?.close();
    done();
  }

  #accept(channel: Channel): void {
    const link = this.#init.accept(channel, this.#watch);
    if (link !== undefined) this.#pending.add(link, channel.label);
  }
}

/** Options of a listener for links, by the agent's parameters; `key`: they are encrypted. */
export function linkListenOptions(
  params: Params, key: Uint8Array | undefined,
): Omit<ListenOptions, 'pendingMax' | 'selectEviction'> {
  const ports = portRange(params.string('bootcom.ws.ports'));
  return {
    interfaces: params.list('bootcom.ws.interface'),
    frameBytesMax: params.int('bootcom.frame.max'),
    ...defined({ ports, key }),
  };
}
