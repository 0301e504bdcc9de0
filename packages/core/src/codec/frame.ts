/**
 * The frame header: 36 bytes, big-endian, in front of an opaque body. Forwarders read the header only.
 *
 *    0 u8  version      1 u8  layer        2 u16 type
 *    4 u8  flags        5 u8  ttl          6 u16 stream
 *    8 u32 source      12 u32 destination 16 u32 job
 *   20 u32 sequence    24 u32 length of the body in bytes
 *   28 u32 number of the frame in its pair of agents, 0: not numbered
 *   32 u16 incarnation of the source                   34 u16 generation of the pair (am/delivery.ts)
 */

import { assert, type Address, type JobId } from '@stci/interface';

export const FRAME_VERSION = 1;
export const HEADER_BYTES = 36;

/**
 * Largest body of one frame; longer messages are fragmented (STCI paper, II-E.2a). One read of a pipe, 64 KiB, and its
 * label fit.
 */
export const FRAGMENT_BYTES_MAX = 64 * 1024 + 256;

/** Receiver of a frame: the link itself, the layers of delivery, messages, streams. */
export const LAYER = { link: 0, delivery: 1, message: 2, stream: 3 } as const;

export const FLAG = {
  /** More fragments of the same message follow. */
  more: 1,
  /** The sender waits for a reply with the same sequence number. */
  request: 2,
  reply: 4,
  /** The body of this reply is an error record. */
  error: 8,
  /** Of a message: this reply is a part, others to the same request follow. */
  part: 16,
  /** Fragments of the same message came before. */
  rest: 64,
  /** The frame goes by the routes of the overlay, not by those of the tree. */
  overlay: 128,
} as const;

export interface FrameHeader {
  readonly layer: number;
  readonly type: number;
  readonly flags: number;
  readonly ttl: number;
  readonly stream: number;
  readonly source: Address;
  readonly destination: Address;
  readonly job: JobId;
  readonly sequence: number;
}

/** Header and body in one buffer, as received. */
export type Frame = Uint8Array;

function readU16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

export function readU32(bytes: Uint8Array, at: number): number {
  return ((readU16(bytes, at) << 16) | readU16(bytes, at + 2)) >>> 0;
}

function writeU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 8;
  bytes[at + 1] = value;
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  writeU16(bytes, at, value >>> 16);
  writeU16(bytes, at + 2, value & 0xffff);
}

/** Encodes a header to be sent in front of `lengthBytes` of body. */
export function encodeHeader(header: FrameHeader, lengthBytes: number): Uint8Array {
  assert(lengthBytes <= 0xffff_ffff, 'a frame body fits its length field');
  const bytes = new Uint8Array(HEADER_BYTES);
  bytes[0] = FRAME_VERSION;
  bytes[1] = header.layer;
  writeU16(bytes, 2, header.type);
  bytes[4] = header.flags;
  bytes[5] = header.ttl;
  writeU16(bytes, 6, header.stream);
  writeU32(bytes, 8, header.source);
  writeU32(bytes, 12, header.destination);
  writeU32(bytes, 16, header.job);
  writeU32(bytes, 20, header.sequence);
  writeU32(bytes, 24, lengthBytes);
  return bytes;
}

export function decodeHeader(frame: Frame): FrameHeader {
  assert(frame.length >= HEADER_BYTES, 'a frame holds its header');
  return {
    layer: frame[1] as number,
    type: frameType(frame),
    flags: frameFlags(frame),
    ttl: frame[5] as number,
    stream: readU16(frame, 6),
    source: frameSource(frame),
    destination: frameDestination(frame),
    job: frameJob(frame),
    sequence: readU32(frame, 20),
  };
}

export function frameLayer(frame: Frame): number {
  return frame[1] as number;
}

export function frameType(frame: Frame): number {
  return readU16(frame, 2);
}

export function frameFlags(frame: Frame): number {
  return frame[4] as number;
}

export function frameSource(frame: Frame): Address {
  return readU32(frame, 8);
}

export function frameDestination(frame: Frame): Address {
  return readU32(frame, 12);
}

export function frameJob(frame: Frame): JobId {
  return readU32(frame, 16);
}

export function frameBody(frame: Frame): Uint8Array {
  return frame.subarray(HEADER_BYTES);
}

/** What delivery between two agents needs to know of a frame. */
export interface DeliveryMark {
  readonly number: number;
  readonly incarnation: number;
  readonly generation: number;
}

/** Writes the mark into an encoded header, which has none at first. */
export function writeDelivery(header: Uint8Array, { number, incarnation, generation }: DeliveryMark): void {
  writeU32(header, 28, number);
  writeU16(header, 32, incarnation);
  writeU16(header, 34, generation);
}

export function readDelivery(frame: Frame): DeliveryMark {
  return { number: frameNumber(frame), incarnation: readU16(frame, 32), generation: readU16(frame, 34) };
}

/** Number of the frame in its pair; 0: not numbered. */
export function frameNumber(frame: Frame): number {
  return readU32(frame, 28);
}

export function setHops(frame: Frame, ttl: number): void {
  frame[5] = ttl;
}

export function isByOverlay(frame: Frame): boolean {
  return ((frame[4] as number) & FLAG.overlay) !== 0;
}

export function setByOverlay(frame: Frame, isSo: boolean): void {
  const flags = frame[4] as number;
  frame[4] = isSo ? flags | FLAG.overlay : flags & ~FLAG.overlay;
}

/** Decrements the ttl; false if no hop is left and the frame must be dropped. */
export function spendHop(frame: Frame): boolean {
  const ttl = frame[5] as number;
  if (ttl <= 1) return false;
  frame[5] = ttl - 1;
  return true;
}
