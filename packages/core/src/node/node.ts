/**
 * Node: what every agent has independent of its role: identity, parameters, dispatcher, links, router, messages,
 * streams. Roles (controller, root, session) add handlers to it.
 */

import {
  StciError,
  addressName,
  agentName,
  assert,
  type Address,
  type Channel,
  type JobId,
  type LinkCloseReason,
  type Params,
  type Platform,
} from '@stci/interface';
import { OUTPUT_KEPT_MAX } from '../am/delivery.js';
import type { Received, ReceivedFrame } from '../am/dispatch-queue.js';
import { MessageLayer } from '../am/message-layer.js';
import { BOUNCED } from '../am/requests.js';
import { Router } from '../am/router.js';
import type { MessageLimits } from '../am/transport.js';
import { agentSecret, jobToken } from '../bootcom/agent-key.js';
import type { HandshakeInit } from '../bootcom/handshake.js';
import { LinkFaults } from '../bootcom/link-faults.js';
import { Link, type LinkEvents, type LinkLimits } from '../bootcom/link.js';
import type { Frame } from '../codec/frame.js';
import { EventDispatcher } from '../event/dispatcher.js';
import { Scope } from '../event/scope.js';
import { MetricStore } from '../metrics/store.js';
import { Collects } from '../streams/collects.js';
import { StreamLayer } from '../streams/stream-layer.js';

export interface Identity {
  readonly self: Address;
  /** Of a session agent; else 0. */
  readonly job: JobId;
  /** 1, 2, … of the agents with this name, as they were started; default: 0, it is started once. */
  readonly incarnation?: number;
  /** 8 bytes; its hex form names the session. */
  readonly session: Uint8Array;
  /** This agent's own key. */
  readonly secret: Uint8Array;
}

export interface NodeInit {
  readonly platform: Platform;
  readonly identity: Identity;
  readonly params: Params;
  /** Ends with it; default: one of its own. */
  readonly holds?: Scope;
}

/** Bytes of frames: kept until they are acknowledged, to be repeated, before their stream, queued for one link. */
export interface NodeMemory {
  readonly unacknowledged: number;
  readonly broadcasts: number;
  readonly early: number;
  readonly queued: number;
}

export interface LinkHooks {
  /** The peer waits for a confirmation (HandshakeInit.isConfirmed), and takes nothing before it. */
  readonly isConfirmed?: true;
  onUp?(link: Link): void;
  onClosed(link: Link, reason: LinkCloseReason, text: string): void;
}

/** Waiting messages at which links stop being read, as a fraction of event.queue.max; divided among the links. */
const PAUSE_FRACTION = 0.5;

/** Smallest share of a link. */
const PAUSE_MIN = 16;

/** Waiting messages of one distant agent, as a fraction of those at which links stop being read. */
const DISTANT_FRACTION = 0.125;

/** Fraction of bootcom.queue.max; iof.window is at most as much. */
const QUEUE_FRACTION = 0.5;

/** Fraction of bootcom.queue.max that what is sent again takes at once. */
const RESEND_FRACTION = 0.25;
assert(QUEUE_FRACTION + RESEND_FRACTION < 1, 'a link has room for output, what is sent again, and new messages');

export class AgentNode {
  readonly platform: Platform;
  readonly identity: Identity;
  readonly params: Params;
  /** What this agent has until it ends. */
  readonly holds: Scope;
  readonly router: Router;
  readonly dispatcher: EventDispatcher;
  readonly messages: MessageLayer;
  readonly streams: StreamLayer;
  readonly collects = new Collects(this);
  readonly metrics = new MetricStore();
  /** Of experiments. */
  readonly linkFaults: LinkFaults;
  /** The agents from the one below this agent to `agent`, as the boot tree is planned. */
  pathBelow: (agent: Address) => readonly Address[] = (agent) => [agent];
  /** Sees each link of this agent come up and close. */
  linkObserver: Pick<LinkEvents, 'onUp' | 'onClosed'> | undefined;
  /** Whether `agent` is below `above`, an agent below this one, in the boot tree as it is planned. */
  isPlannedBelow: (agent: Address, above: Address) => boolean = () => false;
  /** Levels of agents below the controller, session agents included. */
  levels: () => number = () => 1;
  readonly #pauseAt: number;
  readonly #paused = new Set<Link>();
  /** Bytes waiting for the parent's link at which links from below are not read. */
  readonly #queueMark: number;
  #isBlocked = false;

