/** Values of a file in messages. */

import { quote } from '@stci/core';
import { printable } from '@stci/interface';

const CHARS_MAX = 60;

/** As JSON, short and safe for a terminal. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  const text = JSON.stringify(value) ?? 'nothing';
  return printable(text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text);
}

const NAMES_MAX = 20;

/** Names of a file, of which there may be many, with what stands between them. */
export function someOf(names: readonly string[], between = ', '): string {
  const more = names.length - NAMES_MAX;
  return names.slice(0, NAMES_MAX).join(between) + (more > 0 ? `${between}… (${more} more)` : '');
}
