/** The services of one agent: each is opened by the first message for it. */

import type { StciError } from '@stci/interface';
import type { Gone, OpenService, Places, Service, ServiceCode } from './contracts.js';

export class AgentServices<Where extends 'root' | 'session' | 'controller'> {
  readonly #where: Where;
  readonly #place: Places[Where];
  readonly #services: readonly Service[];
  readonly #open = new Map<string, OpenService>();
  readonly #fromStart: string[] = [];
  /** Why the agent stops: what is opened from then on is stopped at once. */
  #stopped: string | undefined;

  constructor(where: Where, services: readonly Service[], place: Places[Where]) {
    this.#where = where;
    this.#place = place;
    this.#services = services;
    const { messages } = place.node;
    for (const { name, messages: { [where]: own = [] }, passed = [], isOfAgents } of services) {
      const isFromStart = where !== 'session' && isOfAgents?.(place.node.params) === true;
      if (own.length > 0 && (isFromStart || isOfAgents === undefined)) {
        messages.lazy.add(own, (done) => this.use(name, (_opened, error) => done(error)));
      }
      if (where === 'root') for (const each of passed) messages.on(each, () => undefined);
      if (isFromStart) this.#fromStart.push(name);
    }
    this.tell(() => undefined);
  }

  /** Each of those that the session has from its start: after its code is here, in order. */
  tell(call: (opened: OpenService) => void): void {
    for (const name of this.#fromStart) {
      this.use(name, (opened, error) => {
        if (opened !== undefined) call(opened);
        else if (error !== undefined) this.#place.node.fault(error, `service ${name}`);
      });
    }
  }

  /** Calls `done` with the service, at once if its code is here; or with why that cannot be loaded. */
  use(name: string, done: (opened: OpenService | undefined, error?: StciError) => void): void {
    const open = this.#open.get(name);
    if (open !== undefined) return done(open);
    const service = this.#services.find((each) => each.name === name);
    if (service === undefined) return done(undefined);
    service.code.use((code, error) => done(code && this.#opened(name, code), error));
  }

  onGone(gone: Gone): void {
    this.tell((opened) => opened.onGone?.(gone));
    for (const [name, open] of this.#open) if (!this.#fromStart.includes(name)) open.onGone?.(gone);
  }

  stop(reason: string): void {
    this.#stopped = reason;
    for (const open of this.#open.values()) open.stop(reason);
  }

  #opened(name: string, code: ServiceCode): OpenService | undefined {
    const open = this.#open.get(name) ?? code[this.#where]?.(this.#place as never);
    if (open === undefined || this.#open.has(name)) return open;
    this.#open.set(name, open);
    if (this.#stopped !== undefined) open.stop(this.#stopped);
    return open;
  }
}
