/**
 * Messages between ranks at a session agent: what its ranks send goes to the agents of the receivers, those of one turn
 * together; what comes is put into mailboxes. Two ranks of one host take the same way, without the messages.
 */

import {
  FORMS, PROGRAM_RECEIVES_MAX, PROGRAM_SENDS_BYTES_MAX, PROGRAM_SENDS_MAX, StciError, ranksInRanges, sessionAddress,
  entryOf, type HostIndex, type LostRanks, type Rank, type RankRange,
} from '@stci/interface';
import type { MessageBody } from '../messages/messages.js';
import type { JobPlace } from '../service/contracts.js';
import { NOT_YET } from './agreement-text.js';
import { IncomingMessages } from './incoming-messages.js';
import { OutgoingMessages, peerOf, type Peer, type Turn } from './outgoing-messages.js';
import { BATCHES_MAX, messagingLimits, type MessagingLimits } from './program-limits.js';
import type { RequestOf } from './program-connection.js';
import type { Program } from './program.js';
import { chargeOf } from './rank-mailbox.js';
import type { RankStatusView, RankProblem } from './rank-status-view.js';

export interface RankMessagingInit extends Pick<JobPlace, 'node' | 'host' | 'hosts' | 'size'> {
  readonly news: RankStatusView;
  readonly programs: ReadonlyMap<Rank, Program>;
  /** Collectives that this agent knows the decisions of. */
  decided(): number;
  /** Asks the controller where the ranks are. */
  open(): void;
}

type Batch = MessageBody<'program.messages'>;

/** Another agent may have taken the place of one that left as much as it may. */
const EARLY_FACTOR = 2;

export class RankMessaging {
  readonly #init: RankMessagingInit;
  readonly #limits: MessagingLimits;
  readonly #outgoing: OutgoingMessages;
  readonly #incoming: IncomingMessages;
  readonly #peers = new Map<HostIndex, Peer>();
  /** Batches of agents that know of more than this one, of each in order; they are answered when they are taken. */
  readonly #early = new Map<HostIndex, Batch[]>();

