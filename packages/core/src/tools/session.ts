/**
 * Session agent (STCI paper, II-A): one per host and job; starts, watches, signals and ends the job's tools on this
 * host, and moves their output and input. It starts one tool per turn, because a start blocks the process.
 */

import {
  CONTROLLER, DEFAULT_STREAM, addressIndex, type ErrorRecord, type HostIndex, type JobId,
  type Params, type Placement, type Rank, type StreamEvents,
} from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { chunk } from '../codec/bounds.js';
import { openMetrics } from '../failure/failure-watch.js';
import { openFaultSite } from '../injection/fault-site.js';
import { MARK_VARIABLE, rankEnvironment, type HostContext } from '../job/environment.js';
import { checkLaunch } from '../job/launch-check.js';
import { placementsOf } from '../job/placement.js';
import { variablesOfHost } from '../job/slurm-variables.js';
import { takesStdin } from '../job/stdin.js';
import { toolSpawn } from '../jobs/job-launch.js';
import type { Launch, MessageBody } from '../messages/messages.js';
import type { MetricStore } from '../metrics/store.js';
import type { AgentNode } from '../node/node.js';
import { ProgramPort } from '../programs/program-port.js';
import { toolActions } from './fault-actions.js';
import { OutputAcrossRestarts } from './output-across-restarts.js';
import { OutputPump } from './output-pump.js';
import { OutputQueue } from './output-queue.js';
import { StdinFeed } from './stdin-feed.js';
import { ToolReports } from './tool-reports.js';
import { ToolRestarts } from './tool-restarts.js';
import { ToolWatch } from './tool-watch.js';
import { Tool, type ToolEnd } from './tool.js';

/** How long daemons that left their group are searched for at the end of a job. */
const SWEEP_MS = 2000;

/** `[rank, app, attempt]` each. */
type Ranks = MessageBody<'job.restart'>['ranks'];

export interface SessionDeps {
  readonly node: AgentNode;
  readonly hostName: string;
  /** It is all of its process. */
  readonly ownsProcess: boolean;
  readonly scope: AgentScope;
}

export class SessionAgent {
  readonly #node: AgentNode;
  readonly #hostName: string;
  readonly #scope: AgentScope;
  /** With the job's own, once it is launched. */
  #params: Params;
  readonly #host: HostIndex;
  /** Of all attempts. */
  readonly #watch: ToolWatch;
  readonly #metrics: MetricStore;
  /** Of which something is left: an attempt may follow another that has ended, but not all of it. */
  readonly #tools = new Set<Tool>();
  /** The last attempt of each rank. */
  readonly #last = new Map<Rank, Tool>();
  /** Of those that are gone: processes that could not be ended, and whether there were any. */
  readonly #survivors: number[] = [];
  #hadProcesses = false;
  readonly #faults: ReturnType<typeof openFaultSite>;
  readonly #unstarted: Tool[] = [];
  #restarts: ToolRestarts | undefined;
  #output: OutputQueue | undefined;
  readonly #attempts = new OutputAcrossRestarts((...output) => this.#send(...output));
  #pump: OutputPump | undefined;
  #feed: StdinFeed | undefined;
  #programs: ProgramPort | undefined;
  #hasLaunch = false;
  readonly #reports: ToolReports;
  #ending = false;
  #drained = false;
  /** Whatever has the mark of this host and job is ended: nothing may be started. */
  #isSweeping = false;
  /** Messages `job.restart` so far, and those that came before programs can be started. */
  #restartCount = 0;
  readonly #early: Ranks[] = [];
  #onRestart = (ranks: Ranks): void => void this.#early.push(ranks);
  #mark = '';
  #onStopped: (() => void) | undefined;
  #isStopped = false;
  /** It ends before its job: its loss explains the ends of its ranks, which are not told. */
  #isLoss = false;

