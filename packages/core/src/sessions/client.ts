/**
 * A front-end in a process of its own, connected to a session that stays: calls the session, and follows a job of it as
 * a plain stcirun follows its own. Leaving does not end the job.
 */

import {
  CONTROLLER, FRONT_END, StciError, type Channel, type FrontEnd, type FrontEndEvents, type JobSpec,
  type LinkCloseReason, type Params, type Platform,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import type { MessageBody, MessagePart, MessageReply } from '../messages/messages.js';
import { LABEL_CHARS_MAX } from '../messages/records.js';
import type { AgentNode } from '../node/node.js';
import { ExperimentCalls } from './experiment-calls.js';
import type { CallName, Done, Reply, SessionCalls } from './session-calls.js';
import { SessionFrontEnd } from './session-front-end.js';
import { sessionLink, sessionNode, type SessionKey } from './session-link.js';

export interface ClientInit {
  readonly platform: Platform;
  readonly params: Params;
  readonly channel: Channel;
  readonly key: SessionKey;
  /** For messages. */
  readonly name: string;
  /** Why the channel has ended, where more is known. */
  readonly reasonOf?: (text: string) => string;
}

/** A job that this client submitted, or attached to. */
export type AcceptedJob = MessageReply<'client.attach'>;

export type JobRequest = Omit<MessageBody<'client.submit'>, 'spec'>;

export type AgentMetrics = MessagePart<'client.metrics'>;

export type AgentHeld = MessagePart<'client.held'>;

/** How long the session may take for what a front-end sent before it leaves. */
const LEAVE_MS = 2000;

export class SessionClient implements SessionCalls {
  readonly #init: ClientInit;
  readonly #node: AgentNode;
  readonly #link: Link;
  /** Fault injection. */
  readonly experiment: ExperimentCalls;
  #lost: StciError | undefined;
  /** Tells who follows a job of the end, once. */
  #onLost: (error: StciError) => void = () => undefined;

  constructor(init: ClientInit) {
    this.#init = init;
    const { platform, params, channel, key } = init;
    this.#node = sessionNode({ platform, params, key, self: FRONT_END });
    this.#link = sessionLink({
      node: this.#node, channel, role: 'connect',
      admit: (peer) => (peer === CONTROLLER ? undefined : 'it is no session'),
      onClosed: (text, why) => this.#onClosed(text, why),
    });
    this.experiment = new ExperimentCalls(this, platform.clock);
  }

  call<Name extends CallName>(
    name: Name, body: MessageBody<Name>, done: Done<Reply<Name>>, onPart?: (part: MessagePart<Name>) => void,
  ): void {
    if (this.#lost !== undefined) return done(this.#lost);
    const onReply = (error: StciError | undefined, reply: unknown): void =>
      error === undefined ? done(undefined, reply as Reply<Name>) : done(this.#lost ?? error);
    this.#node.messages.request(CONTROLLER, name, body, onReply, { onPart: onPart as (part: unknown) => void });
  }

  tell<Name extends CallName>(name: Name, body: MessageBody<Name>): void {
    if (this.#lost === undefined) this.#node.messages.send(CONTROLLER, name, body);
  }

  submit(spec: JobSpec, request: JobRequest, onWaiting: (reason: string) => void, done: Done<AcceptedJob>): void {
    const label = request.label.slice(0, LABEL_CHARS_MAX);
    this.call('client.submit', { spec, ...request, label }, done, onWaiting);
  }

  /** The front-end of the job that was accepted. `onMissed` tells of output that was dropped. */
  follow(events: FrontEndEvents, onMissed: () => void): FrontEnd {
    const frontEnd = new SessionFrontEnd(this, events, onMissed);
    this.#onLost = (error) => {
      frontEnd.onLost(error);
      events.onStopped();
    };
    if (this.#lost !== undefined) this.#node.platform.clock.soon(() => this.#tellLost());
    return frontEnd;
  }

  /** Leaves: what was sent before arrives. */
  close(): void {
    this.#link.close();
  }

  /** Leaves a job that runs: a session that was writing to a closed socket would not read what was sent before. */
  leave(): void {
    this.#node.messages.request(CONTROLLER, 'agent.echo', {}, () => this.close(), { timeoutMs: LEAVE_MS });
  }

  #onClosed(text: string, why: LinkCloseReason): void {
    const { name, reasonOf } = this.#init;
    const reason = (reasonOf?.(text) ?? text).replace(/\.$/u, '');
    this.#lost = new StciError('STCI_SESSION_LOST', why === 'timeout'
      ? `Session ${name} does not answer: ${reason}. Its process is stopped, or its host stands still.`
      : `The connection to session ${name} has ended: ${reason}.`);
    this.#node.close();
    this.#tellLost();
  }

  #tellLost(): void {
    this.#onLost(this.#lost as StciError);
    this.#onLost = () => undefined;
  }
}
