/** Messages for one rank that wait at its session agent, and the receives that wait for messages. Pure. */

import type { Form, HostIndex, ProgramRequest, Rank } from '@stci/interface';

export interface MailMessage {
  readonly from: Rank;
  readonly tag: string;
  readonly form: Form;
  readonly bytes: Uint8Array;
  /** Whose agent sent it, and gets credit when it is received, unless it asked for room. */
  readonly host: HostIndex;
  readonly isGranted: boolean;
}

export interface Receive extends Pick<Extract<ProgramRequest, { readonly type: 'receive' }>, 'id' | 'from' | 'tag'> {
  /** When it came, on the agent's clock. */
  readonly sinceMs?: number;
  /** Ends the wait until its deadline. */
  stop?(): void;
}

/** Least charge of a message: the overhead of keeping it. */
const MESSAGE_CHARGE = 256;

export function chargeOf(bytes: number): number {
  return bytes + MESSAGE_CHARGE;
}

/** Of a library, not of the program. */
export function isOwnTag(tag: string): boolean {
  return tag.startsWith('_');
}

/** In a line, or in several. */
interface Item<Value> {
  /** undefined: it was taken, and no line keeps it. */
  value: Value | undefined;
}

/** In order of arrival; items that were taken from its middle are dropped once they are the larger half. */
class Line<Value> {
  #items: Item<Value>[] = [];
  #taken = 0;
  #first = 0;

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  push(item: Item<Value>): void {
    this.#items.push(item);
  }

  first(): Item<Value> | undefined {
    while (this.#first < this.#items.length && this.#items[this.#first]?.value === undefined) this.#first += 1;
    return this.#items[this.#first];
  }

  /** One of the items was taken. */
  onTaken(): void {
    this.#taken += 1;
    if (this.#taken * 2 <= this.#items.length) return;
    this.#items = this.#items.filter(({ value }) => value !== undefined);
    [this.#taken, this.#first] = [0, 0];
  }
}

interface Waiting {
  readonly receive: Receive;
  /** No message that was there fits it. */
  isTested: boolean;
}

/**
 * What comes is tested once, in order: a message against the receives that wait, a receive against the messages that
 * wait, which are found by sender and tag.
 */
export class Mailbox {
  /** Messages that no receive fitted when they came: of each sender and tag, each tag, each sender, and all. */
  readonly #kept = new Map<string, Line<MailMessage>>();
  #waiting: Waiting[] = [];
  /** Not tested. */
  readonly #arrivals = new Line<MailMessage | Waiting>();
  #bytes = 0;

  /** Charges of the messages that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  /** No message is left that may be one that a receive waits for. */
  get isTested(): boolean {
    return this.#arrivals.first() === undefined;
  }

  get receives(): readonly Receive[] {
    return this.#waiting.map(({ receive }) => receive);
  }

  get receivesCount(): number {
    return this.#waiting.length;
  }

  push(message: MailMessage): void {
    this.#arrivals.push({ value: message });
    this.#bytes += chargeOf(message.bytes.length);
  }

  await(receive: Receive): void {
    const waiting: Waiting = { receive, isTested: false };
    this.#waiting.push(waiting);
    this.#arrivals.push({ value: waiting });
  }

  /** Takes a receive, and the message that it gets. */
  match(): readonly [Receive, MailMessage] | undefined {
    for (let next = this.#arrivals.first(); next?.value !== undefined; next = this.#arrivals.first()) {
      const { value } = next;
      next.value = undefined;
      this.#arrivals.onTaken();
      const found = 'isTested' in value ? this.#testReceive(value) : this.#testMessage(value);
      if (found === undefined) continue;
      const [receive, message] = found;
      receive.stop?.();
      this.#bytes -= chargeOf(message.bytes.length);
      return found;
    }
    return undefined;
  }

  /** A receive that waits, that such a message fits, and that is none of `except`. */
  awaiting(message: Pick<MailMessage, 'from' | 'tag'>, except: ReadonlySet<Receive>): Receive | undefined {
    return this.#waiting.find(({ receive }) => fits(receive, message) && !except.has(receive))?.receive;
  }

  /** Whether a receive waits for what may be sent after such a message, and come after it only. */
  awaitsBehind({ from, tag }: Pick<MailMessage, 'from' | 'tag'>): boolean {
    const isOwn = isOwnTag(tag);
    return this.#waiting.some(({ receive }) =>
      (receive.from ?? from) === from && isOwnTag(receive.tag ?? '') === isOwn);
  }

  /** Whether it still waited. */
  cancel(id: number): boolean {
    return this.cancelAll((receive) => receive.id === id).length > 0;
  }

  /** Takes away the receives for which `isIt` holds. */
  cancelAll(isIt: (receive: Receive) => boolean): Receive[] {
    const found = this.receives.filter(isIt);
    if (found.length === 0) return found;
    const gone = new Set(found);
    this.#waiting = this.#waiting.filter(({ receive }) => !gone.has(receive));
    for (const { stop } of found) stop?.();
    return found;
  }

  #testReceive(waiting: Waiting): readonly [Receive, MailMessage] | undefined {
    const { receive } = waiting;
    const at = this.#waiting.indexOf(waiting);
    if (at < 0) return undefined; // Cancelled.
    const found = this.#kept.get(keyOf(receive.from, receive.tag))?.first();
    waiting.isTested = true;
    const message = found?.value;
    if (found === undefined || message === undefined) return undefined;
    this.#waiting.splice(at, 1);
    found.value = undefined;
    for (const key of keysOf(message)) {
      const line = this.#kept.get(key);
      line?.onTaken();
      if (line?.isEmpty === true) this.#kept.delete(key);
    }
    return [receive, message];
  }

  #testMessage(message: MailMessage): readonly [Receive, MailMessage] | undefined {
    const at = this.#waiting.findIndex(({ receive, isTested }) => isTested && fits(receive, message));
    const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (waiting !== undefined) return [waiting.receive, message];
    const kept: Item<MailMessage> = { value: message };
    for (const key of keysOf(message)) {
      const line = this.#kept.get(key) ?? new Line<MailMessage>();
      this.#kept.set(key, line);
      line.push(kept);
    }
    return undefined;
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
