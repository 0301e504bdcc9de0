/**
 * Fragment layer (STCI paper, II-E.2a): neighbour to neighbour, no routing. Cuts a body into frames of at most
 * FRAGMENT_BYTES_MAX and puts the parts together again at the destination; forwarders in between see frames only.
 * What is being put together is bounded in bytes, in number and in time.
 */

import { StciError, addressName, closeRoom, extendFront, type Clock } from '@stci/interface';
import {
  FLAG,
  FRAGMENT_BYTES_MAX,
  HEADER_BYTES,
  decodeHeader,
  encodeHeader,
  frameBody,
  type Frame,
  type FrameHeader,
} from '../codec/frame.js';

/** Partial messages an agent keeps at the most. */
const PARTIALS_MAX = 4096;

/** Bytes of all partial messages of an agent together, or one message of the largest size where that is more. */
const PARTIAL_BYTES_MAX = 64 * 1024 * 1024;

/** Passes the frames of one message to `emit`, each as pieces. */
export function cut(header: FrameHeader, body: readonly Uint8Array[], emit: (pieces: Uint8Array[]) => void): void {
  const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
  if (bytes <= FRAGMENT_BYTES_MAX) {
    const [piece] = body;
    const frame = body.length === 1 && piece !== undefined ? extendFront(piece, HEADER_BYTES) : undefined;
    if (frame === undefined) return emit([encodeHeader(header, bytes), ...body]);
    frame.set(encodeHeader(header, bytes));
    closeRoom(frame);
    return emit([frame]);
  }
  const whole = join(body, bytes);
  for (let at = 0; at < bytes; at += FRAGMENT_BYTES_MAX) {
    const part = whole.subarray(at, at + FRAGMENT_BYTES_MAX);
    const more = at + part.length < bytes ? FLAG.more : 0;
    const rest = at > 0 ? FLAG.rest : 0;
    emit([encodeHeader({ ...header, flags: header.flags | more | rest }, part.length), part]);
  }
}

export function join(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  if (pieces.length === 1) return pieces[0] as Uint8Array;
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

interface Partial {
  readonly parts: Uint8Array[];
  readonly sinceMs: number;
  bytes: number;
}

export class Reassembly {
  readonly #clock: Clock;
  readonly #messageBytesMax: number;
  readonly #timeoutMs: number;
  readonly #partials = new Map<string, Partial>();
  /** Of all partials. */
  #bytes = 0;

  constructor(clock: Clock, messageBytesMax: number, timeoutMs: number) {
    this.#clock = clock;
    this.#messageBytesMax = messageBytesMax;
    this.#timeoutMs = timeoutMs;
  }

  get pending(): number {
    return this.#partials.size;
  }

  /**
   * The whole message once its last fragment is here. Throws STCI_MESSAGE_TOO_LARGE, with `tooLong` where this one is
   * longer than its sender may make it; without, all that are under way are too much together.
   */
  take(frame: Frame): { header: FrameHeader; body: Uint8Array } | undefined {
    const header = decodeHeader(frame);
    const more = (header.flags & FLAG.more) !== 0;
    const key = keyOf(header);
    const partial = this.#partials.get(key);
    // The rest of a message that was dropped: its end must not pass for a message of its own.
    if (partial === undefined && (header.flags & FLAG.rest) !== 0) return undefined;
    if (partial === undefined && !more) return { header, body: frameBody(frame) };
    return this.#add(key, partial ?? this.#begin(key), header, frameBody(frame));
  }

  #begin(key: string): Partial {
    this.#dropStale();
    if (this.#partials.size >= PARTIALS_MAX) {
      throw new StciError('STCI_MESSAGE_TOO_LARGE', `More than ${PARTIALS_MAX} messages are under way in fragments`);
    }
    const partial: Partial = { parts: [], sinceMs: this.#clock.nowMs(), bytes: 0 };
    this.#partials.set(key, partial);
    return partial;
  }

  #add(
    key: string,
    partial: Partial,
    header: FrameHeader,
    part: Uint8Array,
  ): { header: FrameHeader; body: Uint8Array } | undefined {
    partial.parts.push(part);
    partial.bytes += part.length;
    this.#bytes += part.length;
    if (this.#bytes > Math.max(PARTIAL_BYTES_MAX, this.#messageBytesMax)) this.#dropStale();
    if (this.#bytes > Math.max(PARTIAL_BYTES_MAX, this.#messageBytesMax)) {
      this.#drop(key, partial);
      throw new StciError(
        'STCI_MESSAGE_TOO_LARGE',
        `Messages in fragments take over ${PARTIAL_BYTES_MAX} bytes: one of ${addressName(header.source)} is dropped`,
      );
    }
    if (partial.bytes > this.#messageBytesMax) {
      this.#drop(key, partial);
      throw new StciError(
        'STCI_MESSAGE_TOO_LARGE',
        `A message of ${addressName(header.source)} is longer than message.bytes.max, ${this.#messageBytesMax} bytes`,
        { data: { tooLong: true } },
      );
    }
    if ((header.flags & FLAG.more) !== 0) return undefined;
    this.#drop(key, partial);
    return { header, body: join(partial.parts, partial.bytes) };
  }

  /** Messages whose source died in the middle. */
  #dropStale(): void {
    const oldestMs = this.#clock.nowMs() - this.#timeoutMs;
    for (const [key, partial] of this.#partials) {
      if (partial.sinceMs < oldestMs) this.#drop(key, partial);
    }
  }

  #drop(key: string, partial: Partial): void {
    this.#partials.delete(key);
    this.#bytes -= partial.bytes;
  }
}

/** Sequences are counted by sender, layer and stream. */
function keyOf({ source, layer, stream, type, flags, sequence }: FrameHeader): string {
  return `${source}/${layer}/${stream}/${type}/${flags & FLAG.reply}/${sequence}`;
}
