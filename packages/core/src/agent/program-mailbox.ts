/** Messages for one rank that wait at its session agent, and the receives that wait for messages. Pure. */

import type { Form, HostIndex, ProgramRequest, Rank } from '@stci/interface';

export interface MailMessage {
  readonly from: Rank;
  readonly tag: string;
  readonly form: Form;
  readonly bytes: Uint8Array;
  /** Whose agent sent it, and gets credit when it is received. */
  readonly host: HostIndex;
  readonly isLong: boolean;
}

export interface Receive extends Pick<Extract<ProgramRequest, { readonly type: 'receive' }>, 'id' | 'from' | 'tag'> {
  /** Ends the wait until its deadline. */
  stop?(): void;
}

/** Least charge of a message: the overhead of keeping it. */
const MESSAGE_CHARGE = 256;

export function chargeOf(bytes: number): number {
  return bytes + MESSAGE_CHARGE;
}

export class Mailbox {
  readonly #messages: MailMessage[] = [];
  readonly #receives: Receive[] = [];
  #bytes = 0;

  /** Charges of the messages that wait. */
  get bytes(): number {
    return this.#bytes;
  }

  get receives(): readonly Receive[] {
    return this.#receives;
  }

  push(message: MailMessage): void {
    this.#messages.push(message);
    this.#bytes += chargeOf(message.bytes.length);
  }

  await(receive: Receive): void {
    this.#receives.push(receive);
  }

  /** Takes the first receive that a message fits, and the first such message. */
  match(): readonly [Receive, MailMessage] | undefined {
    for (const [at, receive] of this.#receives.entries()) {
      const index = this.#messages.findIndex((message) => fits(receive, message));
      if (index < 0) continue;
      this.#receives.splice(at, 1);
      const [message] = this.#messages.splice(index, 1) as [MailMessage];
      receive.stop?.();
      this.#bytes -= chargeOf(message.bytes.length);
      return [receive, message];
    }
    return undefined;
  }

  /** Whether a receive waits that such a message fits. */
  awaits(message: Pick<MailMessage, 'from' | 'tag'>): boolean {
    return this.#receives.some((receive) => fits(receive, message));
  }

  /** Whether it still waited. */
  cancel(id: number): boolean {
    const at = this.#receives.findIndex((receive) => receive.id === id);
    if (at >= 0) this.#receives.splice(at, 1)[0]?.stop?.();
    return at >= 0;
  }

  /** Takes away the receives for which `isIt` holds. */
  cancelAll(isIt: (receive: Receive) => boolean): Receive[] {
    const found = this.#receives.filter(isIt);
    for (const { id } of found) this.cancel(id);
    return found;
  }
}

function fits({ from, tag }: Receive, message: Pick<MailMessage, 'from' | 'tag'>): boolean {
  if (from !== undefined && from !== message.from) return false;
  return tag === undefined ? !message.tag.startsWith('_') : tag === message.tag;
}
