/**
 * The session agent's end of one connection of a program: lines of JSON, checked before they are used. A program that
 * breaks the protocol, or does not read what it is told, loses its connection, and nothing else.
 */

import {
  AGREEMENT_KINDS, MARK_CHARS_MAX, PROGRAM_LINE_BYTES_MAX, PROGRAM_PROTOCOL, StciError, WATCHDOG_MS_MAX,
  type Channel, type ProgramEvent, type ProgramRequest,
} from '@stci/interface';
import { bool, integer, object, oneOf, shortStr, u32, variant } from '../codec/shape.js';
import { TextLines, jsonLine } from '../codec/text-lines.js';

/** What a program may leave unread. */
const UNREAD_BYTES_MAX = 1024 * 1024;

type Of<Type extends ProgramRequest['type']> = Extract<ProgramRequest, { type: Type }>;

const request = variant<'type', ProgramRequest>('type', {
  hello: object<Of<'hello'>>({ type: oneOf('hello'), version: u32, token: shortStr(256) }),
  vote: object<Of<'vote'>>({ type: oneOf('vote'), kind: oneOf(...AGREEMENT_KINDS), flag: bool }),
  mark: object<Of<'mark'>>({ type: oneOf('mark'), name: shortStr(MARK_CHARS_MAX) }),
  alive: object<Of<'alive'>>({ type: oneOf('alive'), withinMs: integer(0, WATCHDOG_MS_MAX) }),
});

export interface ProgramConnectionEvents {
  /** A checked request; the first is `hello`, of this version, and the only one. */
  onRequest(request: ProgramRequest): void;
  /** Called once, last. */
  onClosed(): void;
}

export class ProgramConnection {
  readonly #channel: Channel;
  readonly #events: ProgramConnectionEvents;
  readonly #lines = new TextLines(PROGRAM_LINE_BYTES_MAX);
  #isKnown = false;
  #isOpen = true;

  constructor(channel: Channel, events: ProgramConnectionEvents) {
    this.#channel = channel;
    this.#events = events;
    channel.bind({
      onData: (chunk) => this.#onData(chunk),
      onDrain: () => undefined,
      onClose: () => {
        this.#isOpen = false;
        events.onClosed();
      },
    });
  }

  send(event: ProgramEvent): void {
    if (!this.#isOpen) return;
    if (this.#channel.queuedBytes > UNREAD_BYTES_MAX) return this.#channel.destroy('it does not read');
    this.#channel.send([jsonLine(event)]);
  }

  /** Tells the reason, if there is one, and closes. */
  close(reason?: string): void {
    if (!this.#isOpen) return;
    if (reason !== undefined) this.send({ type: 'refused', reason });
    this.#isOpen = false;
    this.#channel.close();
  }

  /** Without waiting for the program, which may never read. */
  destroy(): void {
    this.#channel.destroy('too many connections wait for their hello');
  }

  #onData(chunk: Uint8Array): void {
    const lines = this.#isOpen ? this.#lines.add(chunk) : [];
    if (lines === undefined) return this.close(`a line is longer than ${PROGRAM_LINE_BYTES_MAX} bytes`);
    for (const line of lines) {
      if (!this.#isOpen) return;
      try {
        this.#take(request(JSON.parse(line), 'request'));
      } catch (fault) {
        if (!(fault instanceof StciError) && !(fault instanceof SyntaxError)) throw fault;
        this.close(fault.message);
      }
    }
  }

  #take(found: ProgramRequest): void {
    if ((found.type === 'hello') === this.#isKnown) return this.close(`${found.type} comes at the wrong time`);
    if (found.type === 'hello' && found.version !== PROGRAM_PROTOCOL) {
      return this.close(`the library has version ${found.version} of the protocol, stcirun ${PROGRAM_PROTOCOL}`);
    }
    this.#isKnown = true;
    this.#events.onRequest(found);
  }
}
