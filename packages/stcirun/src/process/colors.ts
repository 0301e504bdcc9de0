/** Colours of tags and errors: on a terminal that has them, unless the caller says otherwise. */

import { sourceRank, type SourceId, type TagMode } from '@stci/core/iof';
import type { Rank } from '@stci/interface';
import { isTerminal } from './descriptor.js';

export const COLOR_MODES = ['auto', 'always', 'never'] as const;
export type ColorMode = (typeof COLOR_MODES)[number];

/** Colours of ANSI's eight; red is for errors, black and white may be the background. */
const TAG_COLORS = [36, 33, 32, 35, 34] as const;
const RED = 31;

/** `NO_COLOR` counts where it is not empty (no-color.org); `--color=always` goes over it. */
export function isColored(mode: ColorMode, fd: 1 | 2): boolean {
  if (mode !== 'auto') return mode === 'always';
  const { NO_COLOR, TERM } = process.env;
  return !NO_COLOR && TERM !== undefined && TERM !== '' && TERM !== 'dumb' && isTerminal(fd);
}

function paint(text: string, color: number): string {
  return `\u001b[${color}m${text}\u001b[0m`;
}

export function paintError(text: string): string {
  return paint(text, RED);
}

/** Paints a tag: each rank, or with `--tag=host` each host, keeps its colour. */
export function paintTag(source: SourceId, text: string, tag: TagMode, hostOf: (rank: Rank) => string): string {
  const rank = sourceRank(source);
  const sum = (name: string): number => [...name].reduce((all, c) => (all * 31 + (c.codePointAt(0) ?? 0)) % 65_521, 7);
  const index = tag === 'host' ? sum(hostOf(rank)) : rank;
  return paint(text, TAG_COLORS[index % TAG_COLORS.length] as number);
}
