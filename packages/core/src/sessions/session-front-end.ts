/** A front-end of a job of a session: its records, as they come within credit, for the run; its input, for the job. */

import {
  toErrorRecord, type FrontEnd, type FrontEndEvents, type JobControl, type JobEvent, type JobReport, type StciError,
  type ErrorRecord, type HostMap, type JobMap, type RankReport,
} from '@stci/interface';
import { SendWindow } from '../event/window.js';
import { sourceRank, sourceStream } from '../iof/source.js';
import { placements } from '../job/placement.js';
import { costOf, inputCost, type Reported, type Tally, type WireRecord } from '../messages/records.js';
import type { SessionCalls } from './session-calls.js';
import { UnackedRecords } from './unacked-records.js';

/** Credit of this front-end: records that it has not yet dealt with. */
export const CREDIT_BYTES = 1 << 20;
/** Credit is returned in portions. */
const PORTION_BYTES = CREDIT_BYTES / 8;
/** Input that may be under way. */
export const INPUT_BYTES = 256 * 1024;

export interface FollowedSession extends SessionCalls {
  close(): void;
  leave(): void;
}

export class SessionFrontEnd implements FrontEnd {
  readonly #session: FollowedSession;
  readonly #events: FrontEndEvents;
  readonly #onMissed: () => void;
  /**
   * Its copy of the job's report: the session sends each rank's when the rank ends, and failures before the end of the
   * job, so that the size of the last message does not depend on the number of ranks.
   */
  readonly #ranks: RankReport[] = [];
  readonly #failures: ErrorRecord[] = [];
  /** It may change until the launch, when no rank has ended; later the places of ranks, and it may get further ones. */
  #map: JobMap | undefined;
  #isEnded = false;
  #isStopping = false;
  readonly #unshown = new UnackedRecords();
  /** Dealt with, and not yet returned as credit. */
  #done = 0;
  readonly #input = new SendWindow(INPUT_BYTES);
  readonly #missed: Tally = new Map();

  constructor(session: FollowedSession, events: FrontEndEvents, onMissed: () => void) {
    this.#session = session;
    this.#events = events;
    this.#onMissed = onMissed;
  }

  /** The session has the job: its records may come. */
  submit(): void {
    this.#session.call('client.follow', {}, (error) => error && this.onLost(error), ({ records, missed, unread }) => {
      this.#onRecords(records, new Map(missed));
      if (unread) this.#events.onStdinClosed();
    });
  }

  control(control: JobControl): void {
    this.#session.tell('client.control', control);
  }

  writeStdin(data: Uint8Array): boolean {
    const cost = inputCost(data);
    const hasRoom = this.#input.spend(cost);
    this.#session.call('client.input', { data }, (error) => {
      if (error === undefined && this.#input.grant(cost)) this.#events.onStdinDrain();
    });
    return hasRoom;
  }

  closeStdin(): void {
    this.writeStdin(new Uint8Array(0));
  }

  /** The session's link has no lease. */
  announceSilence(): void {}

  /** Leaves when all that came is shown, so that no other front-end shows it again; the second time at once. */
  stop(): void {
    if (this.#isStopping || this.#unshown.openBytes === 0) {
      this.#grant(); // What is shown is not shown again.
      this.#leave();
    }
    this.#isStopping = true;
  }

  onLost(error: StciError): void {
    if (this.#isEnded) return;
    const record = toErrorRecord(error);
    this.#events.onJobEvent({ type: 'failure', error: record });
    this.#onEvent({
      type: 'ended',
      report: {
        job: 0, exitCode: error.exitCode, cause: record, failures: [], ranks: [], daemons: [],
        submitWallMs: 0, endWallMs: 0,
      },
    });
  }

  #onRecords(records: readonly WireRecord[], missed: Tally): void {
    if (missed.size > 0) this.#onMissed();
    for (const [source, bytes] of missed) this.#missed.set(source, (this.#missed.get(source) ?? 0) + bytes);
    const releases = records.map((record) => this.#open(costOf(record)));
    for (const [index, record] of records.entries()) {
      const release = releases[index] as () => void;
      if (Array.isArray(record)) {
        const [source, wallMs, chunk] = record as Extract<WireRecord, readonly unknown[]>;
        this.#events.onOutput(sourceRank(source), sourceStream(source), chunk, wallMs, release);
      } else {
        this.#onEvent(record as Exclude<WireRecord, readonly unknown[]>);
        release();
      }
    }
  }

  #onEvent(event: JobEvent | Reported): void {
    switch (event.type) {
      case 'reported':
        return void this.#failures.push(event.error);
      case 'mapped':
        this.#map = event.map;
        break;
      case 'exited':
        this.#ranks[event.report.rank] = event.report;
        break;
      case 'ended':
        if (this.#isEnded) return;
        this.#isEnded = true;
        return this.#events.onJobEvent({ type: 'ended', report: this.#complete(event.report) });
    }
    this.#events.onJobEvent(event);
  }

  /** The whole report. A rank without a report was never started. */
  #complete(summary: JobReport): JobReport {
    const { hosts } = this.#map ?? { hosts: [] };
    for (const { rank, host, app } of this.#map === undefined ? [] : placements(this.#map)) {
      const { name } = hosts[host] as HostMap;
      this.#ranks[rank] ??= { rank, host: name, app, pid: 0, outcome: 'not-started', leftovers: 0 };
    }
    const own = this.#map !== undefined && { ranks: this.#ranks, failures: this.#failures };
    const report = { ...summary, ...own };
    const dropped = [...this.#missed].filter(([, bytes]) => bytes > 0).sort(([a], [b]) => a - b)
      .map(([source, bytes]) => ({ rank: sourceRank(source), stream: sourceStream(source), bytes }));
    return dropped.length === 0 ? report : { ...report, dropped };
  }

  #open(cost: number): () => void {
    const onDone = this.#unshown.add(cost);
    return () => {
      onDone();
      this.#done += cost;
      // At once where nothing is left: who attaches next sees what this front-end has not shown.
      const isLast = this.#unshown.openBytes === 0;
      if (this.#done < PORTION_BYTES && !isLast) return;
      this.#grant();
      if (this.#isStopping && isLast) this.#leave();
    };
  }

  #leave(): void {
    if (this.#isEnded) this.#session.close();
    else this.#session.leave();
  }

  #grant(): void {
    if (this.#done > 0) this.#session.tell('client.credit', { bytes: this.#done, shown: this.#unshown.takeShown() });
    this.#done = 0;
  }
}
