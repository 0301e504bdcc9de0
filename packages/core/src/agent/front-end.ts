/**
 * Front-end agent (STCI paper, II-A): connects a program, such as stcirun, to the controller. The controller runs in
 * the same process; both still talk over a (memory) link, so that it can run elsewhere.
 */

import {
  CONTROLLER,
  DEFAULT_STREAM,
  FRONT_END,
  StciError,
  addressIndex,
  assert,
  fromErrorRecord,
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
  type Platform,
} from '@stci/interface';
import type { StreamEndpoint } from '../am/stream-endpoint.js';
import { SECRET_BYTES, SESSION_BYTES } from '../bootcom/handshake.js';
import { Link } from '../bootcom/link.js';
import { memoryChannel } from '../bootcom/memory-channel.js';
import { hostOf, type PlacementLookup } from '../job/placement.js';
import { Controller } from './controller.js';
import { creditBytes } from './job-launch.js';
import { AgentNode, type Identity } from './node.js';
import { OutputOrder } from './output-order.js';
import { LinkGuard } from './peer-guard.js';
import { outputCheck } from './rank-checks.js';
import { ReportBuilder } from './report-builder.js';
import { roleFactory } from './start.js';
import { AgentLauncher } from './agent-launcher.js';
import type { AgentScope, ParamSnapshot, Composition } from './composition.js';

/** Deadline of the controller's reply to a submission. */
const SUBMIT_MS = 30_000;

export interface FrontEndInit {
  readonly platform: Platform;
  readonly composition: Composition;
  readonly params: Params;
  /** The part of `params` that agents get. */
  readonly snapshot: ParamSnapshot;
  readonly allocation: Allocation;
}

export interface JobFrontEnd extends FrontEnd {
  /** 0 until the job is mapped. */
  readonly job: JobId;
}

/** A front-end with a controller of its own in this process, for a session of one job. */
export function createFrontEnd(init: FrontEndInit, events: FrontEndEvents): JobFrontEnd {
  return new LocalFrontEnd(init, events);
}

class LocalFrontEnd implements JobFrontEnd {
  readonly #node: AgentNode;
  readonly #controllerNode: AgentNode;
  readonly #controller: Controller;
  readonly #events: FrontEndEvents;
  readonly #output: OutputOrder;
  readonly #params: Params;
  readonly #allocation: Allocation;
  #stream: StreamEndpoint | undefined;
  #spec: JobSpec | undefined;
  /** 0 until the job is mapped; the controller takes that as the job that was submitted here. */
  #job: JobId = 0;
  /** Destination of standard input: a session agent, or all of them; undefined: none. */
  #stdinTo: Address | 'all' | undefined;
  #stdinQueue: Uint8Array[] = [];
  #lookup: PlacementLookup | undefined;
  readonly #report = new ReportBuilder();
  /** Input is sent once all of its readers run: an agent that is not up yet would miss it. */
  #inputOpen = false;
  /** Hosts with a rank that may read standard input. */
  readonly #readers = new Set<HostIndex>();
  #stopping = false;
  #isRefused = false;

