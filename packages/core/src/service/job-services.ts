/**
 * The services of one job, at its session agent on one host: those that want to take part in it. Messages for them wait
 * until the job is launched and their code is loaded.
 */

import { caught, toErrorRecord, type StciError, type Channel, type ErrorRecord, type Rank } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import type { AgentNode } from '../node/node.js';
import type { JobPlace, JobService, Service, ServiceCode } from './contracts.js';

export class JobServices {
  readonly #services: readonly Service[];
  readonly #open: JobService[] = [];
  /** By service, who waits for its handlers. */
  readonly #waiting = new Map<Service, ((error?: StciError) => void)[]>();
  readonly #holds: Scope;

  constructor(services: readonly Service[], { messages }: Pick<AgentNode, 'messages'>, holds: Scope) {
    this.#services = services;
    this.#holds = holds;
    for (const service of services) {
      const { job = [] } = service.messages;
      this.#waiting.set(service, []);
      if (job.length > 0) messages.lazy.add(job, (done) => this.#await(service, done));
    }
  }

  /** Calls `done` when the job's ranks can be started, or with why they cannot; never if it is closed before. */
  open(place: Omit<JobPlace, 'holds'>, done: (error?: ErrorRecord) => void): void {
    const { params, scope } = place;
    const [wanted, refusal] = tried(() => this.#services.filter((each) => each.wants?.(params, scope) === true));
    if (wanted === undefined) return done(refusal);
    for (const service of this.#services) if (!wanted.includes(service)) this.#settled(service);
    const next = (error?: ErrorRecord): void => {
      if (this.#holds.isClosed) return;
      const service = error === undefined ? wanted.shift() : undefined;
      if (service === undefined) done(error);
      else this.#load(service, place, next);
    };
    next();
  }

  /** The process of a rank is about to be started: returns variables of its environment. */
  add(rank: Rank, attempt: number): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.#open.map((service) => service.add(rank, attempt))) as Record<string, string>;
  }

  /** Gets the other end of the socket that it inherits, once it runs; undefined: it inherits none. */
  socketOf(rank: Rank): ((channel: Channel) => void) | undefined {
    return this.#open.map((service) => service.socketOf?.(rank)).find((found) => found !== undefined);
  }

  /** Why an end with status 0 is a failure. */
  complaintOf(rank: Rank): ErrorRecord | undefined {
    return this.#open.map((service) => service.complaintOf?.(rank)).find((found) => found !== undefined);
  }

  defaults(): Readonly<Record<string, string>> {
    return Object.assign({}, ...this.#open.map((service) => service.defaults?.())) as Record<string, string>;
  }

  onStarted(): void {
    for (const service of this.#open) service.onStarted?.();
  }

  /** It has ended. */
  remove(rank: Rank, isWell = false): void {
    for (const service of this.#open) service.remove(rank, isWell);
  }

  onRankFailed(rank: Rank, attempt: number, reason: string): void {
    for (const service of this.#open) service.onRankFailed?.(rank, attempt, reason);
  }

  /** Has the program of a rank end itself. Returns why it cannot be told. */
  exit(rank: Rank, status: number): string | undefined {
    const asked = this.#open.filter(({ exit }) => exit !== undefined);
    const problems = asked.map((service) => service.exit?.(rank, status));
    if (problems.length > 0) return problems.includes(undefined) ? undefined : problems.join('; ');
    return `rank ${rank} cannot be told to end: its program would have to use the client library: the job was started `
      + 'without --client';
  }

  #load(service: Service, place: Omit<JobPlace, 'holds'>, next: (error?: ErrorRecord) => void): void {
    const load = service.job === undefined ? service.code.use.bind(service.code)
      : (done: (code: Pick<ServiceCode, 'job'>, error?: StciError) => void) => done(service as ServiceCode);
    load((code, error) => {
      if (this.#holds.isClosed) return;
      const open = (): JobService | undefined => code?.job?.({ ...place, holds: this.#holds });
      const [opened, refusal = error && toErrorRecord(error)] = tried(open);
      this.#settled(service, error);
      if (opened === undefined) return next(refusal);
      this.#open.push(opened);
      opened.open(next);
    });
  }

  #await(service: Service, done: (error?: StciError) => void): void {
    const waiting = this.#waiting.get(service);
    if (waiting === undefined) done();
    else waiting.push(done);
  }

  /** It has its handlers, or none will come. */
  #settled(service: Service, error?: StciError): void {
    const waiting = this.#waiting.get(service) ?? [];
    this.#waiting.delete(service);
    for (const done of waiting) done(error);
  }
}

/** What cannot be chosen or made is told to the job, whose ranks are not started. */
function tried<Result>(call: () => Result): readonly [Result | undefined, ErrorRecord?] {
  return caught<readonly [Result | undefined, ErrorRecord?]>(() => [call()], (own) => [undefined, toErrorRecord(own)]);
}
