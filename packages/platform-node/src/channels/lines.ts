/** Splits the diagnostics that agents write to standard error into lines of bounded length. */

import { builtin } from '../system/builtin.js';

/** Longest line passed on, in characters; a longer one is split. */
const LINE_CHARS_MAX = 16 * 1024;

/** `push` takes bytes in pieces of any length; `end` passes on a last line without a newline. */
export function lineSplitter(onLine: (line: string) => void): { push(chunk: Uint8Array): void; end(): void } {
  const decoder = new (builtin('node:string_decoder').StringDecoder)('utf8');
  let rest = '';
  const splitLong = (line: string): void => {
    for (let from = 0; from < Math.max(line.length, 1); from += LINE_CHARS_MAX) {
      onLine(line.slice(from, from + LINE_CHARS_MAX));
    }
  };
  const addText = (text: string): void => {
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) splitLong(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (rest.length < LINE_CHARS_MAX) return;
    splitLong(rest);
    rest = '';
  };
  return {
    push: (chunk) => addText(rest + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))),
    end: () => {
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
