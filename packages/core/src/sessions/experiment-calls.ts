/** The calls of an experiment's front-end: terms, injections, undo, clocks. */

import type { Clock, ClockOffset, ExperimentTerms, FaultOrder, FaultReport, StciError } from '@stci/interface';
import type { Done, SessionCalls } from './session-calls.js';

/** Orders in one message. */
const ORDERS_MAX = 256;

export class ExperimentCalls {
  readonly #session: SessionCalls;
  readonly #clock: Clock;
  /** Set by the owner before the first injection. */
  onReport: (report: FaultReport) => void = () => undefined;
  /** Set by who waits for reports: none will come any more. */
  onEnd: (error: StciError) => void = () => undefined;
  #isListening = false;
  /** Of this turn. */
  readonly #orders: FaultOrder[] = [];

  constructor(session: SessionCalls, clock: Clock) {
    this.#session = session;
    this.#clock = clock;
  }

  /** Begins the experiment, or renews it: at least once in `leaseMs`. */
  open(terms: ExperimentTerms, done: Done<undefined>): void {
    this.#listen();
    this.#session.call('client.experiment', { terms }, done);
  }

  /** What becomes of it is told by `onReport`. Orders of one turn are carried out at once, as far as that goes. */
  inject(order: FaultOrder): void {
    this.#listen();
    this.#orders.push(order);
    // The sets of a partition name all hosts: a message takes few of them.
    if (order.victim.kind === 'partition' || this.#orders.length === ORDERS_MAX) return this.#sendOrders();
    if (this.#orders.length === 1) this.#clock.soon(() => this.#sendOrders());
  }

  /** Undoes one injection; with an empty `id` all, and ends the experiment. Answer: agents that were not reached. */
  undo(id: string, done: Done<readonly string[]>): void {
    this.#sendOrders();
    this.#session.call('client.undo', { id }, done);
  }

  /** Measures the clocks of all hosts that are up against the controller's. */
  clocks(done: Done<readonly ClockOffset[]>): void {
    this.#sendOrders();
    this.#session.call('client.clocks', {}, done);
  }

  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    this.#session.call('client.reports', {}, (error) => error && this.onEnd(error), (report) => this.onReport(report));
  }

  /** Before what follows them. */
  #sendOrders(): void {
    const orders = this.#orders.splice(0);
    if (orders.length > 0) this.#session.tell('client.inject', { orders });
  }
}
