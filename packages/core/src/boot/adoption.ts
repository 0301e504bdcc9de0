/**
 * Adoption: an agent that runs, and lost its parent, gets another. The new parent connects to the agent's private
 * socket by the means by which it starts agents; or, if the agent was started together with others, to its listener,
 * whose key the agents above can derive. The agent decides whether it needs a parent: it refuses if it has one.
 */

import {
  CONTROLLER, addressIndex, addressName, bootPosition, rootAddress, type Address, type AgentProcess,
  type AgentProcessEvents, type Channel, type ErrorRecord, type LinkCloseReason,
} from '@stci/interface';
import type { BootRecord } from '../bootcom/boot-record.js';
import { adoptionKey } from '../bootcom/encryption.js';
import { Gate, type Watch } from '../bootcom/gate.js';
import { Link } from '../bootcom/link.js';
import { joinAddresses } from '../launcher/host-login.js';
import type { BootPlaces } from '../launcher/parent-tree.js';
import type { AdoptionAnswer } from '../membership/mender.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode, LinkHooks } from '../node/node.js';
import { keepLine, type Child } from './child.js';
import type { ListenPlace } from './main.js';

const LINKED_TO = 'it is linked to ';

export interface AdoptionHooks extends LinkHooks {
  /** Called once. */
  onAnswer(answer: AdoptionAnswer): void;
  /** The connection has ended; the agent may go on. */
  onExit(): void;
}

/** Links to the agent of `child`, which runs; `connect` connects to its socket. */
export function adopt(
  node: AgentNode,
  child: Child,
  deadlineMs: number,
  connect: (events: AgentProcessEvents) => AgentProcess,
  hooks: AdoptionHooks,
): void {
  const { address } = child.spec;
  let isAnswered = false;
  const answer = (given: AdoptionAnswer): void => {
    if (isAnswered) return;
    isAnswered = true;
    hooks.onAnswer(given);
    if (given.result !== 'adopted') node.linkFaults.whenSent(address, () => child.process?.kill());
  };
  const process = connect({
    onError: ({ data }) => node.linkFaults.whenHeard(address, () => {
      child.exited = true;
      answer({ result: data?.['reach'] === 'dead' ? 'dead' : 'unreachable' });
    }),
    onDiagnostic: (line) => keepLine(child, line),
    onExit: () => node.linkFaults.whenHeard(address, () => {
      child.exited = true;
      // What came before is still to be read: why the agent refused.
      if (child.linkClosed) answer({ result: 'unreachable' });
      hooks.onExit();
    }),
  });
  child.process = process;
  const channel = node.linkFaults.channel(address, process.channel);
  const admit = (peer: Address, incarnation: number, job: number): string | undefined =>
    peer === address && job === 0 && incarnation === child.spec.incarnation ? undefined : 'it is another agent';
  child.link = node.acceptLink(channel, deadlineMs, admit, {
    onUp: (link) => {
      hooks.onUp?.(link);
      answer({ result: 'adopted' });
    },
    onClosed: (link, reason, text) => {
      child.linkClosed = true;
      if (isAnswered) hooks.onClosed(link, reason, text);
      // Why there is no connection is still to be reported.
      else if (reason !== 'lost' || child.exited) answer(answerOf(reason, text));
    },
  });
}

/** What a link that did not come up says about the agent. */
function answerOf(reason: LinkCloseReason, text: string): AdoptionAnswer {
  const [, name, host] = /it is linked to (controller|root:(\d+))$/.exec(text) ?? [];
  if (reason !== 'refused' || name === undefined) return { result: 'unreachable' };
  return { result: 'busy', parent: host === undefined ? undefined : Number(host) };
}

/** An answer as the controller gets it. */
export function encodeAnswer(answer: AdoptionAnswer): Omit<MessageBody<'tree.adopted'>, 'attempt'> {
  if (answer.result !== 'busy') return { result: answer.result, parent: undefined };
  return { result: 'busy', parent: answer.parent === undefined ? CONTROLLER : rootAddress(answer.parent) };
}

export interface AdoptionListenerInit {
  readonly node: AgentNode;
  readonly boot: BootRecord;
  /** Undefined: at a private socket. */
  readonly listens: ListenPlace | undefined;
  /** Of all hosts that there may be. */
  readonly tree: BootPlaces;
  /** The parent is reported as dead: another may take its place before the link is lost. */
  isParentDoubted(): boolean;
  /** The link to a new parent is up; `onClosed` as for other links. */
  readonly hooks: LinkHooks;
  /** An agent above was refused for the parent that this one has, which may be of no use to the others. */
  readonly onRefused: () => void;
}

/** The private socket, or the listener, at which a root agent waits for a new parent. */
export class AdoptionListener {
  readonly #init: AdoptionListenerInit;
  readonly #gate: Gate;

  constructor(init: AdoptionListenerInit) {
    const { params, platform } = init.node;
    this.#init = init;
    const accept = (channel: Channel, watch: Watch): Link => this.#accept(channel, watch);
    const pendingMax = params.int('bootcom.pending.max');
    this.#gate = new Gate({ holds: init.node.holds, of: 'a new parent', platform, pendingMax, accept });
  }

  /** Path of the socket, or addresses of the listener. Undefined: no other agent can reach this one. */
  get path(): string | undefined {
    const { addresses, isClosed } = this.#gate;
    return isClosed || addresses.length === 0 ? undefined : joinAddresses(addresses);
  }

  /** Calls `done` when it listens, or cannot. */
  open(done: () => void): void {
    const { listens, node: { params, platform: { network, secrets }, identity } } = this.#init;
    const opened = (error: ErrorRecord | undefined, what: string): void => {
      if (error !== undefined) this.#init.node.fault(error.message, what);
      done();
    };
    if (listens === undefined) return this.#gate.openPrivate('agent', (error) => opened(error, 'private socket'));
    const key = adoptionKey(secrets, identity.secret);
    const options = { ...listens, key, stream: true, frameBytesMax: params.int('bootcom.frame.max') };
    this.#gate.open(network, options, (error) => opened(error, 'listener'));
  }

  /** The handshake is that with any parent, though the parent made the connection. */
  #accept(channel: Channel, watch: Watch): Link {
    const { node, boot, hooks } = this.#init;
    const { self, session, secret, start } = boot;
    return new Link(
      {
        role: 'parent',
        channel,
        clock: node.platform.clock,
        handshake: {
          role: 'connect', self, session, secret, start, secrets: node.platform.secrets,
          admit: (peer) => this.#refusalOf(peer),
        },
        limits: node.linkLimits(node.params.int('bootcom.handshake'), channel),
        onNamed: (link, peer) => node.linkFaults.onNamed(link, peer),
      },
      node.linkEvents(watch(hooks)),
    );
  }

  /** The parent of this agent may have lost the link at its end only. */
  #refusalOf(peer: Address): string | undefined {
    const { node, tree, isParentDoubted, onRefused } = this.#init;
    const above = bootPosition(addressIndex(peer));
    const isAbove = peer === CONTROLLER
      || (peer === rootAddress(addressIndex(peer)) && above < tree.size
        && tree.isAncestor(above, bootPosition(addressIndex(node.identity.self))));
    if (!isAbove) return 'it is not above this agent';
    const parent = node.router.parentLink?.peer;
    if (parent === undefined || parent === peer || isParentDoubted()) return undefined;
    onRefused();
    return `${LINKED_TO}${addressName(parent)}`;
  }
}
