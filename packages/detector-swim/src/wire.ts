/** Bodies of SWIM's messages, and their check. Rumours are lists, to be short. */

import type { MemberId, Position } from '@stci/interface';
import { RUMOURS_MAX, type Rumour } from './gossip.js';

type RumourBody = readonly [position: number, incarnation: number, isSuspect: 0 | 1, lives: number, by: number];

export interface SwimMessage {
  /** `ping-for`: ping `position` and pass its answer on. */
  readonly type: 'ping' | 'answer' | 'ping-for';
  /** Of the ping that is answered; an answer that was passed on has the number of the request. */
  readonly n: number;
  /** Of `ping-for`, and of an answer that was passed on: whom it is about. */
  readonly position?: Position;
  readonly rumours: readonly Rumour[];
}

export function encodeMessage({ type, n, position }: Omit<SwimMessage, 'rumours'>, said: readonly Rumour[]): unknown {
  const rumours = said.map(({ member, isSuspect, lives, by }): RumourBody => {
    return [member.position, member.incarnation, isSuspect ? 1 : 0, lives, by];
  });
  return position === undefined ? { type, n, rumours } : { type, n, position, rumours };
}

/** Numbers of lives, too: beyond, there is nothing to refute with, and the controller decides. */
export const NUMBER_MAX = 0xffff_ffff;

function isNatural(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= NUMBER_MAX;
}

function readRumour(value: unknown): Rumour | undefined {
  if (!Array.isArray(value) || value.length !== 5 || !value.every(isNatural)) return undefined;
  const [position, incarnation, isSuspect, lives, by] = value as [number, number, number, number, number];
  const member: MemberId = { position, incarnation };
  return { member, isSuspect: isSuspect === 1, lives, by };
}

/** Undefined if the body has another form. */
export function readMessage(body: unknown): SwimMessage | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { type, n, position, rumours } = body as Record<string, unknown>;
  if ((type !== 'ping' && type !== 'answer' && type !== 'ping-for') || !isNatural(n)) return undefined;
  if (!(position === undefined ? type !== 'ping-for' : isNatural(position))) return undefined;
  if (!Array.isArray(rumours) || rumours.length > RUMOURS_MAX) return undefined;
  const read = rumours.map(readRumour);
  if (!read.every((rumour) => rumour !== undefined)) return undefined;
  return isNatural(position) ? { type, n, position, rumours: read } : { type, n, rumours: read };
}
