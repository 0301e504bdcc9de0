/**
 * Network of one task: listeners and connections by address (`ws://h3:40001`, with a key `wss:`, of streams `tls:`; of
 * private ones `unix://h3/run/…`).
 * Establishing a connection takes one round trip; an address without listener refuses it, a silent host or a cut link
 * causes a timeout. Nothing is encrypted, since no one eavesdrops; but a connection fails unless both ends have the
 * same key or none.
 */

import type {
  Channel,
  ErrorRecord,
  ListenOptions,
  Listener,
  LoopbackListener,
  Network,
  NetworkAddress,
  PrivateListenOptions,
  PrivateListener,
  ReachFailure,
} from '@stci/interface';
import { joinChannels, type ChannelPair } from './channel.js';
import type { SimListener } from './fabric.js';
import type { SimHost } from './host.js';
import { CallEvent, CODE } from './scheduler.js';
import type { Link } from './link.js';
import type { Task } from './task.js';

const FIRST_PORT = 40_000;
const LAST_PORT = 65_535;
const REFUSED = 'connection refused';
const ADDRESS = /^(wss?|tls):\/\/([^:/]+):(\d+)$/;
const SCHEMES = ['ws', 'wss', 'tls'] as const;

type ListenDone = (error: ErrorRecord | undefined, listener: Listener | undefined) => void;

interface Attempt {
  readonly address: NetworkAddress;
  readonly link: Link;
  readonly host: SimHost;
  readonly deadlineMs: number;
  readonly key?: Uint8Array | undefined;
  /** Called when the connection is established, or with the reason why it is not. */
  readonly done?: (reason: string | undefined) => void;
}

export class SimNetwork implements Network {
  readonly #host: SimHost;
  readonly #task: Task;

  constructor(host: SimHost, task: Task) {
    this.#host = host;
    this.#task = task;
  }

  listen(options: ListenOptions, accept: (channel: Channel) => void, done: ListenDone): void {
    if (options.stream === true && options.key === undefined) {
      const message = 'Cannot listen for streams without a key.';
      this.#callSoon(() => done({ code: 'STCI_LISTEN_FAILED', message }, undefined));
      return;
    }
    const address = this.#freeAddress(options);
    if (address === undefined) {
      const [first, last] = options.ports ?? [FIRST_PORT, LAST_PORT];
      const message = `No free port to listen on: ports ${first} to ${last} of ${this.#host.name} are in use.`;
      this.#callSoon(() => done({ code: 'STCI_LINK_UNREACHABLE', message }, undefined));
      return;
    }
    const close = this.#add(address, options.key, accept);
    this.#callSoon(() => done(undefined, { addresses: [address], close }));
  }

  listenPrivate(
    { prefix }: PrivateListenOptions,
    accept: (channel: Channel) => void,
    done: (error: ErrorRecord | undefined, listener: PrivateListener | undefined) => void,
  ): void {
    const path = `/run/stci/${prefix}-${this.#host.nextPort++}.sock`;
    const close = this.#add(this.#privateAddress(path), undefined, accept);
    this.#callSoon(() => done(undefined, { path, close }));
  }

  listenLoopback(
    _options: unknown, accept: (channel: Channel) => void,
    done: (error: ErrorRecord | undefined, listener: LoopbackListener | undefined) => void,
  ): void {
    const port = this.#host.nextPort++;
    const close = this.#add(this.#loopbackAddress(port), undefined, accept);
    this.#callSoon(() => done(undefined, { port, close }));
  }

