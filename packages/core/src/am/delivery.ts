/**
 * Delivery between two agents: once, in order, over routes that change. Pure: the driver (delivery-layer.ts) has the
 * clock and the links.
 *
 * The sender numbers the frames of each pair of agents 1, 2, … and keeps them until they are acknowledged. The receiver
 * takes only the next number: a smaller one is a duplicate, a greater one follows frames that were lost, or that it
 * overtook on another route. The sender sends those again, with all after them: only so much at once as a queue on the
 * way takes, the rest as acknowledgements come. A pair that is given up begins again with the next generation.
 */

import {
  StciError, addressName, agentKey, holdBuffer, isSessionAddress, releaseBuffer, entryOf, type Address, type JobId,
} from '@stci/interface';
import { readDelivery, setHops, writeDelivery, type DeliveryMark, type Frame } from '../codec/frame.js';
import { backoffMs, type BackoffBounds } from '../event/backoff.js';
import { CHUNK_COST_BYTES, CREDIT_BYTES_MAX } from './credit.js';
import { ResendPace, type Resent } from './resend.js';
import type { Waits } from './waits.js';

/** Least charge of a kept frame: the overhead of keeping it. */
const FRAME_CHARGE_MIN = 256;

/** An acknowledgement is sent at once after so many frames or bytes, else after a delay. */
const ACK_FRAMES = 32;
/** Each is a write of its own on every hop: at 256 KiB they cost the front-end a quarter of its time. */
const ACK_BYTES = 1024 * 1024;

/** Most that is kept of the output of one window: small frames count for more than they use of it. */
export const OUTPUT_KEPT_MAX = CREDIT_BYTES_MAX * Math.ceil(FRAME_CHARGE_MIN / CHUNK_COST_BYTES) + ACK_BYTES;

/** Time without an acknowledgement after which the sender asks for one; it doubles up to the longest. */
const PROBE: BackoffBounds = { firstMs: 1000, maxMs: 8000 };

/** Kind of wait: for acknowledgements. */
const WAIT = 'delivery';

/** A receiver that asks more often for what is missing gets it again only so often. */
const RESEND_MS = 500;

/** Agents of one address from which frames are received: session agents of different jobs. */
const ADDRESS_AGENTS_MAX = 4096;

/** A name of an agent: an address, and the job of a session agent. */
export type AgentTest = (destination: Address, job: JobId) => boolean;

interface Kept {
  readonly number: number;
  /** The frame, its header in front of the first piece. */
  readonly pieces: readonly Uint8Array[];
  readonly charge: number;
}

/** What one agent sends to another. */
export interface Outgoing extends Resent {
  readonly destination: Address;
  readonly job: JobId;
  readonly generation: number;
  /** Number of the last frame. */
  last: number;
  /** In order. */
  kept: Kept[];
  charge: number;
  /** Since something was acknowledged. */
  probes: number;
  probeAtMs: number;
  /** When the receiver was last sent all of it again. */
  resentAtMs: number;
  /** Number of the last frame that was acknowledged. */
  acknowledged: number;
}

export interface SenderInit {
  /** Of this agent. */
  readonly incarnation: number;
  /** Bytes kept for one destination. */
  readonly windowBytes: number;
  /** Bytes sent again to all destinations, and not acknowledged; default: no bound. */
  readonly resendBytes?: number | undefined;
  /** Hops that a frame has when it is sent. */
  readonly ttl: number;
  readonly waits?: Waits | undefined;
}

export class Sender {
  readonly #init: SenderInit;
  readonly #pairs = new Map<number, Outgoing>();
  /** Pairs with kept frames. */
  readonly #open = new Set<Outgoing>();
  readonly #resends: ResendPace<Outgoing>;
  #generation = 0;

  constructor(init: SenderInit) {
    this.#init = init;
    this.#resends = new ResendPace(init.resendBytes ?? Infinity);
  }

