/**
 * One job that has a service, with a part at each host and one at the controller: ranks start and end, are started
 * again or lost, with whole hosts; their programs connect, and say nothing, or anything. Pure, with a virtual clock;
 * the seed decides everything.
 */

import { decode, encode } from '@stci/core';
import {
  SERVICE_BODY_BYTES_MAX, type Channel, type ChannelEvents, type ControllerService, type HostIndex, type HostService,
  type Rank, type ServiceController, type ServiceHost, type ServiceModule, type ServicePart, type Timer,
} from '@stci/interface';
import { seededIntegers, type IntegerSource } from '../kit/seeded.js';

export interface JobPlan {
  readonly seed: number;
  readonly hosts: number;
  /** On each host. */
  readonly ranks: number;
  readonly job?: number;
  /** Some ranks are started again. */
  readonly restarts?: boolean;
  /** Ranks fail, hosts are lost. */
  readonly losses?: boolean;
  /** Programs send anything. */
  readonly isHostile?: boolean;
}

/** Promises that a run may find broken. */
export type Found = 'open' | 'env' | 'plain' | 'again' | 'course' | 'bytes' | 'close';

const OPEN_MS_MAX = 60_000;
/** Ranks that still run then are ended. */
const JOB_MS = 1000;
const EVENTS_MAX = 100_000;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const CONTROLLER = -1;

interface Event {
  readonly atMs: number;
  readonly number: number;
  fire(): void;
}

/** Of one rank, as the plan has it. */
interface Life {
  readonly rank: Rank;
  readonly host: HostIndex;
  attempt: number;
  isRunning: boolean;
  isOver: boolean;
  names: string | undefined;
}

class Place {
  readonly position: number;
  host: HostService = {};
  controller: ControllerService = {};
  isClosed = false;
  /** Its agent is no more. */
  isLost = false;
  /** When its last message to each other place arrives: messages keep their order. */
  readonly lastMs = new Map<number, number>();

  constructor(position: number) {
    this.position = position;
  }

  get name(): string {
    return this.position === CONTROLLER ? 'controller' : `host ${this.position}`;
  }
}

export class ServiceModel {
  /** What happened, in words. */
  readonly trace: string[] = [];
  /** The first of each. */
  readonly found = new Map<Found, string>();
  readonly #create: () => ServiceModule;
  readonly #plan: JobPlan;
  readonly #below: IntegerSource;
  readonly #lives: Life[];
  readonly #places: readonly Place[];
  #controller: Place | undefined;
  readonly #events: Event[] = [];
  #nowMs = 0;
  #count = 0;

