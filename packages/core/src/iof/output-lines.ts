/**
 * Output for programs, as `--json` and the library give it: each line becomes an object with its rank, host, stream
 * and source time; only here bytes are decoded, line by line, and a line that is not UTF-8 is given as base64.
 */

import { joinBytes, entryOf } from '@stci/interface';
import { NEWLINE, type TextCodec } from './bytes.js';
import { isoTime } from './label.js';
import { sourceRank, sourceStream, type SourceId, type StreamName } from './source.js';

/** A line of a rank's output, without its newline. */
export interface OutputLine {
  readonly type: 'output';
  readonly rank: number;
  readonly host: string;
  readonly stream: StreamName;
  /** When its first byte was read at its host: ISO 8601, UTC. */
  readonly time: string;
  /** Undefined where it is not UTF-8. */
  readonly line?: string;
  readonly lineBase64?: string;
  /** The line has no newline: the last one, or a piece of one that exceeds the bound. */
  readonly partial?: true;
}

export interface OutputLinesParams {
  readonly lineBytesMax: number;
  readonly hostOf: (rank: number) => string;
  /** As it is shown; default: as it is. */
  readonly rankOf?: (rank: number) => number;
  readonly codec: TextCodec;
}

interface Held {
  pieces: Uint8Array[];
  bytes: number;
  wallMs: number;
}

export class OutputLines {
  readonly #params: OutputLinesParams;
  readonly #held = new Map<SourceId, Held>();

  constructor(params: OutputLinesParams) {
    this.#params = params;
  }

  /** The lines that the chunk completes. */
  push(source: SourceId, chunk: Uint8Array, wallMs: number): OutputLine[] {
    const lines: OutputLine[] = [];
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      lines.push(this.#line(source, chunk.subarray(from, at), wallMs, false));
      from = at + 1;
    }
    if (from < chunk.length) lines.push(...this.#hold(source, chunk.slice(from), wallMs));
    return lines;
  }

  end(source: SourceId): OutputLine[] {
    return this.#held.has(source) ? [this.#line(source, new Uint8Array(0), 0, true)] : [];
  }

  #hold(source: SourceId, rest: Uint8Array, wallMs: number): OutputLine[] {
    const held = entryOf(this.#held, source, () => ({ pieces: [], bytes: 0, wallMs }));
    held.pieces.push(rest);
    held.bytes += rest.length;
    return held.bytes > this.#params.lineBytesMax ? this.end(source) : [];
  }

  #line(source: SourceId, last: Uint8Array, wallMs: number, partial: boolean): OutputLine {
    const held = this.#held.get(source);
    if (held !== undefined) this.#held.delete(source);
    const bytes = held === undefined ? last : joinBytes([...held.pieces, last]);
    const rank = sourceRank(source);
    const { hostOf, rankOf = (known) => known, codec } = this.#params;
    const line = codec.decode(bytes);
    return {
      type: 'output',
      rank: rankOf(rank),
      host: hostOf(rank),
      stream: sourceStream(source),
      time: isoTime(held?.wallMs ?? wallMs),
      ...(line === undefined ? { lineBase64: codec.base64(bytes) } : { line }),
      ...(partial && { partial }),
    };
  }
}
