/**
 * Messages that ranks of this host send: they wait here, in order for each receiver, until its agent has room, and are
 * answered when it has them. Short ones go by credit. A long one asks for room, and so does a short one without credit:
 * who sent before it may have left all credit in messages that nobody receives. Pure.
 */

import { entryOf } from '@stci/interface';
import type { Form, HostIndex, Rank } from '@stci/interface';
import { SendWindow } from '../event/window.js';
import type { MessageBody } from '../messages/messages.js';
import type { Answers } from './incoming-messages.js';
import { BATCHES_MAX, SHORT_BYTES_MAX, type MessagingLimits } from './program-limits.js';
import { chargeOf, flowOf } from './rank-mailbox.js';
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

/** A message that is not answered. */
export interface Outgoing extends Send {
  readonly call: number;
  readonly attempt: number;
  readonly charge: number;
  readonly receiver: Receiver;
  /** `asked`: for room; `granted`: it has room of its own. */
  state: 'waiting' | 'asked' | 'granted' | 'sent';
  /** Of one that was sent: its charge is one of the windows, else of the room that it was given. */
  usesCredit: boolean;
}

/** One rank. */
interface Receiver {
  readonly peer: Peer;
  readonly credit: SendWindow;
  /** What waits, by its flow (rank-mailbox.ts): what is in one waits for no other. */
  readonly flows: Map<string, Outgoing[]>;
}

/** What goes to one agent at the end of the turn. */
export interface Turn extends Answers {
  readonly messages: Outgoing[];
  readonly asks: Outgoing[];
  /** How many of its batches were taken. */
  batches: number;
}

/** The agent of one host. */
export interface Peer {
  readonly host: HostIndex;
  readonly receivers: Set<Receiver>;
  readonly flight: SendWindow;
  /** Charges of messages with room of their own that are on the way to it. */
  grantedBytes: number;
  /** Batches that it has not answered. */
  batches: number;
  /** Undefined: nothing goes to it yet. */
  turn: Turn | undefined;
}

export interface OutgoingInit {
  readonly limits: MessagingLimits;
  attempt(rank: Rank): number;
  /** Whose agent a rank is at. */
  peer(rank: Rank): Peer;
  /** To which messages, and calls that ask for room, are added. */
  turn(peer: Peer): Turn;
}

export class OutgoingMessages {
  readonly #init: OutgoingInit;
  readonly #receivers = new Map<Rank, Receiver>();
  readonly #open = new Map<number, Outgoing>();
  #calls = 0;

  constructor(init: OutgoingInit) {
    this.#init = init;
  }

  send(send: Send): void {
    const { from, to, tag, bytes } = send;
    const receiver = this.#receiver(to);
    const key = flowOf(from, tag);
    const flow = entryOf(receiver.flows, key, () => []);
    this.#calls += 1;
    const message: Outgoing = {
      ...send, call: this.#calls, attempt: this.#init.attempt(to), charge: chargeOf(bytes.length), receiver,
      state: 'waiting', usesCredit: false,
    };
    this.#open.set(message.call, message);
    flow.push(message);
    this.#pump(receiver);
  }

