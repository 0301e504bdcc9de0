/**
 * One endpoint of a stream: sends under credit, receives, and takes part in each round if the stream reduces. The layer
 * (stream-layer.ts) opens endpoints and passes them their frames.
 */

import {
  StciError,
  addressName,
  assert,
  type Address,
  type Clock,
  type JobId,
  type SpanningTree,
  type Stream,
  type StreamEvents,
  type StreamSpec,
} from '@stci/interface';
import { CHUNK_COST_BYTES, OVERDRAFT_BYTES_MAX } from '../am/credit.js';
import type { MessageLayer } from '../am/message-layer.js';
import { SUBTREE } from '../am/transport.js';
import { OPAQUE_ITEMS_MAX } from '../codec/bounds.js';
import { decode, encode } from '../codec/cbor.js';
import { FLAG, HEADER_BYTES, LAYER, readU32, writeU32, type FrameHeader } from '../codec/frame.js';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import { ReceiveWindow, SendWindow } from '../event/window.js';
import { RoundTable, checkContribution, tagContribution, untagResult } from './reduce.js';

/** Frame types of the layer `stream`. */
const STREAM_FRAME = { up: 1, down: 2, creditUp: 3, creditDown: 4 } as const;

/** Body of a credit frame: one number, the bytes granted. */
const GRANT_BYTES = 4;

/** What the layer and its endpoints share. */
export interface StreamLayerInit {
  readonly self: Address;
  readonly clock: Clock;
  /** Of this agent. */
  readonly holds: Scope;
  readonly messages: MessageLayer;
  readonly limits: { readonly ttl: number; readonly messageBytesMax: number; readonly requestTimeoutMs: number };
  /** Window of each sender, bytes. */
  readonly creditBytes: number;
  /** The tree over a stream's members, rooted at position 0. */
  treeOf(spec: StreamSpec): SpanningTree;
  onFault(error: StciError): void;
}

/** Checks the data of one stream. Throws STCI_MESSAGE_INVALID if `source` may not send it. */
export type StreamCheck = (data: unknown, source: Address) => void;

export interface StreamOptions {
  /** Window of each sender, bytes; default: the layer's. */
  readonly creditBytes?: number;
  /** Check of received data; default: none. */
  readonly check?: StreamCheck;
}

export class StreamEndpoint implements Stream {
  readonly spec: StreamSpec & { readonly job: JobId };
  readonly #init: StreamLayerInit;
  readonly #events: StreamEvents;
  readonly #creditBytes: number;
  readonly #check: StreamCheck;
  readonly #positions: Map<Address, number>;
  readonly #position: number;
  readonly #tree: SpanningTree | undefined;
  readonly #onClose: () => void;
  readonly #upCredit: SendWindow;
  /** Root: credit left for each member. Member: unused. */
  readonly #downCredit = new Map<Address, SendWindow>();
  /** Root: members whose credit a call of `down` waits for. */
  readonly #awaited = new Set<Address>();
  #allAwaited = false;
  /** Bytes consumed of each source and not granted again yet. */
  readonly #consumed = new Map<Address, ReceiveWindow>();
  readonly #rounds: RoundTable | undefined;
  readonly #roundTimers: Timers<number>;
  #round = 0;
  #sequence = 0;
  #closed = false;

  constructor(
    init: StreamLayerInit,
    spec: StreamEndpoint['spec'],
    events: StreamEvents | ((stream: Stream) => StreamEvents),
    { creditBytes = init.creditBytes, check = () => undefined }: StreamOptions,
    onClose: () => void,
  ) {
    this.spec = spec;
    this.#init = init;
    this.#creditBytes = creditBytes;
    this.#check = check;
    this.#onClose = onClose;
    this.#roundTimers = new Timers(init.clock, init.holds);
    this.#upCredit = sendWindow(creditBytes);
    this.#positions = new Map(spec.members.map((member, position) => [member, position]));
    const position = this.#positions.get(init.self);
    assert(position !== undefined, 'an agent attaches only to streams that it is a member of');
    this.#position = position;
    this.#tree = spec.topology === 'boot' ? undefined : init.treeOf(spec);
    if (spec.reduction !== 'none') {
      this.#rounds = new RoundTable(spec.reduction, 1 + this.#childMembers().length);
    }
    if (this.#position === 0) {
      for (const member of spec.members.slice(1)) this.#downCredit.set(member, sendWindow(creditBytes));
    }
    this.#events = typeof events === 'function' ? events(this) : events;
  }

  get job(): JobId {
    return this.spec.job;
  }

  get root(): Address {
    return this.spec.members[0] as Address;
  }

