/** The services of plugins in one job, at its session agent on one host. */

import {
  CONTROLLER, StciError, toErrorRecord, type Channel, type ErrorRecord, type HostIndex, type HostService, type Rank,
  type RankStart, type ServiceHost,
} from '@stci/interface';
import { needsOwner } from '../am/requests.js';
import { Gate } from '../bootcom/gate.js';
import type { JobPlace, JobService } from './contracts.js';
import { Part } from './part.js';
import { serviceFramework } from './framework.js';

/** Variables that are the runtime's own. */
const OWN_PREFIX = 'STCI_';

export class HostParts implements JobService {
  readonly #parts: readonly HostPart[];
  /** Which attempt of each rank is there. */
  readonly #attempts = new Map<Rank, number>();
  readonly #sockets = new Map<Rank, (channel: Channel) => void>();

  constructor(place: JobPlace) {
    this.#parts = place.scope.selected(serviceFramework, place.params).map(({ name, create }) => {
      const part = new HostPart(place, name);
      part.service = create().atHost(part);
      return part;
    });
    place.node.messages.on('service.told', ({ service, body }) => {
      this.#parts.find((part) => part.is(service))?.service.onMessage?.(body);
    });
  }

  open(done: (error?: ErrorRecord) => void): void {
    const waiting = [...this.#parts];
    const next = (problem?: string): void => {
      const part = waiting.shift();
      if (problem !== undefined) done(toErrorRecord(new StciError('STCI_PLUGIN_FAILED', problem)));
      else if (part === undefined) done();
      else part.open(next);
    };
    next();
  }

  add(rank: Rank, attempt: number): Readonly<Record<string, string>> {
    this.#attempts.set(rank, attempt);
    this.#sockets.delete(rank);
    const env: Record<string, string> = {};
    const owners = new Map<string, HostPart>();
    for (const part of this.#parts) {
      const start = part.startOf(rank, attempt);
      for (const [variable, value] of Object.entries(start.env)) {
        if (part.takes(`the variable ${variable}`, owners)) env[variable] = value;
      }
      if (start.socket !== undefined && part.takes('the socket', owners)) this.#sockets.set(rank, start.socket);
    }
    return env;
  }

  socketOf(rank: Rank): ((channel: Channel) => void) | undefined {
    return this.#sockets.get(rank);
  }

  remove(rank: Rank): void {
    const attempt = this.#attempts.get(rank);
    if (!this.#attempts.delete(rank) || attempt === undefined) return;
    this.#sockets.delete(rank);
    for (const { service } of this.#parts) service.onEnd?.(rank, attempt);
  }
}

class HostPart extends Part implements ServiceHost {
  readonly host: HostIndex;
  readonly hostName: string;
  service: HostService = {};
  /** What it was warned of: the same holds for every rank. */
  readonly #warned = new Set<string>();
  #gate: Gate | undefined;

  constructor({ node, holds, job, size, host, hostName }: JobPlace, name: string) {
    super({ node, holds, name, job, size });
    this.host = host;
    this.hostName = hostName;
  }

  is(name: string): boolean {
    return this.name === name && !this.holds.isClosed;
  }

  open(done: (problem?: string) => void): void {
    if (this.service.open === undefined) return done();
    let isDone = false;
    this.service.open((problem) => {
      if (isDone || this.holds.isClosed) return;
      isDone = true;
      done(problem === undefined ? undefined : `service ${this.name} on host ${this.hostName}: ${problem}`);
    });
  }

  /** Whether what ranks have once is still to be had; the first service that gives it keeps it. */
  takes(what: string, owners: Map<string, HostPart>): boolean {
    const owner = owners.get(what);
    if (owner === undefined) owners.set(what, this);
    else if (!this.#warned.has(what)) {
      this.#warned.add(what);
      this.warn(`${what} of a rank is service ${owner.name}'s already: what this one gives is not used`);
    }
    return owner === undefined;
  }

  startOf(rank: Rank, attempt: number): Required<Pick<RankStart, 'env'>> & RankStart {
    const { env = {}, socket } = this.service.onStart?.(rank, attempt) ?? {};
    const own = Object.keys(env).filter((variable) => variable.startsWith(OWN_PREFIX));
    if (own.length > 0) this.warn(`it may not set ${own.join(', ')}: these are variables of STCI`);
    const others = Object.entries(env).filter(([variable]) => !own.includes(variable));
    const owned = socket && ((channel: Channel): void => socket(this.own(channel)));
    return { env: Object.fromEntries(others), ...(owned && { socket: owned }) };
  }

  /** Throws StciError for what cannot be sent. */
  send(body: unknown): void {
    if (this.holds.isClosed) return;
    const message = { host: this.host, service: this.name, body };
    const error = this.node.messages.send(CONTROLLER, 'service.message', message);
    if (needsOwner(error)) throw error;
  }

  listen(accept: (channel: Channel) => void, done: (problem: string | undefined, path: string) => void): void {
    if (this.holds.isClosed) return;
    if (this.#gate !== undefined) throw new Error(`service ${this.name} listens already`);
    const { platform, params } = this.node;
    const gate = new Gate({
      holds: this.holds, of: `service ${this.name}`, platform, pendingMax: params.int('bootcom.pending.max'),
      accept: (channel) => {
        accept(this.own(channel));
        return undefined;
      },
    });
    this.#gate = gate;
    gate.openPrivate('service', (error) => this.holds.isClosed || done(error?.message, gate.addresses[0] ?? ''));
  }

  warn(text: string): void {
    this.node.fault(text, `service ${this.name}`);
  }
}
