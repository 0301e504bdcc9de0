/**
 * The session agents of one job, as the controller knows them: which are lost, which have ranks and have not drained,
 * and which may have output on its way.
 */

import { sessionAddress, type Clock, type HostIndex, type JobId, type JobMap, type Timer } from '@stci/interface';
import type { MessageLayer } from '../am/message-layer.js';

/** Before a session agent is asked again that could not be: the tree may be mended just now. */
const AGAIN_MS = 100;

interface Question {
  again: Timer | undefined;
}

export class JobHosts {
  readonly #clock: Clock;
  readonly #messages: Pick<MessageLayer, 'request'>;
  readonly #job: JobId;
  readonly #onSettled: () => void;
  readonly #lost = new Set<HostIndex>();
  readonly #undrained = new Set<HostIndex>();
  /** Linked again: they may have output on its way that was sent before what has come since. The last question each. */
  readonly #unsettled = new Map<HostIndex, Question>();
  /** Something has been heard of the session agent that is there now. */
  readonly #heard = new Set<HostIndex>();
  /** Linked again before that. */
  readonly #unheard = new Set<HostIndex>();
  /** Session agents that were lost there. */
  readonly #losses = new Map<HostIndex, number>();

  /** `onSettled`: a host that was linked again has sent what may have been lost. */
  constructor(clock: Clock, messages: Pick<MessageLayer, 'request'>, job: JobId, onSettled: () => void) {
    this.#clock = clock;
    this.#messages = messages;
    this.#job = job;
    this.#onSettled = onSettled;
  }

  onMapped(map: JobMap): void {
    this.#undrained.clear();
    for (const { host, runs } of map.hosts) if (runs.length > 0) this.#undrained.add(host);
  }

  /** Not a late one of a session agent that was given up. */
  onReport(host: HostIndex): void {
    if (this.#lost.has(host)) return;
    this.#heard.add(host);
    if (this.#unheard.delete(host)) this.#ask(host, { again: undefined });
  }

  /** No further report is awaited. */
  onLost(host: HostIndex): void {
    this.#lost.add(host);
    this.#unsettled.get(host)?.again?.cancel();
    for (const hosts of [this.#undrained, this.#unsettled, this.#heard, this.#unheard]) hosts.delete(host);
  }

  isLost(host: HostIndex): boolean {
    return this.#lost.has(host);
  }

  /** Its session agent is lost. */
  countLoss(host: HostIndex): void {
    this.#losses.set(host, 1 + this.losses(host));
  }

  losses(host: HostIndex): number {
    return this.#losses.get(host) ?? 0;
  }

  /** Ranks are to be started there, by another session agent if it was lost. */
  onStarting(host: HostIndex): void {
    this.#lost.delete(host);
    this.#undrained.add(host);
  }

  onDrained(host: HostIndex): void {
    this.#undrained.delete(host);
  }

  /**
   * Session agents are asked: what they say by themselves, when they see a new link, may come before it is known here
   * that they have one. One that has not been heard may not be there yet: it is asked at its first report, behind which
   * earlier output may still be on its way to the front-end.
   */
  onMended(hosts: Iterable<HostIndex>): void {
    for (const host of hosts) {
      if (this.#heard.has(host)) this.#ask(host, { again: undefined });
      else if (!this.#lost.has(host)) this.#unheard.add(host);
    }
  }

  /** Its answer, or its loss, comes: asked again, it is the same question. That it cannot be asked now says nothing. */
  #ask(host: HostIndex, question: Question): void {
    this.#unsettled.get(host)?.again?.cancel();
    this.#unsettled.set(host, question);
    this.#messages.request(sessionAddress(host), 'job.resend', {}, (error) => {
      if (this.#unsettled.get(host) !== question) return;
      if (error !== undefined && error.code !== 'STCI_AGENT_LOST') {
        question.again = this.#clock.after(AGAIN_MS, () => this.#ask(host, question));
        return;
      }
      this.#unsettled.delete(host);
      this.#onSettled();
    }, { job: this.#job });
  }

  /** The job was not launched, or is over: nothing is awaited. */
  clear(): void {
    this.#undrained.clear();
    for (const { again } of this.#unsettled.values()) again?.cancel();
    this.#unsettled.clear();
  }

  /** Those whose session agent is there, as far as is known. */
  get present(): HostIndex[] {
    return [...this.#heard].filter((host) => this.#undrained.has(host));
  }

  get isSettled(): boolean {
    return this.#undrained.size === 0 && this.#unsettled.size === 0;
  }
}
