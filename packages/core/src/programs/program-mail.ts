/**
 * Messages between ranks at a session agent: what its ranks send goes to the agents of the receivers, those of one turn
 * together; what comes is put into mailboxes. Two ranks of one host take the same way, without the messages.
 */

import {
  FORMS, PROGRAM_RECEIVES_MAX, PROGRAM_SENDS_BYTES_MAX, PROGRAM_SENDS_MAX, StciError, ranksInRanges, sessionAddress,
  type HostIndex, type LostRanks, type ProgramRequest, type Rank, type RankRange,
} from '@stci/interface';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import { BATCHES_MAX, mailLimits, type MailLimits } from './program-credit.js';
import { ProgramInbox, type InboxAnswer } from './program-inbox.js';
import { chargeOf } from './program-mailbox.js';
import { ProgramOutbox, type Outgoing } from './program-outbox.js';
import type { Program } from './program.js';
import type { RankStatusView, RankProblem } from './rank-status-view.js';

export interface ProgramMailInit {
  readonly node: AgentNode;
  readonly host: HostIndex;
  readonly hosts: number;
  readonly size: number;
  readonly news: RankStatusView;
  readonly programs: ReadonlyMap<Rank, Program>;
  /** Collectives that this agent knows the decisions of. */
  decided(): number;
  /** Asks the controller where the ranks are. */
  open(): void;
}

type Batch = MessageBody<'program.messages'>;
type Taken = MessageBody<'program.taken'>;
type Of<Type extends ProgramRequest['type']> = Extract<ProgramRequest, { readonly type: Type }>;

/** Of a rank that was started again. */
const NOT_YET: RankProblem = {
  code: 'STCI_CLIENT_MISMATCH', reason: 'this rank was started again; it takes part from its first shrink() on',
};

/** Another agent may have taken the place of one that left as much as it may. */
const EARLY_FACTOR = 2;

/** What goes to one agent at the end of the turn. */
interface Outbound {
  messages: Outgoing[];
  asks: Outgoing[];
  batches: number;
  calls: number[];
  credit: (readonly [Rank, number])[];
  grants: number[];
}

export class ProgramMail {
  readonly #init: ProgramMailInit;
  readonly #limits: MailLimits;
  readonly #outbox: ProgramOutbox;
  readonly #inbox: ProgramInbox;
  readonly #outbound = new Map<HostIndex, Outbound>();
  /** Batches of agents that know of more than this one, of each in order; they are answered when they are taken. */
  readonly #early = new Map<HostIndex, Batch[]>();

