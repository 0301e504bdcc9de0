/**
 * Answers of a host before the agent's data: lines `STCI NONCE WORD…` on standard output, between output of the user's
 * login scripts. The nonce distinguishes ours from theirs. After the last answer (`have`, `run`, `join`) every
 * byte is the agent's.
 */

import type { ReachFailure } from '@stci/interface';

/** Largest output of login scripts; with more, the start fails. */
export const BANNER_BYTES_MAX = 64 * 1024;
/** Longest answer. */
const ANSWER_CHARS_MAX = 16 * 1024;
const NEWLINE = 0x0a;

export type Answer =
  /** The login shell has started our command. */
  | { readonly word: 'shell' }
  /** The host needs the bundle: it is sent now. */
  | { readonly word: 'need' }
  /** The agent runs, from the cache or from the bundle that was sent. */
  | { readonly word: 'have' | 'run' }
  /** The standard streams are joined with the socket of an agent that runs already. */
  | { readonly word: 'join' }
  /** The agent does not run, or is not reached, and why. */
  | { readonly word: 'fail'; readonly phase: FailedPhase; readonly text: string };

/** What failed on the host: no node, a damaged bundle, a socket (ReachFailure). */
export type FailedPhase = 'node' | 'bundle' | ReachFailure;

export interface AnswerEvents {
  onAnswer(answer: Answer): void;
  /** Login scripts printed more than BANNER_BYTES_MAX. */
  onFlood(): void;
}

export class AnswerReader {
  readonly #mark: string;
  readonly #events: AnswerEvents;
  #line = '';
  #other = '';
  #over = false;

  constructor(nonce: string, events: AnswerEvents) {
    this.#mark = `STCI ${nonce} `;
    this.#events = events;
  }

  /** Output so far that is not ours. */
  get banner(): string {
    return readable(this.#other + this.#line);
  }

  /** Returns the agent's first bytes after the last answer; undefined before. */
  push(chunk: Uint8Array): Uint8Array | undefined {
    for (let at = 0; at < chunk.length && !this.#over; at++) {
      const byte = chunk[at] as number;
      if (byte !== NEWLINE) this.#line += String.fromCharCode(byte);
      else if (this.#endLine()) return chunk.subarray(at + 1);
      this.#checkFlood();
    }
    return undefined;
  }

  /** Returns true for the last answer. */
  #endLine(): boolean {
    const line = this.#line;
    this.#line = '';
    // A banner without a newline may precede the mark.
    const at = line.indexOf(this.#mark);
    this.#other += at < 0 ? `${line}\n` : line.slice(0, at);
    if (at < 0) return false;
    const answer = parseAnswer(line.slice(at + this.#mark.length).trimEnd());
    if (answer === undefined) return false;
    this.#events.onAnswer(answer);
    const isLast = answer.word === 'have' || answer.word === 'run' || answer.word === 'join';
    this.#over = isLast || answer.word === 'fail';
    return isLast;
  }

  #checkFlood(): void {
    if (this.#over || this.#other.length + this.#line.length <= BANNER_BYTES_MAX) return;
    // Only now: to look into a text that grows by characters makes a copy of it.
    if (this.#line.length <= ANSWER_CHARS_MAX && this.#line.startsWith(this.#mark)) return;
    this.#over = true;
    this.#events.onFlood();
  }
}

function parseAnswer(words: string): Answer | undefined {
  if (isPlain(words)) return { word: words };
  const [, phase, text] = /^fail (node|bundle|dead|refused|unreachable) (.*)$/.exec(words) ?? [];
  if (phase === undefined || text === undefined) return undefined;
  return { word: 'fail', phase: phase as FailedPhase, text: readable(text) };
}

function isPlain(words: string): words is Exclude<Answer['word'], 'fail'> {
  return ['shell', 'need', 'have', 'run', 'join'].includes(words);
}

/** Bytes (one per character) as text: UTF-8 if they are valid. */
function readable(bytes: string): string {
  try {
    return decodeURIComponent(bytes.replaceAll(/[^A-Za-z0-9]/g, percent));
  } catch {
    return bytes;
  }
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
}
