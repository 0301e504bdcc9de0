/**
 * Messages that ranks of this host send: they wait here, in order for each receiver, until its agent has room, and are
 * answered when it has them. Short ones go by credit. A long one asks for room, and so does a short one without credit:
 * who sent before it may have left all credit in messages that nobody receives. Pure but for `transmit`.
 */

import type { Form, HostIndex, Rank } from '@stci/interface';
import { BATCHES_MAX, SHORT_BYTES_MAX, type MailLimits } from './program-credit.js';
import { chargeOf, isOwnTag } from './program-mailbox.js';
import type { RankProblem } from './rank-status-view.js';

export interface Send {
  readonly from: Rank;
  readonly to: Rank;
  readonly tag: string;
  readonly form: Form;
  readonly bytes: Uint8Array;
  /** The receiver's agent has it; or it never will. */
  settle(problem: RankProblem | undefined): void;
}

/** A message on its way. */
export interface Outgoing extends Send {
  readonly call: number;
  readonly attempt: number;
  readonly isLong: boolean;
}

export interface OutboxInit {
  readonly limits: MailLimits;
  attempt(rank: Rank): number;
  host(rank: Rank): HostIndex;
  /** Messages, and calls that ask for room, to the agent of a host. */
  transmit(host: HostIndex, messages: readonly Outgoing[], asks: readonly Outgoing[]): void;
}

/** From one rank to another, in order: what the program sends, or what its library does. */
interface Flow {
  readonly waiting: Outgoing[];
  /** Room was asked for the first that waits; and given. */
  asked: boolean;
  granted: boolean;
}

/** To one rank. */
interface Receiver {
  readonly to: Rank;
  creditBytes: number;
  /** What is in one waits for no other. */
  readonly flows: Map<string, Flow>;
}

/** To one agent. */
interface Pair {
  readonly receivers: Set<Receiver>;
  flightBytes: number;
  batches: number;
  /** Of the batch that is sent next. */
  asks: number;
}

/** Sent, and not answered. */
interface Sent {
  readonly message: Outgoing;
  readonly pair: Pair;
  /** What it took of the credit; 0: it has room of its own. */
  charge: number;
}

export class ProgramOutbox {
  readonly #init: OutboxInit;
  readonly #receivers = new Map<Rank, Receiver>();
  readonly #pairs = new Map<HostIndex, Pair>();
  readonly #sent = new Map<number, Sent>();
  #calls = 0;

  constructor(init: OutboxInit) {
    this.#init = init;
  }

