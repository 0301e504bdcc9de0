/**
 * Session agent (STCI paper, II-A): one per host and job; starts, watches, signals and ends the job's tools on this
 * host, and moves their output and input. It starts one tool per turn, because a start blocks the process.
 */

import {
  DEFAULT_STREAM,
  CONTROLLER,
  addressIndex,
  type Address,
  type AppSpec,
  type ErrorRecord,
  type HostIndex,
  type JobId,
  type Params,
  type Rank,
  type StdinTo,
  type StreamEvents,
} from '@stci/interface';
import { bytes } from '../codec/shape.js';
import { MARK_VARIABLE, rankEnvironment } from '../job/environment.js';
import { checkLaunch } from '../job/launch-check.js';
import { placementsOf } from '../job/placement.js';
import type { Launch } from './job-launch.js';
import type { AgentScope } from './composition.js';
import type { AgentNode } from './node.js';
import { OutputQueue } from './output-queue.js';
import { OutputPump } from './output-pump.js';
import { ProgramPort } from './program-port.js';
import { StdinFeed } from './stdin-feed.js';
import { Tool, type ToolEnd } from './tool.js';

/** How long daemons that left their group are searched for at the end of a job. */
const SWEEP_MS = 2000;

const EMPTY = new Uint8Array(0);

export interface SessionDeps {
  readonly node: AgentNode;
  readonly hostName: string;
  readonly scope: AgentScope;
}

export class SessionAgent {
  readonly #node: AgentNode;
  readonly #hostName: string;
  readonly #scope: AgentScope;
  /** With the job's own, once it is launched. */
  #params: Params;
  readonly #host: HostIndex;
  readonly #tools: Tool[] = [];
  readonly #byRank = new Map<Rank, Tool>();
  readonly #unstarted: Tool[] = [];
  #output: OutputQueue | undefined;
  #pump: OutputPump | undefined;
  #feed: StdinFeed | undefined;
  #programs: ProgramPort | undefined;
  #hasLaunch = false;
  #goneCount = 0;
  #started: (readonly [Rank, number, number])[] = [];
  #ended: ToolEnd[] = [];
  #flushScheduled = false;
  #ending = false;
  #drained = false;
  #mark = '';
  #onStopped: (() => void) | undefined;
  #isStopped = false;

