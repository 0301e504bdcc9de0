/**
 * Boot record: the first data that an agent receives, over the channel that came with its start, before any handshake
 * (STCI paper, II-E.1: the launcher passes "parent" information along with bootstrapping data). Its fixed part is all
 * that the boot link needs; the rest is decoded once the link is up, so that an agent is reachable before it has loaded
 * anything else. The secret is passed here only, never in arguments or the environment.
 */

import { StciError } from '@stci/interface';
import type { Address, Channel, Clock, JobId } from '@stci/interface';
import { frameBody, frameJob, frameLayer, frameType, readU32, writeU32, LAYER, type Frame } from '../codec/frame.js';
import { openStage } from './channel-stage.js';
import { LINK_FRAME, SECRET_BYTES, SESSION_BYTES, linkFrame } from './handshake.js';

/** Largest boot record: parameters and the names of a subtree's hosts. */
const BOOT_BYTES_MAX = 16 * 1024 * 1024;

/** Numbers of the fixed part, in this order behind the session and the secret; behind them a byte of flags. */
const NUMBERS = ['self', 'parent', 'frameBytesMax', 'handshakeMs', 'leaseMs', 'start'] as const;
const NUMBERS_AT = SESSION_BYTES + SECRET_BYTES;
const FLAGS_AT = NUMBERS_AT + 4 * NUMBERS.length;
const FIXED_BYTES = FLAGS_AT + 1;
const [NATIVE, PLUGINS] = [1, 2];

/** Longest delay of a timer, ms. */
const TIMER_MS_MAX = 0x7fff_ffff;

/** Bounds that hold for every boot record, whatever the parameters are. */
export const BOOT_RANGES = {
  frameBytesMax: [1 << 16, 1 << 26],
  handshakeMs: [1, TIMER_MS_MAX],
  leaseMs: [1, TIMER_MS_MAX],
} as const;

export interface BootRecord {
  readonly session: Uint8Array;
  readonly secret: Uint8Array;
  readonly self: Address;
  /** Of a session agent; else 0. */
  readonly job: JobId;
  readonly parent: Address;
  /** Unpredictable number of this start: distinguishes the agent from an earlier one with the same address. */
  readonly start: number;
  /** True: the boot link is the channel of this record; false: the details say where to connect. */
  readonly nativeLink: boolean;
  /** Largest frame body on the boot link, bytes. */
  readonly frameBytesMax: number;
  /** Deadline of the handshake, ms. */
  readonly handshakeMs: number;
  /** Silence after which the boot link is lost, ms. */
  readonly leaseMs: number;
  /** Copies of plugins are agreed on before the boot link (plugin-transfer.ts). */
  readonly hasPlugins?: boolean;
  /** CBOR of BootDetails (launcher/boot-details.ts). */
  readonly details: Uint8Array;
}

export function encodeBootRecord(record: BootRecord): Uint8Array {
  const body = new Uint8Array(FIXED_BYTES + record.details.length);
  body.set(record.session);
  body.set(record.secret, SESSION_BYTES);
  NUMBERS.forEach((name, i) => writeU32(body, NUMBERS_AT + 4 * i, record[name]));
  body[FLAGS_AT] = (record.nativeLink ? NATIVE : 0) | (record.hasPlugins === true ? PLUGINS : 0);
  body.set(record.details, FIXED_BYTES);
  return linkFrame(LINK_FRAME.boot, record.parent, body, record.job);
}

function decodeBootRecord(frame: Frame): BootRecord {
  const body = frameBody(frame);
  if (frameLayer(frame) !== LAYER.link || frameType(frame) !== LINK_FRAME.boot || body.length < FIXED_BYTES) {
    throw new StciError('STCI_FRAME_INVALID', 'Expected a boot record: an agent is started by its parent, not by hand');
  }
  const numbers = NUMBERS.map((name, i) => [name, readU32(body, NUMBERS_AT + 4 * i)]);
  const flags = body[FLAGS_AT] as number;
  const record: BootRecord = {
    ...Object.fromEntries(numbers) as Pick<BootRecord, (typeof NUMBERS)[number]>,
    session: body.slice(0, SESSION_BYTES),
    secret: body.slice(SESSION_BYTES, NUMBERS_AT),
    job: frameJob(frame),
    nativeLink: (flags & NATIVE) !== 0,
    ...((flags & PLUGINS) !== 0 && { hasPlugins: true }),
    details: body.slice(FIXED_BYTES),
  };
  for (const name of Object.keys(BOOT_RANGES) as (keyof typeof BOOT_RANGES)[]) {
    const [min, max] = BOOT_RANGES[name];
    if (record[name] >= min && record[name] <= max) continue;
    throw new StciError('STCI_FRAME_INVALID', `Boot record: expected ${name} in ${min}..${max}, got ${record[name]}`);
  }
  return record;
}

/**
 * Reads the boot record from a new channel within `deadlineMs`. Calls `done` with the record and the channel to be used
 * from then on, which first delivers what came after the record; or with the error, the channel being closed then.
 */
export function readBootRecord(
  channel: Channel,
  clock: Clock,
  deadlineMs: number,
  done: (error: StciError | undefined, record?: BootRecord, rest?: Channel) => void,
): void {
  let record: BootRecord | undefined;
  openStage({ channel, clock, bodyBytesMax: BOOT_BYTES_MAX, deadlineMs, what: 'boot record', peer: 'parent' }, {
    onFrame: (frame) => {
      record = decodeBootRecord(frame);
      return true;
    },
    onOver: (rest) => done(undefined, record, rest),
    onFailed: (error) => done(error),
  });
}
