/** Calls that wait for the session agent's answer, by their number; they keep the process running. */

import type { ProgramEvent, ProgramRequest } from '@stci/interface';
import type { AgentLink } from './agent-socket.js';
import { ClientError, errorOfCall, type ClientErrorCode } from './errors.js';

/** A request of a kind that is answered by number, without the number. */
export type CallRequest = ProgramRequest extends infer R
  ? R extends { readonly id: number } ? Omit<R, 'id' | 'bytes'> : never
  : never;

export type Answer = Exclude<Extract<ProgramEvent, { readonly id: number }>, { readonly type: 'failed-call' }>;

/** The answer, with its bytes. */
export interface Answered {
  readonly event: Answer;
  readonly bytes: Uint8Array;
}

export interface CallOptions {
  readonly bytes?: Uint8Array;
  /** For messages: `send()`. */
  readonly name: string;
  /** Does not keep the process running. */
  readonly isIdle?: boolean;
}

interface Waiting {
  readonly name: string;
  readonly isIdle: boolean;
  resolve(answered: Answered): void;
  reject(error: ClientError): void;
}

export class Calls {
  readonly #link: AgentLink;
  readonly #waiting = new Map<number, Waiting>();
  #number = 0;
  #held = 0;
  #closed: ClientError | undefined;

  constructor(link: AgentLink) {
    this.#link = link;
    link.hold(false);
  }

  get closed(): ClientError | undefined {
    return this.#closed;
  }

  /** The process is kept running until as many calls of `release`. */
  hold(): void {
    this.#held += 1;
    if (this.#held === 1) this.#link.hold(true);
  }

  release(): void {
    this.#held -= 1;
    if (this.#held === 0) this.#link.hold(false);
  }

  /** Number that `call` uses next: to cancel it. */
  get next(): number {
    return this.#number + 1;
  }

  /** Rejects with ClientError. */
  call(request: CallRequest, { bytes, name, isIdle = false }: CallOptions): Promise<Answered> {
    return new Promise((resolve, reject) => {
      if (this.#closed !== undefined) return reject(this.#closed);
      this.#number += 1;
      this.#waiting.set(this.#number, { name, isIdle, resolve, reject });
      if (!isIdle) this.hold();
      this.#link.send({ ...request, id: this.#number } as ProgramRequest, bytes);
    });
  }

  /** A request that is not answered by number. Throws ClientError once the connection has ended. */
  send(request: ProgramRequest, bytes?: Uint8Array): void {
    if (this.#closed !== undefined) throw this.#closed;
    this.#link.send(request, bytes);
  }

  /** False: no call waits for it. */
  onAnswer(event: Extract<ProgramEvent, { readonly id: number }>, bytes: Uint8Array): boolean {
    const waiting = this.#waiting.get(event.id);
    if (waiting === undefined) return false;
    this.#waiting.delete(event.id);
    if (!waiting.isIdle) this.release();
    if (event.type !== 'failed-call') waiting.resolve({ event, bytes });
    else waiting.reject(new ClientError(event.code as ClientErrorCode, `${waiting.name}: ${event.reason}`));
    return true;
  }

  end(error: ClientError): void {
    if (this.#closed !== undefined) return;
    this.#closed = error;
    for (const { name, isIdle, reject } of this.#waiting.values()) {
      if (!isIdle) this.release();
      reject(errorOfCall(name, error));
    }
    this.#waiting.clear();
  }
}
