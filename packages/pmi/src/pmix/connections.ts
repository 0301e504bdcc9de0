/** Both ends of a client's connection as pure machines: bytes in; handshake, requests, replies and events out. */

import type { StciError } from '@stci/interface';
import { ByteQueue } from '../bytes/byte-queue.js';
import { isRefusedBody } from '../bytes/refusal.js';
import { BUFFER_FORM, type BufferForm } from './bfrops/types.js';
import { FRAME_BODY_BYTES_MAX, TAG, takeFrame, type PmixFrame } from './frames.js';
import { takeHello, takeWelcome, type PmixHello, type PmixWelcome } from './handshake.js';
import { decodeRequest, type PmixRequest } from './requests.js';

export type PmixArrival =
  /** To be looked at with `helloProblem` before it is answered. */
  | { readonly kind: 'hello'; readonly hello: PmixHello }
  | { readonly kind: 'request'; readonly tag: number; readonly request: PmixRequest }
  /** To be answered with a status of bad parameter. */
  | { readonly kind: 'refused'; readonly tag: number; readonly fault: StciError };

/** The server's end. `next` throws a refused stream. */
export class PmixServerEnd {
  readonly #queue = new ByteQueue();
  readonly #bodyBytesMax: number;
  #form: BufferForm | undefined;

  constructor(bodyBytesMax = FRAME_BODY_BYTES_MAX) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  /** The form of this client's buffers, in which it is answered. */
  get form(): BufferForm {
    return this.#form ?? BUFFER_FORM.plain;
  }

  append(chunk: Uint8Array): void {
    this.#queue.append(chunk);
  }

  next(): PmixArrival | undefined {
    if (this.#form === undefined) {
      const hello = takeHello(this.#queue);
      this.#form = hello?.form;
      return hello === undefined ? undefined : { kind: 'hello', hello };
    }
    for (;;) {
      const frame = takeFrame(this.#queue, this.#bodyBytesMax);
      if (frame === undefined) return undefined;
      if (frame.tag !== TAG.heartbeat && frame.tag !== TAG.forwarded) return this.#request(frame);
    }
  }

  #request({ tag, body }: PmixFrame): PmixArrival {
    try {
      return { kind: 'request', tag, request: decodeRequest(this.form, body) };
    } catch (fault) {
      if (!isRefusedBody(fault)) throw fault;
      return { kind: 'refused', tag, fault };
    }
  }
}

/** A client's end, for simulated clients and tests: the welcome first, then frames, whose tag says what they answer. */
export class PmixClientEnd {
  readonly #queue = new ByteQueue();
  readonly #bodyBytesMax: number;
  #welcome: PmixWelcome | undefined;

  constructor(bodyBytesMax = FRAME_BODY_BYTES_MAX) {
    this.#bodyBytesMax = bodyBytesMax;
  }

  get welcome(): PmixWelcome | undefined {
    return this.#welcome;
  }

  append(chunk: Uint8Array): void {
    this.#queue.append(chunk);
  }

  /** The next frame; none before the welcome, nor behind one that refuses. */
  next(): PmixFrame | undefined {
    this.#welcome ??= takeWelcome(this.#queue);
    return this.#welcome?.status === 0 ? takeFrame(this.#queue, this.#bodyBytesMax) : undefined;
  }
}
