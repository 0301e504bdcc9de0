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

/** In order of arrival; what was taken from its middle is dropped once it is the larger half. */
class Line<Item extends { isTaken: boolean }> {
  #items: Item[] = [];
  #taken = 0;
  #first = 0;

  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  push(item: Item): void {
    this.#items.push(item);
  }

  first(): Item | undefined {
    while (this.#items[this.#first]?.isTaken === true) this.#first += 1;
    return this.#items[this.#first];
  }

  /** One of the items was taken. */
  onTaken(): void {
    this.#taken += 1;
    if (this.#taken * 2 <= this.#items.length) return;
    this.#items = this.#items.filter(({ isTaken }) => !isTaken);
    [this.#taken, this.#first] = [0, 0];
  }
}

/** A message that no receive fitted when it came. */
interface Kept {
  readonly message: MailMessage;
  isTaken: boolean;
}

interface Waiting {
  readonly receive: Receive;
  /** No message that was there fits it. */
  isTested: boolean;
}

interface Arrival {
  readonly what: MailMessage | Waiting;
  isTaken: boolean;
}

/**
 * What comes is tested once, in order: a message against the receives that wait, a receive against the messages that
 * wait, which are found by sender and tag.
 */
export class Mailbox {
  /** Of the messages that were tested: those of each sender and tag, each tag, each sender, and all. */
  readonly #kept = new Map<string, Line<Kept>>();
  #waiting: Waiting[] = [];
  /** Not tested. */
  readonly #arrivals = new Line<Arrival>();
  #bytes = 0;

  /** Charges of the messages that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  get receives(): readonly Receive[] {
    return this.#waiting.map(({ receive }) => receive);
  }

  get receivesCount(): number {
    return this.#waiting.length;
  }

  push(message: MailMessage): void {
    this.#arrivals.push({ what: message, isTaken: false });
    this.#bytes += chargeOf(message.bytes.length);
  }

  await(receive: Receive): void {
    const waiting: Waiting = { receive, isTested: false };
    this.#waiting.push(waiting);
    this.#arrivals.push({ what: waiting, isTaken: false });
  }

  /** Takes a receive, and the message that it gets. */
  match(): readonly [Receive, MailMessage] | undefined {
    for (let next = this.#arrivals.first(); next !== undefined; next = this.#arrivals.first()) {
      next.isTaken = true;
      this.#arrivals.onTaken();
      const found = 'isTested' in next.what ? this.#testReceive(next.what) : this.#testMessage(next.what);
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
    if (found === undefined) return undefined;
    this.#waiting.splice(at, 1);
    found.isTaken = true;
    for (const key of keysOf(found.message)) {
      const line = this.#kept.get(key);
      line?.onTaken();
      if (line?.isEmpty === true) this.#kept.delete(key);
    }
    return [receive, found.message];
  }

  #testMessage(message: MailMessage): readonly [Receive, MailMessage] | undefined {
    const at = this.#waiting.findIndex(({ receive, isTested }) => isTested && fits(receive, message));
    const [waiting] = at < 0 ? [] : this.#waiting.splice(at, 1);
    if (waiting !== undefined) return [waiting.receive, message];
    const kept: Kept = { message, isTaken: false };
    for (const key of keysOf(message)) {
      const line = this.#kept.get(key) ?? new Line<Kept>();
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
