/**
 * Network of one task: listeners and connections by address (`ws://h3:40001`). Establishing a connection takes one
 * round trip; an address without listener refuses it, a silent host or a cut link causes a timeout. Nothing is
 * encrypted, since no one eavesdrops; but a connection fails unless both ends have the same key or none.
 */

import type { Channel, ListenOptions, Listener, Network, NetworkAddress, ErrorRecord } from '@stci/interface';
import { joinChannels, type ChannelPair } from './channel.js';
import type { SimListener } from './fabric.js';
import type { SimHost } from './host.js';
import { CallEvent, CODE } from './scheduler.js';
import type { Task } from './task.js';

const FIRST_PORT = 40_000;
const LAST_PORT = 65_535;
const ADDRESS = /^wss?:\/\/([^:/]+):(\d+)$/;

type ListenDone = (error: ErrorRecord | undefined, listener: Listener | undefined) => void;

interface Attempt {
  readonly address: NetworkAddress;
  readonly key: Uint8Array | undefined;
  readonly deadline: CallEvent;
}

export class SimNetwork implements Network {
  readonly #host: SimHost;
  readonly #task: Task;

  constructor(host: SimHost, task: Task) {
    this.#host = host;
    this.#task = task;
  }

  listen(options: ListenOptions, accept: (channel: Channel) => void, done: ListenDone): void {
    const address = this.#freeAddress(options);
    if (address === undefined) {
      const [first, last] = options.ports ?? [FIRST_PORT, LAST_PORT];
      const message = `No free port to listen on: ports ${first} to ${last} of ${this.#host.name} are in use.`;
      this.#callSoon(() => done({ code: 'STCI_LINK_UNREACHABLE', message }, undefined));
      return;
    }
    const { listeners } = this.#host.world.fabric;
    const entry: SimListener = { address, host: this.#host.name, task: this.#task, key: options.key, accept };
    listeners.set(address, entry);
    const release = (): void => {
      if (listeners.get(address) === entry) listeners.delete(address);
    };
    this.#task.own({ release });
    this.#callSoon(() => done(undefined, { addresses: [address], close: release }));
  }

  #freeAddress({ ports, key }: ListenOptions): NetworkAddress | undefined {
    const { listeners } = this.#host.world.fabric;
    const [first, last] = ports ?? [this.#host.nextPort, LAST_PORT];
    for (let port = first; port <= last; port++) {
      const at = `://${this.#host.name}:${port}`;
      if (listeners.has(`ws${at}`) || listeners.has(`wss${at}`)) continue;
      if (ports === undefined) this.#host.nextPort = port + 1;
      return key === undefined ? `ws${at}` : `wss${at}`;
    }
    return undefined;
  }

  connect(address: NetworkAddress, deadlineMs: number, key?: Uint8Array): Channel {
    const { world } = this.#host;
    const target = ADDRESS.exec(address)?.[1];
    const host = target === undefined ? undefined : world.findHost(target);
    const link = world.fabric.link(this.#host.name, target ?? this.#host.name);
    const init = world.flowInit(link, world.sizes.connectionBytes);
    // The accepting end has no owner until it is accepted.
    const unowned = this.#host.table.newTask(0);
    const [near, far] = [this.#end(address, this.#task), this.#end(this.#host.name, unowned)];
    const pair = joinChannels(init, world.sizes.markBytes, near, far);
    pair.left.outgoing.isOpen = false;
    pair.left.outgoing.reader = undefined;
    if (host === undefined) {
      world.scheduler.after(this.#event(() => pair.left.fail(`host not found: ${address}`)), link.params.latencyMs);
      return pair.left;
    }
    const deadline = this.#event(() => pair.left.fail(`timed out after ${deadlineMs} ms`));
    world.scheduler.after(deadline, deadlineMs);
    this.#establish(pair, host, { address, key, deadline });
    return pair.left;
  }

  #establish(pair: ChannelPair, host: SimHost, { address, key, deadline }: Attempt): void {
    const { world } = this.#host;
    const { link } = pair.left.outgoing;
    const { latencyMs } = link.params;
    world.scheduler.after(new CallEvent(undefined, () => {
      if (link.isCut || host.isCrashed || this.#host.isCrashed) return;
      const listener = world.fabric.listeners.get(address);
      if (listener === undefined || !sameKey(key, listener.key)) {
        const reason = listener === undefined ? 'connection refused' : 'the keys of the two ends differ';
        world.scheduler.queue.cancel(deadline);
        world.scheduler.after(this.#event(() => pair.left.fail(reason)), latencyMs);
        return;
      }
      const accept = (): void => this.#accept(pair, listener, deadline);
      world.scheduler.after(new CallEvent(listener.task, accept, CODE.connect), 0);
    }, CODE.connect), latencyMs);
  }

  #accept(pair: ChannelPair, listener: SimListener, deadline: CallEvent): void {
    if (pair.left.isClosed) return;
    const { scheduler } = this.#host.world;
    pair.right.adopt(listener.task);
    pair.left.outgoing.isSilent = () => listener.task.isSilent;
    listener.accept(pair.right);
    scheduler.after(this.#event(() => {
      scheduler.queue.cancel(deadline);
      pair.left.outgoing.isOpen = true;
      pair.left.opened();
    }), pair.left.outgoing.link.params.latencyMs);
  }

  #event(call: () => void): CallEvent {
    return new CallEvent(this.#task, call, CODE.connect);
  }

  #callSoon(call: () => void): void {
    this.#host.world.scheduler.turn(this.#event(call));
  }

  #end(label: string, task: Task): { kind: string; label: string; task: Task } {
    return { kind: 'ws', label, task };
  }
}

function sameKey(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return String(a) === String(b);
}
