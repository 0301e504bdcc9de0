/**
 * Fragment layer (STCI paper, II-E.2a): neighbour to neighbour, no routing. Cuts a body into frames of at most
 * FRAGMENT_BYTES_MAX and reassembles it at the destination; forwarders see frames only. Partial messages are bounded in
 * bytes, in number and in time.
 */

import {
  StciError, addressName, closeRoom, extendFront, joinBytes, entryOf, type Address, type Clock,
} from '@stci/interface';
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
import { ownBytes } from '../iof/bytes.js';

/** Partial messages of one source; a correct one has at most one per stream and direction. */
const SOURCE_PARTIALS_MAX = 64;

/** The partial messages of one source together: as many bytes as this number of largest messages. */
const SOURCE_MESSAGES_MAX = 2;

/** Bytes of partial messages that each source may have regardless of the others. */
const SOURCE_BYTES_FREE = 1024 * 1024;

/** Bytes of partial messages of all sources above that; or one message of the largest size if that is more. */
const PARTIAL_BYTES_MAX = 64 * 1024 * 1024;

/** Least charge of a fragment: the overhead of keeping it. */
const PART_BYTES_MIN = 256;

/** Parts smaller than this fraction of their buffer are copied, so that they do not retain all of it. */
const VIEW_SHARE_MIN = 1 / 16;

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
  const whole = joinBytes(body);
  for (let at = 0; at < bytes; at += FRAGMENT_BYTES_MAX) {
    const part = whole.subarray(at, at + FRAGMENT_BYTES_MAX);
    const more = at + part.length < bytes ? FLAG.more : 0;
    const rest = at > 0 ? FLAG.rest : 0;
    emit([encodeHeader({ ...header, flags: header.flags | more | rest }, part.length), part]);
  }
}

interface Partial {
  readonly parts: Uint8Array[];
  readonly sinceMs: number;
  readonly holder: Holder;
  bytes: number;
  charge: number;
}

/** Number and charge of one source's partial messages. */
interface Holder {
  readonly source: Address;
  partials: number;
  charge: number;
}

export class Reassembly {
  readonly #clock: Clock;
  readonly #messageBytesMax: number;
  readonly #timeoutMs: number;
  /** Called for a message that is dropped for lack of room, not for an error of its sender. */
  readonly #onDropped: (error: StciError) => void;
  /** Oldest first. */
  readonly #partials = new Map<string, Partial>();
  readonly #holders = new Map<Address, Holder>();
  /** Of all partials. */
  #charge = 0;

  constructor(clock: Clock, messageBytesMax: number, timeoutMs: number, onDropped: (error: StciError) => void) {
    this.#clock = clock;
    this.#onDropped = onDropped;
    this.#messageBytesMax = messageBytesMax;
    this.#timeoutMs = timeoutMs;
  }

  get pending(): number {
    return this.#partials.size;
  }

  /**
   * Returns the whole message once its last fragment is here. Throws STCI_MESSAGE_TOO_LARGE, with `tooLong`, if its
   * source exceeds its bounds. Beyond the bound of all sources, the oldest message is dropped.
   */
  take(frame: Frame): { header: FrameHeader; body: Uint8Array } | undefined {
    const header = decodeHeader(frame);
    const more = (header.flags & FLAG.more) !== 0;
    const key = keyOf(header);
    const partial = this.#partials.get(key);
    // The rest of a dropped message: its last fragment must not be taken for a whole message.
    if (partial === undefined && (header.flags & FLAG.rest) !== 0) return undefined;
    if (partial === undefined && !more) return { header, body: frameBody(frame) };
    return this.#add(key, partial ?? this.#begin(key, header.source), header, frameBody(frame));
  }

  #begin(key: string, source: Address): Partial {
    this.#dropStale();
    const holder = entryOf(this.#holders, source, () => ({ source, partials: 0, charge: 0 }));
    if (holder.partials >= SOURCE_PARTIALS_MAX) {
      throw tooLarge(`More than ${SOURCE_PARTIALS_MAX} partial messages of ${addressName(source)}`);
    }
    const partial: Partial = { parts: [], sinceMs: this.#clock.nowMs(), holder, bytes: 0, charge: 0 };
    holder.partials += 1;
    this.#partials.set(key, partial);
    return partial;
  }

  #add(
    key: string,
    partial: Partial,
    header: FrameHeader,
    part: Uint8Array,
  ): { header: FrameHeader; body: Uint8Array } | undefined {
    const { holder } = partial;
    partial.parts.push(ownBytes(part, VIEW_SHARE_MIN));
    partial.bytes += part.length;
    this.#account(partial, Math.max(part.length, PART_BYTES_MIN));
    if (partial.bytes > this.#messageBytesMax) {
      this.#drop(key, partial);
      throw tooLarge(
        `A message of ${addressName(header.source)} is longer than message.bytes.max, ${this.#messageBytesMax} bytes`,
      );
    }
    const sourceMax = SOURCE_MESSAGES_MAX * Math.max(this.#messageBytesMax, SOURCE_BYTES_FREE);
    if (holder.charge > sourceMax) {
      this.#drop(key, partial);
      throw tooLarge(`Partial messages of ${addressName(header.source)} take over ${sourceMax} bytes`);
    }
    if ((header.flags & FLAG.more) === 0) {
      this.#drop(key, partial);
      return { header, body: joinBytes(partial.parts) };
    }
    if (this.#charge > Math.max(PARTIAL_BYTES_MAX, this.#messageBytesMax)) this.#makeRoom();
    return undefined;
  }

  #makeRoom(): void {
    this.#dropStale();
    const max = Math.max(PARTIAL_BYTES_MAX, this.#messageBytesMax);
    for (const [key, partial] of this.#partials) {
      if (this.#charge <= max) return;
      if (partial.holder.charge <= SOURCE_BYTES_FREE) continue;
      this.#drop(key, partial);
      const of = addressName(partial.holder.source);
      const text = `Partial messages take over ${max} bytes: the oldest one, of ${of}, is dropped`;
      this.#onDropped(new StciError('STCI_MESSAGE_TOO_LARGE', text));
    }
  }

  /** Messages whose source died before the last fragment. */
  #dropStale(): void {
    const oldestMs = this.#clock.nowMs() - this.#timeoutMs;
    for (const [key, partial] of this.#partials) {
      if (partial.sinceMs >= oldestMs) return;
      this.#drop(key, partial);
    }
  }

  #drop(key: string, partial: Partial): void {
    const { holder } = partial;
    this.#partials.delete(key);
    this.#account(partial, -partial.charge);
    holder.partials -= 1;
    if (holder.partials === 0) this.#holders.delete(holder.source);
  }

  #account(partial: Partial, charge: number): void {
    partial.charge += charge;
    partial.holder.charge += charge;
    this.#charge += charge;
  }
}

function tooLarge(text: string): StciError {
  return new StciError('STCI_MESSAGE_TOO_LARGE', text, { data: { tooLong: true } });
}

/** Sequence numbers count per sender, layer and stream. */
function keyOf({ source, job, layer, stream, type, flags, sequence }: FrameHeader): string {
  return `${source}/${job}/${layer}/${stream}/${type}/${flags & FLAG.reply}/${sequence}`;
}
