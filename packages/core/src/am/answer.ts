/**
 * Answers to requests: parts, where the type has any, then a reply or an error. A handler returns the reply, throws the
 * error, or returns `Later` and answers in a later turn.
 */

import { StciError, toErrorRecord, caught } from '@stci/interface';
import { FLAG } from '../codec/frame.js';
import type { MessageName, MessagePart, MessageReply } from '../messages/messages.js';

export class Answer<Name extends MessageName = MessageName> {
  readonly #send: (flags: number, body: unknown) => void;
  #isOver = false;
  /** Set by who answers: called once when there is nothing more to answer. */
  onOver: () => void = () => undefined;

  /** `send` throws StciError. */
  constructor(send: (flags: number, body: unknown) => void) {
    this.#send = send;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  part(part: MessagePart<Name>): void {
    this.#give(FLAG.part, part);
  }

  done(reply: MessageReply<Name>): void {
    this.#give(0, reply);
  }

  fail(error: unknown): void {
    this.#give(FLAG.error, toErrorRecord(error));
  }

  /** What cannot be sent, as what is too long, fails the request. */
  #give(flags: number, body: unknown): void {
    if (this.#isOver) return;
    const error = caught<StciError | undefined>(() => void this.#send(FLAG.reply | flags, body), (own) => own);
    // Else the requester is gone, or its deadline settles the request.
    if (error !== undefined && flags !== FLAG.error) return this.fail(error);
    if (flags === FLAG.part) return;
    this.#isOver = true;
    this.onOver();
  }
}

/** Returned by a handler that answers later: `begin` is called at once, and what it throws is the answer. */
export class Later<Name extends MessageName = MessageName> {
  readonly begin: (answer: Answer<Name>) => void;

  constructor(begin: (answer: Answer<Name>) => void) {
    this.begin = begin;
  }
}
