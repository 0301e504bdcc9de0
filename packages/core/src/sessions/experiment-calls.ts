/** The calls of an experiment's front-end: terms, injections, undo, clocks. What comes back is called back. */

import {
  CONTROLLER, type ClockOffset, type ExperimentTerms, type FaultOrder, type FaultReport, type StciError,
} from '@stci/interface';
import type { MessageBody, MessageName } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';

export interface ExperimentCallsInit {
  readonly node: AgentNode;
  /** Why the connection has ended. */
  readonly lost: () => StciError | undefined;
}

/** Orders in one message. */
const ORDERS_MAX = 256;

type Done<T> = (error: StciError | undefined, value?: T) => void;

export class ExperimentCalls {
  readonly #init: ExperimentCallsInit;
  /** Set by the owner before the first injection. */
  onReport: (report: FaultReport) => void = () => undefined;
  /** Set by who waits for reports: none will come any more. */
  onEnd: (error: StciError) => void = () => undefined;
  /** In the order of their requests, as the session answers those of one kind. */
  readonly #onUndone = new Map<string, Done<readonly string[]>[]>();
  #onClocked: Done<readonly ClockOffset[]>[] = [];
  /** Of this turn. */
  #orders: FaultOrder[] = [];

  constructor(init: ExperimentCallsInit) {
    this.#init = init;
    const { messages } = init.node;
    messages.on('client.fault', ({ report }) => this.onReport(report));
    messages.on('client.undone', ({ id, left }) => {
      const waiting = this.#onUndone.get(id) ?? [];
      const done = waiting.shift();
      if (waiting.length === 0) this.#onUndone.delete(id);
      done?.(undefined, left);
    });
    messages.on('client.clocked', ({ clocks }) => this.#onClocked.shift()?.(undefined, clocks));
  }

  /** Begins the experiment, or renews it: at least once in `leaseMs`. */
  open(terms: ExperimentTerms, done: (error: StciError | undefined) => void): void {
    const lost = this.#init.lost();
    if (lost !== undefined) return done(lost);
    this.#init.node.messages.request(CONTROLLER, 'client.experiment', { terms }, (error) =>
      done(this.#init.lost() ?? error));
  }

  /** What becomes of it is told by `onReport`. Orders of one turn are carried out at once, as far as that goes. */
  inject(order: FaultOrder): void {
    this.#orders.push(order);
    // The sets of a partition name all hosts: a message takes few of them.
    if (order.victim.kind === 'partition' || this.#orders.length === ORDERS_MAX) return this.#sendOrders();
    if (this.#orders.length === 1) this.#init.node.platform.clock.soon(() => this.#sendOrders());
  }

  /** Undoes one injection; with an empty `id` all, and ends the experiment. Answer: agents that were not reached. */
  undo(id: string, done: Done<readonly string[]>): void {
    const lost = this.#init.lost();
    if (lost !== undefined) return done(lost);
    const waiting = this.#onUndone.get(id) ?? [];
    this.#onUndone.set(id, [...waiting, done]);
    this.#send('client.undo', { id });
  }

  /** Measures the clocks of all hosts that are up against the controller's. */
  clocks(done: Done<readonly ClockOffset[]>): void {
    const lost = this.#init.lost();
    if (lost !== undefined) return done(lost);
    this.#onClocked.push(done);
    this.#send('client.clocks', {});
  }

  /** The connection has ended, or the session has refused. */
  onLost(error: StciError): void {
    const undos = [...this.#onUndone.values()].flat();
    const clocked = this.#onClocked;
    this.#onUndone.clear();
    this.#onClocked = [];
    for (const done of [...undos, ...clocked]) done(error);
    this.onEnd(error);
  }

  #sendOrders(): void {
    const orders = this.#orders.splice(0);
    if (orders.length > 0) this.#send('client.inject', { orders });
  }

  #send<Name extends MessageName>(name: Name, body: MessageBody<Name>): void {
    if (name !== 'client.inject') this.#sendOrders();
    if (this.#init.lost() === undefined) this.#init.node.messages.send(CONTROLLER, name, body);
  }
}
