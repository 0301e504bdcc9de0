/** The front-end that submitted a job: it is told what becomes of it. */

import type { Address, JobEvent, JobId, JobReport } from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import type { AgentNode } from './node.js';

export class JobOwner {
  readonly #node: Pick<AgentNode, 'messages' | 'fault'>;
  readonly #address: Address;
  readonly #job: JobId;

  constructor(node: Pick<AgentNode, 'messages' | 'fault'>, address: Address, job: JobId) {
    this.#node = node;
    this.#address = address;
    this.#job = job;
  }

  emit(event: JobEvent): void {
    this.send('job.event', event);
  }

  /** In parts: a report of many ranks, or of failures with long texts, would exceed the largest message. */
  tellEnd(report: JobReport): void {
    for (const error of report.failures) this.send('job.failure', { error });
    this.emit({ type: 'ended', report: { ...report, ranks: [], failures: [] } });
  }

  send<Name extends `job.${'event' | 'failure' | 'host.lost' | 'host.joined'}`>(
    name: Name, body: MessageBody<Name>,
  ): void {
    try {
      this.#node.messages.send(this.#address, name, body, this.#job);
    } catch (fault) {
      this.#node.fault(fault, 'front-end'); // The front-end has gone: the end of its link stops the session.
    }
  }
}
