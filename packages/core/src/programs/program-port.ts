/**
 * Where programs that use the client library connect to the session agent of their host: a private socket, open while
 * the job runs if `client.enable` is set. A program speaks for the one rank whose token it has, and is told what
 * concerns that rank; votes go to the controller, which decides. It is welcome, and its requests are taken, once the
 * controller has said where the ranks are, and what was decided and told so far.
 */

import {
  CONTROLLER, PROGRAM_SOCKET_VARIABLE, PROGRAM_TOKEN_VARIABLE, type Channel, type ErrorRecord, type LostRanks,
  type ProgramEvent, type ProgramRequest, type Rank,
} from '@stci/interface';
import { Gate } from '../bootcom/gate.js';
import type { MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import type { JobPlace, JobService } from '../service/contracts.js';
import { CollectiveCalls } from './collective-calls.js';
import { MarkBudget } from './mark-budget.js';
import { ProgramConnection, type RequestOf } from './program-connection.js';
import { ProgramQueries } from './program-queries.js';
import { BYTE_COST_US, POSITION_COST_US, ProgramTurns, REQUEST_COST_US } from './program-turns.js';
import { WaitReport, waitsOf } from './program-waits.js';
import { Program, type UntoldKeys } from './program.js';
import { RankMessaging } from './rank-messaging.js';
import { RankStatusView } from './rank-status-view.js';

const TOKEN_BYTES = 16;

type PortPlace = Omit<JobPlace, 'ownsProcess' | 'params' | 'token' | 'say' | 'signal' | 'spawnOf'>;

export class ProgramPort implements JobService {
  readonly #place: PortPlace;
  readonly #programs = new Map<Rank, Program>();
  readonly #untold: UntoldKeys = { bytes: 0 };
  readonly #connections = new Set<ProgramConnection>();
  readonly #news: RankStatusView;
  readonly #votes: CollectiveCalls;
  readonly #messaging: RankMessaging;
  readonly #queries: ProgramQueries;
  readonly #turns: ProgramTurns;
  readonly #waits: WaitReport;
  readonly #gate: Gate;
  #hasOpened = false;
  readonly #marks: (readonly [Rank, string, number])[] = [];

  constructor(place: PortPlace) {
    this.#place = place;
    const { node, scope, holds, host, size, hosts } = place;
    const pendingMax = node.params.int('bootcom.pending.max');
    const accept = (channel: Channel): ProgramConnection => this.#accept(channel);
    this.#gate = new Gate({ holds, of: 'programs', platform: node.platform, pendingMax, accept });
    const news = new RankStatusView(size);
    const programs = this.#programs;
    this.#news = news;
    this.#queries = new ProgramQueries(news, (text, positions) => scope.topologyOf(text, positions));
    this.#turns = new ProgramTurns(node.platform.clock);
    this.#waits = new WaitReport({ node, holds, host, scope, news });
    this.#votes = new CollectiveCalls({
      node, holds, host, size, programs, onPairs: (pairs) => this.#queries.onPairs(pairs),
    });
    this.#messaging = new RankMessaging({
      node, host, hosts, size, news, programs, decided: () => this.#votes.decided, open: () => this.#open(node),
    });
    holds.holdAll(() => [...this.#connections].map(() => 'connection of a program'), () => {
      for (const connection of this.#connections) connection.close();
      for (const { mailbox } of this.#programs.values()) mailbox.disconnect();
    });
    const { messages } = node;
    messages.on('program.state', (state) => this.#onState(state));
    messages.on('program.failed', ({ lost }) => this.#tellLost(news.onLost(lost)));
    messages.on('program.ended', ({ ranks }) => {
      news.onEnded(ranks);
      this.#tell({ type: 'ended', ranks });
      this.#messaging.onGone(ranks);
    });
    messages.on('program.agreed', (decision) => {
      if (decision.partsAt === host) return; // It comes by itself, with the parts.
      news.onJoined(decision);
      this.#messaging.onJoined(decision.joined);
      this.#votes.onAgreed(decision);
      this.#messaging.onDecided();
    });
    messages.on('program.refused', (refusal) => this.#votes.onRefused(refusal));
    node.collects.on('program.wait', () => waitsOf(programs.values(), node.platform.clock.nowMs()));
  }

  /** Calls `done` when programs can connect, or with the reason why they cannot. */
  open(done: (error: ErrorRecord | undefined) => void): void {
    this.#gate.openPrivate('client', done);
  }

  /** A process is about to be started for this rank; returns the variables by which it finds the socket. */
  /** Ranks that others have spawned take no part: they find no port. */
  add(rank: Rank, attempt: number): Record<string, string> {
    if (rank >= this.#place.size) return {};
    const bytes = this.#place.node.platform.secrets.bytes(TOKEN_BYTES);
    const token = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    this.#programs.set(rank, new Program(rank, attempt, token, this.#untold));
    return { [PROGRAM_SOCKET_VARIABLE]: this.#gate.addresses[0] ?? '', [PROGRAM_TOKEN_VARIABLE]: token };
  }

  /** Its process has ended. */
  remove(rank: Rank): void {
    const program = this.#programs.get(rank);
    if (program === undefined) return;
    for (const connection of [program.connection, program.observer]) connection?.close();
    this.#waits.set(rank, []);
    program.takePairs();
    program.forgetTaken();
    this.#programs.delete(rank);
    this.#messaging.onEnded(program);
  }

  /** Ranks that were lost are told to the programs, once each, whoever says it first. */
  onRankFailed(rank: Rank, attempt: number, reason: string): void {
    if (attempt >= this.#news.attempt(rank)) this.#tellLost(this.#news.onLost([[rank, rank, reason, '']]));
  }

  #accept(channel: Channel): ProgramConnection {
    let program: Program | undefined;
    const connection: ProgramConnection = new ProgramConnection(channel, {
      onWaiting: (waiting) => this.#turns.enter(waiting),
      costUsOf: (request, bytes) => this.#costUsOf(program, request, bytes),
      onRequest: (request, bytes) => {
        this.#gate.settled(connection);
        if (program?.observer === connection) this.#onWaiting(program, connection, request);
        else if (program !== undefined) this.#onRequest(program, request, bytes);
        else program = request.type === 'hello' ? this.#onHello(connection, request) : undefined;
      },
      onRoom: () => program !== undefined && this.#messaging.onRoom(program),
      onClosed: () => {
        this.#connections.delete(connection);
        this.#gate.settled(connection);
        // A child of its process, which has ended, may have held it: then another attempt may be there.
        if (program === undefined || this.#programs.get(program.rank) !== program) return;
        if (program.connection === connection) this.#disconnected(program);
        if (program.observer !== connection) return;
        program.observer = undefined;
        this.#waits.set(program.rank, []);
      },
    });
    this.#connections.add(connection);
    return connection;
  }

  #onHello(connection: ProgramConnection, { token, only }: RequestOf<'hello'>): Program | undefined {
    const program = [...this.#programs.values()].find((each) => each.token === token);
    const place = only === 'waits' ? 'observer' : 'connection';
    if (program === undefined) connection.close('its token is of no rank that runs here');
    else if (program[place] !== undefined) {
      connection.close(`rank ${program.rank} is connected already, from this process or another`);
    } else {
      program[place] = connection;
      if (this.#news.isKnown) this.#welcome(program, connection);
      else this.#open(this.#place.node);
      return program;
    }
    return undefined;
  }

  #welcome({ rank, attempt, observer }: Program, connection: ProgramConnection): void {
    const { size, job, hostName } = this.#place;
    connection.send({ type: 'welcome', rank, size, job, attempt, host: hostName });
    const { lost, ended } = this.#news;
    const hearsNews = connection !== observer;
    if (hearsNews && lost.length > 0) connection.send({ type: 'failed', lost });
    if (hearsNews && ended.length > 0) connection.send({ type: 'ended', ranks: ended });
    this.#turns.enter(connection);
  }

  /** The controller tells what is lost so far, and from then on; agents tell each other at once. */
  #open({ messages, router }: AgentNode): void {
    if (this.#hasOpened) return;
    this.#hasOpened = true;
    messages.send(CONTROLLER, 'program.open', { host: this.#place.host });
    if (router.parentLink !== undefined) messages.sendNeighbour(router.parentLink, 'failure.interest', {});
  }

  #disconnected(program: Program): void {
    program.connection = undefined;
    program.awaitsVote = false;
    program.mailbox.disconnect();
    if (program.hasPromised) this.#place.onAlive(program.rank, 0);
    program.hasPromised = false;
  }

  /** What is named by a request, and not its length alone, costs time. Undefined: its program is not welcome yet. */
  #costUsOf(program: Program | undefined, request: ProgramRequest, bytes: Uint8Array): number | undefined {
    if (program !== undefined && !this.#news.isKnown) return undefined;
    const places = request.type === 'hosts' ? this.#news.placesCount : 0;
    const positions = request.type === 'topology' ? this.#queries.positionsOf(request) : 0;
    const isOfReceives = request.type === 'receive' || request.type === 'cancel';
    const receives = isOfReceives ? program?.mailbox.receives.length ?? 0 : 0;
    return REQUEST_COST_US + (places + positions + receives) * POSITION_COST_US + bytes.length * BYTE_COST_US;
  }

  #onRequest(program: Program, request: ProgramRequest, bytes: Uint8Array): void {
    switch (request.type) {
      case 'alive':
        program.hasPromised = request.withinMs > 0;
        return this.#place.onAlive(program.rank, request.withinMs);
      case 'mark':
        return this.#onMark(program, request.name);
      case 'vote':
        return this.#votes.vote(program, request, bytes);
      case 'send':
        return this.#messaging.send(program, request, bytes);
      case 'receive':
        return this.#messaging.receive(program, request);
      case 'cancel':
        return this.#messaging.cancel(program, request.id);
      case 'put':
        return program.put(request.id, [request.key, request.form, bytes]);
      case 'get':
        return this.#queries.get(program, request);
      case 'hosts':
        return this.#queries.hosts(program, request);
      case 'topology':
        return this.#queries.topology(program, request);
      case 'waiting':
        return program.connection?.close('waiting comes over a connection of its own');
      case 'hello':
        return undefined; // It comes first, or the connection refuses it.
    }
  }

  #onWaiting({ rank }: Program, connection: ProgramConnection, request: ProgramRequest): void {
    if (request.type !== 'waiting') return connection.close(`${request.type} comes over the rank's own connection`);
    const { size } = this.#place;
    const { ranks: on = 'all' } = request;
    const wrong = on === 'all' ? undefined : on.find((each) => each >= size);
    if (wrong !== undefined) return connection.close(`there is no rank ${wrong}: the job has ${size}`);
    this.#waits.set(rank, on);
  }

  /** A fault: the program of this rank ends itself. Returns why it cannot be told. */
  exit(rank: Rank, status: number): string | undefined {
    const connection = this.#news.isKnown ? this.#programs.get(rank)?.connection : undefined;
    connection?.send({ type: 'exit', status });
    const text = 'its program has not called connect() of the client library, or its connection has ended';
    return connection === undefined ? `rank ${rank} cannot be told to end: ${text}` : undefined;
  }

  #onMark(program: Program, name: string): void {
    const { clock } = this.#place.node.platform;
    if (!program.marks.take(clock.nowMs())) return program.connection?.close(MarkBudget.problem);
    this.#marks.push([program.rank, name, clock.wallMs()]);
    if (this.#marks.length === 1) clock.soon(() => this.#sendMarks());
  }

  /** Those of one turn together. */
  #sendMarks(): void {
    const { node, host } = this.#place;
    node.messages.send(CONTROLLER, 'program.marked', { host, marks: this.#marks.splice(0) });
  }

  #onState(state: MessageBody<'program.state'>): void {
    this.#news.onState(state);
    this.#queries.onPairs(state.pairs);
    this.#votes.onState(state.decided);
    for (const program of this.#programs.values()) {
      for (const each of [program.connection, program.observer]) if (each !== undefined) this.#welcome(program, each);
    }
    this.#messaging.onDecided();
  }

  #tellLost(lost: readonly LostRanks[]): void {
    if (lost.length === 0) return;
    this.#tell({ type: 'failed', lost });
    this.#messaging.onGone(lost);
  }

  /** Those that are not welcome yet are told then. */
  #tell(event: ProgramEvent): void {
    if (!this.#news.isKnown) return;
    for (const { connection } of this.#programs.values()) connection?.send(event);
  }
}
