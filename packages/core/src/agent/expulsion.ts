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
  bootPosition,
  fromErrorRecord,
  rootAddress,
  sessionAddress,
  type Address,
  type ErrorRecord,
  type HostIndex,
} from '@stci/interface';
import type { Bootstrap } from './bootstrap.js';
import type { AgentNode } from './node.js';
import { LinkGuard } from './peer-guard.js';

/** How long a root agent may take to close a link. */
const EXPEL_MS = 1000;

export interface ExpulsionInit {
  readonly node: AgentNode;
  /** undefined: no agent has been started yet. */
  bootstrap(): Bootstrap | undefined;
  onLost(agent: Address, error: StciError): void;
}

export class Expulsion {
  readonly #init: ExpulsionInit;
  readonly #guard: LinkGuard;
  readonly #expelled = new Set<Address>();

  constructor(init: ExpulsionInit) {
    this.#init = init;
    this.#guard = new LinkGuard(init.node, (agent, error) => this.#expel(agent, error));
    init.node.messages.on('agent.malformed', ({ agent, error }) => this.#expel(agent, fromErrorRecord(error)));
  }

  /**
   * Returns the failure of `agent` that `source` reports: its text, under a permitted code and with the true host.
   * Throws STCI_MESSAGE_INVALID if `source` did not start `agent`.
   */
  acceptReport(source: Address, agent: Address, { code, message, data }: ErrorRecord): StciError {
    const kind = addressKind(agent);
    const host = addressIndex(agent);
    const isOwnSession = kind === 'session' && agent === sessionAddress(host) && source === rootAddress(host);
    const isBelow = kind === 'root' && this.#isBelow(host, source);
    if (!isOwnSession && !isBelow) {
      throw new StciError('STCI_MESSAGE_INVALID', `${addressName(source)} did not start ${addressName(agent)}`);
    }
    // This report is the last message of the agent; its replacement starts without its faults.
    for (const gone of [agent, ...(kind === 'root' ? [sessionAddress(host)] : [])]) {
      this.#expelled.delete(gone);
      this.#guard.forgive(gone);
    }
    const known = code === 'STCI_LAUNCH_FAILED' ? code : 'STCI_AGENT_LOST';
    const name = (this.#init.bootstrap() as Bootstrap).hostName(host);
    return new StciError(known, message, { host: name, agent: addressName(agent), data });
  }

  #isBelow(host: HostIndex, source: Address): boolean {
    const tree = this.#init.bootstrap()?.below.tree;
    if (tree === undefined || bootPosition(host) >= tree.size) return false;
    if (source === this.#init.node.identity.self) return true;
    return addressKind(source) === 'root' && tree.isAncestor(bootPosition(addressIndex(source)), bootPosition(host));
  }

  #expel(agent: Address, cause: StciError): void {
    const bootstrap = this.#init.bootstrap();
    const kind = addressKind(agent);
    const host = addressIndex(agent);
    const isOurs = bootstrap !== undefined && (kind === 'root' || kind === 'session')
      && bootPosition(host) < bootstrap.below.tree.size;
    if (!isOurs || this.#expelled.has(agent)) return;
    this.#expelled.add(agent);
    const name = bootstrap.hostName(host);
    const reason = `it sent malformed data: ${cause.message}`;
    if (kind === 'session') {
      this.#ask(rootAddress(host), agent, reason, () => this.#expelRoot(bootstrap, host, reason));
    } else this.#expelRoot(bootstrap, host, reason);
    const text = `Agent ${addressName(agent)} on host ${name} is lost: ${reason}`;
    this.#init.onLost(agent, new StciError('STCI_AGENT_LOST', text, { host: name, agent: addressName(agent) }));
  }

  #expelRoot(bootstrap: Bootstrap, host: HostIndex, reason: string): void {
    const starter = bootstrap.starterOf(host);
    if (starter === undefined) bootstrap.below.expel(host, reason);
    else this.#ask(rootAddress(starter), rootAddress(host), reason, () => undefined);
  }

  #ask(starter: Address, agent: Address, reason: string, onFailed: () => void): void {
    const { messages } = this.#init.node;
    messages.request(starter, 'agent.expel', { agent, reason }, (error) => error && onFailed(), EXPEL_MS);
  }
}