  constructor(init: RankMessagingInit) {
    this.#init = init;
    const { news, programs, node, hosts } = init;
    const limits = messagingLimits(hosts, node.params.int('bootcom.queue.max'), node.params.int('message.bytes.max'));
    this.#limits = limits;
    this.#outgoing = new OutgoingMessages({
      limits,
      attempt: (rank) => news.attempt(rank),
      peer: (rank) => this.#peer(news.host(rank)),
      turn: (peer) => this.#turn(peer),
    });
    this.#incoming = new IncomingMessages({
      limits, news, programs, answers: (host) => this.#turn(this.#peer(host)),
    });
    node.messages.on('program.messages', (batch) => this.#onBatch(batch));
    node.messages.on('program.taken', ({ host, ...taken }) => this.#outgoing.onTaken(this.#peer(host), taken));
  }

  send(program: Program, { id, to, tag, form }: RequestOf<'send'>, bytes: Uint8Array): void {
    const { news, size } = this.#init;
    const { connection } = program;
    program.sends += 1;
    program.sendsBytes += bytes.length;
    if (program.sends > PROGRAM_SENDS_MAX || program.sendsBytes > PROGRAM_SENDS_BYTES_MAX) {
      const most = `${PROGRAM_SENDS_MAX} sends of ${PROGRAM_SENDS_BYTES_MAX} bytes together`;
      return connection?.close(`it has more than ${most} without an answer`);
    }
    const settle = (problem: RankProblem | undefined): void => {
      program.sends -= 1;
      program.sendsBytes -= bytes.length;
      if (connection === undefined || program.connection !== connection) return;
      if (problem === undefined) program.done(id);
      else program.fail(id, problem);
    };
    const { messageBytesMax } = this.#limits;
    if (to >= size) return settle({ code: 'STCI_CLIENT_RANK', reason: `there is no rank ${to}: the job has ${size}` });
    if (bytes.length > messageBytesMax) {
      const reason = `the message has ${bytes.length} bytes, at most ${messageBytesMax} are allowed`;
      return settle({ code: 'STCI_CLIENT_LIMIT', reason: `${reason}: see bootcom.queue.max` });
    }
    const problem = program.takesPart ? news.problem(to) : NOT_YET;
    if (problem !== undefined) return settle(problem);
    this.#outgoing.send({ from: program.rank, to, tag, form, bytes, settle });
  }

  receive(program: Program, { id, from, tag, waitMs }: RequestOf<'receive'>): void {
    const { mailbox, connection } = program;
    if (mailbox.receives.length >= PROGRAM_RECEIVES_MAX) {
      return connection?.close(`more than ${PROGRAM_RECEIVES_MAX} of its receives wait`);
    }
    if (from !== undefined && from >= this.#init.size) {
      const reason = `there is no rank ${from}: the job has ${this.#init.size}`;
      return program.fail(id, { code: 'STCI_CLIENT_RANK', reason });
    }
    const end = (): void => {
      if (!mailbox.cancel(id)) return;
      program.fail(id, { code: 'STCI_CLIENT_TIMEOUT', reason: `no message came within ${waitMs} ms` });
    };
    const isTimed = waitMs !== undefined && waitMs > 0;
    const { clock } = this.#init.node.platform;
    const timer = isTimed ? clock.after(waitMs, end) : undefined;
    this.#incoming.receive(program, { id, from, tag, sinceMs: clock.nowMs(), stop: () => timer?.cancel() });
    this.#failReceives(program);
    if (waitMs === 0) end();
  }

  cancel(program: Program, id: number): void {
    if (!program.mailbox.cancel(id)) return;
    program.fail(id, { code: 'STCI_CLIENT_CANCELLED', reason: 'it was cancelled' });
  }

  /** There is room for answers again. */
  onRoom(program: Program): void {
    this.#incoming.onRoom(program);
  }

  /** The process of a rank of this host has ended. */
  onEnded(program: Program): void {
    program.mailbox.disconnect();
    this.#outgoing.onEnded(program.rank);
    this.#incoming.onEnded(program);
  }

  /** A collective was decided, or it is known where ranks are: what was sent after it can be taken. */
  onDecided(): void {
    for (const [host, batches] of this.#early) {
      const count = batches.findIndex((batch) => !this.#isKnown(batch));
      const known = batches.splice(0, count < 0 ? batches.length : count);
      if (batches.length === 0) this.#early.delete(host);
      try {
        for (const batch of known) this.#take(batch);
      } catch (fault) {
        this.#init.node.fault(fault, `messages of ranks of host ${host}`); // Not that of who told the decision.
      }
    }
  }

  /** Agents that ranks have joined at may be new ones, which answer nothing that was sent before. */
  onJoined(ranks: readonly RankRange[]): void {
    for (const rank of ranksInRanges(ranks)) this.#peer(this.#init.news.host(rank)).batches = 0;
  }

  /** Ranks were lost, or have ended. */
  onGone(ranks: readonly (RankRange | LostRanks)[]): void {
    for (const rank of ranksInRanges(ranks)) {
      const problem = this.#init.news.problem(rank);
      if (problem === undefined) continue;
      this.#outgoing.onGone(rank, problem);
      this.#incoming.onGone(rank);
    }
    for (const program of this.#init.programs.values()) this.#failReceives(program);
  }

  /** Receives that no message can come for. */
  #failReceives(program: Program): void {
    const { mailbox, rank } = program;
    if (mailbox.receives.length === 0) return;
    const { news } = this.#init;
    const alone = news.aloneProblem(rank);
    const problemOf = (from: Rank | undefined): RankProblem | undefined =>
      from === undefined ? alone : news.problem(from);
    for (const { id, from } of mailbox.cancelAll((receive) => problemOf(receive.from) !== undefined)) {
      program.fail(id, problemOf(from) as RankProblem);
    }
  }

  #isKnown({ decided }: Batch): boolean {
    return this.#init.news.isKnown && decided <= this.#init.decided();
  }

  /** Throws STCI_MESSAGE_INVALID. */
  #onBatch(batch: Batch): void {
    const { host, asks } = batch;
    const { asksMax } = this.#limits;
    if (asks.length > asksMax) {
      const text = `Expected host ${host} to ask for room for ${asksMax} messages at once, got ${asks.length}`;
      throw new StciError('STCI_MESSAGE_INVALID', text);
    }
    const early = this.#early.get(host);
    if (early === undefined && this.#isKnown(batch)) return this.#take(batch);
    const batches = [...early ?? [], batch];
    const messages = batches.flatMap((each) => each.messages);
    const bytes = messages.reduce((sum, [, , , , , , { length }]) => sum + chargeOf(length), 0);
    const { flightBytes, longBytesMax } = this.#limits;
    if (batches.length > EARLY_FACTOR * BATCHES_MAX || bytes > EARLY_FACTOR * (flightBytes + longBytesMax)) {
      const text = `Expected host ${host} to wait for answers, got ${batches.length} batches of ${bytes} bytes`;
      throw new StciError('STCI_MESSAGE_INVALID', `${text} before they can be taken`);
    }
    this.#early.set(host, batches);
    this.#init.open();
  }

  #take(batch: Batch): void {
    this.#turn(this.#peer(batch.host)).batches += 1;
    this.#incoming.onBatch(batch);
  }

  #peer(host: HostIndex): Peer {
    return entryOf(this.#peers, host, () => peerOf(host, this.#limits));
  }

  /** What goes to an agent, all of this turn together. */
  #turn(peer: Peer): Turn {
    if (peer.turn !== undefined) return peer.turn;
    this.#init.node.platform.clock.soon(() => this.#flush(peer));
    return peer.turn = { messages: [], asks: [], batches: 0, calls: [], credit: [], grants: [] };
  }

  #flush(peer: Peer): void {
    const { messages, asks, ...taken } = peer.turn as Turn;
    peer.turn = undefined;
    const { node, host, decided } = this.#init;
    const isLocal = peer.host === host;
    const { batches, calls, credit, grants } = taken;
    if (batches + calls.length + credit.length + grants.length > 0) {
      if (isLocal) this.#outgoing.onTaken(peer, taken);
      else node.messages.send(sessionAddress(peer.host), 'program.taken', { host, ...taken });
    }
    if (messages.length + asks.length === 0) return;
    peer.batches += 1;
    const batch: Batch = {
      host, decided: decided(),
      messages: messages.map(({ call, from, to, attempt, tag, form, bytes }) =>
        [call, from, to, attempt, tag, FORMS.indexOf(form), bytes] as const),
      // Some got credit in this turn too, and need no room any more.
      asks: asks.filter(({ state }) => state === 'asked').map(({ call, from, to, attempt, tag, bytes }) =>
        [call, from, to, attempt, tag, bytes.length] as const),
    };
    if (isLocal) this.#onBatch(batch);
    else node.messages.send(sessionAddress(peer.host), 'program.messages', batch);
  }
}