  constructor(deps: SessionDeps) {
    this.#node = deps.node;
    this.#hostName = deps.hostName;
    this.#scope = deps.scope;
    this.#params = deps.node.params;
    this.#host = addressIndex(deps.node.identity.self);
    this.#metrics = openMetrics(deps.scope);
    this.#watch = new ToolWatch({
      node: deps.node, scope: deps.scope, metrics: this.#metrics,
      attemptOf: (rank) => this.#last.get(rank)?.attempt ?? 1,
      onStuck: (rank, evidence) => this.#running(rank)?.killFor(evidence),
    });
    this.#reports = new ToolReports({
      node: deps.node, host: this.#host, hostName: deps.hostName,
      afterNews: (call) => this.#watch.afterNews(call),
    });
    this.#faults = openFaultSite(deps.node, deps.scope, () =>
      toolActions(deps, (rank) => this.#running(rank), () => this.#programs));
    const { messages } = deps.node;
    messages.on('job.launch', (launch, { job }) => this.#onLaunch(launch, job));
    messages.on('agent.metrics', () => this.#metrics.rows());
    messages.on('overlay.detour', () => deps.node.resendUp());
    messages.on('job.restart', ({ ranks }) => {
      this.#restartCount += 1;
      this.#drained = false;
      this.#onRestart(ranks);
    });
    messages.on('job.restarting.noted', () => this.#restarts?.onNoted());
    messages.on('tree.mended', () => deps.node.resendUp());
    messages.on('failure.notice', ({ notice: { subject, evidence } }) => {
      if (subject.kind === 'tool') this.#programs?.onRankFailed(subject.rank, subject.attempt, evidence);
    });
    messages.on('job.signal', ({ signal }) => this.#tools.forEach((tool) => void tool.signal(signal)));
    messages.on('job.end', ({ kill }) => this.end(kill));
    messages.on('host.ending', () => this.onTerminated());
  }

  /** Ends all tools: SIGTERM, grace period, SIGKILL; or SIGKILL at once. Tools that are not started yet are skipped. */
  end(kill: boolean, isSent = false): void {
    this.#ending = true;
    this.#restarts?.giveUp();
    this.#skipUnstarted();
    for (const tool of this.#tools) if (isSent) tool.expectEnd(); else tool.end(kill);
  }

  /** Tools get SIGTERM from outside, or will: nothing is started any more, and their ends are not their own. */
  onTerminated(): void {
    this.end(false, true);
  }

  /** Ends all tools; calls `done` when their processes and output have ended. */
  stop(done: () => void): void {
    this.#onStopped = done;
    this.#isStopped = true;
    this.#reports.flush(); // What has ended by itself.
    this.#isLoss = !this.#ending && [...this.#tools].some((tool) => !tool.ended);
    this.#watch.stop();
    this.#faults.stop('its session agent stops');
    this.#programs?.close();
    this.#output?.clear();
    this.#pump?.discard();
    this.end(false);
    this.#checkDrained();
  }

  #running(rank: Rank): Tool | undefined {
    const last = this.#last.get(rank);
    return last?.ended === false ? last : undefined;
  }

  #onLaunch(launch: Launch, job: JobId): void {
    const [entry] = launch.hosts;
    if (entry === undefined || this.#hasLaunch) return;
    this.#hasLaunch = true;
    this.#params = this.#scope.jobParams(launch.params);
    this.#checkLaunch(launch);
    const runs = entry[2].map(([app, first, count, stride]) => ({ app, first, count, stride }));
    const hostMap = { host: this.#host, name: this.#hostName, runs };
    this.#attach(launch);
    this.#mark = `${launch.session}-${job}-${this.#host}.`;
    const variables = variablesOfHost(launch.env, this.#node.platform.env.variables);
    const context: HostContext = { ...launch, job, node: entry[1], hostMap, variables };
    const placements = new Map([...placementsOf(hostMap)].map((placement) => [placement.rank, placement]));
    const make = (rank: Rank, attempt: number): Tool =>
      this.#addTool(placements.get(rank) as Placement, attempt, context, launch);
    this.#restarts = this.#makeRestarts(make);
    this.#attempts.isOn = this.#restarts.isOn;
    const start = (ranks: Ranks): void => {
      for (const [rank, app, attempt] of ranks) {
        if (!placements.has(rank)) {
          placements.set(rank, { rank, host: this.#host, app, localRank: placements.size });
          runs.push({ app, first: rank, count: 1, stride: 1 });
        }
        this.#toStart(make(rank, attempt));
      }
      if (this.#ending) this.#skipUnstarted();
    };
    const restarts = launch.restarts ?? [...placements.keys()].map((rank) => [rank, 1] as const);
    const open = (): void => this.#openPrograms(job, launch, (error) => {
      start(restarts.map(([rank, attempt]) => [rank, placements.get(rank)?.app ?? 0, attempt]));
      if (error !== undefined) for (const tool of this.#unstarted.splice(0)) tool.refuse(error);
      this.#onRestart = (ranks) => {
        this.#checkLaunch({ ...launch, hosts: [[this.#host, 0, ranks.map(([rank, app]) => [app, rank, 1, 1])]] });
        start(ranks);
      };
      for (const ranks of this.#early.splice(0)) this.#onRestart(ranks);
    });
    if (launch.restarts === undefined) return open();
    // What is left of the session agent before this one, whose guardian may be slow, is ended first.
    this.#node.platform.processes.sweep(this.#mark, SWEEP_MS, () => this.#isStopped || open());
  }

  #checkLaunch(launch: Pick<Launch, 'size' | 'nodes' | 'apps' | 'hosts'>): void {
    const ranksMax = this.#params.int('job.size.max');
    checkLaunch(launch, { ranksMax, ranksPerHostMax: this.#params.int('job.ranks.per.host.max') });
  }

  #makeRestarts(make: (rank: Rank, attempt: number) => Tool): ToolRestarts {
    return new ToolRestarts({
      clock: this.#node.platform.clock,
      errorManager: this.#scope.errorManager(this.#params),
      host: { index: this.#host, name: this.#hostName },
      make,
      leaves: { failures: this.#params.int('errmgr.elsewhere'), quickMs: this.#params.int('errmgr.quick') },
      onRestarting: (end, afterMs) => {
        this.#metrics.count('restarts', 1);
        return this.#reports.followed(end, afterMs);
      },
      onLeaving: (former, next, end, afterMs) => this.#leave(former, next, end, afterMs),
      onDue: (tool) => this.#toStart(tool),
      onGivenUp: (end) => this.#reportEnd(end),
    });
  }

  #leave(former: Tool, next: Tool, end: ToolEnd, afterMs: number): void {
    this.#tools.delete(next);
    this.#last.set(former.rank, former);
    this.#feed?.forget(next);
    this.#programs?.remove(former.rank);
    this.#metrics.count('restarts', 1);
    void this.#reports.followed(end, afterMs, true);
  }

  /** Programs find the socket in their environment: it is open before the first is started. */
  #openPrograms(job: JobId, { size, nodes }: Launch, done: (error?: ErrorRecord) => void): void {
    this.#watch.prepare(this.#params);
    if (!this.#params.bool('client.enable')) return done();
    this.#programs = new ProgramPort({
      node: this.#node, host: this.#host, hostName: this.#hostName, job, size, hosts: nodes,
      topologyOf: (text, positions) => this.#scope.topologyOf(text, positions),
      onAlive: (rank, withinMs) => this.#watch.onAlive(rank, withinMs),
    });
    this.#programs.open((error) => this.#isStopped || done(error));
  }

  #addTool(placement: Placement, attempt: number, context: HostContext, launch: Launch): Tool {
    const { platform } = this.#node;
    const params = this.#params;
    const { rank } = placement;
    const env = { ...rankEnvironment(launch, context, placement, attempt), ...this.#programs?.add(rank, attempt) };
    const tool = new Tool(
      {
        platform, rank, attempt,
        graceMs: params.int('tool.grace'), drainMs: params.int('iof.drain'),
        spawn: toolSpawn(launch, placement, { ...env, [MARK_VARIABLE]: this.#mark }),
      },
      {
        onStarted: (started) => this.#onStarted(started),
        onOutput: (from, stream, chunk, wallMs) => this.#attempts.push(from.rank, stream, chunk, wallMs),
        onOutputEnd: (from, stream, wallMs) => this.#attempts.onOutputEnd(from, stream, wallMs),
        onEnded: (from, end) => this.#onEnded(from, end),
        onGone: (gone) => this.#onGone(gone),
        onStdinDrain: (from) => this.#feed?.onDrain(from),
        onStdinClosed: (from) => this.#feed?.remove(from),
      },
    );
    this.#tools.add(tool);
    this.#last.set(rank, tool);
    if (takesStdin(launch.stdin, rank)) this.#feed?.add(tool);
    return tool;
  }

  #attach({ creditBytes, stdin }: Launch): void {
    const self = this.#node.identity.self;
    const spec = { id: DEFAULT_STREAM, members: [CONTROLLER, self], topology: 'boot', reduction: 'none' as const };
    const feed = new StdinFeed(() => this.#reportUnread());
    const events: StreamEvents = {
      onUp: () => undefined,
      onDown: (data, release) => (stdin.to === 'none' ? release() : feed.push(data as Uint8Array, release)),
      onCredit: () => this.#onCredit(),
      onFault: (error) => {
        this.#node.fault(error, 'output stream');
        this.#onCredit(); // Output is dropped from now on.
      },
    };
    const stream = this.#node.streams.attach(spec, events, { creditBytes, check: (data) => chunk(data, 'input') });
    const output = new OutputQueue(stream);
    this.#output = output;
    this.#feed = feed;
    this.#pump = new OutputPump({
      creditBytes,
      available: () => output.isOpen,
      soon: (call) => this.#node.platform.clock.soon(call),
    });
  }

  #onCredit(): void {
    if (this.#output?.resume() === true) this.#pump?.resumeSome();
    this.#checkDrained();
  }

  #reportUnread(): void {
    this.#node.messages.send(CONTROLLER, 'job.unread', { host: this.#host });
  }

  #skipUnstarted(): void {
    for (const tool of this.#unstarted.splice(0)) if (!tool.ended) tool.skip();
  }

  #toStart(tool: Tool): void {
    this.#unstarted.push(tool);
    if (this.#unstarted.length === 1) this.#node.platform.clock.soon(() => this.#startNext());
  }

  #startNext(): void {
    if (this.#isSweeping) return;
    const tool = this.#unstarted.shift();
    if (tool === undefined) return this.#checkDrained();
    this.#reports.flushFollowed();
    this.#restarts?.onStarting(tool);
    tool.start();
    this.#pump?.add(tool);
    if (this.#unstarted.length > 0) this.#node.platform.clock.soon(() => this.#startNext());
  }

  #onStarted(tool: Tool): void {
    this.#reports.started(tool);
    this.#feed?.onStarted(tool);
    if (this.#ending) tool.end(false);
  }

  #send(rank: Rank, stream: 'stdout' | 'stderr', chunk: Uint8Array, wallMs: number): void {
    if (this.#pump?.discarding === true) return;
    this.#reports.flushStarted();
    if (this.#output?.push([rank, stream === 'stdout' ? 1 : 2, wallMs], chunk) === false) this.#pump?.stopAll();
  }

  #onEnded(tool: Tool, end: ToolEnd): void {
    this.#watch.onEnded(end);
    this.#programs?.remove(tool.rank);
    const isFollowed = !this.#ending && this.#restarts?.onEnded(tool, end) === true;
    this.#feed?.remove(tool);
    this.#attempts.onEnded(tool, isFollowed);
    if (!isFollowed && this.#restarts?.isNext(tool) !== true) this.#reportEnd(end);
  }

  #reportEnd(end: ToolEnd): void {
    if (!this.#isLoss) this.#reports.ended(end);
  }

  #onGone(tool: Tool): void {
    this.#tools.delete(tool);
    this.#survivors.push(...tool.survivors);
    this.#hadProcesses ||= tool.pid !== 0;
    this.#pump?.remove(tool);
    this.#restarts?.onGone(tool);
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.#tools.size > 0 || this.#output?.isEmpty === false) return;
    if (this.#drained || this.#last.size === 0) return this.#finishStop();
    this.#drained = true;
    // Ranks that failed to start, or were skipped, left no processes behind.
    if (!this.#hadProcesses) return this.#reportDrained(0);
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    const onSwept = (swept: number): void => {
      this.#isSweeping = false;
      // Ranks may have come meanwhile.
      if (this.#drained) this.#reportDrained(swept);
      else this.#startNext();
    };
    this.#watch.afterNews(() => this.#node.platform.processes.sweep(this.#mark, SWEEP_MS, onSwept), true);
  }

  #reportDrained(swept: number): void {
    this.#reports.flush();
    const drained = { host: this.#host, swept, survivors: [...this.#survivors], restarts: this.#restartCount };
    if (!this.#isLoss) this.#node.messages.send(CONTROLLER, 'job.drained', drained);
    this.#finishStop();
  }

  #finishStop(): void {
    const done = this.#onStopped;
    this.#onStopped = undefined;
    done?.();
  }
}
