/**
 * Handshake: both ends prove that they know the key of the connecting agent; no other frame is accepted before. Pure:
 * frames in, frames and a result out.
 *
 *   connecting end (child)                           accepting end (parent)
 *     hello: session, start, address, job, nonce ─▶
 *                                           ◀──────  hello: session, 0, address, 0, nonce
 *                                           ◀──────  proof: mac(secret, "accept", both hellos)
 *     proof: mac(secret, "connect", …) ───────────▶  up
 *     up
 *
 * A connecting end that has tried a listener waits for one more frame, by which the other says that the link is up.
 *
 * The start is the number in the agent's boot record: it distinguishes an agent that was started again from the one
 * that was given up, which may still connect. The signed data contains the role, so a proof cannot be reflected, and
 * both nonces, so it cannot be replayed. An end sends `refuse` with a reason to an authenticated peer that it does not
 * admit; a peer without the secret gets no answer.
 */

import {
  StciError, addressName, sameBytes, type Address, type Channel, type JobId, type Secrets,
} from '@stci/interface';
import {
  LAYER,
  encodeHeader,
  frameBody,
  frameJob,
  frameSource,
  frameType,
  readU32,
  writeU32,
  type Frame,
} from '../codec/frame.js';

/** Frame types of layer `link`. The last three are of plugin-transfer.ts. */
export const LINK_FRAME = {
  boot: 0, hello: 1, proof: 2, refuse: 3, goodbye: 4, alive: 5, pluginAsk: 6, pluginPart: 7, pluginEnd: 8,
} as const;

export const SECRET_BYTES = 32;
export const SESSION_BYTES = 8;
const START_BYTES = 4;
const NONCE_BYTES = 16;
const HELLO_BYTES = SESSION_BYTES + START_BYTES + NONCE_BYTES;
const MAC_BYTES = 32;

/** Largest body accepted from an unauthenticated peer. */
export const HANDSHAKE_BODY_BYTES_MAX = 512;

export interface HandshakeInit {
  readonly role: 'connect' | 'accept';
  readonly self: Address;
  /** Job of a session agent; default: 0. */
  readonly job?: JobId;
  readonly session: Uint8Array;
  /** The key of the connecting agent. */
  readonly secret: Uint8Array;
  /** At the accepting end: the key of the agent that the peer says it is; default: `secret`. */
  secretOf?(peer: Address, job: JobId): Uint8Array;
  readonly secrets: Secrets;
  /** Start number of the boot record, at the connecting end. */
  readonly start?: number;
  /**
   * At the connecting end: the accepting end confirms links with a keepalive, so this one is up when that has come.
   * Before, the accepting end may still drop it, and the caller connect again.
   */
  readonly isConfirmed?: boolean;
  /** Returns why this peer may not link, or undefined if it may. Called once, after its proof was checked. */
  admit(peer: Address, start: number, job: JobId): string | undefined;
}

export interface HandshakeStep {
  readonly send: readonly Uint8Array[];
  /** The peer, once both ends are authenticated, and its job if it is a session agent, else 0. */
  readonly peer?: Address;
  readonly job?: JobId;
}

/**
 * Inside one process no other reads what is sent, so the secret itself is the proof: two agents of a host would spend
 * 24 rounds of HMAC-SHA-256 on each other, and V8 as much again on compiling them.
 */
export function handshakeOver({ kind }: Channel, init: HandshakeInit): HandshakeInit {
  if (kind !== 'memory') return init;
  return { ...init, secrets: { bytes: init.secrets.bytes, mac: (secret) => secret } };
}

/** A frame of layer `link`, header and body in one buffer. */
export function linkFrame(type: number, source: Address, body: Uint8Array, job: JobId = 0): Uint8Array {
  const header = encodeHeader(
    { layer: LAYER.link, type, flags: 0, ttl: 1, stream: 0, source, destination: 0, job, sequence: 0 },
    body.length,
  );
  const frame = new Uint8Array(header.length + body.length);
  frame.set(header);
  frame.set(body, header.length);
  return frame;
}

export class Handshake {
  readonly #init: HandshakeInit;
  readonly #hello: Uint8Array;
  #peerHello: Uint8Array | undefined;
  #peerSecret: Uint8Array | undefined;
  #peer: Address = 0;
  /** The peer has proved itself, and its confirmation is awaited. */
  #proved: HandshakeStep | undefined;

  constructor(init: HandshakeInit) {
    this.#init = init;
    const body = new Uint8Array(HELLO_BYTES);
    body.set(init.session);
    writeU32(body, SESSION_BYTES, init.start ?? 0);
    body.set(init.secrets.bytes(NONCE_BYTES), SESSION_BYTES + START_BYTES);
    this.#hello = linkFrame(LINK_FRAME.hello, init.self, body, init.job);
  }

