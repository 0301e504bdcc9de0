/** The network between hosts: a link per pair, made at its first use, and the listeners by address. */

import type { Channel, NetworkAddress } from '@stci/interface';
import { Link, type LinkParams } from './link.js';
import type { Task } from './task.js';

export interface SimListener {
  readonly address: NetworkAddress;
  readonly host: string;
  readonly task: Task;
  readonly key: Uint8Array | undefined;
  readonly accept: (channel: Channel) => void;
}

export class Fabric {
  readonly listeners = new Map<NetworkAddress, SimListener>();
  /** Pipes within a host: never cut. */
  readonly pipes: Link;
  readonly #links = new Map<string, Link>();
  readonly #remote: LinkParams;
  readonly #local: LinkParams;

  constructor(remote: LinkParams, local: LinkParams) {
    this.#remote = remote;
    this.#local = local;
    this.pipes = new Link(local);
  }

  /** The link of two hosts in either order, or the loopback of one. */
  link(a: string, b: string): Link {
    const key = a < b ? `${a} ${b}` : `${b} ${a}`;
    let link = this.#links.get(key);
    if (link === undefined) {
      link = new Link(a === b ? this.#local : this.#remote);
      this.#links.set(key, link);
    }
    return link;
  }
}
