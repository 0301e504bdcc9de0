/**
 * Session agent (STCI paper, II-A): one per host and job; starts, watches, signals and ends the job's tools on this
 * host, and moves their output and input.
 */

import {
  CONTROLLER, addressIndex, entryOf, type AppSpec, type ErrorRecord, type HostIndex, type JobId, type Params,
  type Placement, type Rank, type RankRun, type Spawn,
} from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { chunk } from '../codec/bounds.js';
import { check } from '../codec/shape.js';
import { Lifecycle, type LifeTable } from '../event/lifecycle.js';
import type { Scope } from '../event/scope.js';
import { checkLaunch, checkSpawned } from '../job/launch-check.js';
import { placementsOf } from '../job/placement.js';
import { spawnOf } from '../job/spawn.js';
import { variablesOfHost } from '../job/slurm-variables.js';
import type { Launch, MessageBody } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';
import { AgentServices } from '../service/agent-services.js';
import type { Service } from '../service/contracts.js';
import { JobServices } from '../service/job-services.js';
import { BoundRanks } from './bound-ranks.js';
import { HostOutput } from './host-output.js';
import { HostedRank, type RankPlace } from './hosted-rank.js';
import { StdinFeed } from './stdin-feed.js';
import { ToolReports } from './tool-reports.js';
import { ToolWatch } from './tool-watch.js';

/** Tools that are started in one turn: a start blocks the process for about a millisecond. */
const STARTS_MAX = 8;
/** How long daemons that left their group are searched for at the end of a job. */
const SWEEP_MS = 2000;

export type HostedJobState = 'awaited' | 'opening' | 'running' | 'sweeping' | 'drained' | 'stopped';

export type HostedJobEvent =
  /** Its launch has come: what ranks need is opened, and what an agent before this one has left is ended. */
  | 'launch'
  /** Programs may be started. */
  | 'open'
  /** All ranks are over: whatever has the mark of this host and job is ended, and nothing may be started meanwhile. */
  | 'sweep'
  /** Nothing is left, which is told. */
  | 'drain'
  /** There are ranks to start again. */
  | 'restart'
  /** The agent stops before it has started any. */
  | 'stop';

export const HOSTED_JOB_LIFE: LifeTable<HostedJobState, HostedJobEvent> = {
  of: 'a job on its host',
  first: 'awaited',
  rows: {
    awaited: { launch: 'opening', stop: 'stopped' },
    opening: { open: 'running', stop: 'stopped' },
    running: { sweep: 'sweeping', drain: 'drained' },
    sweeping: { restart: 'running', drain: 'drained' },
    drained: { restart: 'running' },
    stopped: {},
  },
};

type Restart = MessageBody<'job.restart'>;

/** `[rank, app, attempt]` each. */
type Ranks = Restart['ranks'];

export interface SessionDeps {
  readonly node: AgentNode;
  readonly hostName: string;
  /** It is all of its process. */
  readonly ownsProcess: boolean;
  readonly scope: AgentScope;
  readonly services: readonly Service[];
}

export class SessionAgent {
  readonly #deps: SessionDeps;
  readonly #host: HostIndex;
  readonly #life = new Lifecycle(HOSTED_JOB_LIFE);
  readonly #watch: ToolWatch;
  readonly #reports: ToolReports;
  /** Until it stops. */
  readonly #work: Scope;
  readonly #jobServices: JobServices;
  readonly #ranks = new Map<Rank, HostedRank>();
  /** Ranks of which something is left, or is to be started. */
  readonly #active = new Set<HostedRank>();
  /** Ranks that are to be started, some a turn: those that run already take processors from the starts that follow. */
  readonly #queue: HostedRank[] = [];
  /** Once the job is launched. */
  #place: RankPlace | undefined;
  /** Of ranks that are here, or were. */
  readonly #placements = new Map<Rank, Placement>();
  readonly #runs: RankRun[] = [];
  /** Programs of the job that have ranks here, by number; ranks that others have spawned. */
  readonly #apps: AppSpec[] = [];
  readonly #spawns: Spawn[] = [];
  /** Messages `job.restart` to it so far, and those that came before programs can be started. */
  #restartCount = 0;
  readonly #early: Restart[] = [];
  /** Nothing is started any more. */
  #isEnding = false;
  #onStopped: (() => void) | undefined;

