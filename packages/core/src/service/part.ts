/** What each part of a plugin's service has: time, warnings, and an end after which nothing of it is left. */

import type { Channel, JobId, ServicePart, Timer } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { AgentNode } from '../node/node.js';

export interface PartInit {
  readonly node: AgentNode;
  /** Its end is that of the part. */
  readonly holds: Scope;
  /** Of the service. */
  readonly name: string;
  readonly job: JobId;
  readonly size: number;
}

export abstract class Part implements ServicePart {
  readonly session: string;
  readonly job: JobId;
  readonly size: number;
  protected readonly node: AgentNode;
  protected readonly name: string;
  protected readonly holds: Scope;
  readonly #timers: Timers<number>;
  #timerCount = 0;

  constructor({ node, holds, name, job, size }: PartInit) {
    this.node = node;
    this.name = name;
    this.job = job;
    this.size = size;
    this.session = node.sessionName;
    this.holds = holds.child(`service ${name}`);
    this.#timers = new Timers(node.platform.clock, this.holds);
    holds.atEnd(() => this.#close());
  }

  abstract readonly service: { close?(): void } | undefined;

  abstract warn(text: string): void;

  nowMs(): number {
    return this.node.platform.clock.nowMs();
  }

  after(delayMs: number, call: () => void): Timer {
    const timer = this.#timerCount++;
    this.#timers.set(timer, delayMs, call);
    return { cancel: () => this.#timers.clear(timer) };
  }

  /** The channel, which is closed with the part. */
  protected own(channel: Channel): Channel {
    const forget = this.holds.hold(`connection ${channel.label}`, () => channel.destroy('the job is over'));
    return {
      get kind() { return channel.kind; },
      get label() { return channel.label; },
      get queuedBytes() { return channel.queuedBytes; },
      bind: (events) => channel.bind({
        onData: (chunk) => events.onData(chunk),
        onDrain: () => events.onDrain(),
        onClose: (reason) => {
          forget();
          events.onClose(reason);
        },
      }),
      send: (chunks) => channel.send(chunks),
      readable: (on) => channel.readable(on),
      close: () => channel.close(),
      destroy: (reason) => channel.destroy(reason),
    };
  }

  /** What it does last, it may still do. */
  #close(): void {
    try {
      this.service?.close?.(); // There is none yet where the job ended while the part is made.
    } catch (fault) {
      this.node.fault(fault, `the end of service ${this.name}`);
    }
    this.holds.close();
  }
}
