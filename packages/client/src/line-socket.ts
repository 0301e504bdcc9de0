/** JSON lines over the session agent's socket: whole events, of known form, in order. */

import { connect, type Socket } from 'node:net';
import type { ProgramEvent, ProgramRequest } from '@stci/interface';

/** Longest line of the agent, in characters: a list of lost ranks of a large job. */
const LINE_CHARS_MAX = 64 * 1024 * 1024;

export interface LineSocketEvents {
  onEvent(event: ProgramEvent): void;
  /** Called once, last. `reason`: a sentence's rest, for messages. */
  onClosed(reason: string): void;
}

export class LineSocket {
  readonly #socket: Socket;
  readonly #events: LineSocketEvents;
  #text = '';
  #reason = 'the session agent closed it';

  constructor(path: string, events: LineSocketEvents) {
    this.#events = events;
    this.#socket = connect({ path });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#onText(text));
    this.#socket.on('error', (error) => (this.#reason = error.message));
    this.#socket.on('close', () => events.onClosed(this.#reason));
  }

  send(request: ProgramRequest): void {
    this.#socket.write(`${JSON.stringify(request)}\n`);
  }

  /** Whether it keeps the process running. */
  hold(on: boolean): void {
    if (on) this.#socket.ref();
    else this.#socket.unref();
  }

  /** What has been sent still arrives. */
  close(): void {
    this.#socket.end();
    this.#socket.unref();
  }

  destroy(reason: string): void {
    this.#reason = reason;
    this.#socket.destroy();
  }

  #onText(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.#text + (lines[0] as string);
    this.#text = lines.pop() as string;
    if (this.#text.length > LINE_CHARS_MAX) return this.destroy('the session agent sent a line that is too long');
    for (const line of lines) {
      const event = parse(line);
      if (event === undefined) return this.destroy('the session agent broke the protocol');
      this.#events.onEvent(event);
    }
  }
}

function parse(line: string): ProgramEvent | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  return isEvent(value) ? value : undefined;
}

type Unknown = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Unknown => typeof value === 'object' && value !== null;

const isRank = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;

const isRange = (value: unknown): boolean => Array.isArray(value) && isRank(value[0]) && isRank(value[1]);

const isList = (value: unknown, isItem: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isItem);

const FORMS: Readonly<Record<ProgramEvent['type'], (event: Unknown) => boolean>> = {
  welcome: (event) => ['rank', 'size', 'job', 'attempt'].every((name) => isRank(event[name])),
  exit: ({ status }) => isRank(status),
  refused: ({ reason }) => typeof reason === 'string',
  failed: ({ lost }) => isList(lost, (item) => isRange(item) && typeof (item as unknown[])[2] === 'string'),
  agreed: ({ agreed }) => isObject(agreed) && typeof agreed['flag'] === 'boolean'
    && typeof agreed['isMismatch'] === 'boolean'
    && ['ranks', 'joined', 'failed'].every((name) => isList(agreed[name], isRange)),
};

function isEvent(value: unknown): value is ProgramEvent {
  return isObject(value) && Object.hasOwn(FORMS, String(value['type']))
    && FORMS[value['type'] as ProgramEvent['type']](value);
}