  constructor(deps: SessionDeps) {
    const { node, scope, hostName, services } = deps;
    this.#deps = deps;
    this.#host = addressIndex(node.identity.self);
    this.#watch = new ToolWatch({
      node, scope,
      attemptOf: (rank) => this.#ranks.get(rank)?.attempt ?? 1,
      onStuck: (rank, evidence) => this.#ranks.get(rank)?.running?.killFor(evidence),
    });
    this.#reports = new ToolReports({
      node, host: this.#host, hostName, metrics: node.metrics, afterNews: (call) => this.#watch.afterNews(call),
    });
    this.#work = node.holds.child('work');
    this.#work.atEnd(() => this.#watch.stop());
    this.#jobServices = new JobServices(services, node, this.#work);
    const own = new AgentServices('session', services, {
      ...deps, toolOf: (rank) => this.#ranks.get(rank)?.running,
      exit: (rank, status) => this.#jobServices.exit(rank, status),
    });
    this.#work.holdAll(() => own.labels, () => own.stop('its session agent stops'));
    const { messages } = node;
    messages.on('job.launch', (launch, { job }) => this.#onLaunch(launch, job));
    messages.on('overlay.detour', () => node.resendUp());
    messages.on('job.restart', (restart) => {
      if (this.#life.is('awaited', 'opening')) this.#early.push(restart);
      else if (this.#isOwn(restart)) this.#restart(restart);
    });
    messages.on('job.restarting.noted', () => {
      this.#reports.onNoted();
      for (const rank of this.#active) rank.check();
    });
    messages.on('tree.mended', () => node.resendUp());
    messages.on('failure.notice', ({ notice: { subject, evidence } }) => {
      if (subject.kind === 'tool') this.#jobServices.onRankFailed(subject.rank, subject.attempt, evidence);
    });
    messages.on('job.signal', ({ signal }) => this.#active.forEach(({ running }) => running?.signal(signal)));
    messages.on('job.end', ({ kill }) => this.end(kill));
    messages.on('host.ending', () => this.onTerminated());
  }

  /** Ends all tools: SIGTERM, grace period, SIGKILL; or SIGKILL at once. Ranks that are not started yet are skipped. */
  end(kill: boolean, isSent = false): void {
    this.#isEnding = true;
    this.#queue.length = 0;
    for (const rank of this.#active) rank.stop(kill, isSent);
  }

  /** Tools get SIGTERM from outside, or will: nothing is started any more, and their ends are not their own. */
  onTerminated(): void {
    this.end(false, true);
  }

  /** Ends all tools; calls `done` when their processes and output have ended. */
  stop(done: () => void): void {
    this.#onStopped = done;
    if (this.#life.is('awaited', 'opening')) this.#life.apply('stop');
    this.#reports.flush(); // What has ended by itself.
    if (!this.#isEnding && [...this.#active].some(({ isOver }) => !isOver)) this.#reports.silence();
    this.#work.close();
    this.#place?.output.discard();
    this.end(false);
    this.#checkDrained();
  }

  #onLaunch(launch: Launch, job: JobId): void {
    const [entry] = launch.hosts;
    if (entry === undefined || !this.#life.is('awaited')) return;
    const { node, scope, ownsProcess, hostName } = this.#deps;
    const { platform } = node;
    this.#life.apply('launch');
    const params = scope.jobParams(launch.params);
    this.#checkLaunch(launch, params);
    this.#apps.push(...launch.apps);
    this.#spawns.push(...launch.spawns ?? []);
    for (const [app, first, count, stride] of entry[2]) this.#runs.push({ app, first, count, stride });
    const hostMap = { host: this.#host, name: hostName, runs: this.#runs };
    for (const placement of placementsOf(hostMap)) this.#placements.set(placement.rank, placement);
    const mark = `${launch.session}-${job}-${this.#host}.`;
    const variables = variablesOfHost(launch.env, platform.env.variables);
    this.#watch.prepare(params);
    const binding = new BoundRanks(platform.env, params, hostName, this.#placements.size);
    this.#place = {
      platform, holds: node.holds, params, mark, binding,
      launch: { ...launch, apps: this.#apps, spawns: this.#spawns },
      services: this.#jobServices, ...this.#attach(launch),
      context: { ...launch, spawns: this.#spawns, job, node: entry[1], hostMap, variables },
      errorManager: scope.errorManager(params), watch: this.#watch, reports: this.#reports,
      onQueued: (rank) => this.#onQueued(rank),
      onDone: (rank) => {
        this.#active.delete(rank);
        this.#checkDrained();
      },
    };
    const restarts = launch.restarts ?? [...this.#placements.keys()].map((rank) => [rank, 1] as const);
    const ranks = restarts.map(([rank, attempt]) => [rank, this.#placements.get(rank)?.app ?? 0, attempt] as const);
    // Ranks find what services give them in their environment: all are open before the first is started.
    const open = (): void => this.#jobServices.open({
      node, scope, ownsProcess, params, host: this.#host, hostName, job, size: launch.size, hosts: launch.nodes,
      onAlive: (rank, withinMs) => this.#watch.onAlive(rank, withinMs), token: launch.token,
      bindingOf: (rank) => binding.of(this.#placements.get(rank)),
      processOf: (rank) => this.#processOf(rank),
      spawnOf: (rank) => spawnOf(this.#spawns, rank),
      say: (rank, bytes) => this.#ranks.get(rank)?.say(bytes),
      signal: (rank, signal) => void this.#ranks.get(rank)?.running?.signal(signal, 'process'),
    }, (error) => this.#open(ranks, error));
    if (launch.restarts === undefined) return open();
    // What is left of the session agent before this one, whose guardian may be slow, is ended first.
    platform.processes.sweep(mark, SWEEP_MS, () => this.#life.is('opening') && open());
  }

  #processOf(rank: Rank): { readonly pid: number; readonly program: string } | undefined {
    const [tool, app] = [this.#ranks.get(rank)?.running, this.#placements.get(rank)?.app];
    const program = app === undefined ? undefined : this.#apps[app]?.program;
    return tool === undefined || program === undefined ? undefined : { pid: tool.pid, program };
  }

  #open(ranks: Ranks, error?: ErrorRecord): void {
    if (!this.#life.is('opening')) return;
    this.#life.apply('open');
    const early = this.#early.splice(0).filter((restart) => this.#isOwn(restart));
    for (const restart of early) this.#checkRestart(restart);
    this.#start([...ranks, ...early.flatMap((each) => each.ranks)], error);
  }

  /** It was not sent to the session agent before this one. */
  #isOwn({ start }: Restart): boolean {
    return this.#place !== undefined && start === (this.#place.launch.start ?? 1);
  }

  #restart(restart: Restart): void {
    this.#checkRestart(restart);
    if (this.#life.is('drained')) this.#life.apply('restart');
    this.#start(restart.ranks);
  }

  #start(ranks: Ranks, refusal?: ErrorRecord): void {
    const place = this.#place as RankPlace;
    const error = refusal ?? place.binding.error;
    for (const [rank, app, attempt] of ranks) {
      const hosted = this.#ranks.get(rank);
      if (hosted === undefined) this.#ranks.set(rank, new HostedRank(place, this.#placementOf(rank, app), attempt));
      else hosted.restart(attempt);
    }
    if (this.#isEnding) for (const rank of this.#queue.splice(0)) rank.stop(false, true);
    if (error !== undefined) for (const rank of this.#queue.splice(0)) rank.refuse(error);
  }

  /** A rank that was on another host has the next place on this one. */
  #placementOf(rank: Rank, app: number): Placement {
    return entryOf(this.#placements, rank, () => {
      this.#runs.push({ app, first: rank, count: 1, stride: 1 });
      return { rank, host: this.#host, app, localRank: this.#placements.size };
    });
  }

  #checkLaunch(launch: Pick<Launch, 'size' | 'nodes' | 'apps' | 'hosts' | 'spawns'>, params: Params): void {
    const ranksMax = params.int('job.size.max');
    checkLaunch(launch, { ranksMax, ranksPerHostMax: params.int('job.ranks.per.host.max') });
  }

  /** Takes what it tells of ranks that are spawned. Throws STCI_MESSAGE_INVALID. */
  #checkRestart({ ranks, apps = [], spawns = [] }: Restart): void {
    const { launch, params } = this.#place as RankPlace;
    this.#restartCount += 1;
    checkSpawned(apps, params.int('job.size.max'));
    for (const [number, app] of apps) this.#apps[number] = app;
    for (const spawn of spawns) if (spawnOf(this.#spawns, spawn.first) === undefined) this.#spawns.push(spawn);
    this.#checkLaunch({ ...launch, hosts: [[this.#host, 0, ranks.map(([rank, app]) => [app, rank, 1, 1])]] }, params);
  }

  #attach({ creditBytes, stdin }: Launch): Pick<RankPlace, 'feed' | 'output'> {
    const { node } = this.#deps;
    const { messages, platform: { clock } } = node;
    const feed = new StdinFeed(() => void messages.send(CONTROLLER, 'job.unread', { host: this.#host }));
    const onCredit = (): void => {
      output.onCredit();
      this.#checkDrained();
    };
    const stream = node.streams.attach({ creditBytes, check: (data) => void check(chunk, data, 'input') }, {
      onUp: () => undefined,
      onDown: (data, release) => (stdin.to === 'none' ? release() : feed.push(data as Uint8Array, release)),
      onCredit,
    });
    const output = new HostOutput({ clock, creditBytes, stream });
    return { feed, output };
  }

  #onQueued(rank: HostedRank): void {
    this.#active.add(rank);
    this.#queue.push(rank);
    if (this.#queue.length === 1) this.#deps.node.platform.clock.soon(() => this.#startNext());
  }

  #startNext(): void {
    if (!this.#life.is('running')) return;
    if (this.#queue.length === 0) return this.#checkDrained();
    for (let count = 0; count < STARTS_MAX && this.#life.is('running'); count++) {
      const rank = this.#queue.shift();
      if (rank === undefined) break;
      this.#reports.flushFollowed();
      rank.start();
    }
    const { clock } = this.#deps.node.platform;
    clock.soon(() => (this.#queue.length > 0 ? this.#startNext() : this.#jobServices.onStarted()));
  }

  #checkDrained(): void {
    if (this.#active.size > 0 || this.#place?.output.isEmpty === false) return;
    if (!this.#life.is('running') || this.#ranks.size === 0) return this.#finishStop();
    // Ranks that failed to start, or were skipped, left no processes behind.
    if (![...this.#ranks.values()].some(({ hadProcesses }) => hadProcesses)) return this.#drain(0);
    this.#life.apply('sweep');
    const { platform: { processes }, mark } = this.#place as RankPlace;
    this.#watch.afterNews(() => processes.sweep(mark, SWEEP_MS, (swept) => this.#onSwept(swept)), true);
  }

  #onSwept(swept: number): void {
    if (this.#active.size === 0) return this.#drain(swept);
    this.#life.apply('restart'); // Ranks have come meanwhile.
    this.#startNext();
  }

  #drain(swept: number): void {
    this.#life.apply('drain');
    const survivors = [...this.#ranks.values()].flatMap((rank) => rank.survivors);
    this.#reports.drained({ swept, survivors, restarts: this.#restartCount });
    this.#finishStop();
  }

  #finishStop(): void {
    const done = this.#onStopped;
    this.#onStopped = undefined;
    done?.();
  }
}
