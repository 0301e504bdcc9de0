/** A broadcast on its way: an array, compact because each agent sends several copies. */

import { NOTIFIER_PAYLOAD_MAX, StciError } from '@stci/interface';
import type { MemberId, Position } from '@stci/interface';
import { bytes, check, integer, list, tuple } from '../codec/shape.js';
import { ownBytes } from '../iof/bytes.js';

export interface Broadcast {
  readonly source: MemberId;
  /** Of this source: 0, 1, … */
  readonly number: number;
  /** Positions 0..size-1 take part, without those that are dead. */
  readonly size: number;
  readonly dead: ReadonlySet<Position>;
  readonly payload: Uint8Array;
}

const SIZE_MAX = 0x10_0000;
const INCARNATION_MAX = 0xffff;
const NUMBER_MAX = 0xffff_fffe;

const position = integer(0, SIZE_MAX - 1);
const shape = tuple(
  position, integer(0, INCARNATION_MAX), integer(0, NUMBER_MAX), integer(1, SIZE_MAX), list(position, SIZE_MAX),
  bytes(NOTIFIER_PAYLOAD_MAX),
);

export function encodeBroadcast({ source, number, size, dead, payload }: Broadcast): unknown {
  return [source.position, source.incarnation, number, size, [...dead], payload];
}

/** Of at most `sizeMax` positions: whoever relays it makes lists of them. Throws STCI_MESSAGE_INVALID. */
export function decodeBroadcast(body: unknown, sizeMax: number): Broadcast {
  const [at, incarnation, number, size, gone, payload] = check(shape, body, 'broadcast');
  if (size > sizeMax) refuse(`${size} positions, ${sizeMax} are possible`);
  const dead = new Set(gone);
  if (at >= size || dead.has(at)) refuse(`source ${at}, which does not take part`);
  if (dead.size !== gone.length || gone.some((one) => one >= size)) refuse('dead positions that do not take part');
  return { source: { position: at, incarnation }, number, size, dead, payload: ownBytes(payload) };
}

function refuse(what: string): never {
  throw new StciError('STCI_MESSAGE_INVALID', `A broadcast has ${what}`);
}