  /** The first frames of the connecting end; none for the accepting end. */
  begin(): readonly Uint8Array[] {
    return this.#init.role === 'connect' ? [this.#hello] : [];
  }

  /** The peer has named the session, which is no proof yet. */
  get isIntroduced(): boolean {
    return this.#peerHello !== undefined;
  }

  /** Throws STCI_AUTH_FAILED; the link must be closed then. */
  receive(frame: Frame): HandshakeStep {
    switch (frameType(frame)) {
      case LINK_FRAME.hello:
        return this.#onHello(frame);
      case LINK_FRAME.proof:
        return this.#onProof(frame);
      case LINK_FRAME.refuse:
        throw refusalOf(frame);
      default:
        if (frameType(frame) === LINK_FRAME.alive && this.#proved !== undefined) return { ...this.#proved, send: [] };
        throw new StciError('STCI_AUTH_FAILED', `Expected a handshake, got a frame of type ${frameType(frame)}`);
    }
  }

  #onHello(frame: Frame): HandshakeStep {
    const body = frameBody(frame);
    if (this.#peerHello !== undefined || body.length !== HELLO_BYTES) {
      throw new StciError('STCI_AUTH_FAILED', `Expected one hello of ${HELLO_BYTES} bytes`);
    }
    if (!sameBytes(body.subarray(0, SESSION_BYTES), this.#init.session)) {
      throw new StciError('STCI_AUTH_FAILED', 'The peer belongs to another session');
    }
    this.#peerHello = frame.slice();
    this.#peer = frameSource(frame);
    if (this.#init.role === 'connect') return { send: [] };
    return { send: [this.#hello, this.#proof('accept')] };
  }

  #onProof(frame: Frame): HandshakeStep {
    if (this.#peerHello === undefined || this.#proved !== undefined) {
      throw new StciError('STCI_AUTH_FAILED', 'Expected a hello before the proof, and one proof');
    }
    const theirRole = this.#init.role === 'connect' ? 'accept' : 'connect';
    if (!sameBytes(frameBody(frame), this.#mac(theirRole))) {
      const whose = this.#init.role === 'connect' ? this.#init.self : this.#peer;
      const text = `${addressName(this.#peer)} does not know the key of ${addressName(whose)}`;
      throw new StciError('STCI_AUTH_FAILED', text);
    }
    const job = frameJob(this.#peerHello);
    const refusal = this.#init.admit(this.#peer, readU32(frameBody(this.#peerHello), SESSION_BYTES), job);
    if (refusal !== undefined) {
      throw new StciError('STCI_AUTH_FAILED', `Refused ${addressName(this.#peer)}: ${refusal}`, {
        data: { refuse: true },
      });
    }
    const step = { send: this.#init.role === 'connect' ? [this.#proof('connect')] : [], peer: this.#peer, job };
    if (this.#init.isConfirmed !== true) return step;
    this.#proved = step;
    return { send: step.send };
  }

  #proof(role: 'connect' | 'accept'): Uint8Array {
    return linkFrame(LINK_FRAME.proof, this.#init.self, this.#mac(role));
  }

  #mac(role: 'connect' | 'accept'): Uint8Array {
    const ours = this.#init.role === 'connect' ? this.#hello : (this.#peerHello as Uint8Array);
    const theirs = this.#init.role === 'connect' ? (this.#peerHello as Uint8Array) : this.#hello;
    const data = new Uint8Array(1 + ours.length + theirs.length);
    data[0] = role === 'connect' ? 1 : 2;
    data.set(ours, 1);
    data.set(theirs, 1 + ours.length);
    return this.#init.secrets.mac(this.#secret(), data).subarray(0, MAC_BYTES);
  }

  #secret(): Uint8Array {
    const { role, secret, secretOf } = this.#init;
    if (role === 'connect' || secretOf === undefined) return secret;
    return (this.#peerSecret ??= secretOf(this.#peer, frameJob(this.#peerHello as Uint8Array)));
  }
}

/** The error of a peer that refuses the link. */
export function refusalOf(frame: Frame): StciError {
  return new StciError('STCI_AUTH_FAILED', `The peer refused the link: ${reasonOf(frame)}`);
}

/** The text of a refusal or a goodbye. */
export function reasonOf(frame: Frame): string {
  return text(frameBody(frame));
}

/** ASCII bytes to text, any other byte as `?`. Bounded, because the peer may be malicious. */
function text(bytes: Uint8Array): string {
  const start = bytes.subarray(0, HANDSHAKE_BODY_BYTES_MAX);
  return Array.from(start, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '?')).join('');
}

export function ascii(words: string): Uint8Array {
  return Uint8Array.from(words.slice(0, HANDSHAKE_BODY_BYTES_MAX), (char) => char.charCodeAt(0) & 0x7f);
}
