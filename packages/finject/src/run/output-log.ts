/** Output of the target as records, up to a bound, decoded for each stream by itself. */

import type { Rank } from '@stci/interface';
import type { HistoryEntry } from '../history/contracts.js';

type StreamName = 'stdout' | 'stderr';

interface Decoder {
  decode(chunk: Uint8Array, options: { readonly stream: boolean }): string;
}

/** Of the language's environments, not of one platform; the compiler's library of the language lacks it. */
declare const TextDecoder: new () => Decoder;

export class OutputLog {
  readonly #repeat: number;
  readonly #record: (entry: HistoryEntry) => void;
  readonly #decoders = new Map<string, Decoder>();
  #left: number;

  constructor(repeat: number, bytesMax: number, record: (entry: HistoryEntry) => void) {
    this.#repeat = repeat;
    this.#left = bytesMax;
    this.#record = record;
  }

  /** The text of the chunk; undefined: the stream has ended. */
  add(rank: Rank, stream: StreamName, chunk: Uint8Array, sourceWallMs: number): string | undefined {
    const key = `${rank} ${stream}`;
    const decoder = this.#decoders.get(key) ?? new TextDecoder();
    this.#decoders.set(key, decoder);
    const isEnd = chunk.length === 0;
    const text = decoder.decode(chunk, { stream: !isEnd });
    if (isEnd) this.#decoders.delete(key);
    if (text !== '' && this.#left > 0) this.#keep(rank, stream, text, chunk.length, sourceWallMs);
    return isEnd ? undefined : text;
  }

  #keep(rank: Rank, stream: StreamName, text: string, bytes: number, sourceWallMs: number): void {
    const kept = bytes <= this.#left ? text : text.slice(0, this.#left);
    this.#left -= bytes;
    this.#record({ type: 'output', repeat: this.#repeat, rank, stream, text: kept, sourceWallMs });
    if (this.#left <= 0) this.#record({ type: 'output-full', repeat: this.#repeat });
  }
}
