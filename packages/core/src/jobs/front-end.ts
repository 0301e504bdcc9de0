/**
 * Front-end agent (STCI paper, II-A): connects a program, such as stcirun, to the controller, for one job. The
 * controller runs in the same process; both still talk over a (memory) link, so that it can run elsewhere.
 */

import {
  CONTROLLER,
  DEFAULT_STREAM,
  StciError,
  addressIndex,
  assert,
  fromErrorRecord,
  ranksInRanges,
  sessionAddress,
  toErrorRecord,
  type Address,
  type Allocation,
  type FrontEnd,
  type FrontEndEvents,
  type HostIndex,
  type JobControl,
  type JobEvent,
  type JobId,
  type JobMap,
  type JobSpec,
  type Params,
  type Rank,
  type RankRange,
  type RankReport,
} from '@stci/interface';
import { Link } from '../bootcom/link.js';
import { memoryChannel } from '../bootcom/memory-channel.js';
import { isOnHost } from '../hosts/agents-of-host.js';
import { hostOf, type PlacementLookup } from '../job/placement.js';
import { takesStdin } from '../job/stdin.js';
import type { AgentNode } from '../node/node.js';
import { LinkGuard } from '../node/peer-guard.js';
import type { StreamEndpoint } from '../streams/stream-endpoint.js';
import { creditBytes } from './job-launch.js';
import { outputCheck } from './output-check.js';
import { ReportBuilder } from './report-builder.js';
import { StreamEndTracker } from './stream-end-tracker.js';

/** Deadline of the controller's reply to a submission. */
const SUBMIT_MS = 30_000;

export interface JobFrontEnd extends FrontEnd {
  /** 0 until the job is mapped. */
  readonly job: JobId;
}

/** What a front-end agent uses of the session in its process. */
export interface FrontEndSession {
  readonly controller: AgentNode;
  /** A node for another agent of the session. */
  makeNode(self: Address): AgentNode;
  /** To be sent to the controller before a job; undefined: it has it. */
  readonly allocation: Allocation | undefined;
  /** This front-end has ended; calls `done` when what belongs to it has. */
  leave(done: () => void): void;
}

export class FrontEndAgent implements JobFrontEnd {
  readonly #session: FrontEndSession;
  readonly #node: AgentNode;
  readonly #self: Address;
  readonly #events: FrontEndEvents;
  readonly #output: StreamEndTracker;
  readonly #params: Params;
  #stream: StreamEndpoint | undefined;
  #spec: JobSpec | undefined;
  /** 0 until the job is mapped; the controller takes that as the job that was submitted here. */
  #job: JobId = 0;
  /** Destination of standard input: a session agent, or all of them; undefined: none. */
  #stdinTo: Address | 'all' | undefined;
  #stdinQueue: Uint8Array[] = [];
  /** Where the ranks are; undefined until the job is mapped. */
  #places: { lookup: PlacementLookup; map: JobMap } | undefined;
  /** Ranks of lost agents that are started again; their streams go on. */
  readonly #returning = new Set<Rank>();
  #inputEnded = false;
  readonly #report = new ReportBuilder();
  /** Input is sent once all of its readers run: an agent that is not up yet would miss it. */
  #inputOpen = false;
  /** Hosts with a rank that may read standard input. */
  readonly #readers = new Set<HostIndex>();
  #stopping = false;
  #isRefused = false;

