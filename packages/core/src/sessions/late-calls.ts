/** Calls of one front-end whose answers may take their time: of each kind a bounded number, until it leaves. */

import { StciError } from '@stci/interface';
import { Later, type Answer } from '../am/answer.js';
import type { MessageLayer } from '../am/message-layer.js';
import type { Scope } from '../event/scope.js';
import type { MessageBody } from '../messages/messages.js';

/** Those that are not answered yet; each for metrics or links is a request to every agent. */
const CALLS_MAX = {
  'client.submit': 1, 'client.follow': 1, 'client.wait': 1024, 'client.add': 64, 'client.remove': 64,
  'client.metrics': 16, 'client.held': 16, 'client.topology': 16, 'client.reports': 1, 'client.undo': 1024,
  'client.clocks': 64,
};

type LateName = keyof typeof CALLS_MAX;

export class LateCalls {
  readonly #messages: MessageLayer;
  /** Open calls, each with what its front-end's leave cancels, by kind. */
  readonly #open = new Map<LateName, Map<Answer, () => void>>();

  /** With `holds`, who has asked is gone. */
  constructor(messages: MessageLayer, holds: Scope) {
    this.#messages = messages;
    const labels = (): string[] =>
      [...this.#open].flatMap(([name, { size }]) => new Array<string>(size).fill(`call ${name}`));
    holds.holdAll(labels, () => {
      for (const open of this.#open.values()) for (const cancel of open.values()) cancel();
    });
  }

  /** `start` may answer at once, and return what the connection's end cancels. What it throws is the answer. */
  on<Name extends LateName>(
    name: Name, start: (body: MessageBody<Name>, answer: Answer<Name>) => (() => void) | void,
  ): void {
    const open = new Map<Answer, () => void>();
    this.#open.set(name, open);
    this.#messages.on(name, (body) => new Later((answer) => {
      if (open.size >= CALLS_MAX[name]) {
        const text = `${open.size} calls of this connection (${name}) wait for their answers: no more are taken.`;
        throw new StciError('STCI_SESSION_REFUSED', `${text} Ask again when one has come.`);
      }
      answer.onOver = () => open.delete(answer);
      const cancel = start(body, answer as Answer<Name>);
      if (!answer.isOver) open.set(answer, cancel ?? (() => undefined));
    }));
  }

  /** What is asked for does not come. */
  fail(error: StciError): void {
    for (const open of this.#open.values()) for (const answer of [...open.keys()]) answer.fail(error);
  }
}
