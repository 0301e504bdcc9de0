/** The session agents of a job, one row a host, as the controller knows them: who is lost, who has not drained. */

import type { HostIndex, JobMap } from '@stci/interface';
import { nextState, type LifeTable } from '../event/lifecycle.js';

type JobHostState =
  /** None of the job's ranks are there, or none is left. */
  | 'unused'
  /** Ranks are to be started there, and nothing has been heard of the session agent. */
  | 'awaited'
  | 'present'
  /** The session agent has told all that its ranks wrote, and their ends. */
  | 'drained'
  | 'lost';

type JobHostEvent =
  /** Ranks are to be started there, by another session agent if it was lost. */
  | 'start'
  /** A message of the session agent; a late one of an agent that was given up does not count. */
  | 'report'
  | 'drain'
  | 'lose'
  /** The job was not launched, or is over: nothing is awaited. */
  | 'forget';

export const JOB_HOST_LIFE: LifeTable<JobHostState, JobHostEvent> = {
  of: 'a host of a job',
  first: 'unused',
  rows: {
    unused: { start: 'awaited', report: 'drained', drain: 'unused', lose: 'lost', forget: 'unused' },
    awaited: { start: 'awaited', report: 'present', drain: 'unused', lose: 'lost', forget: 'unused' },
    present: { start: 'present', report: 'present', drain: 'drained', lose: 'lost', forget: 'drained' },
    drained: { start: 'present', report: 'drained', drain: 'drained', lose: 'lost', forget: 'drained' },
    lost: { start: 'awaited', report: 'lost', drain: 'lost', lose: 'lost', forget: 'lost' },
  },
};

interface JobHost {
  state: JobHostState;
  /** Session agents that were lost there. */
  losses: number;
}

export class JobHosts {
  readonly #rows = new Map<HostIndex, JobHost>();
  #undrained = 0;

  onMapped(map: JobMap): void {
    this.clear();
    for (const { host, runs } of map.hosts) if (runs.length > 0) this.onStarting(host);
  }

  onReport(host: HostIndex): void {
    this.#apply(host, 'report');
  }

  /** The host is lost: no further report is awaited. */
  onLost(host: HostIndex): void {
    this.#apply(host, 'lose');
  }

  isLost(host: HostIndex): boolean {
    return this.#rows.get(host)?.state === 'lost';
  }

  /** The host's session agent is lost. */
  countLoss(host: HostIndex): void {
    this.#row(host).losses += 1;
  }

  losses(host: HostIndex): number {
    return this.#rows.get(host)?.losses ?? 0;
  }

  onStarting(host: HostIndex): void {
    this.#apply(host, 'start');
  }

  onDrained(host: HostIndex): void {
    this.#apply(host, 'drain');
  }

  clear(): void {
    for (const host of this.#rows.keys()) this.#apply(host, 'forget');
  }

  /** Hosts whose session agent is there, as far as is known. */
  get present(): HostIndex[] {
    return this.#in('present');
  }

  get isDrained(): boolean {
    return this.#undrained === 0;
  }

  get undrained(): HostIndex[] {
    return this.#in('awaited', 'present');
  }

  #in(...states: readonly JobHostState[]): HostIndex[] {
    return [...this.#rows].flatMap(([host, { state }]) => (states.includes(state) ? host : []));
  }

  #apply(host: HostIndex, event: JobHostEvent): void {
    const row = this.#row(host);
    const before = isUndrained(row);
    row.state = nextState(JOB_HOST_LIFE, row.state, event);
    this.#undrained += Number(isUndrained(row)) - Number(before);
  }

  #row(host: HostIndex): JobHost {
    const row = this.#rows.get(host) ?? { state: JOB_HOST_LIFE.first, losses: 0 };
    this.#rows.set(host, row);
    return row;
  }
}

function isUndrained({ state }: JobHost): boolean {
  return state === 'awaited' || state === 'present';
}
