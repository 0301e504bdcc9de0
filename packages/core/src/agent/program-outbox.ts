/**
 * Messages that ranks of this host send: they wait here, in order for each receiver, until its agent has room, and are
 * answered when it has them. Pure but for `transmit`.
 */

import type { Form, HostIndex, Rank } from '@stci/interface';
import { BATCHES_MAX, SHORT_BYTES_MAX, type MailLimits } from './program-credit.js';
import { chargeOf } from './program-mailbox.js';
import type { RankProblem } from './program-news.js';

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

/** To one rank. */
interface Flow {
  readonly to: Rank;
  readonly waiting: Outgoing[];
  creditBytes: number;
  /** Room was asked for the first that waits; and given. */
  asked: boolean;
  granted: boolean;
}

/** To one agent. */
interface Pair {
  readonly flows: Set<Flow>;
  flightBytes: number;
  batches: number;
}

export class ProgramOutbox {
  readonly #init: OutboxInit;
  readonly #flows = new Map<Rank, Flow>();
  readonly #pairs = new Map<HostIndex, Pair>();
  /** Sent, and not answered. */
  readonly #sent = new Map<number, { readonly message: Outgoing; readonly pair: Pair }>();
  #calls = 0;

  constructor(init: OutboxInit) {
    this.#init = init;
  }

  send(send: Send): void {
    const { limits, attempt } = this.#init;
    const { to } = send;
    const known = this.#flows.get(to);
    const flow = known ?? { to, waiting: [], creditBytes: limits.shareBytes, asked: false, granted: false };
    this.#flows.set(to, flow);
    this.#calls += 1;
    const isLong = send.bytes.length > SHORT_BYTES_MAX;
    flow.waiting.push({ ...send, call: this.#calls, attempt: attempt(to), isLong });
    this.#pump(to);
  }

  /** Places are known now. */
  resume(): void {
    for (const to of this.#flows.keys()) this.#pump(to);
  }

  /** The agent of a host has got so many batches and these messages, and gives credit and room. */
  onTaken(
    host: HostIndex, batches: number, calls: readonly number[], credit: readonly (readonly [Rank, number])[],
    grants: readonly number[],
  ): void {
    const pair = this.#pairs.get(host);
    if (pair !== undefined) pair.batches = Math.max(0, pair.batches - batches);
    for (const call of calls) this.#settle(call, undefined);
    for (const [rank, bytes] of credit) {
      const flow = this.#flows.get(rank);
      if (flow !== undefined) flow.creditBytes = Math.min(this.#init.limits.shareBytes, flow.creditBytes + bytes);
    }
    for (const flow of pair?.flows ?? []) {
      if (flow.asked && grants.includes(flow.waiting[0]?.call ?? 0)) flow.granted = true;
    }
    this.#pumpAll(host);
  }

  /** Nothing reaches this rank any more; what is on its way to it neither. */
  onGone(rank: Rank, problem: RankProblem): void {
    const flow = this.#flows.get(rank);
    for (const { message } of [...this.#sent.values()]) if (message.to === rank) this.#settle(message.call, problem);
    this.#flows.delete(rank);
    if (flow === undefined) return;
    for (const message of flow.waiting) message.settle(problem);
    for (const [host, pair] of this.#pairs) if (pair.flows.delete(flow)) this.#pumpAll(host);
  }

  /** The agent of a host may be another one, which answers nothing that was sent before. */
  onNewAgent(host: HostIndex): void {
    const pair = this.#pairs.get(host);
    if (pair !== undefined) pair.batches = 0;
  }

  /** What was passed to `transmit` has been sent to this host, as one batch. */
  onBatch(host: HostIndex): void {
    const pair = this.#pairs.get(host);
    if (pair !== undefined) pair.batches += 1;
  }

  /** A rank of this host has ended: what it has not sent yet is not sent. */
  onEnded(rank: Rank): void {
    for (const flow of this.#flows.values()) {
      const first = flow.waiting[0];
      const left = flow.waiting.filter(({ from }) => from !== rank);
      if (left.length === flow.waiting.length) continue;
      flow.waiting.splice(0, flow.waiting.length, ...left);
      if (left[0] !== first) [flow.asked, flow.granted] = [false, false];
      this.#pump(flow.to);
    }
  }

  #pumpAll(host: HostIndex): void {
    for (const flow of this.#pairs.get(host)?.flows ?? []) this.#pump(flow.to);
  }

  /** Sends what may be sent to a rank. */
  #pump(to: Rank): void {
    const flow = this.#flows.get(to);
    const host = this.#init.host(to);
    if (flow === undefined || host < 0) return;
    const pair = this.#pair(host, flow);
    const messages: Outgoing[] = [];
    const asks: Outgoing[] = [];
    if (pair.batches >= BATCHES_MAX) return;
    for (let next = flow.waiting[0]; next !== undefined && this.#mayGo(pair, flow, next); next = flow.waiting[0]) {
      flow.waiting.shift();
      const charge = chargeOf(next.bytes.length);
      if (!next.isLong) {
        flow.creditBytes -= charge;
        pair.flightBytes += charge;
      }
      [flow.asked, flow.granted] = [false, false];
      this.#sent.set(next.call, { message: next, pair });
      messages.push(next);
    }
    const [first] = flow.waiting;
    if (first?.isLong === true && !flow.asked) {
      flow.asked = true;
      asks.push(first);
    }
    if (messages.length + asks.length > 0) this.#init.transmit(host, messages, asks);
  }

  #mayGo({ flightBytes }: Pair, flow: Flow, { isLong, bytes }: Outgoing): boolean {
    if (isLong) return flow.granted;
    const charge = chargeOf(bytes.length);
    return charge <= flow.creditBytes && flightBytes + charge <= this.#init.limits.flightBytes;
  }

  #settle(call: number, problem: RankProblem | undefined): void {
    const sent = this.#sent.get(call);
    if (sent === undefined) return;
    this.#sent.delete(call);
    const { message, pair } = sent;
    if (!message.isLong) pair.flightBytes -= chargeOf(message.bytes.length);
    message.settle(problem);
  }

  #pair(host: HostIndex, flow: Flow): Pair {
    const pair = this.#pairs.get(host) ?? { flows: new Set(), flightBytes: 0, batches: 0 };
    this.#pairs.set(host, pair);
    pair.flows.add(flow);
    return pair;
  }
}
