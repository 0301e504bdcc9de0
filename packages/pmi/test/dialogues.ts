/** Recorded dialogues of real libraries: `>` is the client, `<` the server, a blank line parts connections. */

import { readFileSync, readdirSync } from 'node:fs';

export interface Piece {
  readonly side: '>' | '<';
  readonly bytes: Uint8Array;
}

const FIXTURES = new URL('../test/fixtures/', import.meta.url);

export interface Recorded {
  /** The file, and the number of the connection in it. */
  readonly name: string;
  readonly pieces: readonly Piece[];
}

export function dialogues(library: 'mpich' | 'openmpi'): Recorded[] {
  const files = readdirSync(FIXTURES).filter((file) => file.startsWith(library)).sort();
  return files.flatMap((file) => readFileSync(new URL(file, FIXTURES), 'latin1').split('\n\n').map((text, at) => ({
    name: `${file} ${at}`,
    pieces: text.split('\n').filter(Boolean).map((line) => ({
      side: line[0] as '>' | '<', bytes: new Uint8Array(Buffer.from(line.slice(2), 'hex')),
    })),
  })));
}

/** All that one side sent. */
export function sentBy(side: Piece['side'], pieces: readonly Piece[]): Uint8Array {
  return new Uint8Array(Buffer.concat(pieces.filter((piece) => piece.side === side).map(({ bytes }) => bytes)));
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

export function unhex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
}

/** Pieces of random lengths. */
export function split(bytes: Uint8Array, below: (bound: number) => number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + below(40);
    pieces.push(bytes.subarray(at, at + length));
    at += length;
  }
  return pieces;
}