  constructor(session: FrontEndSession, self: Address, events: FrontEndEvents) {
    this.#session = session;
    this.#self = self;
    this.#events = events;
    this.#output = new StreamEndTracker((...output) => events.onOutput(...output));
    this.#node = session.makeNode(self);
    this.#params = this.#node.params;
    this.#node.messages.on('job.unread', ({ host }) => this.#onUnread(host));
    this.#node.messages.on('job.event', (event, { job }) => this.#onJobEvent(event, job));
    this.#node.messages.on('tree.resend', ({ hosts }) => {
      const mended = new Set(hosts);
      this.#node.messages.resend((agent) => isOnHost(agent, mended));
    });
    this.#node.messages.on('job.host.lost', ({ host, moving }) => this.#dropHost(host, moving));
    this.#node.messages.on('job.host.joined', ({ host }) => this.#joinHost(host));
    this.#node.messages.on('job.failure', ({ error }) => this.#report.failed(error));
    new LinkGuard(this.#node, (agent, error, job) => this.#onMalformed(agent, error, job));
    this.#join();
  }

  get job(): JobId {
    return this.#job;
  }

  submit(spec: JobSpec): void {
    assert(this.#spec === undefined, 'a front-end submits one job');
    this.#spec = spec;
    const { messages } = this.#node;
    const onReply = (error: StciError | undefined): void => this.#onReply(error);
    const { allocation } = this.#session;
    if (allocation !== undefined) {
      messages.request(CONTROLLER, 'session.open', allocation, onReply, { timeoutMs: SUBMIT_MS });
    }
    messages.request(CONTROLLER, 'job.submit', { spec }, onReply, { timeoutMs: SUBMIT_MS });
  }

  control(control: JobControl): void {
    this.#node.messages.send(CONTROLLER, 'job.control', control, this.#job);
  }

  writeStdin(chunk: Uint8Array): boolean {
    if (!this.#inputOpen) {
      this.#stdinQueue.push(chunk);
      return false;
    }
    return this.#sendStdin(chunk);
  }

  closeStdin(): void {
    this.writeStdin(new Uint8Array(0));
  }

  announceSilence(silenceMs: number): void {
    for (const link of this.#session.controller.router.childLinks(this.#job)) link.announceSilence(silenceMs);
  }

  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#session.leave(() => {
      this.#stream?.close();
      this.#node.close();
      for (const link of this.#node.router.links()) link.close();
      this.#events.onStopped();
    });
  }

  /** The link between these two agents, which share a process. */
  #join(): void {
    const { platform } = this.#node;
    const handshakeMs = this.#params.int('bootcom.handshake');
    const [ours, theirs] = memoryChannel(platform.clock, 'controller', 'front-end');
    const admit = (wanted: Address) => (peer: Address) =>
      peer === wanted ? undefined : 'it is not the other agent here';
    const { controller } = this.#session;
    controller.acceptLink(theirs, handshakeMs, admit(this.#self), {
      role: 'front-end',
      // Its address is not used again: what waits for its acknowledgement would stay for good.
      onClosed: () => controller.messages.drop(this.#self),
    });
    const { self, session, secret } = this.#node.identity;
    const link = new Link(
      {
        role: 'parent',
        channel: ours,
        clock: platform.clock,
        handshake: { role: 'connect', self, session, secret, secrets: platform.secrets, admit: admit(CONTROLLER) },
        limits: this.#node.linkLimits(handshakeMs, ours),
      },
      this.#node.linkEvents({ onClosed: () => undefined }),
    );
    // The link queues what is sent before its handshake is over.
    this.#node.router.addEarlyLink(CONTROLLER, link);
  }

  /** Without a session there is no job either: the first error is reported. */
  #onReply(error: StciError | undefined): void {
    if (error === undefined || this.#isRefused || this.#stopping) return;
    this.#isRefused = true;
    const now = this.#node.platform.clock.wallMs();
    const record = toErrorRecord(error);
    this.#events.onJobEvent({ type: 'failure', error: record });
    this.#events.onJobEvent({
      type: 'ended',
      report: {
        job: 0,
        exitCode: fromErrorRecord(record).exitCode,
        cause: record,
        failures: [record],
        ranks: [],
        daemons: [],
        submitWallMs: now,
        endWallMs: now,
      },
    });
  }

  #onJobEvent(event: JobEvent, job: JobId): void {
    if (event.type === 'mapped') this.#onMapped(event.map, job);
    if (event.type === 'restarting' && event.host === undefined) this.#onMoving(event.report);
    if (event.type === 'started') this.#returning.delete(event.rank);
    if (event.type === 'exited') this.#returning.delete(event.report.rank);
    if (event.type === 'exited') this.#report.exited(event.report);
    if (this.#opensInput(event)) this.#openInput();
    if (event.type === 'ended') {
      this.#output.over();
      return this.#events.onJobEvent({ type: 'ended', report: this.#report.complete(event.report) });
    }
    this.#events.onJobEvent(event);
    if (event.type === 'started') this.#output.started(event.rank);
    if (event.type === 'exited') this.#output.started(event.report.rank);
  }

  /** It is started again where the controller decides. That of a lost host is known already. */
  #onMoving({ rank, outcome }: RankReport): void {
    this.#returning.add(rank);
    const { stdin } = this.#spec as JobSpec;
    if (outcome === 'lost' || stdin.to !== 'rank' || stdin.rank !== rank) return;
    this.#readers.clear();
    this.#inputOpen = false; // Until it runs again.
  }

  #onMapped(map: JobMap, job: JobId): void {
    this.#job = job;
    this.#report.mapped(map);
    const isMove = this.#returning.size > 0; // Else before the launch.
    if (isMove && this.#places !== undefined) this.#onMoved(this.#places, map);
    else this.#attach(map, job);
  }

  /** Ranks are started again on other hosts than before. */
  #onMoved(places: { lookup: PlacementLookup; map: JobMap }, map: JobMap): void {
    const lookup = hostOf(map);
    Object.assign(places, { lookup, map });
    const { stdin } = this.#spec as JobSpec;
    if (stdin.to === 'rank') this.#stdinTo = sessionAddress(lookup.host(stdin.rank));
    this.#addReaders();
  }

  /** Hosts with ranks that are started again, and read input. */
  #addReaders(): void {
    const { stdin } = this.#spec as JobSpec;
    for (const rank of this.#returning) {
      if (takesStdin(stdin, rank)) this.#readers.add((this.#places as { lookup: PlacementLookup }).lookup.host(rank));
    }
  }

  #attach(map: JobMap, job: JobId): void {
    const spec = this.#spec as JobSpec;
    const members = map.hosts.filter(({ runs }) => runs.length > 0).map(({ host }) => sessionAddress(host));
    this.#stream?.close(); // A new map, on other hosts.
    const lookup = hostOf(map);
    const places = { lookup, map };
    this.#places = places;
    this.#stream = this.#node.streams.attach(
      { id: DEFAULT_STREAM, job, members: [this.#self, ...members], topology: 'boot', reduction: 'none' },
      {
        onUp: (data, _source, release) => this.#onOutput(data, release),
        onDown: () => undefined,
        onCredit: () => this.#events.onStdinDrain(),
        onFault: (error) => this.#node.fault(error, 'output stream'),
      },
      { creditBytes: creditBytes(this.#params, map.hosts.length), check: outputCheck(places) },
    );
    const { stdin } = spec;
    this.#readers.clear();
    if (stdin.to === 'all') {
      this.#stdinTo = 'all';
      for (const member of members) this.#readers.add(addressIndex(member));
    } else if (stdin.to === 'rank') {
      const host = lookup.host(stdin.rank);
      this.#stdinTo = sessionAddress(host);
      this.#readers.add(host);
    }
  }

  #onMalformed(agent: Address, error: StciError, job: JobId): void {
    this.#node.messages.send(CONTROLLER, 'agent.malformed', { agent, error: toErrorRecord(error) }, job);
  }

  /** All readers of input on `host` have ended: more input would be discarded there, so it is not sent. */
  #onUnread(host: HostIndex): void {
    if (this.#readers.delete(host) && this.#readers.size === 0) this.#events.onStdinClosed();
  }

  #opensInput(event: JobEvent): boolean {
    if (this.#inputOpen || this.#spec === undefined) return false;
    const { stdin } = this.#spec;
    if (stdin.to === 'none') return event.type === 'mapped';
    if (stdin.to === 'rank' && event.type === 'started') return event.rank === stdin.rank;
    // The reader ended before it ran, or the job is ending: input has no receiver.
    const isReaderGone = stdin.to === 'rank' && event.type === 'exited' && event.report.rank === stdin.rank;
    if (event.type === 'ending' || isReaderGone) {
      this.#stdinTo = undefined;
      return true;
    }
    return event.type === 'running';
  }

  #openInput(): void {
    this.#inputOpen = true;
    let room = true;
    // One that has moved reads where nobody has been told of the end.
    const hasEnded = this.#inputEnded && this.#spec?.stdin.to === 'rank';
    for (const chunk of this.#stdinQueue.splice(0)) room = this.#sendStdin(chunk);
    if (hasEnded) room = this.#sendStdin(new Uint8Array(0));
    if (room) this.#events.onStdinDrain();
  }

  /** A lost host returns no credit; without this, input for all others would stop. */
  #dropHost(host: HostIndex, moving: readonly RankRange[]): void {
    for (const rank of ranksInRanges(moving)) this.#returning.add(rank);
    this.#node.messages.drop(sessionAddress(host), this.#job);
    const { lookup } = this.#places as { lookup: PlacementLookup };
    this.#output.lost((rank) => lookup.host(rank) === host, (rank) => this.#returning.has(rank));
    const { stdin } = this.#spec as JobSpec;
    const returns = [...this.#returning].some((rank) => lookup.host(rank) === host && takesStdin(stdin, rank));
    if (!returns) return this.#onUnread(host);
    // The next attempt gets what has not been sent; until it runs, that waits.
    this.#readers.delete(host);
    if (stdin.to === 'rank') this.#inputOpen = false;
  }

  /** Another session agent takes part, in place of none or of a lost one. */
  #joinHost(host: HostIndex): void {
    const stream = this.#stream as StreamEndpoint;
    const agent = sessionAddress(host);
    stream.admit(agent);
    this.#addReaders();
    const { stdin } = this.#spec as JobSpec;
    if (stdin.to === 'all' && this.#inputEnded) stream.down(new Uint8Array(0), agent);
  }

  #sendStdin(chunk: Uint8Array): boolean {
    this.#inputEnded ||= chunk.length === 0;
    if (this.#stdinTo === undefined || this.#stream === undefined) return true;
    return this.#stream.down(chunk, this.#stdinTo === 'all' ? undefined : this.#stdinTo);
  }

  #onOutput(data: unknown, release: () => void): void {
    const [rank, stream, wallMs, chunk] = data as [number, number, number, Uint8Array];
    this.#output.output(rank, stream === 1 ? 'stdout' : 'stderr', chunk, wallMs, release);
  }
}
