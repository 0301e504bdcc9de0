/**
 * Messages for the ranks of this host: their mailboxes, and the room that there is in them. What comes from an agent
 * that does not keep to its credit breaks the protocol. Pure but for `answer` and the programs' connections.
 */

import { FORMS, StciError, type Form, type HostIndex, type Rank } from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import type { MailLimits } from './program-credit.js';
import { chargeOf, type MailMessage, type Receive } from './program-mailbox.js';
import type { ProgramNews } from './program-news.js';
import type { Program } from './program.js';

export interface InboxAnswer {
  readonly calls?: readonly number[];
  readonly credit?: readonly (readonly [Rank, number])[];
  readonly grants?: readonly number[];
}

export interface InboxInit {
  readonly limits: MailLimits;
  readonly news: ProgramNews;
  readonly programs: ReadonlyMap<Rank, Program>;
  /** To the agent of a host. */
  answer(host: HostIndex, answer: InboxAnswer): void;
}

/**
 * An agent may have left messages of its share when another takes its place, and one that was started later may have
 * been told another number of hosts.
 */
const TOLERANCE = 4;

type Batch = MessageBody<'program.messages'>;
type Ask = Batch['asks'][number];

/** A long message that was asked for. */
interface Grant {
  readonly host: HostIndex;
  readonly from: Rank;
  readonly to: Rank;
  readonly attempt: number;
  readonly tag: string;
  readonly charge: number;
}

/** What one agent has in one rank's mailbox. */
interface Share {
  readonly host: HostIndex;
  usedBytes: number;
  /** Received, and not given back. */
  freedBytes: number;
}

/** Room of one rank; it ends with its process. */
interface Room {
  readonly shares: Map<HostIndex, Share>;
  /** Of long messages, those on their way too. */
  longBytes: number;
}

export class ProgramInbox {
  readonly #init: InboxInit;
  readonly #rooms = new Map<Program, Room>();
  readonly #asks: (Grant & { readonly call: number })[] = [];
  /** By host and call. */
  readonly #granted = new Map<string, Grant>();
  #grantedBytes = 0;

  constructor(init: InboxInit) {
    this.#init = init;
  }

  /** Throws STCI_MESSAGE_INVALID. */
  onBatch({ host, messages, asks }: Batch): void {
    for (const message of messages) this.#onMessage(host, message);
    for (const ask of asks) this.#onAsk(host, ask);
    this.#grant();
  }

  receive(program: Program, receive: Receive): void {
    program.mailbox.await(receive);
    this.deliver(program);
    if (this.#asks.length > 0) this.#grant();
  }

  /** Passes on what fits the receives that wait, while the program reads. */
  deliver(program: Program): void {
    const { connection, mailbox } = program;
    while (connection?.hasRoom === true) {
      const found = mailbox.match();
      if (found === undefined) return;
      const [{ id }, message] = found;
      const { from, tag, form, bytes } = message;
      connection.send({ type: 'message', id, from, tag, form }, bytes);
      this.#free(program, message);
    }
  }

  /** Its process has ended; what waits for it is dropped. */
  onEnded(program: Program): void {
    this.#rooms.delete(program);
    this.#dropGrants(({ to, attempt }) => to === program.rank && attempt === program.attempt);
  }

  /** This rank sends nothing any more. */
  onGone(rank: Rank): void {
    this.#dropGrants(({ from }) => from === rank);
  }

  #onMessage(host: HostIndex, [call, from, to, attempt, tag, form, bytes]: Batch['messages'][number]): void {
    const charge = chargeOf(bytes.length);
    const key = `${host}.${call}`;
    const grant = this.#granted.get(key);
    this.#granted.delete(key);
    if (grant !== undefined) this.#grantedBytes -= grant.charge;
    const program = this.#receiver(host, from, to, attempt);
    // A rank that has ended, or an earlier attempt: the sender's agent learns of that.
    if (program === undefined) return;
    const room = this.#room(program);
    if (grant === undefined) this.#charge(room, host, charge);
    else if (charge > grant.charge) throw tooMuch(from, grant.charge, charge);
    program.mailbox.push({ from, tag, form: FORMS[form] as Form, bytes, host, isLong: grant !== undefined });
    this.#init.answer(host, { calls: [call] });
    this.deliver(program);
  }

