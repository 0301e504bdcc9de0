/**
 * Packs: a count and as many values of one type, of which bodies are made. In a described buffer the types of count and
 * values stand before them.
 */

import { refuseBody } from '../../bytes/refusal.js';
import { ByteReader, ByteWriter } from './bytes.js';
import { CODECS } from './codecs.js';
import { BUFFER_FORM, PMIX_TYPE, type BufferForm, type PmixTypeName, type PmixTypes } from './types.js';

const U16_MAX = 0xffff;

export class Packer {
  readonly form: BufferForm;
  readonly #writer = new ByteWriter();

  constructor(form: BufferForm) {
    this.form = form;
  }

  pack<K extends PmixTypeName>(type: K, ...items: readonly PmixTypes[K][]): void {
    const writer = this.#writer;
    const isDescribed = this.form === BUFFER_FORM.described;
    if (isDescribed) writer.flex(PMIX_TYPE.int32);
    writer.signed(items.length);
    if (isDescribed) writer.flex(PMIX_TYPE[type]);
    for (const item of items) CODECS[type].write(writer, item);
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }
}

/** Throws a refused body where something else comes than is asked for. */
export class Unpacker {
  readonly form: BufferForm;
  readonly #reader: ByteReader;

  constructor(form: BufferForm, bytes: Uint8Array) {
    this.form = form;
    this.#reader = new ByteReader(bytes);
  }

  get isAtEnd(): boolean {
    return this.#reader.left === 0;
  }

  /** A pack of exactly `count` values. */
  unpack<K extends PmixTypeName>(type: K, count: number): PmixTypes[K][] {
    const reader = this.#reader;
    const isDescribed = this.form === BUFFER_FORM.described;
    if (isDescribed) this.#tag(PMIX_TYPE.int32);
    const found = reader.signedCount();
    if (found !== count) refuseBody(`${count} of ${type}`, found);
    if (isDescribed) this.#tag(PMIX_TYPE[type]);
    return reader.many(count, CODECS[type].read as (reader: ByteReader) => PmixTypes[K]);
  }

  one<K extends PmixTypeName>(type: K): PmixTypes[K] {
    return this.unpack(type, 1)[0] as PmixTypes[K];
  }

  /** A SIZE that says how many values come in the packs after it. */
  count(): number {
    const count = this.one('size');
    const most = this.#reader.left;
    return count <= BigInt(most) ? Number(count) : refuseBody(`a count of ${most} at most`, String(count));
  }

  #tag(expected: number): void {
    const found = this.#reader.flex(U16_MAX);
    if (found !== expected) refuseBody(`values of type ${expected}`, found);
  }
}
