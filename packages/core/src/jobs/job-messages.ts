/** Messages of session agents to their job at the controller; those of a job that is over are late. */

import type { JobId } from '@stci/interface';
import type { RankEnd } from '../job/ledger.js';
import type { AgentNode } from '../node/node.js';
import type { ControllerJob } from './controller-job.js';

export function listenForJobs(
  messages: AgentNode['messages'], jobOf: (job: JobId) => ControllerJob | undefined,
): void {
  messages.on('job.started', ({ host, ranks }, { job }) => jobOf(job)?.onStarted(host, ranks));
  messages.on('job.restarting', (ends, { job }) => jobOf(job)?.onRestarting(ends));
  messages.on('job.unread', ({ host }, { job }) => jobOf(job)?.front.onUnread(host));
  messages.on('job.exited', ({ host, ranks }, { job }) => jobOf(job)?.onExited(host, ranks as readonly RankEnd[]));
  messages.on('job.drained', (drained, { job }) => jobOf(job)?.onDrained(drained));
}