  /** Bytes kept for all destinations. */
  get keptBytes(): number {
    let bytes = 0;
    for (const { charge } of this.#open) bytes += charge;
    return bytes;
  }

  /** Destinations of which something is known. */
  get size(): number {
    return this.#pairs.size;
  }

  /** Whether frames are kept. */
  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /**
   * Numbers a frame and keeps it. Returns whether it is to be sent now: it waits behind what is sent again. Throws
   * STCI_MESSAGE_WINDOW if too much is kept for its destination.
   */
  keep(destination: Address, job: JobId, pieces: readonly Uint8Array[], nowMs: number): boolean {
    const pair = this.#pair(destination, job);
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const charge = Math.max(bytes, FRAME_CHARGE_MIN);
    if (pair.charge + charge > this.#init.windowBytes) throw this.#full(pair);
    pair.last = following(pair.last);
    const { incarnation } = this.#init;
    writeDelivery(pieces[0] as Uint8Array, { number: pair.last, incarnation, generation: pair.generation });
    if (pair.kept.length === 0) {
      this.#open.add(pair);
      this.#init.waits?.begin(WAIT, agentKey(destination, pair.job), destination);
      pair.probes = 0;
      pair.probeAtMs = nowMs + PROBE.firstMs;
    }
    for (const piece of pieces) holdBuffer(piece);
    const isNext = pair.sent === pair.kept.length;
    pair.kept.push({ number: pair.last, pieces, charge });
    pair.charge += charge;
    if (isNext) pair.sent += 1;
    return isNext;
  }

  /** Whether the receiver may have all of it again: each time costs the whole window. */
  mayResend(pair: Outgoing, nowMs: number): boolean {
    if (nowMs < pair.resentAtMs + RESEND_MS) return false;
    pair.resentAtMs = nowMs;
    return true;
  }

  /** Frames up to `number` have arrived. Returns the pair; undefined if it is not, or no more, the one meant. */
  acknowledge(source: Address, job: JobId, { number, generation }: DeliveryMark, nowMs: number): Outgoing | undefined {
    const pair = this.#pairs.get(agentKey(source, job));
    if (pair === undefined || pair.generation !== generation || isBefore(pair.last, number)) return undefined;
    pair.isAsked = false;
    let count = 0;
    for (const kept of pair.kept) {
      if (isBefore(number, kept.number)) break;
      pair.charge -= kept.charge;
      count += 1;
    }
    if (count === 0) return pair;
    pair.acknowledged = number;
    this.#resends.onAcknowledged(pair, count);
    release(pair.kept.splice(0, count));
    pair.probes = 0;
    pair.probeAtMs = nowMs + PROBE.firstMs;
    if (pair.kept.length === 0) this.#close(pair);
    return pair;
  }

  /** What is kept for the destinations that `isFor` accepts is to be sent again, in order: see `nextAgain`. */
  resend(isFor: AgentTest): void {
    for (const pair of this.#open) if (isFor(pair.destination, pair.job)) this.#resends.begin(pair);
  }

  /** Pairs that may get something again, who waits longest first. */
  get resending(): Outgoing[] {
    return this.#resends.pairs;
  }

  /**
   * A copy of the frame that is sent again next, as when it was sent. Its own buffers are read into again as soon as it
   * is acknowledged, and a copy may still wait to be written then. Undefined: none is to be sent now.
   */
  nextAgain(pair: Outgoing): readonly Uint8Array[] | undefined {
    const next = pair.kept[pair.sent];
    if (!this.#resends.take(pair) || next === undefined) return undefined;
    const copies = next.pieces.map((piece) => new Uint8Array(piece));
    setHops(copies[0] as Frame, this.#init.ttl); // Forwarders in this process have spent them.
    return copies;
  }

  /** The pairs whose receivers are to be asked now what they have got. */
  overdue(nowMs: number): Outgoing[] {
    const due = [...this.#open].filter(({ probeAtMs }) => probeAtMs <= nowMs);
    for (const pair of due) {
      pair.probes += 1;
      pair.probeAtMs = nowMs + backoffMs(PROBE, pair.probes + 1);
      this.#resends.onAsked(pair);
    }
    return due;
  }

  /** Number of the last frame that was sent, which a probe asks for. */
  lastSent(pair: Outgoing): number {
    return pair.sent === 0 ? pair.acknowledged : (pair.kept[pair.sent - 1] as Kept).number;
  }

  isCurrent(destination: Address, job: JobId, generation: number): boolean {
    return this.#pairs.get(agentKey(destination, job))?.generation === generation;
  }

  /** Gives up what is kept for the destinations that `isGone` accepts. */
  drop(isGone: AgentTest): void {
    for (const [key, pair] of this.#pairs) {
      if (!isGone(pair.destination, pair.job)) continue;
      this.#pairs.delete(key);
      this.#close(pair);
      release(pair.kept);
      this.#generation = (this.#generation + 1) & 0xffff;
    }
  }

  /** Of acknowledgements. */
  *waits(): Generator<readonly [key: string, on: Address]> {
    for (const { destination, job } of this.#open) yield [`${WAIT} ${agentKey(destination, job)}`, destination];
  }

  #close(pair: Outgoing): void {
    this.#open.delete(pair);
    this.#resends.end(pair);
    this.#init.waits?.end(WAIT, agentKey(pair.destination, pair.job));
  }

  #pair(destination: Address, job: JobId): Outgoing {
    return entryOf(this.#pairs, agentKey(destination, job), () => ({
      destination, job: isSessionAddress(destination) ? job : 0, generation: this.#generation, last: 0, kept: [],
      charge: 0, probes: 0, probeAtMs: 0, resentAtMs: -Infinity, acknowledged: 0, sent: 0, underway: 0,
      underwayCharge: 0, isAsked: false,
    }));
  }

  #full({ destination, kept }: Outgoing): StciError {
    const { windowBytes } = this.#init;
    const text = `${addressName(destination)} has not acknowledged ${kept.length} frames: over ${windowBytes} bytes`;
    return new StciError('STCI_MESSAGE_WINDOW', text);
  }
}

function release(kept: readonly Kept[]): void {
  for (const { pieces } of kept) for (const piece of pieces) releaseBuffer(piece);
}

/** What one agent receives from another. */
export interface Incoming {
  readonly source: Address;
  readonly job: JobId;
  readonly incarnation: number;
  readonly generation: number;
  /** Number of the last frame taken. */
  last: number;
  /** Taken, or seen again, since the last acknowledgement. */
  frames: number;
  bytes: number;
  /** The value of `last` at which missing frames were asked for. */
  askedAt: number;
}

/**
 * `take`: deliver it. `gap`: ask for the missing ones; `early`: they have been asked for. Both may be kept until those
 * have come. The others are dropped, `stale` ones without an answer.
 */
export type Verdict = 'take' | 'duplicate' | 'gap' | 'early' | 'stale';

export class Receiver {
  readonly #pairs = new Map<Address, Map<JobId, Incoming>>();

  /** Sources of which something is known. */
  get size(): number {
    return [...this.#pairs.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Decides about a frame; `job`: of a source that is a session agent, else 0. */
  receive(source: Address, job: JobId, frame: Frame): readonly [Verdict, Incoming] {
    const mark = readDelivery(frame);
    let pair = this.#pairs.get(source)?.get(job);
    if (pair === undefined || isNewer(mark, pair)) pair = this.#begin(source, job, mark);
    else if (isNewer(pair, mark)) return ['stale', pair];
    if (mark.number === following(pair.last)) {
      pair.last = mark.number;
      pair.frames += 1;
      pair.bytes += frame.length;
      return ['take', pair];
    }
    if (!isBefore(pair.last, mark.number)) {
      pair.frames += 1;
      return ['duplicate', pair];
    }
    // Asked for once: the frames on their way behind the gap would ask for all of them again each.
    const isAsked = pair.askedAt === pair.last;
    pair.askedAt = pair.last;
    return [isAsked ? 'early' : 'gap', pair];
  }

  /** The pair of a source, and the number of the frame that is to come next. */
  expected(source: Address, job: JobId): readonly [Incoming, number] | undefined {
    const pair = this.#pairs.get(source)?.get(job);
    return pair && [pair, following(pair.last)];
  }

  /** The pair that a probe is about. */
  probed(source: Address, job: JobId, mark: DeliveryMark): Incoming | undefined {
    const pair = this.#pairs.get(source)?.get(job);
    if (pair === undefined || isNewer(mark, pair)) return this.#begin(source, job, mark);
    return isNewer(pair, mark) ? undefined : pair;
  }

  #begin(source: Address, job: JobId, { incarnation, generation }: DeliveryMark): Incoming {
    const jobs = entryOf(this.#pairs, source, () => new Map<JobId, Incoming>());
    // A host that invents jobs loses its own pairs.
    for (const first of jobs.keys()) if (jobs.size >= ADDRESS_AGENTS_MAX) jobs.delete(first);
    const pair = { source, job, incarnation, generation, last: 0, frames: 0, bytes: 0, askedAt: -1 };
    jobs.set(job, pair);
    return pair;
  }

  /** Forgets the sources that `isGone` accepts: they send no more. */
  drop(isGone: AgentTest): void {
    for (const [source, jobs] of this.#pairs) {
      for (const job of jobs.keys()) if (isGone(source, job)) jobs.delete(job);
      if (jobs.size === 0) this.#pairs.delete(source);
    }
  }
}

/** Whether to acknowledge at once. */
export function isAckDue({ frames, bytes }: Incoming): boolean {
  return frames >= ACK_FRAMES || bytes >= ACK_BYTES;
}

type Age = Pick<DeliveryMark, 'incarnation' | 'generation'>;

function isNewer(a: Age, b: Age): boolean {
  if (a.incarnation !== b.incarnation) return a.incarnation > b.incarnation;
  const ahead = (a.generation - b.generation) & 0xffff;
  return ahead > 0 && ahead < 0x8000;
}

/** The next number: they have 32 bits, and 0 means "not numbered". */
function following(number: number): number {
  return number === 0xffff_ffff ? 1 : number + 1;
}

/** Numbers go round: `a` comes before `b` if `b` is less than half a round ahead. */
function isBefore(a: number, b: number): boolean {
  return ((b - a) | 0) > 0;
}
