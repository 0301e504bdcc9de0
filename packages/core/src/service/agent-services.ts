/** The services of one agent: each is opened by the first message for it. */

import { StciError, caught } from '@stci/interface';
import { isCollection } from '../messages/messages.js';
import type { OpenService, Places, Service, ServiceCode } from './contracts.js';

/** Calls of services that wait for their code to be loaded. */
const WAITING_MAX = 1024;

export class AgentServices<Where extends 'root' | 'session' | 'controller'> {
  readonly #where: Where;
  readonly #place: Places[Where];
  readonly #services: readonly Service[];
  readonly #open = new Map<string, OpenService>();
  readonly #onFailed: (error: StciError, name: string) => void;
  readonly #asked = new Set<string>();
  /** Calls that wait for code. */
  #waiting = 0;
  /** Why the agent stops: what is opened from then on is stopped at once. */
  #stopped: string | undefined;

  /** `onFailed`: one that the parameters ask for cannot be had. */
  constructor(
    where: Where, services: readonly Service[], place: Places[Where],
    onFailed = (error: StciError, name: string): void => place.node.fault(error, `service ${name}`),
  ) {
    this.#where = where;
    this.#onFailed = onFailed;
    this.#place = place;
    this.#services = services;
    const { messages, collects } = place.node;
    for (const { name, messages: { [where]: own = [] }, passed = [], isOfAgents } of services) {
      if (own.length > 0) messages.lazy.add(own, (done) => this.use(name, (_opened, error) => done(error)));
      for (const each of where === 'root' ? passed : []) {
        if (isCollection(each)) collects.on(each, () => undefined);
        else messages.on(each, () => undefined);
      }
      if (own.length > 0 && isOfAgents?.(place.node.params) === true) this.#asked.add(name);
    }
    this.tell(() => undefined);
  }

  /**
   * Each that the session has from its start, or that was asked for since: after its code is here, in order. What
   * `call` throws is thrown, or, of a call that had to wait, a fault. Throws STCI_MESSAGE_WINDOW where too many wait.
   */
  tell(call: (opened: OpenService) => void): void {
    for (const name of this.#asked) {
      let isLater = false;
      if (this.#waiting >= WAITING_MAX) {
        throw new StciError('STCI_MESSAGE_WINDOW', `${this.#waiting} calls wait for service ${name} to be loaded`);
      }
      this.#waiting += 1;
      this.use(name, (opened, error) => {
        this.#waiting -= 1;
        if (error !== undefined) {
          this.#asked.delete(name);
          this.#onFailed(error, name);
        }
        if (opened === undefined) return;
        if (!isLater) return call(opened);
        caught(() => call(opened), (fault) => this.#place.node.fault(fault, `service ${name}`));
      });
      isLater = true;
    }
  }

  /** Calls `done` with the service, at once if its code is here; or with why that cannot be loaded. */
  use(name: string, done: (opened: OpenService | undefined, error?: StciError) => void): void {
    const open = this.#open.get(name);
    if (open !== undefined) return done(open);
    const service = this.#services.find((each) => each.name === name);
    if (service === undefined) return done(undefined);
    this.#asked.add(name);
    service.code.use((code, error) => {
      const open = (): readonly [OpenService | undefined, StciError?] => [code && this.#opened(name, code)];
      const [opened, problem = error] = caught(open, (own) => [undefined, own]);
      done(opened, problem);
    });
  }

  /** Of those that are open, and not idle. */
  get labels(): readonly string[] {
    return [...this.#open].flatMap(([name, { isIdle = false }]) => (isIdle ? [] : `service ${name}`));
  }

  /** `isLeaving`: tools there go on for a while; it is called again after them. */
  stop(reason: string, isLeaving = false): void {
    this.#stopped = reason;
    for (const open of this.#open.values()) if (!isLeaving || open.isLast !== true) open.stop(reason);
  }

  #opened(name: string, code: ServiceCode): OpenService | undefined {
    const open = this.#open.get(name) ?? code[this.#where]?.(this.#place as never);
    if (open === undefined || this.#open.has(name)) return open;
    this.#open.set(name, open);
    if (this.#stopped !== undefined) open.stop(this.#stopped);
    return open;
  }
}
