/**
 * The job's events as JSON: on standard output (`--json`), and in a file with the times at which they came
 * (`--events`). `ended` is written after all output, since a failed write can still change the exit code.
 */

import type { Clock, FailureRecord, HostIndex, JobEvent, JobMap, JobReport } from '@stci/interface';
import type { EventFile, RunScreen } from './contracts.js';
import { eventJson } from './event-json.js';

export interface EventLogInit {
  readonly clock: Clock;
  /** undefined: not on standard output. */
  readonly screen: RunScreen | undefined;
  readonly file: EventFile | undefined;
}

export class EventLog {
  /** Of the failures, in the order in which they were told. */
  readonly records: FailureRecord[] = [];
  readonly #init: EventLogInit;
  #map: JobMap;

  constructor(init: EventLogInit, map: JobMap) {
    this.#init = init;
    this.#map = map;
  }

  on(event: JobEvent): void {
    if (event.type === 'mapped') this.#map = event.map;
    if (event.type === 'failure-record') this.records.push(event.record);
    if (event.type === 'ended') return;
    this.#toScreen(event);
    this.#toFile(event);
  }

  /** Ends the file with the report as far as it is settled, if any. Calls back when all is written, or cannot be. */
  close(report: JobReport | undefined, done: () => void): void {
    const { file } = this.#init;
    if (file === undefined) return done();
    if (report !== undefined) this.#toFile({ type: 'ended', report });
    file.finish(done);
  }

  /** The end on standard output. */
  ended(report: JobReport): void {
    this.#toScreen({ type: 'ended', report });
  }

  /** Drops what is unwritten in the file: its reader does not read. */
  abandon(): void {
    this.#init.file?.abandon();
  }

  #toScreen(event: JobEvent): void {
    this.#init.screen?.event(eventJson(event, this.#hostName));
  }

  #toFile(event: JobEvent): void {
    const { clock, file } = this.#init;
    file?.write(eventJson(event, this.#hostName, { wallMs: clock.wallMs(), monotonicMs: clock.nowMs() }));
  }

  readonly #hostName = (host: HostIndex): string => this.#map.hosts[host]?.name ?? '?';
}
