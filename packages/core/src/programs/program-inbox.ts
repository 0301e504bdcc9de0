/**
 * Messages for the ranks of this host: their mailboxes, and the room that there is in them. What comes from an agent
 * that does not keep to its credit breaks the protocol. Pure but for `answer` and the programs' connections.
 *
 * Those that ask for room are long, or their agent has no credit. The former get the room that there is; the latter
 * only what helps a receive that waits: it, or one that comes before it. So what one rank leaves unread does not keep
 * others' messages from it, and its bound holds. One message at a time that a receive waits for has room whatever is
 * unread: a receive that ended before its message came has left that unread.
 */

import { FORMS, StciError, type Form, type HostIndex, type Rank, type Timer } from '@stci/interface';
import { ownBytes } from '../iof/bytes.js';
import type { MessageBody } from '../messages/messages.js';
import { SHORT_BYTES_MAX, type MailLimits } from './program-credit.js';
import { chargeOf, isOwnTag, type MailMessage, type Receive } from './program-mailbox.js';
import type { Program } from './program.js';
import type { RankStatusView } from './rank-status-view.js';

export interface InboxAnswer {
  readonly calls?: readonly number[];
  readonly credit?: readonly (readonly [Rank, number])[];
  readonly grants?: readonly number[];
}

export interface InboxInit {
  readonly limits: MailLimits;
  readonly news: RankStatusView;
  readonly programs: ReadonlyMap<Rank, Program>;
  after(ms: number, call: () => void): Timer;
  /** To the agent of a host. */
  answer(host: HostIndex, answer: InboxAnswer): void;
}

/**
 * An agent may have left messages of its share when another takes its place, and one that was started later may have
 * been told another number of hosts.
 */
const TOLERANCE = 4;

/** One that asks for more is long. */
const SHORT_CHARGE_MAX = chargeOf(SHORT_BYTES_MAX);

type Batch = MessageBody<'program.messages'>;
type Ask = Batch['asks'][number];

/**
 * For so long the room of a message that was asked for is kept from others; its agent sends it at once. For so long
 * again its agent gets no more.
 */
export const GRANT_MS = 5000;

/** So many messages of one host may come even later; of more, those that got room first have lost it. */
const LATE_MAX = 4;

/** A message that was asked for. */
interface Grant {
  readonly call: number;
  readonly host: HostIndex;
  readonly from: Rank;
  readonly to: Rank;
  readonly attempt: number;
  readonly tag: string;
  readonly charge: number;
}

/** One that there is room for. */
interface Granted extends Grant {
  readonly room: Room;
  /** `overdue`: it was not sent in time, others have its room, its agent gets no more; `late`: its agent gets more. */
  state: 'due' | 'overdue' | 'late';
  timer: Timer | undefined;
  /** It is for this one, which waited. */
  readonly receive: Receive | undefined;
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
  /** Of messages that asked for it, those on their way too. */
  longBytes: number;
  /** Messages on their way that receives waited for when they got room. */
  awaited: number;
}

export class ProgramInbox {
  readonly #init: InboxInit;
  readonly #rooms = new Map<Program, Room>();
  /** By sender, receiver, and who sends, as those granted: the second message of a flow waits for the first. */
  readonly #asks = new Map<string, Grant>();
  readonly #granted = new Map<string, Granted>();
  /** Receives of those granted. */
  readonly #served = new Set<Receive>();
  /** Of those that are not overdue. */
  #grantedBytes = 0;

  constructor(init: InboxInit) {
    this.#init = init;
  }