  constructor(deps: SessionDeps) {
    this.#node = deps.node;
    this.#hostName = deps.hostName;
    this.#scope = deps.scope;
    this.#params = deps.node.params;
    this.#host = addressIndex(deps.node.identity.self);
    const { messages } = deps.node;
    messages.on('job.launch', (launch, { job }) => this.#onLaunch(launch, job));
    messages.on('tree.mended', () => {
      deps.node.resendUp();
      messages.send(CONTROLLER, 'job.resent', { host: this.#host });
    });
    messages.on('job.signal', ({ signal }) => this.#tools.forEach((tool) => tool.signal(signal)));
    messages.on('job.end', ({ kill }) => this.end(kill));
  }

  /** Ends all tools: SIGTERM, grace period, SIGKILL; or SIGKILL at once. Tools that are not started yet are skipped. */
  end(kill: boolean): void {
    this.#ending = true;
    this.#skipUnstarted();
    for (const tool of this.#tools) tool.end(kill);
  }

  /** Ends all tools; calls `done` when their processes and output have ended. */
  stop(done: () => void): void {
    this.#onStopped = done;
    this.#isStopped = true;
    this.#programs?.close();
    this.#output?.clear();
    this.#pump?.discard();
    this.end(false);
    this.#checkDrained();
  }

  #onLaunch(launch: Launch, job: JobId): void {
    const [entry] = launch.hosts;
    if (entry === undefined || this.#hasLaunch) return;
    this.#hasLaunch = true;
    const params = this.#scope.jobParams(launch.params);
    this.#params = params;
    const ranksMax = params.int('job.size.max');
    checkLaunch(launch, { ranksMax, ranksPerHostMax: params.int('job.ranks.per.host.max') });
    const runs = entry[2].map(([app, first, count, stride]) => ({ app, first, count, stride }));
    const hostMap = { host: this.#host, name: this.#hostName, runs };
    const { session, size, nodes, apps } = launch;
    this.#attach(launch);
    this.#mark = `${session}-${job}-${this.#host}.`;
    const context = { job, session, size, node: entry[1], nodes, hostMap };
    this.#openPrograms(job, size, (error) => {
      for (const placement of placementsOf(hostMap)) {
        const env = { ...rankEnvironment(launch, context, placement), ...this.#programs?.add(placement.rank) };
        this.#addTool(placement.rank, apps[placement.app] as AppSpec, env, launch);
      }
      if (error !== undefined) for (const tool of this.#unstarted.splice(0)) tool.refuse(error);
      if (this.#ending) this.#skipUnstarted();
      this.#node.platform.clock.soon(() => this.#startNext());
    });
  }

  /** Programs find the socket in their environment: it is open before the first is started. */
  #openPrograms(job: JobId, size: number, done: (error?: ErrorRecord) => void): void {
    if (!this.#params.bool('client.enable')) return done();
    this.#programs = new ProgramPort({ node: this.#node, host: this.#host, job, size, onAlive: () => undefined });
    this.#programs.open((error) => this.#isStopped || done(error));
  }

  #addTool(rank: Rank, app: AppSpec, env: Record<string, string>, launch: Launch): void {
    const { platform } = this.#node;
    const params = this.#params;
    const tool = new Tool(
      {
        platform,
        rank,
        graceMs: params.int('tool.grace'),
        drainMs: params.int('iof.drain'),
        spawn: {
          program: app.program,
          args: app.args,
          env: { ...env, [MARK_VARIABLE]: this.#mark },
          wdir: app.wdir ?? launch.wdir,
          stdin: takesStdin(launch.stdin, rank) ? 'pipe' : 'null',
          stdout: 'pipe',
          stderr: 'pipe',
          lifetime: 'guarded',
        },
      },
      {
        onStarted: (started) => this.#onStarted(started),
        onOutput: (from, stream, chunk, wallMs) => this.#send(from.rank, stream, chunk, wallMs),
        onOutputEnd: (from, stream, wallMs) => this.#send(from.rank, stream, EMPTY, wallMs),
        onEnded: (from, end) => this.#onEnded(from, end),
        onGone: (gone) => this.#onGone(gone),
        onStdinDrain: (from) => this.#feed?.onDrain(from),
        onStdinClosed: (from) => this.#feed?.remove(from),
      },
    );
    this.#tools.push(tool);
    this.#byRank.set(rank, tool);
    this.#unstarted.push(tool);
    if (takesStdin(launch.stdin, rank)) this.#feed?.add(tool);
  }

  #attach({ creditBytes, stdin, owner }: Launch): void {
    const self = this.#node.identity.self;
    const spec = {
      id: DEFAULT_STREAM,
      members: [owner, self],
      topology: { kind: 'boot' },
      reduction: 'none' as const,
    };
    const feed = new StdinFeed(() => this.#reportUnread(owner));
    const events: StreamEvents = {
      onUp: () => undefined,
      onDown: (data, release) => (stdin.to === 'none' ? release() : feed.push(data as Uint8Array, release)),
      onCredit: () => this.#onCredit(),
      onFault: (error) => {
        this.#node.fault(error, 'output stream');
        this.#onCredit(); // Output is dropped from now on.
      },
    };
    const stream = this.#node.streams.attach(spec, events, { creditBytes, check: (data) => bytes(data, 'input') });
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

  #reportUnread(owner: Address): void {
    try {
      this.#node.messages.send(owner, 'job.unread', { host: this.#host });
    } catch (fault) {
      this.#node.fault(fault, 'report of unread input'); // The parent is gone: the agent is about to end.
    }
  }

  #skipUnstarted(): void {
    for (const tool of this.#unstarted.splice(0)) tool.skip();
  }

  #startNext(): void {
    const tool = this.#unstarted.shift();
    if (tool === undefined) return this.#checkDrained();
    tool.start();
    this.#pump?.add(tool);
    if (this.#unstarted.length > 0) this.#node.platform.clock.soon(() => this.#startNext());
  }

  #onStarted(tool: Tool): void {
    this.#started.push([tool.rank, tool.pid, tool.startWallMs]);
    this.#scheduleFlush();
    this.#feed?.onStarted(tool);
    if (this.#ending) tool.end(false);
  }

  #send(rank: Rank, stream: 'stdout' | 'stderr', chunk: Uint8Array, wallMs: number): void {
    if (this.#pump?.discarding === true) return;
    if (this.#output?.push([rank, stream === 'stdout' ? 1 : 2, wallMs], chunk) === false) this.#pump?.stopAll();
  }

  #onEnded(tool: Tool, end: ToolEnd): void {
    this.#feed?.remove(tool);
    this.#programs?.remove(tool.rank);
    this.#ended.push(end.error === undefined ? end : { ...end, error: { ...end.error, host: this.#hostName } });
    this.#scheduleFlush();
  }

  /** Starts and ends of one turn are sent together: a thousand short tools need a few messages. */
  #scheduleFlush(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    this.#node.platform.clock.soon(() => this.#flush());
  }

  #flush(): void {
    this.#flushScheduled = false;
    const { messages } = this.#node;
    try {
      if (this.#started.length > 0) {
        messages.send(CONTROLLER, 'job.started', { host: this.#host, ranks: this.#started.splice(0) });
      }
      if (this.#ended.length > 0) {
        messages.send(CONTROLLER, 'job.exited', { host: this.#host, ranks: this.#ended.splice(0) as never });
      }
    } catch (fault) {
      this.#node.fault(fault, 'report of ranks'); // The parent is gone: the agent is about to end.
    }
  }

  #onGone(tool: Tool): void {
    this.#goneCount += 1;
    this.#pump?.remove(tool);
    this.#checkDrained();
  }

  #checkDrained(): void {
    if (this.#goneCount < this.#tools.length || this.#output?.isEmpty === false) return;
    if (this.#drained || this.#tools.length === 0) {
      this.#finishStop();
      return;
    }
    this.#drained = true;
    // Ranks that failed to start, or were skipped, left no processes behind.
    if (this.#tools.every((tool) => tool.pid === 0)) this.#reportDrained(0);
    else this.#node.platform.processes.sweep(this.#mark, SWEEP_MS, (swept) => this.#reportDrained(swept));
  }

  #reportDrained(swept: number): void {
    this.#flush();
    try {
      const survivors = this.#tools.flatMap((tool) => [...tool.survivors]);
      this.#node.messages.send(CONTROLLER, 'job.drained', { host: this.#host, swept, survivors });
    } catch (fault) {
      this.#node.fault(fault, 'report of the end');
    }
    this.#finishStop();
  }

  #finishStop(): void {
    const done = this.#onStopped;
    this.#onStopped = undefined;
    done?.();
  }
}

function takesStdin(stdin: StdinTo, rank: Rank): boolean {
  return stdin.to === 'all' || (stdin.to === 'rank' && stdin.rank === rank);
}
