/**
 * The end of a job that is ended: its session agents end the ranks; if ends of ranks are missing some time after the
 * grace period, SIGKILL follows, and then hosts that do not answer are given up.
 */

import type { JobId } from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';

/** How long after the grace period the ends of ranks are awaited: before SIGKILL, and again before the job is over. */
export const END_REPORT_MS = 5000;

/** Time from SIGTERM to SIGKILL where a batch system takes the hosts, at most; tool.grace may be less. */
export const ALLOCATION_GRACE_MS = 15_000;

export interface JobTerminationInit {
  readonly node: AgentNode;
  /** Of the job. */
  readonly holds: Scope;
  readonly job: JobId;
  readonly graceMs: number;
  isComplete(): boolean;
  onOverdue(): void;
}

export class JobTermination {
  readonly #init: JobTerminationInit;
  #sent: MessageBody<'job.end'> | undefined;
  readonly #timers: Timers<'ends' | 'shortGrace'>;

  constructor(init: JobTerminationInit) {
    this.#init = init;
    this.#timers = new Timers(init.node.platform.clock, init.holds);
  }

  /** Sent once, and again only to kill the ranks: further failures of an ending job change nothing for its hosts. */
  send(kill: boolean, reason: string): void {
    if (this.#sent !== undefined && (this.#sent.kill || !kill)) return;
    this.#sent = { kill, reason };
    this.#init.node.messages.sendSubtree('job.end', this.#sent, this.#init.job);
  }

  /** Output may take as long as its reader needs; the ends of the ranks may not. */
  await(): void {
    const { graceMs, isComplete, onOverdue } = this.#init;
    this.#timers.ensure('ends', graceMs + END_REPORT_MS, () => {
      if (isComplete()) return;
      this.send(true, 'the job does not end');
      this.#timers.set('ends', END_REPORT_MS, onOverdue);
    });
  }

  /** Who takes the hosts gives less time: SIGKILL follows after `graceMs` at the latest. */
  shortenGrace(graceMs: number): void {
    const waitMs = Math.min(graceMs, this.#init.graceMs);
    this.#timers.ensure('shortGrace', waitMs, () => this.send(true, 'the hosts are taken'));
  }
}
