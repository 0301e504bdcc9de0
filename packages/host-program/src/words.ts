/** Arguments for the programs of loader.ts, as words that all login shells read alike. */

import { base64 } from './base64.js';
import { hereArguments } from './loader.js';

/** Encoded at the first use: most agents start none on other hosts, and it costs 2 ms and 1 MiB. */
const programWords = new Map<string, string>();

/** A program of `hostProgram` in base64, its first argument. */
export function programWord(program: string): string {
  const word = programWords.get(program) ?? base64(program);
  programWords.set(program, word);
  return word;
}

/** Node's command line for `program` on this machine. `argument`: what the program finds as `hash`. */
export function localCommand(program: string, nonce: string, node: string, argument = '-'): readonly string[] {
  return [node, ...hereArguments(base64(program), nonce, node, argument)];
}

/**
 * ASCII text as a word for `printf %b`: only characters that some shell interprets within quotes are written in octal.
 */
export function printfText(text: string): string {
  return text.replaceAll(/['!\\\n]/g, octal);
}

/**
 * Any text as a word that `printf %b` decodes; characters that shells may interpret differently are written in octal.
 */
export function escapedText(text: string): string {
  let word = '';
  for (const byte of utf8(text)) {
    const char = String.fromCharCode(byte);
    word += /[A-Za-z0-9_./:=@%+,~-]/.test(char) ? char : octal(char);
  }
  return word;
}

function octal(char: string): string {
  return `\\0${char.charCodeAt(0).toString(8).padStart(3, '0')}`;
}

/** The bytes of a text in hexadecimal. */
export function hexWord(text: string): string {
  return hex(utf8(text));
}

/** Two lower-case digits a byte. */
export function hex(bytes: Iterable<number>): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function utf8(text: string): number[] {
  return Array.from(encodeURIComponent(text).matchAll(/%([0-9A-F]{2})|[^%]/g), ([char, digits]) =>
    digits === undefined ? char.charCodeAt(0) : parseInt(digits, 16));
}
