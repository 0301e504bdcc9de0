/** The job of one repeat: submitted, followed in its events and output, told to end. */

import type { AcceptedJob } from '@stci/core/session';
import {
  StciError, type Clock, type FrontEnd, type FrontEndEvents, type JobEvent, type JobReport, type Rank,
} from '@stci/interface';
import type { HistoryEntry } from '../history/contracts.js';
import type { OpenedTarget } from './contracts.js';
import type { Injector } from './injector.js';
import { OutputLog } from './output-log.js';
import { lateError, type Answer } from './repeat-session.js';
import { Timers } from './timers.js';

/** How long the session may take to accept it. */
const ACCEPT_MS = 60_000;

export interface RepeatJobInit {
  readonly repeat: number;
  readonly target: OpenedTarget;
  /** Is told what its triggers wait for. */
  readonly injector: Injector;
  readonly clock: Clock;
  readonly outputBytesMax: number;
  record(entry: HistoryEntry): void;
  onRunning(): void;
  onProblem(text: string): void;
  /** One of these is called once. Lost: the connection has ended. */
  onEnded(report: JobReport): void;
  onLost(why: string): void;
}

export class RepeatJob implements FrontEndEvents {
  readonly #init: RepeatJobInit;
  readonly #timers: Timers;
  readonly #output: OutputLog;
  #frontEnd: FrontEnd | undefined;
  #isOver = false;
  #isClosed = false;

  constructor(init: RepeatJobInit) {
    this.#init = init;
    this.#timers = new Timers(init.clock);
    this.#output = new OutputLog(init.repeat, init.outputBytesMax, init.record);
  }

  get isAccepted(): boolean {
    return this.#frontEnd !== undefined;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  submit(done: Answer<AcceptedJob>): void {
    const { repeat, target, record, onProblem } = this.#init;
    const { client, spec, label, session, hosts } = target;
    const request = { wait: false, detach: false, label };
    const late = (): void => done(lateError('accept the job', ACCEPT_MS));
    const submit = (answer: Answer<AcceptedJob>): void => client.submit(spec, request, () => undefined, answer);
    this.#timers.within(ACCEPT_MS, submit, (error, accepted) => {
      if (this.#isClosed) return;
      if (accepted === undefined) return done(error ?? new StciError('STCI_INTERNAL', 'no job'));
      record({ type: 'target', repeat, session, job: accepted.job, hosts });
      this.#frontEnd = client.follow(this, () => onProblem('output was dropped before it could be recorded'));
      this.#frontEnd.submit(spec);
      done(undefined, accepted);
    }, late);
  }

  /** By TERM, or SIGKILL. */
  end(kill: boolean, reason: string): void {
    this.#frontEnd?.control({ verb: 'end', kill, reason });
  }

  /** Nothing more is recorded of it. */
  close(): void {
    this.#isClosed = true;
    this.#timers.cancelAll();
  }

  onJobEvent(event: JobEvent): void {
    if (this.#isClosed || this.#isOver) return;
    const { repeat, record, injector, onRunning } = this.#init;
    record({ type: 'event', repeat, event });
    injector.onJobEvent(event);
    if (event.type === 'running') onRunning();
    if (event.type === 'ended') this.#end(event.report);
  }

  onOutput(rank: Rank, stream: 'stdout' | 'stderr', chunk: Uint8Array, wallMs: number, release: () => void): void {
    if (!this.#isClosed) {
      const text = this.#output.add(rank, stream, chunk, wallMs);
      this.#init.injector.onOutput(rank, stream, text);
    }
    release();
  }

  onStdinDrain(): void {}

  onStdinClosed(): void {}

  /** The connection has ended. */
  onStopped(): void {
    this.#end(undefined);
  }

  #end(report: JobReport | undefined): void {
    if (this.#isOver || this.#isClosed) return;
    this.#isOver = true;
    // A connection that has ended makes a report of its own, of no job.
    const isLost = report === undefined || report.job === 0;
    if (isLost) this.#init.onLost(report?.cause?.message ?? 'The connection to the session has ended.');
    else this.#init.onEnded(report);
  }
}