  up(data: unknown): boolean {
    if (this.#closed) return true;
    if (this.#rounds === undefined) return this.upPieces([encode(data)]);
    const value = tagContribution(this.spec.reduction, this.#position, data);
    this.#round += 1;
    this.#contribute(this.#round, value);
    return true;
  }

  /** Contributes data that is CBOR already, in pieces that are not copied. Reduction `none` only. */
  upPieces(pieces: readonly Uint8Array[]): boolean {
    assert(this.#rounds === undefined && this.#position !== 0, 'pieces go up from members, without reduction');
    if (this.#closed) return true;
    const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
    this.#send(STREAM_FRAME.up, this.root, 0, this.#nextSequence(), pieces);
    return this.#upCredit.spend(bytes + HEADER_BYTES);
  }

  /** Credit left for `up`: for data and a header for each piece of it. Data for a closed stream needs none. */
  get upCreditBytes(): number {
    return this.#closed ? Infinity : this.#upCredit.leftBytes;
  }

  down(data: unknown, to?: Address): boolean {
    assert(this.#position === 0, 'only the root sends down');
    if (this.#closed) return true;
    const body = [encode(data)];
    const bytes = (body[0] as Uint8Array).length;
    const sequence = this.#nextSequence();
    if (to !== undefined) {
      this.#send(STREAM_FRAME.down, to, 0, sequence, body);
      const available = this.#downCredit.get(to)?.spend(bytes + HEADER_BYTES) ?? true;
      if (!available) this.#awaited.add(to);
      return available;
    }
    const targets = this.#tree === undefined ? [SUBTREE] : this.#childMembers();
    for (const target of targets) this.#send(STREAM_FRAME.down, target, FLAG.all, sequence, body);
    for (const credit of this.#downCredit.values()) credit.spend(bytes + HEADER_BYTES);
    this.#allAwaited = !this.#allDownAvailable();
    return !this.#allAwaited;
  }

  /**
   * A member has left: at the root, its missing credit no longer blocks the others. Without its root, a stream is over,
   * and what is contributed to it is dropped.
   */
  drop(member: Address): void {
    if (member === this.root) {
      const text = `${addressName(member)}, the root of stream ${this.spec.id}, is lost`;
      return this.#fault(new StciError('STCI_AGENT_LOST', text));
    }
    this.#downCredit.delete(member);
    this.#consumed.delete(member);
    this.#onMemberCredit(member);
  }

  /** At the root, without a tree: an agent becomes a member, or another takes the place of one that has left. */
  admit(member: Address): void {
    assert(this.#position === 0 && this.#tree === undefined, 'the root of a stream along the boot tree admits members');
    if (!this.#positions.has(member)) this.#positions.set(member, this.#positions.size);
    this.#consumed.delete(member);
    this.#downCredit.set(member, sendWindow(this.#creditBytes));
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#roundTimers.close();
    this.#onClose();
    if (this.#position !== 0 || this.spec.id === 1) return;
    for (const member of this.spec.members.slice(1)) {
      this.#init.messages.send(member, 'stream.close', { stream: this.spec.id }, this.job);
    }
  }

  /**
   * Throws StciError if its source may not send this frame; returns the delivery, whose errors are not the source's.
   */
  receive(header: FrameHeader, body: Uint8Array): () => void {
    if (this.#closed) return () => undefined;
    this.#checkSource(header);
    switch (header.type) {
      case STREAM_FRAME.up:
        return this.#onUp(header, body);
      case STREAM_FRAME.down:
        return this.#onDown(header, body);
      case STREAM_FRAME.creditUp: {
        const resumed = this.#upCredit.grant(grantOf(body));
        return () => resumed && this.#events.onCredit();
      }
      case STREAM_FRAME.creditDown: {
        const resumed = this.#downCredit.get(header.source)?.grant(grantOf(body)) === true;
        return () => resumed && this.#onMemberCredit(header.source);
      }
      default:
        throw malformed(`Stream ${header.stream} has no frames of type ${header.type}`);
    }
  }

  /** Up: frames from members, or with a reduction from children in the tree. Down: from the root or the parent. */
  #checkSource({ type, flags, source, stream }: FrameHeader): void {
    const position = this.#positions.get(source);
    const tree = this.#tree;
    let may = position !== undefined && position !== this.#position;
    if (type === STREAM_FRAME.up && (flags & FLAG.reduce) !== 0) {
      may &&= tree?.parent(position as number) === this.#position;
    } else if (type === STREAM_FRAME.up || type === STREAM_FRAME.creditDown) may &&= this.#position === 0;
    else if (type === STREAM_FRAME.creditUp) may &&= position === 0;
    else may &&= position === 0 || tree?.parent(this.#position) === position;
    if (!may) throw malformed(`${addressName(source)} may not send frames of type ${type} on stream ${stream}`);
  }

  #onUp(header: FrameHeader, body: Uint8Array): () => void {
    const data = decode(body, OPAQUE_ITEMS_MAX);
    if ((header.flags & FLAG.reduce) !== 0) {
      checkContribution(this.spec.reduction, data);
      return () => this.#contribute(header.sequence, data);
    }
    this.#check(data, header.source);
    const release = this.#releaser(header.source, body.length + HEADER_BYTES, STREAM_FRAME.creditUp);
    return () => this.#events.onUp(data, header.source, release);
  }

  #onDown(header: FrameHeader, body: Uint8Array): () => void {
    const data = decode(body, OPAQUE_ITEMS_MAX);
    this.#check(data, header.source);
    const release = this.#releaser(this.root, body.length + HEADER_BYTES, STREAM_FRAME.creditDown);
    const isForAll = header.destination !== SUBTREE && (header.flags & FLAG.all) !== 0;
    return () => {
      for (const child of isForAll ? this.#childMembers() : []) {
        this.#send(STREAM_FRAME.down, child, FLAG.all, header.sequence, [body]);
      }
      this.#events.onDown(data, release);
    };
  }

  /** `member` has credit again, or has left. Data to several members waits for the credit of all of them. */
  #onMemberCredit(member: Address): void {
    const one = this.#awaited.delete(member);
    const all = this.#allAwaited && this.#allDownAvailable();
    if (all) this.#allAwaited = false;
    if (one || all) this.#events.onCredit();
  }

  #allDownAvailable(): boolean {
    for (const credit of this.#downCredit.values()) if (!credit.available) return false;
    return true;
  }

  #contribute(round: number, value: unknown): void {
    const rounds = this.#rounds;
    if (rounds === undefined) throw new StciError('STCI_STREAM_INVALID', `Stream ${this.spec.id} has no reduction`);
    try {
      const combined = rounds.contribute(round, value);
      if (combined === undefined) this.#awaitRound(round);
      else this.#passRound(round, combined.value);
    } catch (fault) {
      if (!(fault instanceof StciError)) throw fault;
      this.#fault(fault);
    }
  }

  #passRound(round: number, value: unknown): void {
    this.#roundTimers.clear(round);
    if (this.#position === 0) {
      this.#events.onUp(untagResult(this.spec.reduction, value), this.root, () => undefined);
      return;
    }
    const parent = this.spec.members[(this.#tree as SpanningTree).parent(this.#position) as number] as Address;
    this.#send(STREAM_FRAME.up, parent, FLAG.reduce, round, [encode(value)]);
  }

  #awaitRound(round: number): void {
    const { limits } = this.#init;
    const fire = (): void =>
      this.#fault(
        new StciError(
          'STCI_STREAM_INVALID',
          `Round ${round} of stream ${this.spec.id} was not complete after ${limits.requestTimeoutMs} ms `
            + '(request.timeout)',
        ),
      );
    this.#roundTimers.ensure(round, limits.requestTimeoutMs, fire);
  }

  #fault(error: StciError): void {
    if (this.#closed) return;
    this.close();
    this.#events.onFault(error);
  }

  #childMembers(): readonly Address[] {
    const tree = this.#tree;
    if (tree === undefined) return [];
    return tree.children(this.#position).map((child) => this.spec.members[child] as Address);
  }

  #releaser(source: Address, bytes: number, type: number): () => void {
    const credit = this.#consumed.get(source) ?? new ReceiveWindow(this.#creditBytes, OVERDRAFT_BYTES_MAX);
    this.#consumed.set(source, credit);
    credit.receive(bytes);
    let released = false;
    return () => {
      // Another agent may have the address of one that was dropped.
      if (released || this.#closed || this.#consumed.get(source) !== credit) return;
      released = true;
      const grant = credit.consume(bytes);
      if (grant === 0) return;
      const body = new Uint8Array(GRANT_BYTES);
      writeU32(body, 0, grant);
      this.#send(type, source, 0, this.#nextSequence(), [body]);
    };
  }

  #send(
    type: number,
    destination: Address,
    flags: number,
    sequence: number,
    body: readonly Uint8Array[],
  ): void {
    const { messages, limits, self: source } = this.#init;
    const { id: stream, job } = this.spec;
    const { ttl } = limits;
    const header: FrameHeader = {
      layer: LAYER.stream, type, flags, ttl, stream, source, destination, job, sequence,
    };
    try {
      messages.transport.send(header, body);
    } catch (fault) {
      // Where the receiver is gone, the agent that had the link to it reports the failure.
      if (!(fault instanceof StciError)) throw fault;
      this.#init.onFault(fault);
    }
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) >>> 0;
    return this.#sequence;
  }
}

/** Less than the cost of one chunk is no credit. */
function sendWindow(bytes: number): SendWindow {
  return new SendWindow(bytes, CHUNK_COST_BYTES);
}

/** Bytes of credit granted. */
function grantOf(body: Uint8Array): number {
  if (body.length !== GRANT_BYTES) throw malformed(`Expected ${GRANT_BYTES} bytes of credit, got ${body.length}`);
  return readU32(body, 0);
}

function malformed(text: string): StciError {
  return new StciError('STCI_MESSAGE_INVALID', text);
}
