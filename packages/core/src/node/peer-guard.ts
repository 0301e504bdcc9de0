/**
 * Guard against authenticated peers that break the protocol: a bug in an agent, or a compromised host. Such a peer
 * loses its link; this agent and other hosts are not affected. A neighbour's link is closed here, with the reason; a
 * more distant agent is reported with `report` to the one that can have its link closed, and its messages are refused
 * from then on.
 */

import {
  CONTROLLER,
  JOB_MAX,
  NEIGHBOUR,
  addressIndex,
  addressName,
  agentKey,
  type Address,
  type JobId,
  type StciError,
} from '@stci/interface';
import type { PeerGuard } from '../am/message-layer.js';
import { SUBTREE } from '../am/transport.js';
import type { Link } from '../bootcom/link.js';
import { frameDestination, frameJob, frameSource, isByOverlay, type Frame } from '../codec/frame.js';
import { isCommandFrame } from './command.js';
import type { AgentNode } from './node.js';

export class LinkGuard implements PeerGuard {
  readonly #node: AgentNode;
  readonly #report: ((agent: Address, error: StciError, job: JobId) => void) | undefined;
  /** Keys of agents. */
  readonly #refused = new Set<number>();

  /** `report`: called for distant agents, at the controller; other agents refuse them silently. */
  constructor(node: AgentNode, report?: (agent: Address, error: StciError, job: JobId) => void) {
    this.#node = node;
    this.#report = report;
    node.messages.guard = this;
  }

  admits(link: Link, frame: Frame): boolean {
    const source = frameSource(frame);
    const job = frameJob(frame);
    const isByItsRoute = link.role === 'overlay' || isByOverlay(frame)
      ? this.#admitsByOverlay(link, frame)
      : this.#admitsByTree(link, frame);
    if (!isByItsRoute) return false;
    return this.#refused.size === 0 || !this.#refused.has(agentKey(source, job));
  }

  #admitsByTree(link: Link, frame: Frame): boolean {
    const source = frameSource(frame);
    if (!this.#node.leadsTo(source, frameJob(frame), link) && !this.#hasMoved(source, link)) {
      this.#close(link, `it sent a frame in the name of ${addressName(source)}`);
      return false;
    }
    if (frameDestination(frame) === SUBTREE && link.role !== 'parent') {
      this.#close(link, 'it sent a message for all agents, which only agents above may do');
      return false;
    }
    return true;
  }

  /**
   * An agent may have been linked to another before this one learns the way: one above then sends in the name of one
   * that was below this agent, which it can anyway, as it derives that one's key.
   */
  #hasMoved(source: Address, link: Link): boolean {
    return link.role === 'parent' && addressIndex(source) !== addressIndex(this.#node.identity.self);
  }

  /** What may not go that way is dropped: its source, if it meant well, sends it again by the tree. */
  #admitsByOverlay(link: Link, frame: Frame): boolean {
    const destination = frameDestination(frame);
    if (link.role === 'overlay' && (destination === SUBTREE || destination === NEIGHBOUR)) {
      this.#close(link, 'it sent a command over a link of the overlay');
      return false;
    }
    const { overlay } = this.#node.router;
    if (overlay !== undefined) return overlay.admits(link, frame);
    return link.role === 'parent' && !isCommandFrame(frame);
  }

  onMalformed(source: Address, job: JobId, from: Link, error: StciError): void {
    const isFromAbove = from.role === 'parent' && (source === CONTROLLER || source === from.peer);
    // What is too long is dropped. After a new link to the same or another parent, it would come again, without end.
    if (isFromAbove && error.data['tooLong'] === true) return;
    const key = agentKey(source, job);
    if (source === from.peer || isFromAbove) this.#close(from, `it sent malformed data: ${error.message}`);
    else if (this.#mayRefuse(from) && !this.#refused.has(key)) {
      this.#refused.add(key);
      this.#node.messages.received.drop(source, job);
      this.#report?.(source, error, job);
    }
  }

  /** Without `report`, an agent must not refuse one below: none would learn of it; an agent farther up reports it. */
  #mayRefuse(from: Link): boolean {
    return this.#report !== undefined || from.role === 'parent';
  }

  /** Accepts messages of this agent again: it was replaced. Without `job`: of every job. */
  forgive(agent: Address, job?: JobId): void {
    const [first, last] = [agentKey(agent, job ?? 0), agentKey(agent, job ?? JOB_MAX)];
    for (const key of this.#refused) if (key >= first && key <= last) this.#refused.delete(key);
  }

  #close(link: Link, text: string): void {
    if (link.state === 'closed') return;
    this.#node.fault(text, `link to ${addressName(link.peer)} is closed`);
    link.destroy(text, 'protocol');
  }
}