  #charge(room: Room, host: HostIndex, charge: number): void {
    const { shareBytes } = this.#init.limits;
    const share = room.shares.get(host) ?? { host, usedBytes: 0, freedBytes: 0 };
    room.shares.set(host, share);
    share.usedBytes += charge;
    if (share.usedBytes > TOLERANCE * shareBytes) throw tooMuch(host, TOLERANCE * shareBytes, share.usedBytes);
  }

  #onAsk(host: HostIndex, [call, from, to, attempt, tag, length]: Ask): void {
    if (length > this.#init.limits.messageBytesMax) throw tooMuch(from, this.#init.limits.messageBytesMax, length);
    if (this.#receiver(host, from, to, attempt) === undefined) return;
    this.#asks.push({ call, host, from, to, attempt, tag, charge: chargeOf(length) });
  }

  /** Undefined: no such attempt runs here. Throws STCI_MESSAGE_INVALID if the host does not speak for the sender. */
  #receiver(host: HostIndex, from: Rank, to: Rank, attempt: number): Program | undefined {
    const { news, programs } = this.#init;
    if (news.host(from) !== host) {
      if (news.attempt(from) > 1) return undefined; // It was there before.
      const text = `Expected messages of ranks of host ${host}, got one of rank ${from}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    const program = programs.get(to);
    return program?.attempt === attempt ? program : undefined;
  }

  /** Gives room to those that asked first, as far as there is some. */
  #grant(): void {
    const { longBytesMax } = this.#init.limits;
    for (const ask of [...this.#asks]) {
      const program = this.#init.programs.get(ask.to);
      const room = program && this.#room(program);
      const isFull = this.#grantedBytes > 0 && this.#grantedBytes + ask.charge > longBytesMax;
      if (isFull) return;
      if (program === undefined || room === undefined) continue;
      // One that is waited for has room beyond that of those that are not: these may be received after it only.
      const roomBytes = program.mailbox.awaits(ask) ? 2 * longBytesMax : longBytesMax;
      if (room.longBytes > 0 && room.longBytes + ask.charge > roomBytes) continue;
      this.#asks.splice(this.#asks.indexOf(ask), 1);
      room.longBytes += ask.charge;
      this.#grantedBytes += ask.charge;
      this.#granted.set(`${ask.host}.${ask.call}`, ask);
      this.#init.answer(ask.host, { grants: [ask.call] });
    }
  }

  /** A message was received: its room is given back, credit half a share at a time. */
  #free(program: Program, { host, bytes, isLong }: MailMessage): void {
    const room = this.#room(program);
    const charge = chargeOf(bytes.length);
    if (isLong) {
      room.longBytes -= charge;
      return this.#grant();
    }
    const share = room.shares.get(host);
    if (share === undefined) return;
    share.usedBytes -= charge;
    share.freedBytes += charge;
    if (share.freedBytes * 2 < this.#init.limits.shareBytes) return;
    this.#init.answer(host, { credit: [[program.rank, share.freedBytes]] });
    share.freedBytes = 0;
  }

  #dropGrants(isIt: (grant: Grant) => boolean): void {
    this.#asks.splice(0, this.#asks.length, ...this.#asks.filter((ask) => !isIt(ask)));
    for (const [key, grant] of this.#granted) {
      if (!isIt(grant)) continue;
      this.#granted.delete(key);
      this.#grantedBytes -= grant.charge;
      const program = this.#init.programs.get(grant.to);
      if (program?.attempt === grant.attempt) this.#room(program).longBytes -= grant.charge;
    }
    this.#grant();
  }

  #room(program: Program): Room {
    const room = this.#rooms.get(program) ?? { shares: new Map<HostIndex, Share>(), longBytes: 0 };
    this.#rooms.set(program, room);
    return room;
  }
}

function tooMuch(of: number, wanted: number, got: number): StciError {
  return new StciError('STCI_MESSAGE_INVALID', `Expected at most ${wanted} bytes of ${of} at once, got ${got}`);
}
