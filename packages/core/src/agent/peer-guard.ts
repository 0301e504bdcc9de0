/**
 * Guard against authenticated peers that break the protocol: a bug in an agent, or a compromised host. Such a peer
 * loses its link; this agent and other hosts are not affected. A neighbour's link is closed here, with the reason; a
 * more distant agent is reported with `report` to the one that can have its link closed, and its messages are refused
 * from then on.
 */

import {
  CONTROLLER,
  FRONT_END,
  addressName,
  type Address,
  type StciError,
} from '@stci/interface';
import { SUBTREE, type PeerGuard } from '../am/message-layer.js';
import type { Link } from '../bootcom/link.js';
import { frameDestination, frameSource, type Frame } from '../codec/frame.js';
import type { AgentNode } from './node.js';

export class LinkGuard implements PeerGuard {
  readonly #node: AgentNode;
  readonly #report: ((agent: Address, error: StciError) => void) | undefined;
  readonly #refused = new Set<Address>();

  /** `report`: called for distant agents, at the controller and the front-end; other agents refuse them silently. */
  constructor(node: AgentNode, report?: (agent: Address, error: StciError) => void) {
    this.#node = node;
    this.#report = report;
    node.messages.guard = this;
  }

  admits(link: Link, frame: Frame): boolean {
    const { router } = this.#node;
    const source = frameSource(frame);
    const comesFromAbove = link.peer === router.parent || link.peer === FRONT_END;
    if (!router.leadsTo(source, link)) {
      this.#close(link, `it sent a frame in the name of ${addressName(source)}`);
      return false;
    }
    if (frameDestination(frame) === SUBTREE && !comesFromAbove) {
      this.#close(link, 'it sent a message for all agents, which only agents above may do');
      return false;
    }
    return this.#refused.size === 0 || !this.#refused.has(source);
  }

  onMalformed(source: Address, from: Link, error: StciError): void {
    const isFromAbove = from.peer === this.#node.router.parent && (source === CONTROLLER || source === FRONT_END);
    if (source === from.peer || isFromAbove) this.#close(from, `it sent malformed data: ${error.message}`);
    else if (this.#mayRefuse(from) && !this.#refused.has(source)) {
      this.#refused.add(source);
      this.#node.messages.inbox.drop(source);
      this.#report?.(source, error);
    }
  }

  /** Without `report`, an agent must not refuse one below: none would learn of it; an agent farther up reports it. */
  #mayRefuse(from: Link): boolean {
    return this.#report !== undefined || from.peer === this.#node.router.parent;
  }

  /** Accepts messages of this agent again: it was replaced. */
  forgive(agent: Address): void {
    this.#refused.delete(agent);
  }

  #close(link: Link, text: string): void {
    if (link.state === 'closed') return;
    // The front-end and the controller share a process, and all other agents depend on their link.
    if (link.peer === FRONT_END || this.#node.identity.self === FRONT_END) return this.#node.fault(text, 'own message');
    this.#node.fault(text, `link to ${addressName(link.peer)} is closed`);
    link.destroy(text, 'protocol');
  }
}
