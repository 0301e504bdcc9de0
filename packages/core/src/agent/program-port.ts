/**
 * Where programs that use the client library connect to the session agent of their host: a private socket, open while
 * the job runs if `client.enable` is set. A program speaks for the one rank whose token it has, and is told what
 * concerns that rank; votes go to the controller, which decides.
 */

import {
  AGREEMENT_KINDS, CONTROLLER, PROGRAM_SOCKET_VARIABLE, PROGRAM_TOKEN_VARIABLE, isInRanges, ranksInRanges,
  type Channel, type ErrorRecord, type HostIndex, type JobId, type LostRanks, type PrivateListener, type ProgramEvent,
  type ProgramRequest, type Rank,
} from '@stci/interface';
import type { MessageBody } from '../am/messages.js';
import { selectEviction } from '../bootcom/eviction.js';
import { MarkBudget } from '../job/mark-budget.js';
import type { AgentNode } from './node.js';
import { ProgramConnection } from './program-connection.js';

const TOKEN_BYTES = 16;

export interface ProgramPortInit {
  readonly node: AgentNode;
  readonly host: HostIndex;
  readonly job: JobId;
  readonly size: number;
  /** A sign of life, and the promise of the next within this time; 0: the promise is taken back. */
  onAlive(rank: Rank, withinMs: number): void;
}

/** A rank of this host, while its process runs. */
interface Program {
  readonly rank: Rank;
  readonly attempt: number;
  readonly token: string;
  connection?: ProgramConnection | undefined;
  /** It has voted, and waits for the decision. */
  vote?: Pick<Extract<ProgramRequest, { type: 'vote' }>, 'kind' | 'flag'> | undefined;
  hasPromised?: boolean;
  readonly marks: MarkBudget;
}

export class ProgramPort {
  readonly #init: ProgramPortInit;
  readonly #programs = new Map<Rank, Program>();
  readonly #connections = new Set<ProgramConnection>();
  /** Of these, those that have not said which rank they are. */
  readonly #strangers = new Set<ProgramConnection>();
  /** Ranks of the job that are known to be lost, and why. */
  readonly #lost = new Map<Rank, string>();
  /** Of ranks that take part again: as which attempt. */
  readonly #attempts = new Map<Rank, number>();
  #listener: PrivateListener | undefined;
  #closed = false;
  /** Agreements decided so far; undefined until the controller has said so. */
  #decided: number | undefined;
  #hasOpened = false;
  #unsent: Program[] = [];
  readonly #marks: (readonly [Rank, string, number])[] = [];

