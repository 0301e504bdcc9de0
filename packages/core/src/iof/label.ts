/**
 * Prefix of a line: `[3] ` with `--tag`, `[node1] ` with `--tag=host`, `[node1:3:stderr] ` with `--tag=full`, and
 * before it with `--timestamp` the time at which the line began, taken at the source. The prefix of a source is built
 * once, and anew where its rank has moved; with time, once per millisecond.
 */

import type { Rank } from '@stci/interface';
import { NO_BYTES, type TextCodec } from './bytes.js';
import { sourceRank, sourceStream, type SourceId } from './source.js';

export const TAG_MODES = ['none', 'rank', 'host', 'full'] as const;
export type TagMode = (typeof TAG_MODES)[number];

export interface LabelParams {
  readonly tag: TagMode;
  readonly timestamp: boolean;
  /** Name of the host of a rank. */
  readonly hostOf: (rank: Rank) => string;
  /** As it is shown; default: as it is. */
  readonly rankOf?: (rank: Rank) => Rank;
  readonly codec: TextCodec;
  /** The tag with its colour. */
  readonly paint?: (source: SourceId, text: string) => string;
}

/** `2026-11-21T04:05:06.789Z`. */
export function isoTime(wallMs: number): string {
  return new Date(Math.round(wallMs)).toISOString();
}

/** The prefix function for a LineMerger; undefined if lines have no prefix. */
export function makeLabel(params: LabelParams): ((source: SourceId, wallMs: number) => Uint8Array) | undefined {
  const { tag, timestamp, hostOf, rankOf = (rank) => rank, codec, paint = (_source, plain) => plain } = params;
  if (tag === 'none' && !timestamp) return undefined;
  const namesHost = tag === 'host' || tag === 'full';
  const last = new Map<SourceId, { host: string; text: string; wallMs: number; bytes: Uint8Array }>();
  return (source, wallMs) => {
    const stampMs = timestamp ? Math.round(wallMs) : 0;
    const host = namesHost ? hostOf(sourceRank(source)) : '';
    const known = last.get(source);
    const isSame = known?.host === host;
    if (isSame && known.wallMs === stampMs) return known.bytes;
    const tagged = (): string => paint(source, tagText(tag, rankOf(sourceRank(source)), source, host));
    const text = isSame ? known.text : tag === 'none' ? '' : tagged();
    const bytes = text === '' && !timestamp ? NO_BYTES : codec.encode(timestamp ? `${isoTime(stampMs)} ${text}` : text);
    last.set(source, { host, text, wallMs: stampMs, bytes });
    return bytes;
  };
}

function tagText(tag: TagMode, rank: Rank, source: SourceId, host: string): string {
  if (tag === 'rank') return `[${rank}] `;
  return tag === 'host' ? `[${host}] ` : `[${host}:${rank}:${sourceStream(source)}] `;
}
