/**
 * The session agent's end of one connection of a program: records, checked before they are used. A program that breaks
 * the protocol, or does not read what it is told, loses its connection, and nothing else.
 */

import {
  COLLECTIVES, FORMS, MARK_CHARS_MAX, PROGRAM_KEY_CHARS_MAX, PROGRAM_LINE_BYTES_MAX, PROGRAM_MESSAGE_BYTES_MAX,
  PROGRAM_PARTS_BYTES_MAX, PROGRAM_PART_BYTES_MAX, PROGRAM_PROTOCOL, PROGRAM_TAG_CHARS_MAX, PROGRAM_WAITS_MAX,
  RecordReader, WATCHDOG_MS_MAX, programRecord, caught, type Channel, type ProgramEvent, type ProgramRequest,
  type RecordHead,
} from '@stci/interface';
import {
  bool, check, integer, list, narrowed, object, oneOf, optional, str, u32, variant, type Shape,
} from '../codec/shape.js';
import type { TurnTaker } from './program-turns.js';

/** From so much unread on, answers wait, and what a program asks is not read. */
const ROOM_BYTES = 1024 * 1024;

/** What a program may leave unread: answers up to the mark, the one that passed it, a decision, and news. */
const UNREAD_BYTES_MAX = 2 * ROOM_BYTES + PROGRAM_MESSAGE_BYTES_MAX + PROGRAM_PARTS_BYTES_MAX;

/** Longest spec of a topology, in characters. */
const SPEC_CHARS_MAX = 1024;

const form = oneOf(...FORMS);
const id = integer(1, Number.MAX_SAFE_INTEGER);
const bytes = optional(u32);

/** Printable ASCII without space. */
function word(charsMax: number): Shape<string> {
  const flawOf = (text: string): string | undefined =>
    /^[!-~]+$/.test(text) ? undefined : 'Expected printable ASCII without space';
  return narrowed(str(charsMax), flawOf, { good: ['!', '~'.repeat(charsMax)], bad: ['', 'a b', '\x7f', 'é'] });
}

const tag = word(PROGRAM_TAG_CHARS_MAX);
const key = word(PROGRAM_KEY_CHARS_MAX);

export type RequestOf<Type extends ProgramRequest['type']> = Extract<ProgramRequest, { readonly type: Type }>;

export const programRequest = variant<'type', ProgramRequest>('type', {
  hello: object<RequestOf<'hello'>>({
    type: oneOf('hello'), version: u32, token: str(256), only: optional(oneOf('waits')),
  }),
  vote: object<RequestOf<'vote'>>({
    type: oneOf('vote'), kind: oneOf(...COLLECTIVES), flag: optional(bool), root: optional(u32),
    form: optional(form), bytes,
  }),
  send: object<RequestOf<'send'>>({ type: oneOf('send'), id, to: u32, tag, form, bytes }),
  receive: object<RequestOf<'receive'>>({
    type: oneOf('receive'), id, from: optional(u32), tag: optional(tag),
    waitMs: optional(integer(0, WATCHDOG_MS_MAX)),
  }),
  cancel: object<RequestOf<'cancel'>>({ type: oneOf('cancel'), id }),
  put: object<RequestOf<'put'>>({ type: oneOf('put'), id, key, form, bytes }),
  get: object<RequestOf<'get'>>({ type: oneOf('get'), id, key }),
  hosts: object<RequestOf<'hosts'>>({ type: oneOf('hosts'), id }),
  topology: object<RequestOf<'topology'>>({
    type: oneOf('topology'), id, spec: str(SPEC_CHARS_MAX), size: u32, position: u32,
    root: optional(u32), target: optional(u32),
  }),
  mark: object<RequestOf<'mark'>>({ type: oneOf('mark'), name: str(MARK_CHARS_MAX) }),
  alive: object<RequestOf<'alive'>>({ type: oneOf('alive'), withinMs: integer(0, WATCHDOG_MS_MAX) }),
  waiting: object<RequestOf<'waiting'>>({ type: oneOf('waiting'), ranks: optional(list(u32, PROGRAM_WAITS_MAX)) }),
});

/** Most bytes after the line of each type; others have none. */
const BYTES_MAX: ReadonlyMap<unknown, number> = new Map([
  ['vote', PROGRAM_PART_BYTES_MAX], ['send', PROGRAM_MESSAGE_BYTES_MAX], ['put', PROGRAM_PART_BYTES_MAX],
]);

