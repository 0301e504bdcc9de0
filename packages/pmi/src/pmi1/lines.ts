/**
 * PMI-1 on the wire: lines of `cmd=NAME key=value…`, and blocks of one attribute a line from `mcmd=NAME` to `endcmd`.
 * Bytes are byte texts. `value` and `message` reach to the end of their line, whatever is in it; a word without `=`
 * continues the value before it. Lines that begin neither a command nor a block are passed over: MPICH 4.2 aborts with
 * a message of several lines.
 */

import { ByteQueue } from '../bytes/byte-queue.js';
import { fromByteText, toByteText } from '../bytes/byte-text.js';
import { refuseStream } from '../bytes/refusal.js';

export interface Pmi1Command {
  readonly name: string;
  /** In the order in which they came; the last of one name counts. */
  readonly fields: ReadonlyMap<string, string>;
  /** True of a block, `mcmd`. */
  readonly isBlock: boolean;
}

export interface Pmi1Bounds {
  readonly lineBytesMax: number;
  /** Of one block. */
  readonly linesMax: number;
}

/** Clients' lines have 1024 bytes at most, but for texts of an abort and words of a spawn. */
export const PMI1_BOUNDS: Pmi1Bounds = { lineBytesMax: 0x1_0000, linesMax: 4096 };

const NEWLINE = 10;
const REST_OF_LINE = / (value|message)=/;

export function formatCommand(name: string, fields: Readonly<Record<string, string | number>> = {}): Uint8Array {
  const words = Object.entries(fields).map(([key, value]) => ` ${key}=${value}`);
  return fromByteText(`cmd=${name}${words.join('')}\n`);
}

export function formatBlock(name: string, fields: Readonly<Record<string, string | number>>): Uint8Array {
  const lines = Object.entries(fields).map(([key, value]) => `${key}=${value}\n`);
  return fromByteText(`mcmd=${name}\n${lines.join('')}endcmd\n`);
}

interface OpenBlock {
  readonly name: string;
  readonly fields: Map<string, string>;
}

/** Bytes in, commands out; a line or a block over its bound is a refused stream. */
export class Pmi1Reader {
  readonly #bounds: Pmi1Bounds;
  readonly #queue = new ByteQueue();
  /** Bytes at the front of the queue that hold no newline. */
  #searched = 0;
  #block: OpenBlock | undefined;
  #blockLines = 0;

  constructor(bounds = PMI1_BOUNDS) {
    this.#bounds = bounds;
  }

  append(chunk: Uint8Array): void {
    this.#queue.append(chunk);
  }

  next(): Pmi1Command | undefined {
    for (;;) {
      const line = this.#line();
      if (line === undefined) return undefined;
      const command = this.#block === undefined ? this.#outside(line) : this.#inside(this.#block, line);
      if (command !== undefined) return command;
    }
  }

  #line(): string | undefined {
    const { lineBytesMax } = this.#bounds;
    const end = this.#queue.peek(lineBytesMax + 1).indexOf(NEWLINE, this.#searched);
    if (end < 0) {
      if (this.#queue.length > lineBytesMax) refuseStream(`a line of ${lineBytesMax} bytes at most`, 'more');
      this.#searched = this.#queue.length;
      return undefined;
    }
    const line = toByteText(this.#queue.peek(end));
    this.#queue.skip(end + 1);
    this.#searched = 0;
    return line.endsWith('\r') ? line.slice(0, -1) : line;
  }

  #outside(line: string): Pmi1Command | undefined {
    if (line.startsWith('mcmd=')) {
      this.#block = { name: line.slice('mcmd='.length).trim(), fields: new Map() };
      this.#blockLines = 0;
      return undefined;
    }
    return parseCommand(line);
  }

  #inside(block: OpenBlock, line: string): Pmi1Command | undefined {
    if (line === 'endcmd') {
      this.#block = undefined;
      return { ...block, isBlock: true };
    }
    this.#blockLines += 1;
    const { linesMax } = this.#bounds;
    if (this.#blockLines > linesMax) refuseStream(`a block of ${linesMax} lines at most`, 'more');
    const split = line.indexOf('=');
    if (split > 0) block.fields.set(line.slice(0, split), line.slice(split + 1));
    return undefined;
  }
}

/** Undefined of a line that is no command. */
export function parseCommand(line: string): Pmi1Command | undefined {
  if (!line.startsWith('cmd=')) return undefined;
  const fields = new Map<string, string>();
  const rest = REST_OF_LINE.exec(line);
  let last: string | undefined;
  for (const word of line.slice(0, rest?.index).split(' ')) {
    const split = word.indexOf('=');
    if (split > 0) fields.set(last = word.slice(0, split), word.slice(split + 1));
    else if (last !== undefined && word !== '') fields.set(last, `${fields.get(last)} ${word}`);
  }
  if (rest !== null) fields.set(rest[1] as string, line.slice(rest.index + rest[0].length));
  const name = fields.get('cmd') ?? '';
  fields.delete('cmd');
  return { name, fields, isBlock: false };
}