  constructor(init: ProgramMailInit) {
    this.#init = init;
    const { news, programs, node, hosts } = init;
    const limits = mailLimits(hosts, node.params.int('bootcom.queue.max'), node.params.int('message.bytes.max'));
    this.#limits = limits;
    this.#outbox = new ProgramOutbox({
      limits,
      attempt: (rank) => news.attempt(rank),
      host: (rank) => news.host(rank),
      transmit: (host, messages, asks) => {
        const outbound = this.#to(host);
        outbound.messages.push(...messages);
        outbound.asks.push(...asks);
      },
    });
    const { clock } = node.platform;
    this.#inbox = new ProgramInbox({
      limits, news, programs,
      answer: (host, answer) => this.#answer(host, answer),
      after: (ms, call) => clock.after(ms, call),
    });
    node.messages.on('program.messages', (batch) => this.#onBatch(batch));
    node.messages.on('program.taken', (taken) => this.#onTaken(taken));
  }

  send(program: Program, { id, to, tag, form }: Of<'send'>, bytes: Uint8Array): void {
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
    this.#outbox.send({ from: program.rank, to, tag, form, bytes, settle });
  }

  receive(program: Program, { id, from, tag, waitMs }: Of<'receive'>): void {
    const { mailbox, connection } = program;
    if (mailbox.receivesCount >= PROGRAM_RECEIVES_MAX) {
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
    this.#inbox.receive(program, { id, from, tag, sinceMs: clock.nowMs(), stop: () => timer?.cancel() });
    this.#failReceives(program);
    if (waitMs === 0) end();
  }

  cancel(program: Program, id: number): void {
    if (!program.mailbox.cancel(id)) return;
    program.fail(id, { code: 'STCI_CLIENT_CANCELLED', reason: 'it was cancelled' });
  }

  /** There is room for answers again. */
  onRoom(program: Program): void {
    this.#inbox.onRoom(program);
  }

  /** Its receives went with the connection; its messages wait for the next. */
  onDisconnected(program: Program): void {
    program.mailbox.cancelAll(() => true);
  }

  /** The process of a rank of this host has ended. */
  onEnded(program: Program): void {
    program.mailbox.cancelAll(() => true);
    this.#outbox.onEnded(program.rank);
    this.#inbox.onEnded(program);
  }

  /** It is known where ranks are. */
  onPlaces(): void {
    this.#outbox.resume();
    this.onDecided();
  }

  /** A collective was decided: what was sent after it can be taken. */
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

  /** Agents that ranks have joined at may be new ones. */
  onJoined(ranks: readonly RankRange[]): void {
    for (const rank of ranksInRanges(ranks)) this.#outbox.onNewAgent(this.#init.news.host(rank));
  }

  /** Ranks were lost, or have ended. */
  onGone(ranks: readonly (RankRange | LostRanks)[]): void {
    for (const rank of ranksInRanges(ranks)) {
      const problem = this.#init.news.problem(rank);
      if (problem === undefined) continue;
      this.#outbox.onGone(rank, problem);
      this.#inbox.onGone(rank);
    }
    for (const program of this.#init.programs.values()) this.#failReceives(program);
  }

  /** Receives that no message can come for. */
  #failReceives(program: Program): void {
    const { mailbox, rank } = program;
    if (mailbox.receivesCount === 0) return;
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
    this.#to(batch.host).batches += 1;
    this.#inbox.onBatch(batch);
  }

  #onTaken({ host, batches, calls, credit, grants }: Taken): void {
    this.#outbox.onTaken(host, batches, calls, credit, grants);
  }

  #answer(host: HostIndex, { calls = [], credit = [], grants = [] }: InboxAnswer): void {
    const outbound = this.#to(host);
    outbound.calls.push(...calls);
    outbound.credit.push(...credit);
    outbound.grants.push(...grants);
  }

  /** What goes to an agent, all of this turn together. */
  #to(host: HostIndex): Outbound {
    const known = this.#outbound.get(host);
    if (known !== undefined) return known;
    const outbound: Outbound = { messages: [], asks: [], batches: 0, calls: [], credit: [], grants: [] };
    this.#outbound.set(host, outbound);
    this.#init.node.platform.clock.soon(() => this.#flush(host, outbound));
    return outbound;
  }

  #flush(to: HostIndex, { messages, asks, batches, calls, credit, grants }: Outbound): void {
    this.#outbound.delete(to);
    const { node, host, decided } = this.#init;
    const isLocal = to === host;
    if (batches + calls.length + credit.length + grants.length > 0) {
      const taken: Taken = { host, batches, calls, credit, grants };
      if (isLocal) this.#onTaken(taken);
      else node.messages.send(sessionAddress(to), 'program.taken', taken);
    }
    if (messages.length + asks.length === 0) return;
    this.#outbox.onBatch(to);
    const sent = new Set(messages); // They asked in this turn too, and need no room any more.
    const batch: Batch = {
      host, decided: decided(),
      messages: messages.map(({ call, from, to: rank, attempt, tag, form, bytes }) =>
        [call, from, rank, attempt, tag, FORMS.indexOf(form), bytes] as const),
      asks: asks.filter((ask) => !sent.has(ask)).map(({ call, from, to: rank, attempt, tag, bytes }) =>
        [call, from, rank, attempt, tag, bytes.length] as const),
    };
    if (isLocal) this.#onBatch(batch);
    else node.messages.send(sessionAddress(to), 'program.messages', batch);
  }
}
