/** Calls of a front-end to its session, each with an answer of its own, and what it tells without one. */

import type { StciError } from '@stci/interface';
import type { MessageBody, MessageName, MessagePart, MessageReply } from '../messages/messages.js';
import type { RankPage, SessionStatus } from './contracts.js';

export type CallName = Extract<MessageName, `client.${string}`>;

/** Replies that are taken as they come. */
interface Unchecked {
  readonly 'client.status': SessionStatus;
  readonly 'client.ranks': RankPage;
}

export type Reply<Name extends CallName> = Name extends keyof Unchecked ? Unchecked[Name] : MessageReply<Name>;

export type Done<T> = (error: StciError | undefined, value?: T) => void;

export interface SessionCalls {
  /** `done` is called once, also when the connection ends; `onPart` with what comes before. */
  call<Name extends CallName>(
    name: Name, body: MessageBody<Name>, done: Done<Reply<Name>>, onPart?: (part: MessagePart<Name>) => void,
  ): void;
  tell<Name extends CallName>(name: Name, body: MessageBody<Name>): void;
}
