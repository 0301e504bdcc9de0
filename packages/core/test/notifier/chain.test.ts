/**
 * The example of CONTRIBUTING.md: a notifier written from its contract alone, and its compliance. From agent to agent
 * in the order of their positions; whoever dies unnoticed breaks the chain.
 */

import { defineComponent, accept, notifierFramework } from '@stci/core/component';
import { NOTIFIER_PAYLOAD_MAX, StciError, assert } from '@stci/interface';
import type { MemberId, Members, Notifier, NotifierAction, NotifierEvent, NotifierInit } from '@stci/interface';
import { notifierCompliance } from '@stci/testkit/compliance';

interface Broadcast {
  readonly source: MemberId;
  readonly number: number;
  readonly payload: Uint8Array;
}

class Chain implements Notifier {
  /** Nothing is done later. */
  readonly dueMs = undefined;
  readonly #self: MemberId;
  readonly #members: Members;
  /** A real one bounds this. */
  readonly #seen = new Set<string>();
  #number = 0;

  constructor({ self, members }: NotifierInit) {
    this.#self = self;
    this.#members = members;
  }

  on(event: NotifierEvent): readonly NotifierAction[] {
    switch (event.type) {
      case 'broadcast':
        assert(event.payload.length <= NOTIFIER_PAYLOAD_MAX, 'the payload is not too large');
        return this.#pass({ source: this.#self, number: this.#number++, payload: event.payload });
      case 'message':
        return this.#receive(decode(event.body));
      default:
        return [];
    }
  }

  #receive(broadcast: Broadcast): NotifierAction[] {
    const { source, number, payload } = broadcast;
    const key = `${source.position}#${source.incarnation} ${number}`;
    if (this.#seen.has(key)) return [];
    this.#seen.add(key);
    return [...this.#pass(broadcast), { type: 'deliver', source, payload }];
  }

  /** To the next position that is alive, cyclically, up to the source's. */
  #pass(body: Broadcast): NotifierAction[] {
    const { size } = this.#members;
    for (let to = (this.#self.position + 1) % size; to !== body.source.position; to = (to + 1) % size) {
      if (to === this.#self.position) break;
      if (this.#members.at(to) !== undefined) return [{ type: 'send', to, body }];
    }
    return [];
  }
}

function decode(body: unknown): Broadcast {
  const { source, number, payload } = (body ?? {}) as Partial<Broadcast>;
  const isRight = [source?.position, source?.incarnation, number].every((part) => Number.isInteger(part))
    && payload instanceof Uint8Array && payload.length <= NOTIFIER_PAYLOAD_MAX;
  if (!isRight) throw new StciError('STCI_MESSAGE_INVALID', 'Expected source, number and payload of a broadcast');
  return body as Broadcast;
}

notifierCompliance(defineComponent({
  framework: notifierFramework,
  name: 'chain',
  version: '1.0.0',
  frameworkVersion: 2,
  help: 'From agent to agent.',
  params: {},
  query: () => accept(1),
  create: () => ({
    topology: '',
    promise: ({ members }) => ({
      steps: members - 1, delayMs: 0, messages: members - 1, tolerates: 0, isUniform: false,
      text: 'Every agent is told if none fails.',
    }),
    open: (init) => new Chain(init),
  }),
}));