  #loopbackAddress(port: number): NetworkAddress {
    return `tcp://${this.#host.name}/127.0.0.1:${port}`;
  }

  /** Returns the function that removes the listener. */
  #add(address: NetworkAddress, key: Uint8Array | undefined, accept: (channel: Channel) => void): () => void {
    const { listeners } = this.#host.world.fabric;
    const entry: SimListener = { address, host: this.#host.name, task: this.#task, key, accept };
    listeners.set(address, entry);
    const release = (): void => {
      if (listeners.get(address) === entry) listeners.delete(address);
    };
    this.#task.own({ release });
    return release;
  }

  #privateAddress(path: string): NetworkAddress {
    return `unix://${this.#host.name}${path}`;
  }

  #freeAddress({ ports, key, stream }: ListenOptions): NetworkAddress | undefined {
    const { listeners } = this.#host.world.fabric;
    const [first, last] = ports ?? [this.#host.nextPort, LAST_PORT];
    for (let port = first; port <= last; port++) {
      const at = `://${this.#host.name}:${port}`;
      if (SCHEMES.some((scheme) => listeners.has(`${scheme}${at}`))) continue;
      if (ports === undefined) this.#host.nextPort = port + 1;
      const secure = stream === true ? 'tls' : 'wss';
      return `${key === undefined ? 'ws' : secure}${at}`;
    }
    return undefined;
  }

  connect(
    address: NetworkAddress,
    deadlineMs: number,
    key?: Uint8Array,
    done?: (error: ErrorRecord | undefined) => void,
  ): Channel {
    const { world } = this.#host;
    const [, scheme, target] = ADDRESS.exec(address) ?? [];
    const host = target === undefined ? undefined : world.findHost(target);
    const link = world.fabric.link(this.#host.name, target ?? this.#host.name);
    const kind = scheme === 'tls' ? 'tls' : 'ws';
    const tell = (reason: string | undefined): void => done?.(problem(address, reason));
    if (host !== undefined) return this.#attempt(kind, address, { address, link, host, deadlineMs, key, done: tell });
    const { left } = this.#pair(kind, address, link);
    world.scheduler.after(this.#event(() => {
      if (left.isClosed) return;
      tell(`host not found: ${address}`);
      left.fail(`host not found: ${address}`);
    }), link.params.latencyMs);
    return left;
  }

  connectPrivate(path: string, deadlineMs: number, done?: (error: ErrorRecord | undefined) => void): Channel {
    const link = this.#host.world.fabric.pipes;
    return this.#attempt('unix', path, {
      address: this.#privateAddress(path),
      link,
      host: this.#host,
      deadlineMs,
      done: (reason) => done?.(problem(path, reason)),
    });
  }

  connectLoopback(port: number, deadlineMs: number): Channel {
    const address = this.#loopbackAddress(port);
    const link = this.#host.world.fabric.pipes;
    return this.#attempt('tcp', address, { address, link, host: this.#host, deadlineMs });
  }

  #attempt(kind: string, label: string, attempt: Attempt): Channel {
    const { scheduler } = this.#host.world;
    const pair = this.#pair(kind, label, attempt.link);
    const fail = (reason: string): void => {
      if (!pair.left.isClosed) attempt.done?.(reason);
      pair.left.fail(reason);
    };
    const deadline = this.#event(() => fail(`timed out after ${attempt.deadlineMs} ms`));
    scheduler.after(deadline, attempt.deadlineMs);
    this.#establish(pair, attempt, deadline, fail);
    return pair.left;
  }

  /** The accepting end has no owner until it is accepted. */
  #pair(kind: string, label: string, link: Link): ChannelPair {
    const { world } = this.#host;
    const unowned = this.#host.table.newTask(0);
    const near = { kind, label, task: this.#task };
    const far = { kind, label: kind === 'unix' ? label : this.#host.name, task: unowned };
    const init = world.flowInit(link, world.sizes.connectionBytes, kind === 'tcp' ? 'program' : 'channel');
    const pair = joinChannels(init, world.sizes.markBytes, near, far);
    pair.left.outgoing.isOpen = false;
    pair.left.outgoing.reader = undefined;
    return pair;
  }

  #establish(pair: ChannelPair, attempt: Attempt, deadline: CallEvent, fail: (reason: string) => void): void {
    const { world } = this.#host;
    const { address, link, host, key } = attempt;
    const { latencyMs } = link.params;
    world.scheduler.after(new CallEvent(undefined, () => {
      if (link.isCut || host.isCrashed || this.#host.isCrashed) return;
      const listener = world.fabric.listeners.get(address);
      if (listener === undefined || !sameKey(key, listener.key)) {
        const reason = listener === undefined ? REFUSED : 'the keys of the two ends differ';
        world.scheduler.queue.cancel(deadline);
        world.scheduler.after(this.#event(() => fail(reason)), latencyMs);
        return;
      }
      const accept = (): void => this.#accept(pair, listener, attempt, deadline);
      world.scheduler.after(new CallEvent(listener.task, accept, CODE.connect), 0);
    }, CODE.connect), latencyMs);
  }

  #accept(pair: ChannelPair, listener: SimListener, attempt: Attempt, deadline: CallEvent): void {
    if (pair.left.isClosed) return;
    const { scheduler } = this.#host.world;
    pair.right.adopt(listener.task);
    pair.left.outgoing.isSilent = () => listener.task.isSilent;
    // Before anything that is sent by the acceptor at once.
    scheduler.after(this.#event(() => {
      scheduler.queue.cancel(deadline);
      if (!pair.left.isClosed) attempt.done?.(undefined);
      pair.left.outgoing.isOpen = true;
      pair.left.opened();
    }), pair.left.outgoing.link.params.latencyMs);
    listener.accept(pair.right);
  }

  #event(call: () => void): CallEvent {
    return new CallEvent(this.#task, call, CODE.connect);
  }

  #callSoon(call: () => void): void {
    this.#host.world.scheduler.turn(this.#event(call));
  }
}

function problem(where: string, reason: string | undefined): ErrorRecord | undefined {
  if (reason === undefined) return undefined;
  const reach: ReachFailure = reason === REFUSED ? 'dead' : 'unreachable';
  return { code: 'STCI_LINK_UNREACHABLE', message: `Cannot connect to ${where}: ${reason}.`, data: { reach, reason } };
}

function sameKey(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return String(a) === String(b);
}