  constructor(create: () => ServiceModule, plan: JobPlan) {
    this.#create = create;
    this.#plan = plan;
    this.#below = seededIntegers(plan.seed);
    this.#places = Array.from({ length: plan.hosts }, (_, host) => new Place(host));
    this.#lives = this.#places.flatMap(({ position: host }) => Array.from({ length: plan.ranks }, (_, index) => ({
      rank: host * plan.ranks + index, host, attempt: 0, isRunning: false, isOver: false, names: undefined,
    })));
    for (const place of this.#places) {
      this.#at(this.#below(5), () => this.#open(place));
      if (plan.losses === true && plan.hosts > 1 && this.#below(3) === 0) {
        this.#at(this.#below(60), () => this.#lose(place));
      }
    }
    this.#at(JOB_MS, () => this.#end());
  }

  run(): void {
    while (this.step());
  }

  /** The next event; false: there is none, or something is wrong. */
  step(): boolean {
    const next = this.#events.shift();
    if (next === undefined || this.found.has('course') || this.found.has('bytes')) return false;
    this.#nowMs = next.atMs;
    try {
      if (this.#count > EVENTS_MAX) throw new Error(`more than ${EVENTS_MAX} events in a job of ${JOB_MS} ms`);
      next.fire();
    } catch (thrown) {
      this.#find(this.#plan.isHostile === true ? 'bytes' : 'course', thrown instanceof Error ? thrown : String(thrown));
    }
    return true;
  }

  #find(promise: Found, what: string | Error): void {
    if (this.found.has(promise)) return;
    const text = typeof what === 'string' ? what : what.message;
    this.found.set(promise, `${text} (at ${this.#nowMs} ms)`);
  }

  #at(atMs: number, fire: () => void): Event {
    const event = { atMs, number: this.#count++, fire };
    let index = this.#events.length;
    while (index > 0 && (this.#events[index - 1] as Event).atMs > atMs) index -= 1;
    this.#events.splice(index, 0, event);
    return event;
  }

  #say(place: Place, what: string): void {
    this.trace.push(`${this.#nowMs} ${place.name} ${what}`);
  }

  #open(place: Place): void {
    if (place.isLost) return;
    place.host = this.#create().atHost(this.#hostPart(place));
    let calls = 0;
    const done = (problem?: string): void => {
      calls += 1;
      if (calls > 1) this.#find('open', `${place.name} called done twice`);
      else if (problem !== undefined) this.#find('open', `${place.name} cannot be opened: ${problem}`);
      else this.#startRanks(place);
    };
    if (place.host.open === undefined) return done();
    place.host.open(done);
    this.#at(this.#nowMs + OPEN_MS_MAX, () => {
      if (calls === 0 && !place.isLost) this.#find('open', `${place.name} has not called done in a minute`);
    });
  }

  #startRanks(place: Place): void {
    for (const life of this.#lives.filter(({ host }) => host === place.position)) {
      this.#at(this.#nowMs + this.#below(5), () => this.#start(place, life));
    }
  }

  #start(place: Place, life: Life): void {
    if (place.isLost || place.isClosed) return;
    life.attempt += 1;
    life.isRunning = true;
    const { env = {}, socket } = place.host.onStart?.(life.rank, life.attempt) ?? {};
    const names = Object.keys(env).sort().join(', ');
    this.#say(place, `rank ${life.rank}.${life.attempt} gets ${JSON.stringify(env)}`);
    for (const [name, value] of Object.entries(env)) {
      const isText = typeof value === 'string' && !value.includes('\0');
      if (!VARIABLE.test(name) || name.startsWith('STCI_') || !isText) {
        this.#find('env', `rank ${life.rank} gets ${JSON.stringify(name)}=${JSON.stringify(value)}`);
      }
    }
    life.names ??= names;
    if (life.names !== names) {
      this.#find('again', `rank ${life.rank} gets ${names || 'nothing'} at attempt ${life.attempt}, had ${life.names}`);
    }
    if (socket !== undefined) this.#connect(place, `rank ${life.rank}.${life.attempt}`, socket);
    this.#at(this.#nowMs + 1 + this.#below(50), () => this.#endRank(place, life));
  }

  #endRank(place: Place, life: Life): void {
    if (!life.isRunning || place.isLost || place.isClosed) return;
    life.isRunning = false;
    place.host.onEnd?.(life.rank, life.attempt);
    const { restarts, losses } = this.#plan;
    if (restarts === true && life.attempt < 3 && this.#below(2) === 0) {
      this.#tell((controller) => controller.onRestart?.(life.rank));
      this.#at(this.#nowMs + 1 + this.#below(10), () => this.#start(place, life));
      return;
    }
    life.isOver = true;
    const failure = losses === true && this.#below(3) === 0 ? 'it was ended by SIGKILL' : undefined;
    this.#tell((controller) => controller.onEnd?.(life.rank, failure));
  }

  #lose(place: Place): void {
    place.isLost = true;
    this.#say(place, 'is lost');
    this.#tell((controller) => {
      controller.onHostLost?.(place.position);
      for (const life of this.#lives) {
        if (life.host !== place.position || life.isOver) continue;
        life.isOver = true;
        life.isRunning = false;
        controller.onEnd?.(life.rank, 'its host is lost');
      }
    });
  }

  /** The controller learns of it a little later; its part may not be there yet. */
  #tell(what: (controller: ControllerService) => void): void {
    this.#at(this.#nowMs + 1 + this.#below(5), () => {
      if (this.#controller?.isClosed !== true) what(this.#controller?.controller ?? {});
    });
  }

  #end(): void {
    for (const place of this.#places) {
      if (place.isLost) continue;
      for (const life of this.#lives) {
        if (life.host !== place.position || !life.isRunning) continue;
        life.isRunning = false;
        place.host.onEnd?.(life.rank, life.attempt);
      }
      place.host.close?.();
      place.isClosed = true;
    }
    this.#controller?.controller.close?.();
    if (this.#controller !== undefined) this.#controller.isClosed = true;
  }

  #part(place: Place): ServicePart {
    const { job = 1, hosts, ranks } = this.#plan;
    return {
      session: 'session', job, size: hosts * ranks,
      nowMs: () => this.#nowMs,
      after: (delayMs, call): Timer => {
        let isSet = true;
        this.#at(this.#nowMs + Math.max(0, delayMs), () => {
          if (isSet && !place.isClosed && !place.isLost) call();
        });
        return { cancel: () => void (isSet = false) };
      },
      warn: (text) => this.#say(place, `warns: ${text}`),
    };
  }

  #hostPart(place: Place): ServiceHost {
    return {
      ...this.#part(place), host: place.position, hostName: `h${place.position}`,
      send: (body) => this.#send(place, CONTROLLER, body),
      listen: (accept, done) => {
        this.#at(this.#nowMs + 1, () => {
          if (place.isLost || place.isClosed) return;
          done(undefined, `/tmp/service-${place.position}`);
          const programs = this.#lives.filter(({ host }) => host === place.position);
          for (const { rank } of programs) {
            this.#at(this.#nowMs + 5 + this.#below(40), () => {
              if (!place.isLost && !place.isClosed) this.#connect(place, `a program of rank ${rank}`, accept);
            });
          }
        });
      },
    };
  }

  #controllerPart(place: Place): ServiceController {
    return {
      ...this.#part(place),
      hosts: this.#places.map(({ position }) => position),
      hostOf: (rank) => Math.floor(rank / this.#plan.ranks),
      send: (host, body) => this.#send(place, host, body),
      sendAll: (body) => this.#places.forEach(({ position }) => this.#send(place, position, body)),
      spawn: (_request, done) => done(undefined, 'no slots are left'),
    };
  }

  #send(from: Place, to: number, body: unknown): void {
    if (from.isClosed) this.#find('close', `the part at the ${from.name} sends after it was closed`);
    if (from.isClosed || from.isLost) return;
    let bytes: Uint8Array;
    try {
      bytes = encode(body);
    } catch (thrown) {
      return this.#find('plain', `the ${from.name} sends what cannot be encoded: ${(thrown as Error).message}`);
    }
    if (bytes.length > SERVICE_BODY_BYTES_MAX) this.#find('plain', `the ${from.name} sends ${bytes.length} bytes`);
    const isPlace = to === CONTROLLER || this.#places[to] !== undefined;
    if (!isPlace) return this.#find('plain', `the ${from.name} sends to host ${to}, which the job does not have`);
    this.#say(from, `sends to ${to}: ${hex(bytes)}`);
    const atMs = Math.max(from.lastMs.get(to) ?? 0, this.#nowMs + 1 + this.#below(5));
    from.lastMs.set(to, atMs);
    this.#at(atMs, () => this.#receive(from, to, decode(bytes)));
  }

  #receive(from: Place, to: number, body: unknown): void {
    if (to === CONTROLLER) {
      const { controller, isClosed } = this.#controller ?? this.#openController();
      if (!isClosed) controller.onMessage?.(from.position, body);
      return;
    }
    const { host, isLost, isClosed } = this.#places[to] as Place;
    if (!isLost && !isClosed) host.onMessage?.(body);
  }

  #openController(): Place {
    const place = new Place(CONTROLLER);
    this.#controller = place;
    const module = this.#create();
    if (module.atController === undefined) this.#find('plain', 'a host sends, and there is no part at the controller');
    place.controller = module.atController?.(this.#controllerPart(place)) ?? {};
    for (const { rank, isOver } of this.#lives) if (isOver) place.controller.onEnd?.(rank, undefined);
    return place;
  }

  /** A program at the other end: it says nothing and leaves, or says anything. */
  #connect(place: Place, label: string, accept: (channel: Channel) => void): void {
    let events: ChannelEvents | undefined;
    let isOpen = true;
    const close = (reason: string): void => {
      if (!isOpen) return;
      isOpen = false;
      this.#at(this.#nowMs, () => events?.onClose(reason));
    };
    const isThere = (): boolean => isOpen && events !== undefined && !place.isLost && !place.isClosed;
    accept({
      kind: 'unix', label, queuedBytes: 0,
      bind: (own) => void (events = own),
      send: (chunks) => {
        if (place.isClosed) this.#find('close', `the part at the ${place.name} writes to ${label} after it was closed`);
        this.#say(place, `writes to ${label}: ${chunks.map(hex).join('')}`);
        return true;
      },
      readable: () => undefined, close: () => close('closed'), destroy: close,
    });
    let left = this.#plan.isHostile === true ? this.#below(6) : 0;
    const talk = (): void => {
      if (!isThere()) return;
      if (left-- > 0) events?.onData(this.#drawn());
      else close('end of file');
      this.#at(this.#nowMs + 1 + this.#below(10), talk);
    };
    this.#at(this.#nowMs + 1 + this.#below(10), talk);
  }

  /** Any bytes, or words as programs write them. */
  #drawn(): Uint8Array {
    const length = this.#below(40);
    const isText = this.#below(2) === 0;
    const byte = (): number => (isText ? (this.#below(8) === 0 ? 0x0a : 0x20 + this.#below(95)) : this.#below(256));
    return Uint8Array.from({ length }, byte);
  }
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