  constructor(init: NodeInit) {
    const { platform, params, identity } = init;
    this.platform = platform;
    this.identity = identity;
    this.params = params;
    this.holds = init.holds ?? new Scope('agent');
    this.linkFaults = new LinkFaults(platform);
    this.router = new Router(identity.self, identity.job);
    this.dispatcher = new EventDispatcher({
      clock: platform.clock,
      progressModel: 'implicit',
      turnMax: params.int('event.turn.max'),
      queueMax: params.int('event.queue.max'),
      onFault: (domain, event, fault) => this.fault(fault, `handler of ${domain}/${event}`),
    });
    this.holds.atEnd(() => this.dispatcher.close());
    this.holds.holdAll(() => this.router.links().map(labelOf));
    this.#pauseAt = Math.floor(params.int('event.queue.max') * PAUSE_FRACTION);
    this.#queueMark = params.int('bootcom.queue.max') * QUEUE_FRACTION;
    const limits = limitsOf(params);
    // Links stop being read at half of event.queue.max. Messages of a chunk that was read before, and those of this
    // agent to itself, are still queued: a bound that throws would lose them.
    const domain = this.dispatcher.domain<{ received: Received | ReceivedFrame }>('message', Infinity);
    this.messages = new MessageLayer({
      router: this.router,
      clock: platform.clock,
      holds: this.holds,
      limits,
      waitingMax: Math.max(PAUSE_MIN, Math.floor(this.#pauseAt * DISTANT_FRACTION)),
      domain,
      incarnation: identity.incarnation ?? 0,
      hasRoom: (frame) => this.streams.hasRoom(frame),
      onStreamFrame: (frame, from) => this.streams.onFrame(frame, from),
      onGone: (agent, job) => this.streams.onGone(agent, job),
      onFault: (fault, unsent) => this.fault(fault, unsent === undefined ? 'message' : `${unsent} cannot be sent`),
    });
    domain.observe('received', () => this.#resumeLinks()); // After the message was handled.
    this.holds.atEnd(() => this.linkFaults.clear());
    this.streams = new StreamLayer({
      self: identity.self,
      clock: platform.clock,
      holds: this.holds,
      messages: this.messages,
      limits,
      onFault: (error) => this.fault(error, 'stream'),
    });
  }

  /**
   * Whether an agent may be at or below the one at the other end of a link: as the tree is known here, or because that
   * one, which may link to those planned below it, may have done so before this agent learns the way.
   */
  leadsTo(agent: Address, job: JobId, link: Link): boolean {
    return this.router.leadsTo(agent, job, link) || this.isPlannedBelow(agent, link.peer);
  }

  get name(): string {
    return addressName(this.identity.self);
  }

  get sessionName(): string {
    return Array.from(this.identity.session, (byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  /** What waits in this agent. */
  get memory(): NodeMemory {
    let queued = 0;
    for (const link of this.router.links()) queued = Math.max(queued, link.queuedBytes);
    const { unacknowledged, broadcasts } = this.messages.transport.keptBytes;
    return { unacknowledged, broadcasts, early: this.streams.earlyBytes, queued };
  }

  /** Limits of a link. One between two agents of a process has no lease: neither can fail alone. */
  linkLimits(handshakeMs: number, channel: Channel): LinkLimits {
    const leaseMs = this.params.int('bootcom.lease');
    return {
      frameBytesMax: this.params.int('bootcom.frame.max'),
      queueBytesMax: this.params.int('bootcom.queue.max'),
      handshakeMs,
      ...(channel.kind !== 'memory' && { leaseMs }),
    };
  }

  /** Key of an agent below; that of any other agent is not known here, and is none of an agent. */
  secretOf(agent: Address, job: JobId): Uint8Array {
    const { secrets } = this.platform;
    const path = this.pathBelow(agent);
    return path.reduce((above, at) => agentSecret(secrets, above, at, at === agent ? job : 0), this.identity.secret);
  }

  /** A text of this job that nobody can guess; at the controller. */
  tokenOf(job: JobId): string {
    return jobToken(this.platform.secrets, this.identity.secret, job);
  }

  /** Makes a link over which the peer connects to this agent; `admit` says whether it may. */
  acceptLink(
    channel: Channel,
    handshakeMs: number,
    admit: HandshakeInit['admit'],
    hooks: LinkHooks,
  ): Link {
    const { self, session, secret } = this.identity;
    const { secrets } = this.platform;
    const secretOf = (peer: Address, job: JobId): Uint8Array => this.secretOf(peer, job);
    const handshake = { role: 'accept' as const, self, session, secret, secretOf, secrets, admit };
    return new Link(
      {
        role: 'child',
        channel,
        clock: this.platform.clock,
        handshake,
        limits: this.linkLimits(handshakeMs, channel),
        onNamed: (link, peer) => this.linkFaults.onNamed(link, peer),
      },
      this.linkEvents(hooks),
    );
  }

  /** Event handlers of this agent's links: frames go to the message layer, the end of the link to `hooks`. */
  linkEvents(hooks: LinkHooks): LinkEvents {
    return {
      onUp: (link) => {
        this.linkFaults.onNamed(link, link.peer);
        if (hooks.isConfirmed) link.confirm();
        this.router.addLink(link);
        if (link.role === 'child') this.messages.transport.onChild(link);
        hooks.onUp?.(link);
        this.linkObserver?.onUp(link);
      },
      onFrame: (link, frame) => this.onFrame(link, frame),
      onDrain: (link) => {
        if (link === this.router.parentLink) this.#block(false);
        this.messages.transport.onDrain(link);
      },
      onClosed: (link, reason, text) => {
        if (link === this.router.parentLink) this.#block(false);
        this.router.removeLink(link);
        this.#paused.delete(link);
        this.linkFaults.onClosed(link);
        hooks.onClosed(link, reason, text);
        this.linkObserver?.onClosed(link, reason, text);
        this.messages.onClosed(link); // What was asked over it may end with this: the loss is known by then.
      },
    };
  }

  onFrame(link: Link, frame: Frame): void {
    this.messages.onFrame(link, frame);
    if (link.role === 'child' && (this.router.parentLink?.queuedBytes ?? 0) > this.#queueMark) this.#block(true);
    if (this.#paused.has(link) || this.messages.received.waiting(link) <= this.#share) return;
    this.#paused.add(link);
    this.#setReading(link);
  }

  /** Sends what was sent over the link to the parent, and may be lost, again. */
  resendUp(): void {
    this.messages.transport.resend((agent, job) => this.router.next(agent, job) === this.router.parentLink);
  }

  /**
   * Logs an error that no caller waits for. A message without a way is none for a user: its destination has failed,
   * which is reported as such, or its source sends it again.
   */
  fault(fault: unknown, where: string): void {
    const isKnown = fault instanceof StciError;
    const text = isKnown ? `${fault.code}: ${fault.message}` : describe(fault);
    const level = isKnown && BOUNCED.includes(fault.code) ? 'debug' : 'warn';
    this.platform.log.write(level, `${this.name}: ${where}: ${text}`);
  }

  close(): void {
    this.holds.close();
  }

  /**
   * Links from below are not read while too much waits for the link to the parent. Credit bounds the output of one job;
   * several, and messages, could fill its queue nevertheless while the parent is stopped.
   */
  #block(isBlocked: boolean): void {
    if (this.#isBlocked === isBlocked) return;
    this.#isBlocked = isBlocked;
    for (const link of this.router.links()) this.#setReading(link);
  }

  #setReading(link: Link): void {
    link.readable(!this.#paused.has(link) && !(this.#isBlocked && link.role === 'child'));
  }

  /** Waiting messages of one link at which it stops being read. */
  get #share(): number {
    return Math.max(PAUSE_MIN, this.#pauseAt / Math.max(1, this.router.linkCount));
  }

  #resumeLinks(): void {
    for (const link of this.#paused) {
      if (this.messages.received.waiting(link) > this.#share / 2) continue;
      this.#paused.delete(link);
      this.#setReading(link);
    }
  }
}

function limitsOf(params: Params): Required<MessageLimits> {
  return {
    ttl: params.int('message.ttl'),
    messageBytesMax: params.int('message.bytes.max'),
    requestTimeoutMs: params.int('request.timeout'),
    windowBytes: params.int('bootcom.queue.max') + OUTPUT_KEPT_MAX,
    resendBytes: params.int('bootcom.queue.max') * RESEND_FRACTION,
  };
}

function labelOf({ role, peer, job }: Link): string {
  return `link to ${agentName(peer, job)} (${role})`;
}

function describe(fault: unknown): string {
  return fault instanceof Error ? (fault.stack ?? fault.message) : String(fault);
}