  /** An agent has no say about what was sent to others, nor about ranks that are elsewhere. */
  onTaken(peer: Peer, { batches, calls, credit, grants }: Omit<MessageBody<'program.taken'>, 'host'>): void {
    peer.batches = Math.max(0, peer.batches - batches);
    for (const message of this.#of(peer, grants)) this.#onGranted(message);
    for (const message of this.#of(peer, calls)) if (message.state === 'sent') this.#settle(message, undefined);
    for (const [rank, bytes] of credit) {
      const receiver = this.#receivers.get(rank);
      if (receiver?.peer === peer) grantSpent(receiver.credit, bytes);
    }
    this.#pumpAll(peer);
  }

  /** Nothing reaches this rank any more; what is on its way to it neither. */
  onGone(rank: Rank, problem: RankProblem): void {
    const receiver = this.#receivers.get(rank);
    if (receiver === undefined) return;
    this.#receivers.delete(rank);
    receiver.peer.receivers.delete(receiver);
    for (const message of [...this.#open.values()]) if (message.receiver === receiver) this.#settle(message, problem);
    this.#pumpAll(receiver.peer);
  }

  /** A rank of this host has ended: what it has not sent yet is not sent. */
  onEnded(rank: Rank): void {
    for (const message of this.#open.values()) {
      if (message.from !== rank || message.state === 'sent') continue;
      this.#open.delete(message.call);
      message.receiver.flows.delete(flowOf(rank, message.tag));
    }
  }

  *#of(peer: Peer, calls: readonly number[]): Iterable<Outgoing> {
    for (const call of calls) {
      const message = this.#open.get(call);
      if (message?.receiver.peer === peer) yield message;
    }
  }

  /** One that got credit while its grant was on the way gives the credit back: it has the room of the grant. */
  #onGranted(message: Outgoing): void {
    if (message.state === 'asked') message.state = 'granted';
    if (!message.usesCredit) return;
    const { charge, receiver: { credit, peer } } = message;
    grantSpent(credit, charge);
    peer.flight.grant(charge);
    peer.grantedBytes += charge;
    message.usesCredit = false;
  }

  #pumpAll({ receivers }: Peer): void {
    for (const receiver of receivers) this.#pump(receiver);
  }

  /** Sends what may be sent to a rank, and asks for room for what may not. */
  #pump(receiver: Receiver): void {
    const { peer, flows, credit } = receiver;
    if (peer.batches >= BATCHES_MAX) return;
    for (const [key, flow] of flows) {
      let [first] = flow;
      for (; first !== undefined && this.#take(first); [first] = flow) {
        flow.shift();
        this.#init.turn(peer).messages.push(first);
      }
      if (first === undefined) flows.delete(key);
      else if (first.state === 'waiting' && (isLong(first) || !credit.fits(first.charge)) && this.#mayAsk(peer)) {
        first.state = 'asked';
        this.#init.turn(peer).asks.push(first);
      }
    }
  }

  #mayAsk({ turn }: Peer): boolean {
    return (turn?.asks.length ?? 0) < this.#init.limits.asksMax;
  }

  /** Whether it may be sent now; then it is. */
  #take(message: Outgoing): boolean {
    const { charge, receiver: { credit, peer } } = message;
    if (message.state === 'granted') {
      const { grantedBytes } = peer;
      if (grantedBytes > 0 && grantedBytes + charge > this.#init.limits.longBytesMax) return false;
      peer.grantedBytes += charge;
    } else {
      if (isLong(message) || !credit.fits(charge) || !peer.flight.fits(charge)) return false;
      credit.spend(charge);
      peer.flight.spend(charge);
      message.usesCredit = true;
    }
    message.state = 'sent';
    return true;
  }

  #settle(message: Outgoing, problem: RankProblem | undefined): void {
    const { call, charge, usesCredit, state, receiver: { peer } } = message;
    this.#open.delete(call);
    if (usesCredit) peer.flight.grant(charge);
    else if (state === 'sent') peer.grantedBytes -= charge;
    message.settle(problem);
  }

  #receiver(rank: Rank): Receiver {
    return entryOf(this.#receivers, rank, () => {
      const peer = this.#init.peer(rank);
      const receiver = { peer, credit: new SendWindow(this.#init.limits.windowBytes), flows: new Map() };
      peer.receivers.add(receiver);
      return receiver;
    });
  }
}

export function peerOf(host: HostIndex, { flightBytes }: MessagingLimits): Peer {
  const flight = new SendWindow(flightBytes);
  return { host, receivers: new Set(), flight, grantedBytes: 0, batches: 0, turn: undefined };
}

/** Credit for an earlier attempt of a rank may come late: it is no more than was spent for this one. */
function grantSpent(credit: SendWindow, bytes: number): void {
  credit.grant(Math.min(bytes, credit.spentBytes));
}

function isLong({ bytes }: Send): boolean {
  return bytes.length > SHORT_BYTES_MAX;
}
