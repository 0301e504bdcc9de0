/** The session's end of an experiment: what one front-end's connection asks of the controller's fault control. */

import type { FaultReport } from '@stci/interface';
import type { Answer } from '../am/answer.js';
import type { MessageLayer } from '../am/message-layer.js';
import type { ExperimentOwner, SessionFaults } from '../injection/fault-contracts.js';
import type { LateCalls } from './late-calls.js';
import type { SessionJobs } from './session-jobs.js';

/** Fault injection is loaded when the first of these comes. */
export const EXPERIMENT_MESSAGES =
  ['client.experiment', 'client.reports', 'client.inject', 'client.undo', 'client.clocks'] as const;

export interface ExperimentEndpointInit {
  readonly messages: MessageLayer;
  readonly calls: LateCalls;
  readonly faults: SessionFaults;
  readonly service: Pick<SessionJobs, 'stop'>;
}

export class ExperimentEndpoint implements ExperimentOwner {
  readonly #init: ExperimentEndpointInit;
  #reports: Answer<'client.reports'> | undefined;
  /** The session is stopped when this front-end is gone. */
  #ownsSession = false;

  constructor(init: ExperimentEndpointInit) {
    this.#init = init;
    const { messages, calls, faults } = init;
    messages.on('client.experiment', ({ terms }) => {
      faults.begin(this, terms);
      this.#ownsSession = terms.ownsSession;
    });
    messages.on('client.inject', ({ orders }) => faults.inject(this, orders));
    calls.on('client.reports', (_body, answer) => void (this.#reports = answer));
    calls.on('client.undo', ({ id }, answer) => faults.undo(this, id, (left) => answer.done(left)));
    calls.on('client.clocks', (_body, answer) => faults.clocks((clocks) => answer.done(clocks)));
  }

  onReport(report: FaultReport): void {
    this.#reports?.part(report);
  }

  onAbandoned(reason: string): void {
    if (this.#ownsSession) this.#init.service.stop(reason);
  }

  /** The front-end has gone. */
  close(): void {
    if (!this.#init.faults.leave(this)) this.onAbandoned('the front-end of the experiment has gone');
  }
}