  send(send: Send): void {
    const { limits, attempt } = this.#init;
    const { from, to } = send;
    const receiver = this.#receivers.get(to) ?? { to, creditBytes: limits.shareBytes, flows: new Map<string, Flow>() };
    this.#receivers.set(to, receiver);
    const key = flowKey(from, isOwnTag(send.tag));
    const flow = receiver.flows.get(key) ?? { waiting: [], asked: false, granted: false };
    receiver.flows.set(key, flow);
    this.#calls += 1;
    const isLong = send.bytes.length > SHORT_BYTES_MAX;
    flow.waiting.push({ ...send, call: this.#calls, attempt: attempt(to), isLong });
    this.#pump(receiver);
  }

  /** Places are known now. */
  resume(): void {
    for (const receiver of this.#receivers.values()) this.#pump(receiver);
  }

  /**
   * The agent of a host has got so many batches and these messages, and gives credit and room. It has no say about what
   * was sent to others, nor about ranks that are elsewhere.
   */
  onTaken(
    host: HostIndex, batches: number, calls: readonly number[], credit: readonly (readonly [Rank, number])[],
    grants: readonly number[],
  ): void {
    const pair = this.#pairs.get(host);
    if (pair !== undefined) pair.batches = Math.max(0, pair.batches - batches);
    if (grants.length > 0) this.#onGrants(pair, new Set(grants));
    for (const call of calls) if (this.#sent.get(call)?.pair === pair) this.#settle(call, undefined);
    for (const [rank, bytes] of credit) {
      if (this.#init.host(rank) === host) this.#addCredit(rank, bytes);
    }
    this.#pumpAll(pair);
  }

  /** Nothing reaches this rank any more; what is on its way to it neither. */
  onGone(rank: Rank, problem: RankProblem): void {
    const receiver = this.#receivers.get(rank);
    for (const { message } of [...this.#sent.values()]) if (message.to === rank) this.#settle(message.call, problem);
    this.#receivers.delete(rank);
    if (receiver === undefined) return;
    for (const { waiting } of receiver.flows.values()) for (const message of waiting) message.settle(problem);
    for (const pair of this.#pairs.values()) if (pair.receivers.delete(receiver)) this.#pumpAll(pair);
  }

  /** The agent of a host may be another one, which answers nothing that was sent before. */
  onNewAgent(host: HostIndex): void {
    const pair = this.#pairs.get(host);
    if (pair !== undefined) pair.batches = 0;
  }

  /** What was passed to `transmit` has been sent to this host, as one batch. */
  onBatch(host: HostIndex): void {
    const pair = this.#pairs.get(host);
    if (pair === undefined) return;
    pair.batches += 1;
    pair.asks = 0;
  }

  /** A rank of this host has ended: what it has not sent yet is not sent. */
  onEnded(rank: Rank): void {
    for (const { flows } of this.#receivers.values()) {
      for (const isOwn of [false, true]) flows.delete(flowKey(rank, isOwn));
    }
  }

  /** One that got credit while its grant was on the way gives the credit back: it has the room of the grant. */
  #onGrants(pair: Pair | undefined, grants: ReadonlySet<number>): void {
    for (const call of grants) {
      const sent = this.#sent.get(call);
      if (sent === undefined || sent.pair !== pair) continue;
      this.#addCredit(sent.message.to, sent.charge);
      pair.flightBytes -= sent.charge;
      sent.charge = 0;
    }
    for (const { flows } of pair?.receivers ?? []) {
      for (const flow of flows.values()) if (flow.asked && grants.has(flow.waiting[0]?.call ?? 0)) flow.granted = true;
    }
  }

  #addCredit(rank: Rank, bytes: number): void {
    const receiver = this.#receivers.get(rank);
    if (receiver === undefined) return;
    receiver.creditBytes = Math.min(this.#init.limits.shareBytes, receiver.creditBytes + bytes);
  }

  #pumpAll(pair: Pair | undefined): void {
    for (const receiver of pair?.receivers ?? []) this.#pump(receiver);
  }

  /** Sends what may be sent to a rank. */
  #pump(receiver: Receiver): void {
    const host = this.#init.host(receiver.to);
    if (host < 0) return;
    const pair = this.#pair(host, receiver);
    if (pair.batches >= BATCHES_MAX) return;
    const messages: Outgoing[] = [];
    const asks: Outgoing[] = [];
    for (const [key, flow] of receiver.flows) {
      this.#take(pair, receiver, flow, messages);
      const [first] = flow.waiting;
      if (first === undefined) receiver.flows.delete(key);
      else if (pair.asks < this.#init.limits.asksMax && needsRoom(flow, receiver)) {
        flow.asked = true;
        pair.asks += 1;
        asks.push(first);
      }
    }
    if (messages.length + asks.length > 0) this.#init.transmit(host, messages, asks);
  }

  /** Takes what one rank may send to another now. */
  #take(pair: Pair, receiver: Receiver, flow: Flow, messages: Outgoing[]): void {
    for (let [next] = flow.waiting; next !== undefined; [next] = flow.waiting) {
      const charge = flow.granted ? 0 : chargeOf(next.bytes.length);
      const hasCredit = charge <= receiver.creditBytes
        && pair.flightBytes + charge <= this.#init.limits.flightBytes;
      if (!flow.granted && (next.isLong || !hasCredit)) return;
      receiver.creditBytes -= charge;
      pair.flightBytes += charge;
      flow.waiting.shift();
      [flow.asked, flow.granted] = [false, false];
      this.#sent.set(next.call, { message: next, pair, charge });
      messages.push(next);
    }
  }

  #settle(call: number, problem: RankProblem | undefined): void {
    const sent = this.#sent.get(call);
    if (sent === undefined) return;
    this.#sent.delete(call);
    const { message, pair, charge } = sent;
    pair.flightBytes -= charge;
    message.settle(problem);
  }

  #pair(host: HostIndex, receiver: Receiver): Pair {
    const pair = this.#pairs.get(host) ?? { receivers: new Set(), flightBytes: 0, batches: 0, asks: 0 };
    this.#pairs.set(host, pair);
    pair.receivers.add(receiver);
    return pair;
  }
}

/** It has not asked for it. */
function needsRoom({ asked, waiting: [first] }: Flow, { creditBytes }: Receiver): boolean {
  return !asked && first !== undefined && (first.isLong || chargeOf(first.bytes.length) > creditBytes);
}

function flowKey(from: Rank, isOwn: boolean): string {
  return isOwn ? `~${from}` : `${from}`;
}
