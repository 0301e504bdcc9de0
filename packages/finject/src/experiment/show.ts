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
