/**
 * Event domains and their dispatcher (STCI paper, II-D). Each domain has a bounded queue of activations. A turn runs a
 * bounded number of activations, round-robin over the domains, then yields to the platform: a flood of messages delays
 * the exit of a process by one turn at most.
 */

import {
  StciError,
  type Clock,
  type Dispatcher,
  type EventDomain,
  type EventMap,
  type Observation,
  type ProgressModel,
} from '@stci/interface';

export interface DispatcherInit {
  readonly clock: Clock;
  readonly progressModel: ProgressModel;
  /** Activations per turn, at least 1. */
  readonly turnMax: number;
  /** Default bound of a domain's queue. */
  readonly queueMax: number;
  /** A handler threw; the other activations still run. */
  onFault(domain: string, event: string, fault: unknown): void;
}

interface Activation {
  readonly event: string;
  readonly payload: unknown;
}

type Handler = (payload: unknown) => void;

class Domain implements EventDomain<EventMap> {
  readonly name: string;
  readonly #queueMax: number;
  readonly #observers = new Map<string, Handler[]>();
  readonly #wake: () => void;
  /** A ring buffer would save the copy at `#compact`; the queue is short except in bursts. */
  #queue: Activation[] = [];
  #head = 0;
  #closed = false;

  constructor(name: string, queueMax: number, wake: () => void) {
    this.name = name;
    this.#queueMax = queueMax;
    this.#wake = wake;
  }

  get queued(): number {
    return this.#queue.length - this.#head;
  }

  observe(event: string, handler: Handler): Observation {
    const handlers = this.#observers.get(event) ?? [];
    // A copy, so that observing or cancelling inside a handler does not affect the current round. Each registration has
    // its own function: the same handler may be registered twice and cancelled once.
    const own: Handler = (payload) => handler(payload);
    this.#observers.set(event, [...handlers, own]);
    return {
      cancel: () => {
        const left = (this.#observers.get(event) ?? []).filter((other) => other !== own);
        this.#observers.set(event, left);
      },
    };
  }

  trigger(event: string, payload: unknown): void {
    if (this.#closed) return;
    if (this.queued >= this.#queueMax) {
      throw new StciError(
        'STCI_EVENT_QUEUE_FULL',
        `Event domain ${this.name} holds ${this.queued} activations, its bound (event.queue.max), at ${event}`,
      );
    }
    this.#queue.push({ event, payload });
    this.#wake();
  }

  /** Runs the oldest activation; false if there is none. */
  runOne(onFault: DispatcherInit['onFault']): boolean {
    const activation = this.#queue[this.#head];
    if (activation === undefined) return false;
    this.#head += 1;
    if (this.#head === this.#queue.length || this.#head >= 1024) this.#compact();
    for (const handler of this.#observers.get(activation.event) ?? []) {
      try {
        handler(activation.payload);
      } catch (fault) {
        onFault(this.name, activation.event, fault);
      }
    }
    return true;
  }

  close(): void {
    this.#closed = true;
    this.#queue = [];
    this.#head = 0;
  }

  #compact(): void {
    this.#queue = this.#queue.slice(this.#head);
    this.#head = 0;
  }
}

export class EventDispatcher implements Dispatcher {
  readonly progressModel: ProgressModel;
  readonly #init: DispatcherInit;
  readonly #domains: Domain[] = [];
  #next = 0;
  #scheduled = false;
  #closed = false;

  constructor(init: DispatcherInit) {
    this.#init = init;
    this.progressModel = init.progressModel;
  }

  domain<Events extends EventMap>(name: string, queueMax?: number): EventDomain<Events> {
    const wake = (): void => this.#wake();
    const domain = new Domain(name, queueMax ?? this.#init.queueMax, wake);
    this.#domains.push(domain);
    return domain as unknown as EventDomain<Events>;
  }

  progress(limit: number = this.#init.turnMax): number {
    let ran = 0;
    let idle = 0;
    while (ran < limit && idle < this.#domains.length && !this.#closed) {
      const domain = this.#domains[this.#next] as Domain;
      this.#next = (this.#next + 1) % this.#domains.length;
      if (domain.runOne(this.#init.onFault)) {
        ran += 1;
        idle = 0;
      } else {
        idle += 1;
      }
    }
    return ran;
  }

  close(): void {
    this.#closed = true;
    for (const domain of this.#domains) domain.close();
  }

  #wake(): void {
    if (this.progressModel === 'explicit' || this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    this.#init.clock.soon(() => {
      this.#scheduled = false;
      this.progress();
      if (this.#domains.some((domain) => domain.queued > 0)) this.#wake();
    });
  }
}
