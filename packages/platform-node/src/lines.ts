/** Cuts a stream of text into whole lines of bounded length: what agents write to their standard error. */

import { builtin } from './builtin.js';

/** Longest line told, in characters; a longer one is told in pieces. */
const LINE_CHARS_MAX = 16 * 1024;

/** `push` takes bytes as they come; `end` tells what has no end of line. */
export function lineCutter(tell: (line: string) => void): { push(chunk: Uint8Array): void; end(): void } {
  const decoder = new (builtin('node:string_decoder').StringDecoder)('utf8');
  let rest = '';
  const tellInPieces = (line: string): void => {
    for (let from = 0; from < Math.max(line.length, 1); from += LINE_CHARS_MAX) {
      tell(line.slice(from, from + LINE_CHARS_MAX));
    }
  };
  const cut = (text: string): void => {
    const lines = text.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) tellInPieces(line.endsWith('\r') ? line.slice(0, -1) : line);
    if (rest.length < LINE_CHARS_MAX) return;
    tellInPieces(rest);
    rest = '';
  };
  return {
    push: (chunk) => cut(rest + decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength))),
    end: () => {
      if (rest !== '') tell(rest);
      rest = '';
    },
  };
}