  constructor(init: FrontEndInit, events: FrontEndEvents) {
    const { platform, params, composition } = init;
    this.#allocation = init.allocation;
    this.#events = events;
    this.#output = new OutputOrder((...output) => events.onOutput(...output));
    this.#params = params;
    const scope = composition.scope('front-end', params, platform);
    const session = platform.secrets.bytes(SESSION_BYTES);
    const secret = platform.secrets.bytes(SECRET_BYTES);
    const identity = (self: Address): Identity => ({ self, job: 0, session, secret });
    this.#node = makeNode(init, scope, identity(FRONT_END));
    this.#controllerNode = makeNode(init, scope, identity(CONTROLLER));
    const agentLauncher = new AgentLauncher({ node: this.#controllerNode, scope, startRole: roleFactory(composition) });
    this.#controller = new Controller({ node: this.#controllerNode, scope, agentLauncher, snapshot: init.snapshot });
    this.#node.messages.on('job.unread', ({ host }) => this.#onUnread(host));
    this.#node.messages.on('job.event', (event, { job }) => this.#onJobEvent(event, job));
    this.#node.messages.on('job.host.lost', ({ host }) => this.#dropHost(host));
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
    messages.request(CONTROLLER, 'session.open', this.#allocation, onReply, { timeoutMs: SUBMIT_MS });
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
    for (const link of this.#controllerNode.router.childLinks(this.#job)) link.announceSilence(silenceMs);
  }

  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#controller.stop(() => {
      this.#stream?.close();
      this.#node.close();
      this.#controllerNode.close();
      for (const link of this.#node.router.links()) link.close();
      this.#events.onStopped();
    });
  }

  /** The link between these two agents, which share a process. */
  #join(): void {
    const { platform } = this.#node;
    const handshakeMs = this.#params.int('bootcom.handshake');
    const [ours, theirs] = memoryChannel(platform.clock, 'controller', 'front-end');
    const onClosed = (): void => undefined;
    const admit = (wanted: Address) => (peer: Address) =>
      peer === wanted ? undefined : 'it is not the other agent here';
    this.#controllerNode.acceptLink(theirs, handshakeMs, admit(FRONT_END), { role: 'front-end', onClosed });
    const { self, session, secret } = this.#node.identity;
    const link = new Link(
      {
        role: 'parent',
        channel: ours,
        clock: platform.clock,
        handshake: { role: 'connect', self, session, secret, secrets: platform.secrets, admit: admit(CONTROLLER) },
        limits: this.#node.linkLimits(handshakeMs, ours),
      },
      this.#node.linkEvents({ onClosed }),
    );
    // The link queues what is sent before its handshake is over.
    this.#node.router.addEarlyLink(CONTROLLER, link);
  }

  /** Without a session there is no job either: the first error is reported. */
  #onReply(error: StciError | undefined): void {
    if (error === undefined || this.#isRefused) return;
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

  #onMapped(map: JobMap, job: JobId): void {
    this.#job = job;
    this.#report.mapped(map);
    const spec = this.#spec as JobSpec;
    const members = map.hosts.filter(({ runs }) => runs.length > 0).map(({ host }) => sessionAddress(host));
    this.#stream?.close(); // A new map, on other hosts.
    const lookup = hostOf(map);
    this.#stream = this.#node.streams.attach(
      { id: DEFAULT_STREAM, job, members: [FRONT_END, ...members], topology: { kind: 'boot' }, reduction: 'none' },
      {
        onUp: (data, _source, release) => this.#onOutput(data, release),
        onDown: () => undefined,
        onCredit: () => this.#events.onStdinDrain(),
        onFault: (error) => this.#node.fault(error, 'output stream'),
      },
      { creditBytes: creditBytes(this.#params, map.hosts.length), check: outputCheck(lookup, map) },
    );
    this.#lookup = lookup;
    const { stdin } = spec;
    this.#readers.clear();
    if (stdin.to === 'all') {
      this.#stdinTo = 'all';
      for (const member of members) this.#readers.add(addressIndex(member));
    } else if (stdin.to === 'rank') {
      const host = this.#lookup.host(stdin.rank);
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
    for (const chunk of this.#stdinQueue.splice(0)) room = this.#sendStdin(chunk);
    if (room) this.#events.onStdinDrain();
  }

  /** A lost host returns no credit; without this, input for all others would stop. */
  #dropHost(host: HostIndex): void {
    this.#node.messages.drop(sessionAddress(host), this.#job);
    this.#output.lost(host, (each) => (this.#lookup as PlacementLookup).host(each));
    this.#onUnread(host);
  }

  #sendStdin(chunk: Uint8Array): boolean {
    if (this.#stdinTo === undefined || this.#stream === undefined) return true;
    return this.#stream.down(chunk, this.#stdinTo === 'all' ? undefined : this.#stdinTo);
  }

  #onOutput(data: unknown, release: () => void): void {
    const [rank, stream, wallMs, chunk] = data as [number, number, number, Uint8Array];
    this.#output.output(rank, stream === 1 ? 'stdout' : 'stderr', chunk, wallMs, release);
  }
}

function makeNode(init: FrontEndInit, scope: AgentScope, identity: Identity): AgentNode {
  const { platform, params } = init;
  return new AgentNode({ platform, identity, params, treeOf: (spec) => scope.streamTree(spec) });
}
