/** The session's end of an experiment: what one front-end's connection asks of the controller's fault control. */

import type { FaultReport } from '@stci/interface';
import type { ExperimentOwner } from '../injection/fault-contracts.js';
import type { MessageBody, MessageName } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { SessionService } from './contracts.js';

export interface ExperimentEndpointInit {
  readonly node: AgentNode;
  readonly service: SessionService;
  send<Name extends MessageName>(name: Name, body: MessageBody<Name>): void;
}

export class ExperimentEndpoint implements ExperimentOwner {
  readonly #init: ExperimentEndpointInit;
  /** The session is stopped when this front-end is gone. */
  #ownsSession = false;

  constructor(init: ExperimentEndpointInit) {
    this.#init = init;
    const { node: { messages }, service, send } = init;
    messages.on('client.experiment', ({ terms }) => {
      service.faults.begin(this, terms);
      this.#ownsSession = terms.ownsSession;
    });
    messages.on('client.inject', ({ orders }) => service.faults.inject(this, orders));
    messages.on('client.undo', ({ id }) => service.faults.undo(this, id, (left) => {
      send('client.undone', { id, left: [...left] });
    }));
    messages.on('client.clocks', () => service.faults.clocks((clocks) => {
      send('client.clocked', { clocks: [...clocks] });
    }));
  }

  onReport(report: FaultReport): void {
    this.#init.send('client.fault', { report });
  }

  onAbandoned(reason: string): void {
    if (this.#ownsSession) this.#stop(reason);
  }

  /** The front-end has gone. */
  close(): void {
    const isAbandoned = this.#init.service.faults.leave(this);
    if (!isAbandoned && this.#ownsSession) this.#stop('the front-end of the experiment has gone');
  }

  #stop(reason: string): void {
    this.#init.service.stop(reason);
  }
}
