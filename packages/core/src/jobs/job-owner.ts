/** The front-end that submitted a job: it is told what becomes of it. */

import {
  toErrorRecord, type Address, type JobEvent, type JobId, type JobReport, type StciError,
} from '@stci/interface';
import { needsOwner } from '../am/requests.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';

export class JobOwner {
  readonly #node: Pick<AgentNode, 'messages' | 'platform'>;
  readonly #address: Address;
  readonly #job: JobId;
  readonly #onUnsent: (error: StciError) => void;

  /** `onUnsent`: what the job needs cannot be told; in a later turn, because it is in the middle of telling. */
  constructor(
    node: Pick<AgentNode, 'messages' | 'platform'>, address: Address, job: JobId, onUnsent: (error: StciError) => void,
  ) {
    this.#node = node;
    this.#address = address;
    this.#job = job;
    this.#onUnsent = onUnsent;
  }

  emit(event: JobEvent): void {
    this.send('job.event', event);
  }

  /** In parts: a report of many ranks, or of failures with long texts, would exceed the largest message. */
  tellEnd(report: JobReport): void {
    for (const error of report.failures) this.send('job.failure', { error });
    const summary = { ...report, ranks: [], failures: [] };
    const error = this.send('job.event', { type: 'ended', report: summary });
    // It waits for nothing else.
    const least = { ...summary, daemons: [], cause: error && toErrorRecord(error) };
    if (needsOwner(error)) this.emit({ type: 'ended', report: least });
  }

  send<Name extends `job.${'event' | 'failure' | 'host.lost' | 'host.joined'}`>(
    name: Name, body: MessageBody<Name>,
  ): StciError | undefined {
    const error = this.#node.messages.send(this.#address, name, body, this.#job);
    this.check(error);
    return error;
  }

  /** Of what was sent to the job's agents, too. */
  check(error: StciError | undefined): void {
    if (needsOwner(error)) this.#node.platform.clock.soon(() => this.#onUnsent(error));
  }
}
