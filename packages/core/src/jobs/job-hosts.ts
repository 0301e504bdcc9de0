/** The session agents of a job, as the controller knows them: who is lost, who has ranks and has not drained. */

import type { HostIndex, JobMap } from '@stci/interface';

export class JobHosts {
  readonly #lost = new Set<HostIndex>();
  readonly #undrained = new Set<HostIndex>();
  /** Something has been heard of the session agent that is there now. */
  readonly #hasReported = new Set<HostIndex>();
  /** Session agents that were lost there. */
  readonly #losses = new Map<HostIndex, number>();

  onMapped(map: JobMap): void {
    this.#undrained.clear();
    for (const { host, runs } of map.hosts) if (runs.length > 0) this.#undrained.add(host);
  }

  /** A report of the host; a late one of a session agent that was given up does not count. */
  onReport(host: HostIndex): void {
    if (!this.#lost.has(host)) this.#hasReported.add(host);
  }

  /** The host is lost: no further report is awaited. */
  onLost(host: HostIndex): void {
    this.#lost.add(host);
    this.#undrained.delete(host);
    this.#hasReported.delete(host);
  }

  isLost(host: HostIndex): boolean {
    return this.#lost.has(host);
  }

  /** The host's session agent is lost. */
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

  /** The job was not launched, or is over: nothing is awaited. */
  clear(): void {
    this.#undrained.clear();
  }

  /** Hosts whose session agent is there, as far as is known. */
  get present(): HostIndex[] {
    return [...this.#hasReported].filter((host) => this.#undrained.has(host));
  }

  get undrained(): ReadonlySet<HostIndex> {
    return this.#undrained;
  }
}
