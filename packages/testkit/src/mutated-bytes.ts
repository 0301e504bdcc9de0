/** Bytes of a hostile peer: recorded ones, of which a few are others. */

import type { Seeded } from '@stci/compliance/basics';

const EXTREMES = [0, 1, 0x7f, 0x80, 0xfe, 0xff];

/** A few bytes are others, doubled, left out or inserted; often with an end soon behind them. */
export function mutatedBytes(bytes: Uint8Array, draw: Seeded): Uint8Array {
  const start = draw.below(bytes.length);
  let changed: Uint8Array = draw.below(8) === 0 ? bytes.slice() : bytes.slice(0, start + 500);
  for (let count = 1 + draw.below(4); count > 0; count--) {
    const at = draw.below(2) === 0 ? draw.below(changed.length) : Math.min(changed.length - 1, start + draw.below(200));
    const byte = draw.below(2) === 0 ? draw.pick(EXTREMES) : draw.below(256);
    const kind = draw.below(8);
    if (kind < 5) changed[at] = byte;
    else if (kind === 5) changed = spliced(changed, at, 1 + draw.below(8), []);
    else if (kind === 6) changed = spliced(changed, at, 0, [byte, byte]);
    else changed = spliced(changed, at, 0, changed.slice(at, at + draw.below(64)));
  }
  return changed;
}

function spliced(bytes: Uint8Array, at: number, removed: number, inserted: Iterable<number>): Uint8Array {
  const after = bytes.subarray(at + removed);
  const parts = [bytes.subarray(0, at), Uint8Array.from(inserted), after.length > 0 ? after : Uint8Array.of(0)];
  return new Uint8Array(Buffer.concat(parts));
}