  constructor(init: ProgramPortInit) {
    this.#init = init;
    const { messages } = init.node;
    messages.on('program.state', (state) => this.#onState(state));
    messages.on('program.failed', ({ lost }) => this.#onLost(lost));
    messages.on('program.agreed', (decision) => this.#onAgreed(decision));
  }

  /** Calls `done` when programs can connect, or with the reason why they cannot. */
  open(done: (error: ErrorRecord | undefined) => void): void {
    const { params, platform } = this.#init.node;
    const options = { prefix: 'client', pendingMax: params.int('bootcom.pending.max'), selectEviction };
    platform.network.listenPrivate(options, (channel) => this.#accept(channel), (error, listener) => {
      this.#listener = listener;
      if (this.#closed) listener?.close();
      done(error);
    });
  }

  close(): void {
    this.#closed = true;
    this.#listener?.close();
    for (const connection of this.#connections) connection.close();
  }

  /** A process is about to be started for this rank; returns the variables by which it finds the socket. */
  add(rank: Rank, attempt: number): Record<string, string> {
    const bytes = this.#init.node.platform.secrets.bytes(TOKEN_BYTES);
    const token = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    this.#programs.set(rank, { rank, attempt, token, marks: new MarkBudget() });
    return { [PROGRAM_SOCKET_VARIABLE]: this.#listener?.path ?? '', [PROGRAM_TOKEN_VARIABLE]: token };
  }

  /** Its process has ended. */
  remove(rank: Rank): void {
    this.#programs.get(rank)?.connection?.close();
    this.#programs.delete(rank);
  }

  /** Ranks that were lost are told to the programs, once each, whoever says it first. */
  onRankFailed(rank: Rank, attempt: number, reason: string): void {
    if (attempt >= (this.#attempts.get(rank) ?? 1)) this.#onLost([[rank, rank, reason]]);
  }

  #accept(channel: Channel): void {
    let program: Program | undefined;
    const connection = new ProgramConnection(channel, {
      onRequest: (request) => {
        this.#strangers.delete(connection);
        if (program !== undefined) this.#onRequest(program, request);
        else program = request.type === 'hello' ? this.#onHello(connection, request.token) : undefined;
      },
      onClosed: () => {
        this.#connections.delete(connection);
        this.#strangers.delete(connection);
        if (program?.connection === connection) this.#disconnected(program);
      },
    });
    this.#connections.add(connection);
    this.#strangers.add(connection);
    const [oldest] = this.#strangers;
    if (oldest === undefined || this.#strangers.size <= this.#init.node.params.int('bootcom.pending.max')) return;
    this.#strangers.delete(oldest);
    oldest.destroy();
  }

  #onHello(connection: ProgramConnection, token: string): Program | undefined {
    const program = [...this.#programs.values()].find((each) => each.token === token);
    if (program === undefined) connection.close('its token is of no rank that runs here');
    else if (program.connection !== undefined) {
      connection.close(`rank ${program.rank} is connected already, from this process or another`);
    } else {
      const { size, job, node } = this.#init;
      program.connection = connection;
      connection.send({ type: 'welcome', rank: program.rank, size, job, attempt: program.attempt });
      const lost = [...this.#lost].map(([rank, reason]): LostRanks => [rank, rank, reason]);
      if (lost.length > 0) connection.send({ type: 'failed', lost });
      this.#open(node);
      return program;
    }
    return undefined;
  }

  /** The controller tells what is lost so far, and from then on; agents tell each other at once. */
  #open({ messages, router }: AgentNode): void {
    if (this.#hasOpened) return;
    this.#hasOpened = true;
    messages.send(CONTROLLER, 'program.open', { host: this.#init.host });
    if (router.parentLink !== undefined) messages.sendNeighbour(router.parentLink, 'failure.interest', {});
  }

  #disconnected(program: Program): void {
    program.connection = undefined;
    program.vote = undefined;
    if (program.hasPromised === true) this.#init.onAlive(program.rank, 0);
    program.hasPromised = false;
  }

  #onRequest(program: Program, request: ProgramRequest): void {
    if (request.type === 'alive') {
      program.hasPromised = request.withinMs > 0;
      return this.#init.onAlive(program.rank, request.withinMs);
    }
    if (request.type === 'mark') return this.#onMark(program, request.name);
    if (request.type !== 'vote') return;
    if (program.vote !== undefined) return program.connection?.close('it voted again before the decision');
    program.vote = request;
    this.#send(program);
  }

  /** A fault: the program of this rank ends itself. Returns why it cannot be told. */
  exit(rank: Rank, status: number): string | undefined {
    const connection = this.#programs.get(rank)?.connection;
    connection?.send({ type: 'exit', status });
    const text = 'its program has not called connect() of the client library, or its connection has ended';
    return connection === undefined ? `rank ${rank} cannot be told to end: ${text}` : undefined;
  }

  #onMark(program: Program, name: string): void {
    const { clock } = this.#init.node.platform;
    if (!program.marks.take(clock.nowMs())) return program.connection?.close(MarkBudget.problem);
    this.#marks.push([program.rank, name, clock.wallMs()]);
    if (this.#marks.length === 1) clock.soon(() => this.#sendMarks());
  }

  /** Those of one turn together. */
  #sendMarks(): void {
    const { node, host } = this.#init;
    try {
      node.messages.send(CONTROLLER, 'program.marked', { host, marks: this.#marks.splice(0) });
    } catch (fault) {
      node.fault(fault, 'marks'); // The parent is gone: the agent is about to end.
    }
  }

  /** Votes of one turn are sent together. */
  #send(program: Program): void {
    this.#unsent.push(program);
    if (this.#unsent.length === 1) this.#init.node.platform.clock.soon(() => this.#flush());
  }

  #flush(): void {
    if (this.#decided === undefined || this.#closed) return; // Until the state is known.
    const votes = this.#unsent.splice(0).flatMap(({ rank, vote }): (readonly [Rank, number, boolean])[] =>
      vote === undefined ? [] : [[rank, AGREEMENT_KINDS.indexOf(vote.kind), vote.flag]]);
    if (votes.length === 0) return;
    const { node, host } = this.#init;
    try {
      node.messages.send(CONTROLLER, 'program.votes', { host, sequence: this.#decided + 1, votes });
    } catch (fault) {
      node.fault(fault, 'votes'); // The parent is gone: the agent is about to end.
    }
  }

  #onState({ decided, lost }: MessageBody<'program.state'>): void {
    // A decision may have come before.
    this.#decided = Math.max(this.#decided ?? 0, decided);
    this.#onLost(lost);
    this.#flush();
  }

  #onLost(lost: readonly LostRanks[]): void {
    const found = lost.filter(([first, last]) => this.#isNews(first, last));
    for (const [first, last, reason] of found) {
      for (let rank = first; rank <= last && rank < this.#init.size; rank++) this.#lost.set(rank, reason);
    }
    if (found.length > 0) this.#tell({ type: 'failed', lost: found });
  }

  #isNews(first: Rank, last: Rank): boolean {
    for (let rank = first; rank <= last && rank < this.#init.size; rank++) if (!this.#lost.has(rank)) return true;
    return false;
  }

  #onAgreed({ sequence, attempts, ...agreed }: MessageBody<'program.agreed'>): void {
    this.#decided = sequence;
    ranksInRanges(agreed.joined).forEach((rank, i) => {
      this.#lost.delete(rank);
      this.#attempts.set(rank, attempts[i] ?? 1);
    });
    for (const program of this.#programs.values()) {
      if (program.vote === undefined) continue;
      if (isInRanges(agreed.ranks, program.rank)) {
        program.vote = undefined;
        program.connection?.send({ type: 'agreed', agreed });
      } else this.#send(program); // As of a rank that was started again, until it takes part.
    }
  }

  #tell(event: ProgramEvent): void {
    for (const { connection } of this.#programs.values()) connection?.send(event);
  }
}
