/**
 * Messages for the ranks of this host: their mailboxes, and the room that there is in them. What comes from an agent
 * that does not keep to its window breaks the protocol. Pure but for the programs' connections.
 *
 * Those that ask for room are long, or their agent has no credit. The former get the room that there is; the latter
 * only what helps a receive that waits: it, or one that comes before it. So what one rank leaves unread does not keep
 * others' messages from it, and its bound holds. One message at a time that a receive waits for has room whatever is
 * unread: a receive that ended before its message came has left that unread. Room is each rank's own, and stays given
 * until the message comes or the loss of its sender is told.
 */

import { FORMS, StciError, entryOf, type Form, type HostIndex, type Rank } from '@stci/interface';
import { ReceiveWindow } from '../event/window.js';
import { ownBytes } from '../iof/bytes.js';
import type { MessageBody } from '../messages/messages.js';
import { SHORT_BYTES_MAX, type MessagingLimits } from './program-limits.js';
import type { Program } from './program.js';
import { chargeOf, flowOf, type MailMessage, type Receive } from './rank-mailbox.js';
import type { RankStatusView } from './rank-status-view.js';

/** What an agent is told of its messages: which came, `[rank, bytes]` of credit, and which have room. */
export interface Answers {
  readonly calls: number[];
  readonly credit: (readonly [Rank, number])[];
  readonly grants: number[];
}

export interface IncomingInit {
  readonly limits: MessagingLimits;
  readonly news: RankStatusView;
  readonly programs: ReadonlyMap<Rank, Program>;
  /** To which answers for the agent of a host are added. */
  answers(host: HostIndex): Answers;
}

/**
 * An agent may have left messages of its window when another takes its place, and one that was started later may have
 * been told another number of hosts.
 */
const TOLERANCE = 4;

/** One that asks for more is long. */
const SHORT_CHARGE_MAX = chargeOf(SHORT_BYTES_MAX);

type Batch = MessageBody<'program.messages'>;

/** A message that asks for room. */
interface Ask {
  readonly call: number;
  readonly host: HostIndex;
  readonly from: Rank;
  readonly tag: string;
  readonly charge: number;
}

/** One that was given room. */
interface Granted extends Ask {
  /** The receive that waited for it. */
  readonly receive: Receive | undefined;
}

/** Room of one rank; it ends with its process. */
interface Room {
  readonly program: Program;
  readonly windows: Map<HostIndex, ReceiveWindow>;
  /** By flow, as those that were given room: the second message of one waits for the first. */
  readonly asks: Map<string, Ask>;
  readonly granted: Map<string, Granted>;
  /** Charges of messages that were given room, those on their way too. */
  longBytes: number;
}

export class IncomingMessages {
  readonly #init: IncomingInit;
  readonly #rooms = new Map<Program, Room>();

  constructor(init: IncomingInit) {
    this.#init = init;
  }

