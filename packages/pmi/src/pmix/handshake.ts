/**
 * The handshake: the client says who it is and how it speaks, the server answers a status and an index. The client's
 * header is in the order of its machine, little endian; all else is big endian.
 */

import type { ByteQueue } from '../bytes/byte-queue.js';
import { fromByteText, toByteText } from '../bytes/byte-text.js';
import { refuseStream } from '../bytes/refusal.js';
import { joinBytes } from '@stci/interface';
import { BUFFER_FORM, type BufferForm } from './bfrops/types.js';
import { FRAME_HEADER_BYTES } from './frames.js';

/** What a client says of itself; nothing of it is proven. */
export interface PmixHello {
  /** `native`, `none`, `munge`. */
  readonly security: string;
  readonly credential: Uint8Array;
  /** 0: a client; others are tools, of which no more is read. */
  readonly processKind: number;
  readonly nspace: string;
  readonly rank: number;
  /** Of its libpmix: `4.2.2rc2`. */
  readonly version: string;
  readonly bfrops: string;
  readonly form: BufferForm;
  readonly gds: string;
  /** Behind all that: a byte of libpmix 4.2, nothing of 5. */
  readonly rest: Uint8Array;
}

/** Server's answers: taken, or a status that ends the client's attempt. */
export interface PmixWelcome {
  readonly status: number;
  readonly index: number;
}

export const HELLO_BYTES_MAX = 0x4000;
const WELCOME_BYTES = 8;
const CLIENT = 0;
const HELLO_TAG = 0xffff_ffff;

/** The hello once it is there; throws a refused stream. */
export function takeHello(queue: ByteQueue): PmixHello | undefined {
  if (queue.length < FRAME_HEADER_BYTES) return undefined;
  const header = queue.peek(FRAME_HEADER_BYTES);
  const view = new DataView(header.buffer, header.byteOffset, FRAME_HEADER_BYTES);
  if (view.getUint32(4, true) !== HELLO_TAG) refuseStream('the tag of a handshake', view.getUint32(4, true));
  const bytes = view.getUint32(8, true);
  if (bytes > HELLO_BYTES_MAX) refuseStream(`a handshake of ${HELLO_BYTES_MAX} bytes at most`, bytes);
  if (queue.length < FRAME_HEADER_BYTES + bytes) return undefined;
  queue.skip(FRAME_HEADER_BYTES);
  return decodeHello(queue.take(bytes));
}

function decodeHello(body: Uint8Array): PmixHello {
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (length > body.length - at) refuseStream('a whole handshake', `${body.length} bytes`);
    at += length;
    return body.subarray(at - length, at);
  };
  const text = (): string => {
    const end = body.indexOf(0, at);
    if (end < 0) refuseStream('a text that ends with NUL', 'none');
    return toByteText(take(end + 1 - at).subarray(0, -1));
  };
  const u32 = (): number => new DataView(body.buffer, body.byteOffset + at, take(4).length).getUint32(0);
  const start = { security: text(), credential: take(u32()).slice(), processKind: take(1)[0] as number };
  if (start.processKind !== CLIENT) {
    const none = { nspace: '', rank: 0, version: '', bfrops: '', form: BUFFER_FORM.plain, gds: '' };
    return { ...start, ...none, rest: body.slice(at) };
  }
  const names = { nspace: text(), rank: u32(), version: text(), bfrops: text() };
  const form = take(1)[0] as number;
  if (form !== BUFFER_FORM.plain && form !== BUFFER_FORM.described) refuseStream('buffers of form 1 or 2', form);
  return { ...start, ...names, form: form as BufferForm, gds: text(), rest: body.slice(at) };
}

export function encodeHello(hello: PmixHello): Uint8Array {
  const text = (word: string): Uint8Array => fromByteText(`${word}\0`);
  const u32 = (value: number): Uint8Array => {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value);
    return bytes;
  };
  const body = joinBytes([
    text(hello.security), u32(hello.credential.length), hello.credential, Uint8Array.of(hello.processKind),
    text(hello.nspace), u32(hello.rank), text(hello.version), text(hello.bfrops), Uint8Array.of(hello.form),
    text(hello.gds), hello.rest,
  ]);
  const header = new Uint8Array(FRAME_HEADER_BYTES);
  const view = new DataView(header.buffer);
  view.setInt32(0, -1, true);
  view.setUint32(4, HELLO_TAG, true);
  view.setUint32(8, body.length, true);
  return joinBytes([header, body]);
}

/** Why a hello is not served here; undefined if it is. */
export function helloProblem(hello: PmixHello): string | undefined {
  if (hello.processKind !== CLIENT) return `a process of kind ${hello.processKind}; only clients are served`;
  if (hello.security !== 'native' && hello.security !== 'none') return `security ${hello.security}`;
  if (hello.bfrops !== 'v4' && hello.bfrops !== 'v41') return `buffers ${hello.bfrops}; v4 and v41 are served`;
  return hello.gds === 'hash' ? undefined : `store ${hello.gds}; hash is served`;
}

/** Major version of a client's libpmix; 0 where it says none. */
export function clientMajor(hello: PmixHello): number {
  return Number.parseInt(hello.version, 10) || 0;
}

export function encodeWelcome(welcome: PmixWelcome): Uint8Array {
  const bytes = new Uint8Array(WELCOME_BYTES);
  const view = new DataView(bytes.buffer);
  view.setInt32(0, welcome.status);
  view.setUint32(4, welcome.index);
  return welcome.status === 0 ? bytes : bytes.subarray(0, 4);
}

export function takeWelcome(queue: ByteQueue): PmixWelcome | undefined {
  const bytes = queue.peek(WELCOME_BYTES);
  if (bytes.length < 4) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const status = view.getInt32(0);
  if (status !== 0) return { status, index: 0 };
  if (bytes.length < WELCOME_BYTES) return undefined;
  const index = view.getUint32(4);
  queue.skip(WELCOME_BYTES);
  return { status, index };
}
