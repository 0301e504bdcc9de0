/**
 * The end of a job that is ended: its session agents end the ranks; if ends of ranks are missing some time after the
 * grace period, SIGKILL follows, and then hosts that do not answer are given up.
 */

import { Timers } from '../event/timers.js';
import type { MessageBody } from '../messages/messages.js';
import type { RecoveringJob } from './job-session.js';

/** How long after the grace period the ends of ranks are awaited: before SIGKILL, and again before the job is over. */
export const END_REPORT_MS = 5000;

/** Time from SIGTERM to SIGKILL where a batch system takes the hosts, at most; tool.grace may be less. */
export const ALLOCATION_GRACE_MS = 15_000;

type EndingJob = Pick<RecoveringJob, 'session' | 'holds' | 'job' | 'params' | 'ledger'>;

export class JobTermination {
  readonly #job: EndingJob;
  readonly #graceMs: number;
  /** Not all ends of ranks have been told in time. */
  readonly #onOverdue: () => void;
  #sent: MessageBody<'job.end'> | undefined;
  readonly #timers: Timers<'ends' | 'shortGrace'>;

  constructor(job: EndingJob, onOverdue: () => void) {
    this.#job = job;
    this.#graceMs = job.params.int('tool.grace');
    this.#onOverdue = onOverdue;
    this.#timers = new Timers(job.session.node.platform.clock, job.holds);
  }

  /** Sent once, and again only to kill the ranks: further failures of an ending job change nothing for its hosts. */
  send(kill: boolean, reason: string): void {
    if (this.#sent !== undefined && (this.#sent.kill || !kill)) return;
    this.#sent = { kill, reason };
    this.#job.session.node.messages.sendSubtree('job.end', this.#sent, this.#job.job);
  }

  /** Output may take as long as its reader needs; the ends of the ranks may not. */
  await(): void {
    this.#timers.ensure('ends', this.#graceMs + END_REPORT_MS, () => {
      if (this.#job.ledger.complete) return;
      this.send(true, 'the job does not end');
      this.#timers.set('ends', END_REPORT_MS, this.#onOverdue);
    });
  }

  /** Who takes the hosts gives less time: SIGKILL follows after `graceMs` at the latest. */
  shortenGrace(graceMs: number): void {
    const waitMs = Math.min(graceMs, this.#graceMs);
    this.#timers.ensure('shortGrace', waitMs, () => this.send(true, 'the hosts are taken'));
  }
}
