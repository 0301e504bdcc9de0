/** Messages for one rank that wait at its session agent, and the receives that wait for messages. Pure. */

import { entryOf } from '@stci/interface';
import type { Form, HostIndex, ProgramRequest, Rank } from '@stci/interface';

export interface MailMessage {
  readonly from: Rank;
  readonly tag: string;
  readonly form: Form;
  readonly bytes: Uint8Array;
  /** Whose agent sent it, and gets credit when it is received, unless it has room of its own. */
  readonly host: HostIndex;
  readonly isGranted: boolean;
}

export interface Receive extends Pick<Extract<ProgramRequest, { readonly type: 'receive' }>, 'id' | 'from' | 'tag'> {
  /** When it came, on the agent's clock. */
  readonly sinceMs?: number;
  /** Ends the wait until its deadline. */
  stop?(): void;
}

/** A receive, and the message that it gets. */
export type Match = readonly [Receive, MailMessage];

/** Least charge of a message: the overhead of keeping it. */
const MESSAGE_CHARGE = 256;

export function chargeOf(bytes: number): number {
  return bytes + MESSAGE_CHARGE;
}

/** Of a library, not of the program. */
export function isOwnTag(tag: string): boolean {
  return tag.startsWith('_');
}

/** Messages of one rank to another wait for each other: those of its program, and those of its library. */
export function flowOf(from: Rank, tag: string): string {
  return isOwnTag(tag) ? `~${from}` : `${from}`;
}

/** What comes is tested once, in order: a message against the receives that wait, a receive against the messages. */
export class RankMailbox {
  /** Messages that no receive has fitted, in order: of each sender and tag, each tag, each sender, and all. */
  readonly #kept = new Map<string, Set<MailMessage>>();
  /** Receives that no message has fitted, in order. */
  #waiting: Receive[] = [];
  /** What the program is to be told. */
  #matches: Match[] = [];
  #bytes = 0;

  /** Charges of the messages that are here. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The program has been told all that it can be. */
  get isTold(): boolean {
    return this.#matches.length === 0;
  }

  get receives(): readonly Receive[] {
    return this.#waiting;
  }

  push(message: MailMessage): void {
    this.#bytes += chargeOf(message.bytes.length);
    const at = this.#waiting.findIndex((receive) => fits(receive, message));
    const [receive] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (receive !== undefined) return this.#match(receive, message);
    for (const key of keysOf(message)) this.#kept.set(key, (this.#kept.get(key) ?? new Set()).add(message));
  }

  await(receive: Receive): void {
    const [message] = this.#kept.get(keyOf(receive.from, receive.tag)) ?? [];
    if (message === undefined) return void this.#waiting.push(receive);
    for (const key of keysOf(message)) {
      const kept = this.#kept.get(key);
      if (kept?.delete(message) === true && kept.size === 0) this.#kept.delete(key);
    }
    this.#match(receive, message);
  }

  #match(receive: Receive, message: MailMessage): void {
    receive.stop?.();
    this.#matches.push([receive, message]);
  }

  /** Takes what the program is told next. */
  take(): Match | undefined {
    const match = this.#matches.shift();
    if (match !== undefined) this.#bytes -= chargeOf(match[1].bytes.length);
    return match;
  }

  /** A receive that waits, that such a message fits, and that is none of `except`. */
  awaiting(message: Pick<MailMessage, 'from' | 'tag'>, except: ReadonlySet<Receive | undefined>): Receive | undefined {
    return this.#waiting.find((receive) => fits(receive, message) && !except.has(receive));
  }

  /** Whether a receive waits for what may be sent after such a message, and come after it only. */
  awaitsBehind({ from, tag }: Pick<MailMessage, 'from' | 'tag'>): boolean {
    return this.#waiting.some((receive) => flowOf(receive.from ?? from, receive.tag ?? '') === flowOf(from, tag));
  }

  /** Whether it still waited. */
  cancel(id: number): boolean {
    return this.cancelAll((receive) => receive.id === id).length > 0;
  }

  /** Takes away the receives that wait for which `isIt` holds. */
  cancelAll(isIt: (receive: Receive) => boolean): Receive[] {
    const found = this.#waiting.filter(isIt);
    if (found.length > 0) this.#waiting = this.#waiting.filter((receive) => !isIt(receive));
    for (const { stop } of found) stop?.();
    return found;
  }

  /** Its receives went with the connection; all messages wait for the next one's. */
  disconnect(): void {
    this.cancelAll(() => true);
    const back = new Map<string, MailMessage[]>();
    for (const [, message] of this.#matches) {
      for (const key of keysOf(message)) entryOf(back, key, () => []).push(message);
    }
    this.#matches = [];
    // Of one sender and tag, none that is kept came before.
    for (const [key, messages] of back) this.#kept.set(key, new Set([...messages, ...this.#kept.get(key) ?? []]));
  }
}

/** A receive without a tag gets no message of the library's own tags. */
function fits({ from, tag }: Receive, message: Pick<MailMessage, 'from' | 'tag'>): boolean {
  if (from !== undefined && from !== message.from) return false;
  return tag === undefined ? !isOwnTag(message.tag) : tag === message.tag;
}

/** Of the messages that a receive of this sender and tag fits. */
function keyOf(from: Rank | undefined, tag: string | undefined): string {
  return tag === undefined ? `${from ?? ''}` : `${from ?? ''} ${tag}`;
}

function keysOf({ from, tag }: MailMessage): string[] {
  const keys = [keyOf(from, tag), keyOf(undefined, tag)];
  return isOwnTag(tag) ? keys : [...keys, keyOf(from, undefined), keyOf(undefined, undefined)];
}