  /** Throws STCI_MESSAGE_INVALID, or STCI_STREAM_CREDIT. */
  onBatch({ host, messages, asks }: Batch): void {
    const rooms = new Set(messages.map((message) => this.#onMessage(host, message)));
    for (const ask of asks) rooms.add(this.#onAsk(host, ask));
    for (const room of rooms) if (room !== undefined) this.#grant(room);
  }

  receive(program: Program, receive: Receive): void {
    program.mailbox.await(receive);
    this.onRoom(program);
  }

  /** The program reads again, or waits for more. */
  onRoom(program: Program): void {
    const room = this.#room(program);
    this.#deliver(room);
    if (program.mailbox.receives.length > 0) this.#grant(room);
  }

  /** Its process has ended; what waits for it is dropped. */
  onEnded(program: Program): void {
    this.#rooms.delete(program);
  }

  /** This rank sends nothing any more. */
  onGone(rank: Rank): void {
    for (const room of this.#rooms.values()) {
      const dropped = ['', '_'].filter((tag) => this.#drop(room, flowOf(rank, tag)));
      if (dropped.length > 0) this.#grant(room);
    }
  }

  /** Passes on what fits the receives that wait, while the program reads. */
  #deliver(room: Room): void {
    const { connection, mailbox } = room.program;
    while (connection?.hasRoom === true) {
      const found = mailbox.take();
      if (found === undefined) return;
      const [{ id }, message] = found;
      const { from, tag, form, bytes } = message;
      connection.send({ type: 'message', id, from, tag, form }, bytes);
      this.#free(room, message);
    }
  }

  /** Returns where there may be room to give. */
  #onMessage(
    host: HostIndex, [call, from, to, attempt, tag, form, bytes]: Batch['messages'][number],
  ): Room | undefined {
    const room = this.#roomFor(host, from, to, attempt);
    // A rank that has ended, or an earlier attempt: the sender's agent learns of that.
    if (room === undefined) return undefined;
    const flow = flowOf(from, tag);
    if (room.asks.get(flow)?.call === call) room.asks.delete(flow); // It got credit meanwhile.
    const charge = chargeOf(bytes.length);
    const grant = room.granted.get(flow);
    const isGranted = grant?.call === call;
    if (!isGranted) {
      // Its room went with its sender.
      if (charge > SHORT_CHARGE_MAX && this.#init.news.problem(from) !== undefined) return undefined;
      this.#window(room, host).receive(charge);
    } else if (charge > grant.charge) throw tooMuch(from, grant.charge, charge);
    else {
      room.granted.delete(flow);
      room.longBytes -= grant.charge - charge;
    }
    // Not the whole batch that it came in.
    const own = { from, tag, form: FORMS[form] as Form, bytes: ownBytes(bytes) };
    room.program.mailbox.push({ ...own, host, isGranted });
    this.#init.answers(host).calls.push(call);
    this.#deliver(room);
    return room;
  }

  /** Returns where there may be room to give. */
  #onAsk(host: HostIndex, [call, from, to, attempt, tag, length]: Batch['asks'][number]): Room | undefined {
    const { news, limits: { messageBytesMax } } = this.#init;
    if (length > messageBytesMax) throw tooMuch(from, messageBytesMax, length);
    const room = this.#roomFor(host, from, to, attempt);
    if (room === undefined || news.problem(from) !== undefined) return undefined; // It came after its sender's end.
    const flow = flowOf(from, tag);
    this.#drop(room, flow); // It asks for another: the one before is not sent any more.
    room.asks.set(flow, { call, host, from, tag, charge: chargeOf(length) });
    return room;
  }

  /** Undefined: no such attempt runs here. Throws STCI_MESSAGE_INVALID if the host does not speak for the sender. */
  #roomFor(host: HostIndex, from: Rank, to: Rank, attempt: number): Room | undefined {
    const { news, programs } = this.#init;
    if (news.host(from) !== host) {
      if (news.attempt(from) > 1) return undefined; // It was there before.
      const text = `Expected messages of ranks of host ${host}, got one of rank ${from}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    const program = programs.get(to);
    return program?.attempt === attempt ? this.#room(program) : undefined;
  }

  /** Gives room to those that asked first, as far as there is some. */
  #grant(room: Room): void {
    const { program: { mailbox }, asks, granted } = room;
    if (asks.size === 0) return;
    const served = new Set([...granted.values()].map(({ receive }) => receive));
    for (const [flow, ask] of asks) {
      const receive = mailbox.awaiting(ask, served);
      if (receive === undefined && ask.charge <= SHORT_CHARGE_MAX && !mailbox.awaitsBehind(ask)) continue;
      if (!this.#hasRoom(room, ask.charge, receive)) continue;
      asks.delete(flow);
      granted.set(flow, { ...ask, receive });
      served.add(receive);
      room.longBytes += ask.charge;
      this.#init.answers(ask.host).grants.push(ask.call);
    }
  }

  /** A receive that waits for more than what may be unread at all fails, rather than wait for ever. */
  #hasRoom({ program, granted, longBytes }: Room, charge: number, receive: Receive | undefined): boolean {
    const { longBytesMax, unreadBytesMax } = this.#init.limits;
    const { mailbox, connection } = program;
    if (longBytes === 0 || longBytes + charge <= longBytesMax) return true;
    if (receive === undefined) return false;
    // It has room beyond that of those that nobody waits for, which may be received after it only. A receive takes
    // one, so that no more than one comes for its sake at a time.
    if (longBytes + charge <= 2 * longBytesMax) return true;
    // One that is waited for is here, or comes before; or the program does not read.
    const isAwaited = [...granted.values()].some((other) => other.receive !== undefined);
    if (isAwaited || !mailbox.isTold || connection?.hasRoom !== true) return false;
    if (longBytes + charge <= unreadBytesMax) return true;
    mailbox.cancel(receive.id);
    const reason = `this rank has ${longBytes} bytes of messages that it has not received: receive these first`;
    program.fail(receive.id, { code: 'STCI_CLIENT_LIMIT', reason });
    return false;
  }

  /** A message was received: its room is given back. */
  #free(room: Room, { host, bytes, isGranted }: MailMessage): void {
    const charge = chargeOf(bytes.length);
    if (isGranted) {
      room.longBytes -= charge;
      return this.#grant(room);
    }
    const credit = this.#window(room, host).consume(charge);
    if (credit > 0) this.#init.answers(host).credit.push([room.program.rank, credit]);
  }

  /** Returns whether there was something. */
  #drop(room: Room, flow: string): boolean {
    room.longBytes -= room.granted.get(flow)?.charge ?? 0;
    return room.asks.delete(flow) || room.granted.delete(flow);
  }

  #window({ windows }: Room, host: HostIndex): ReceiveWindow {
    const { windowBytes } = this.#init.limits;
    return entryOf(windows, host, () => new ReceiveWindow(windowBytes, (TOLERANCE - 1) * windowBytes));
  }

  #room(program: Program): Room {
    return entryOf(this.#rooms, program, () =>
      ({ program, windows: new Map(), asks: new Map(), granted: new Map(), longBytes: 0 }));
  }
}

function tooMuch(of: number, wanted: number, got: number): StciError {
  return new StciError('STCI_MESSAGE_INVALID', `Expected at most ${wanted} bytes of ${of} at once, got ${got}`);
}
