/**
 * Who at this agent waits for other agents: for replies, acknowledgements, agreements. Nothing is kept of it unless
 * somebody observes, as a detector may that probes only agents which are waited for.
 */

import type { Address } from '@stci/interface';

export interface WaitObserver {
  /** `key` names the wait until it is over; one that goes on may be told again. */
  waiting(key: string, on: Address | 'all'): void;
  /** Or was none. */
  over(key: string): void;
}

export class Waits {
  #observer: WaitObserver | undefined;

  /** `since`: the waits that have begun already. */
  observe(observer: WaitObserver, since: Iterable<readonly [key: string, on: Address]>): void {
    this.#observer = observer;
    for (const [key, on] of since) observer.waiting(key, on);
  }

  begin(kind: string, number: number | string, on: Address | 'all'): void {
    this.#observer?.waiting(`${kind} ${number}`, on);
  }

  end(kind: string, number: number | string): void {
    this.#observer?.over(`${kind} ${number}`);
  }
}