  /** Throws STCI_MESSAGE_INVALID. */
  onBatch({ host, messages, asks }: Batch): void {
    for (const message of messages) this.#onMessage(host, message);
    for (const ask of asks) this.#onAsk(host, ask);
    if (this.#asks.size > 0) this.#grant();
  }

  receive(program: Program, receive: Receive): void {
    program.mailbox.await(receive);
    this.#deliver(program);
    if (this.#asks.size > 0 && program.mailbox.receivesCount > 0) this.#grant();
  }

  /** The program reads again. */
  onRoom(program: Program): void {
    this.#deliver(program);
    if (this.#asks.size > 0) this.#grant();
  }

  /** Passes on what fits the receives that wait, while the program reads. */
  #deliver(program: Program): void {
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
    const grant = this.#takeGrant(host, call, pairOf(from, to, tag));
    const program = this.#receiver(host, from, to, attempt);
    // A rank that has ended, or an earlier attempt: the sender's agent learns of that.
    if (program === undefined) return;
    const room = this.#room(program);
    if (grant === undefined) this.#charge(room, host, charge);
    else if (charge > grant.charge) throw tooMuch(from, grant.charge, charge);
    else room.longBytes -= grant.charge - charge;
    // Not the whole batch that it came in.
    const own = { from, tag, form: FORMS[form] as Form, bytes: ownBytes(bytes) };
    program.mailbox.push({ ...own, host, isGranted: grant !== undefined });
    this.#init.answer(host, { calls: [call] });
    this.#deliver(program);
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
    if (this.#init.news.problem(from) !== undefined) return; // It came after the news of its sender's end.
    const pair = pairOf(from, to, tag);
    this.#drop(pair); // It asks for another: the one before is not sent any more.
    this.#asks.set(pair, { call, host, from, to, attempt, tag, charge: chargeOf(length) });
  }

  /** A message has come: its grant, if it has one, whose room is now that of the message. */
  #takeGrant(host: HostIndex, call: number, pair: string): Granted | undefined {
    const isIt = (grant: Grant | undefined): boolean => grant?.call === call && grant.host === host;
    if (isIt(this.#asks.get(pair))) this.#asks.delete(pair); // It got credit meanwhile.
    const grant = this.#granted.get(pair);
    if (grant === undefined || !isIt(grant)) return undefined;
    if (grant.state !== 'due') grant.room.longBytes += grant.charge;
    this.#forget(pair, grant);
    return grant;
  }

  /** What it has of the room is that of its message now. */
  #forget(pair: string, grant: Granted): void {
    this.#granted.delete(pair);
    grant.timer?.cancel();
    if (grant.state === 'due') this.#onNotDue(grant);
  }

  #onNotDue({ receive, room, charge }: Granted): void {
    this.#grantedBytes -= charge;
    if (receive === undefined) return;
    this.#served.delete(receive);
    room.awaited -= 1;
  }

  #onOverdue(grant: Granted): void {
    this.#onNotDue(grant);
    grant.room.longBytes -= grant.charge;
    grant.state = 'overdue';
    grant.timer = this.#init.after(GRANT_MS, () => this.#onLate(grant));
    this.#grant();
  }

  #onLate(grant: Granted): void {
    grant.state = 'late';
    const late = [...this.#granted].filter(([, { host, state }]) => host === grant.host && state === 'late');
    const [first] = late;
    if (first !== undefined && late.length > LATE_MAX) this.#drop(first[0]);
    this.#grant();
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
    const overdue = new Set<HostIndex>();
    for (const { host, state } of this.#granted.values()) if (state === 'overdue') overdue.add(host);
    for (const [pair, ask] of this.#asks) {
      if (overdue.has(ask.host)) continue;
      const program = this.#init.programs.get(ask.to);
      const room = program && this.#room(program);
      const isFull = this.#grantedBytes > 0 && this.#grantedBytes + ask.charge > longBytesMax;
      if (isFull) return;
      if (program === undefined || room === undefined) continue;
      const { mailbox } = program;
      const receive = mailbox.awaiting(ask, this.#served);
      if (receive === undefined && ask.charge <= SHORT_CHARGE_MAX && !mailbox.awaitsBehind(ask)) continue;
      if (!this.#hasRoom(program, room, ask.charge, receive)) continue;
      this.#asks.delete(pair);
      room.longBytes += ask.charge;
      this.#grantedBytes += ask.charge;
      const grant: Granted = { ...ask, room, state: 'due', timer: undefined, receive };
      if (receive !== undefined) {
        this.#served.add(receive);
        room.awaited += 1;
      }
      grant.timer = this.#init.after(GRANT_MS, () => this.#onOverdue(grant));
      this.#granted.set(pair, grant);
      this.#init.answer(ask.host, { grants: [ask.call] });
    }
  }

  /** A receive that waits for more than what may be unread at all fails, rather than wait for ever. */
  #hasRoom(program: Program, room: Room, charge: number, receive: Receive | undefined): boolean {
    const { longBytesMax, unreadBytesMax } = this.#init.limits;
    const { longBytes, awaited } = room;
    if (longBytes === 0 || longBytes + charge <= longBytesMax) return true;
    if (receive === undefined) return false;
    // It has room beyond that of those that nobody waits for, which may be received after it only. A receive takes
    // one, so that no more than one comes for its sake at a time.
    if (longBytes + charge <= 2 * longBytesMax) return true;
    if (awaited > 0 || !program.mailbox.isTested) return false; // One that is waited for is here, or comes before.
    if (longBytes + charge <= unreadBytesMax) return true;
    program.mailbox.cancel(receive.id);
    const reason = `this rank has ${longBytes} bytes of messages that it has not received: receive these first`;
    program.fail(receive.id, { code: 'STCI_CLIENT_LIMIT', reason });
    return false;
  }

  /** A message was received: its room is given back, credit half a share at a time. */
  #free(program: Program, { host, bytes, isGranted }: MailMessage): void {
    const room = this.#room(program);
    const charge = chargeOf(bytes.length);
    if (isGranted) {
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
    for (const grants of [this.#asks, this.#granted]) {
      for (const [pair, grant] of grants) if (isIt(grant)) this.#drop(pair);
    }
    this.#grant();
  }

  #drop(pair: string): void {
    this.#asks.delete(pair);
    const grant = this.#granted.get(pair);
    if (grant === undefined) return;
    if (grant.state === 'due') grant.room.longBytes -= grant.charge;
    this.#forget(pair, grant);
  }

  #room(program: Program): Room {
    const room = this.#rooms.get(program) ?? { shares: new Map<HostIndex, Share>(), longBytes: 0, awaited: 0 };
    this.#rooms.set(program, room);
    return room;
  }
}

function pairOf(from: Rank, to: Rank, tag: string): string {
  return isOwnTag(tag) ? `${from} ${to} own` : `${from} ${to}`;
}

function tooMuch(of: number, wanted: number, got: number): StciError {
  return new StciError('STCI_MESSAGE_INVALID', `Expected at most ${wanted} bytes of ${of} at once, got ${got}`);
}
