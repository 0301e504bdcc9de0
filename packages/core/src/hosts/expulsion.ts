/**
 * Expulsion, at the controller: the agent that started one which sent malformed data closes the link to it, and it is
 * lost, as if it had died. A session agent's link is closed by its root agent; if that fails, the root agent's link is
 * closed. An agent may only report failures of agents that it started.
 */

import {
  StciError,
  addressIndex,
  addressKind,
  addressName,
  rootAddress,
  sessionAddress,
  type Address,
  type HostIndex,
  type JobId,
} from '@stci/interface';
import type { MessageContext } from '../am/message-layer.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import { LinkGuard } from '../node/peer-guard.js';
import type { Bootstrap } from './bootstrap.js';

/** How long a root agent may take to close a link. */
const EXPEL_MS = 1000;

export interface ExpulsionInit {
  readonly node: AgentNode;
  /** undefined: no agent has been started yet. */
  bootstrap(): Bootstrap | undefined;
  /** `job`: that of a session agent; else 0. */
  onLost(agent: Address, job: JobId, error: StciError): void;
}

export class Expulsion {
  readonly #init: ExpulsionInit;
  readonly #guard: LinkGuard;

  constructor(init: ExpulsionInit) {
    this.#init = init;
    this.#guard = new LinkGuard(init.node, (agent, error, job) => this.#expel(agent, job, error));
  }

  /**
   * Returns the failure of `agent` that `source` reports: its text, under a permitted code and with the true host.
   * Throws STCI_MESSAGE_INVALID if `source` did not start `agent`.
   */
  acceptReport({ source, job }: MessageContext, { agent, error }: MessageBody<'agent.failed'>): StciError {
    const { code, message, data } = error;
    const kind = addressKind(agent);
    const host = addressIndex(agent);
    const isOwnSession = kind === 'session' && agent === sessionAddress(host) && source === rootAddress(host);
    const isBelow = kind === 'root' && this.#isBelow(host, source);
    if (!isOwnSession && !isBelow) {
      throw new StciError('STCI_MESSAGE_INVALID', `${addressName(source)} did not start ${addressName(agent)}`);
    }
    // This report is the last message of the agent; its replacement starts without its faults.
    if (kind === 'root') this.forgive(host);
    else {
      this.#guard.forgive(agent, job);
      this.#init.node.messages.transport.drop(agent, job); // A root agent may be linked again.
    }
    const known = code === 'STCI_LAUNCH_FAILED' ? code : 'STCI_AGENT_LOST';
    const name = (this.#init.bootstrap() as Bootstrap).table.nameOf(host);
    return new StciError(known, message, { host: name, agent: addressName(agent), data });
  }

  /** Other agents of the host have taken, or will take, the place of those with the faults. */
  forgive(host: HostIndex): void {
    this.#guard.forgive(rootAddress(host), 0);
    this.#guard.forgive(sessionAddress(host));
  }

  #isBelow(host: HostIndex, source: Address): boolean {
    const table = this.#init.bootstrap()?.table;
    if (table === undefined || host >= table.size) return false;
    if (source === this.#init.node.identity.self) return true;
    return addressKind(source) === 'root' && table.isAbove(addressIndex(source), host);
  }

  #expel(agent: Address, job: JobId, cause: StciError): void {
    const bootstrap = this.#init.bootstrap();
    const kind = addressKind(agent);
    const host = addressIndex(agent);
    const isOurs = bootstrap !== undefined && (kind === 'root' || kind === 'session')
      && host < bootstrap.table.size;
    if (!isOurs) return;
    const name = bootstrap.table.nameOf(host);
    const reason = `it sent malformed data: ${cause.message}`;
    if (kind === 'session') {
      this.#ask(rootAddress(host), agent, job, reason, () => this.#expelRoot(bootstrap, host, reason));
    } else this.#expelRoot(bootstrap, host, reason);
    const text = `Agent ${addressName(agent)} on host ${name} is lost: ${reason}`;
    const error = new StciError('STCI_AGENT_LOST', text, { host: name, agent: addressName(agent) });
    this.#init.onLost(agent, job, error);
  }

  #expelRoot(bootstrap: Bootstrap, host: HostIndex, reason: string): void {
    const { parent } = bootstrap.table.get(host);
    if (parent === undefined) bootstrap.below.expel(host, reason);
    else this.#ask(rootAddress(parent), rootAddress(host), 0, reason, () => undefined);
  }

  #ask(starter: Address, agent: Address, job: JobId, reason: string, onFailed: () => void): void {
    const { messages } = this.#init.node;
    const done = (error: StciError | undefined): void => error && onFailed();
    messages.request(starter, 'agent.expel', { agent, reason }, done, { timeoutMs: EXPEL_MS, job });
  }
}