export interface ProgramConnectionEvents {
  /** There is a request to be taken, by `takeNext`. */
  onWaiting(connection: ProgramConnection): void;
  /** What a request costs, in microseconds; undefined: it is not to be taken yet. */
  costUsOf(request: ProgramRequest, bytes: Uint8Array): number | undefined;
  /** A checked request, with its bytes; the first is `hello`, of this version, and the only one. */
  onRequest(request: ProgramRequest, bytes: Uint8Array): void;
  /** There is room for answers again. */
  onRoom(): void;
  /** Called once, last. */
  onClosed(): void;
}

export class ProgramConnection implements TurnTaker {
  readonly #channel: Channel;
  readonly #events: ProgramConnectionEvents;
  readonly #reader = new RecordReader(
    { lineBytesMax: PROGRAM_LINE_BYTES_MAX, bytesMax: (head) => this.#bytesMax(head) },
    (head, body) => this.#onRecord(head, body),
  );
  /** Records that wait for their turn, or for room; no more than of one chunk. */
  readonly #waiting: (readonly [RecordHead, Uint8Array])[] = [];
  /** The first of them, checked. */
  #next: ProgramRequest | undefined;
  #isPaused = false;
  #isKnown = false;
  #isOpen = true;

  constructor(channel: Channel, events: ProgramConnectionEvents) {
    this.#channel = channel;
    this.#events = events;
    channel.bind({
      onData: (chunk) => {
        const problem = this.#isOpen ? this.#reader.add(chunk) : undefined;
        if (problem !== undefined) this.close(problem);
      },
      onDrain: () => this.#onDrain(),
      onClose: () => {
        this.#isOpen = false;
        events.onClosed();
      },
    });
  }

  /** Whether it reads what it is told. */
  get hasRoom(): boolean {
    return this.#channel.queuedBytes <= ROOM_BYTES;
  }

  send(event: ProgramEvent, body?: Uint8Array): void {
    this.sendRecord(programRecord(event, body));
  }

  /** One that others get as well. */
  sendRecord(record: Uint8Array): void {
    if (!this.#isOpen) return;
    if (this.#channel.queuedBytes > UNREAD_BYTES_MAX) return this.#channel.destroy('it does not read');
    this.#channel.send([record]);
  }

  /** Tells the reason, if there is one, and closes. */
  close(reason?: string): void {
    if (!this.#isOpen) return;
    if (reason !== undefined) this.send({ type: 'refused', reason });
    this.#isOpen = false;
    this.#waiting.length = 0;
    this.#channel.close();
  }

  /** Without waiting for the program, which may never read. */
  destroy(reason: string): void {
    this.#channel.destroy(reason);
  }

  /** It has said which rank it is. */
  get isIntroduced(): boolean {
    return this.#isKnown;
  }

  /** Nothing is kept for a stranger but a line. */
  #bytesMax({ type }: RecordHead): number {
    return this.#isKnown && this.#isOpen ? BYTES_MAX.get(type) ?? 0 : 0;
  }

  nextCostUs(): number | undefined {
    const [next] = this.#waiting;
    if (next === undefined || !this.#isOpen || !this.hasRoom) return undefined;
    this.#next ??= this.#checked(next[0]);
    return this.#next && this.#events.costUsOf(this.#next, next[1]);
  }

  takeNext(): void {
    const [found, record] = [this.#next, this.#waiting.shift()];
    this.#next = undefined;
    if (found !== undefined && record !== undefined) this.#take(found, record[1]);
    if (this.#waiting.length === 0 && this.#isPaused && this.#isOpen) this.#pause(false);
  }

  #onRecord(head: RecordHead, body: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#waiting.push([head, body]);
    this.#events.onWaiting(this);
    if (this.#waiting.length > 0 && this.#isOpen && !this.#isPaused) this.#pause(true);
  }

  #pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#channel.readable(!isPaused);
  }

  #onDrain(): void {
    if (!this.#isOpen || !this.hasRoom) return;
    if (this.#waiting.length > 0) this.#events.onWaiting(this);
    this.#events.onRoom();
  }

  /** Closes the connection of a program that breaks the protocol. */
  #checked(head: RecordHead): ProgramRequest | undefined {
    return caught<ProgramRequest | undefined>(
      () => check(programRequest, head, 'request'), ({ message }) => void this.close(message));
  }

  #take(found: ProgramRequest, body: Uint8Array): void {
    if ((found.type === 'hello') === this.#isKnown) return this.close(`${found.type} comes at the wrong time`);
    if (found.type === 'hello' && found.version !== PROGRAM_PROTOCOL) return this.close(otherVersion(found.version));
    this.#isKnown = true;
    this.#events.onRequest(found, body);
  }
}

function otherVersion(version: number): string {
  const update = version < PROGRAM_PROTOCOL ? 'the library' : 'stcirun';
  return `the library has version ${version} of the protocol, stcirun ${PROGRAM_PROTOCOL}: update ${update}`;
}
