/**
 * `--json`: one object per line, for programs. Each line of output becomes an object with its rank, host, stream and
 * source time; only here bytes are decoded, line by line, and a line that is not UTF-8 is given as base64. A line
 * without its newline (the last one, or a piece of one that exceeds the bound) is marked `"partial":true`.
 */

import { joinBytes, NEWLINE, type TextCodec } from './bytes.js';
import { isoTime } from './label.js';
import { sourceRank, sourceStream, type SourceId } from './source.js';

export interface JsonLinesParams {
  readonly lineBytesMax: number;
  readonly hostOf: (rank: number) => string;
  readonly codec: TextCodec;
}

interface Held {
  pieces: Uint8Array[];
  bytes: number;
  wallMs: number;
}

export class JsonLines {
  readonly #params: JsonLinesParams;
  readonly #held = new Map<SourceId, Held>();

  constructor(params: JsonLinesParams) {
    this.#params = params;
  }

  /** The objects of the lines that the chunk completes, each with a newline; '' if it completes none. */
  push(source: SourceId, chunk: Uint8Array, wallMs: number): string {
    let text = '';
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      text += this.#line(source, chunk.subarray(from, at), wallMs, false);
      from = at + 1;
    }
    return from < chunk.length ? text + this.#hold(source, chunk.slice(from), wallMs) : text;
  }

  end(source: SourceId): string {
    return this.#held.has(source) ? this.#line(source, new Uint8Array(0), 0, true) : '';
  }

  #hold(source: SourceId, rest: Uint8Array, wallMs: number): string {
    const held = this.#held.get(source) ?? { pieces: [], bytes: 0, wallMs };
    held.pieces.push(rest);
    held.bytes += rest.length;
    this.#held.set(source, held);
    return held.bytes > this.#params.lineBytesMax ? this.end(source) : '';
  }

  #line(source: SourceId, last: Uint8Array, wallMs: number, partial: boolean): string {
    const held = this.#held.get(source);
    if (held !== undefined) this.#held.delete(source);
    const bytes = held === undefined ? last : joinBytes([...held.pieces, last]);
    const rank = sourceRank(source);
    const line = this.#params.codec.decode(bytes);
    return `${JSON.stringify({
      type: 'output',
      rank,
      host: this.#params.hostOf(rank),
      stream: sourceStream(source),
      time: isoTime(held?.wallMs ?? wallMs),
      ...(line === undefined ? { lineBase64: this.#params.codec.base64(bytes) } : { line }),
      ...(partial && { partial }),
    })}\n`;
  }
}
