/** Reads a PNG as a browser writes it: 8 bits a channel, not interlaced. */

import { inflateSync } from 'node:zlib';

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** Pixels by colour, as `r,g,b`. */
  readonly colours: ReadonlyMap<string, number>;
}

export function readPng(data: Buffer): Picture {
  const [width, height, channels] = [data.readUInt32BE(16), data.readUInt32BE(20), data[25] === 6 ? 4 : 3];
  const parts: Buffer[] = [];
  for (let at = 8; at < data.length;) {
    const length = data.readUInt32BE(at);
    if (data.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(data.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(parts));
  const stride = width * channels;
  const colours = new Map<string, number>();
  let above = Buffer.alloc(stride);
  for (let row = 0; row < height; row++) {
    const start = row * (stride + 1);
    const line = Buffer.from(raw.subarray(start + 1, start + 1 + stride));
    unfilter(raw[start] ?? 0, line, above, channels);
    for (let x = 0; x < stride; x += channels) {
      const key = `${line[x]},${line[x + 1]},${line[x + 2]}`;
      colours.set(key, (colours.get(key) ?? 0) + 1);
    }
    above = line;
  }
  return { width, height, colours };
}

/** PNG specification, section 9: each byte is told as its difference from its neighbours. */
function unfilter(type: number, line: Buffer, above: Buffer, channels: number): void {
  for (let i = 0; i < line.length; i++) {
    const [a, b, c] = [line[i - channels] ?? 0, above[i] ?? 0, i < channels ? 0 : above[i - channels] ?? 0];
    const predicted = [0, a, b, (a + b) >> 1, paeth(a, b, c)][type] ?? 0;
    line[i] = ((line[i] ?? 0) + predicted) & 255;
  }
}

function paeth(a: number, b: number, c: number): number {
  const [pa, pb, pc] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}
