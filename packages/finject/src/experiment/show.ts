/** Values of a file in messages. */

import { plain, quote } from '@stci/core';

const CHARS_MAX = 60;

/** As JSON, short and safe for a terminal. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  const text = JSON.stringify(value) ?? 'nothing';
  return plain(text.length > CHARS_MAX ? `${text.slice(0, CHARS_MAX)}…` : text);
}
