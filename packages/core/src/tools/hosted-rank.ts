/**
 * A rank on its host: its attempts, one after another, with their output and input. When one has failed, the local
 * error manager (STCI paper, II-F.4) decides at once whether another follows, without the controller, which is told.
 * The next attempt starts when the pause is over and the last process and output of the one before have ended, so that
 * output of attempts never mixes. If the job ends before that, the attempt that failed was the rank's last.
 *
 * A rank is at most one start ahead of what the controller knows. It counts the starts of a rank, and starts it again
 * on another host when the agent is lost: what it did not know of would be allowed once more.
 *
 * A rank that fails soon after each start may do so for its host: after some such failures it leaves, and the
 * controller starts it again, on another host if one has room.
 *
 * The end of an attempt's stream is that of its rank only where no other attempt follows, which is known when its
 * process has ended. Else the unfinished line of the attempt is ended, so that the next one begins a line of its own.
 */

import type { ErrorManager, ErrorRecord, Params, Placement, Platform } from '@stci/interface';
import { Lifecycle, type LifeTable } from '../event/lifecycle.js';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import { NEWLINE, NEWLINE_BYTES, NO_BYTES } from '../iof/bytes.js';
import type { StreamName } from '../iof/source.js';
import { MARK_VARIABLE, rankEnvironment, type HostContext } from '../job/environment.js';
import { failureOf } from '../job/exit-rule.js';
import { takesStdin } from '../job/stdin.js';
import { toolSpawn } from '../jobs/job-launch.js';
import type { Launch } from '../messages/messages.js';
import type { JobServices } from '../service/job-services.js';
import type { BoundRanks } from './bound-ranks.js';
import type { HostOutput } from './host-output.js';
import type { StdinFeed } from './stdin-feed.js';
import type { ToolReports } from './tool-reports.js';
import type { ToolWatch } from './tool-watch.js';
import { Tool, type ToolEnd, type ToolEvents } from './tool.js';

export type RankState = 'queued' | 'running' | 'ending' | 'pausing' | 'leaving' | 'over';

export type RankEvent =
  /** The controller starts it again. */
  | 'queue'
  /** Its turn has come: the process of an attempt is started. */
  | 'start'
  /** The process has failed, and another attempt follows. */
  | 'fail'
  /** The process has failed, and the controller is to start the next attempt. */
  | 'move'
  /** The pause is over, nothing is left of the former attempt, and the controller knows of it. */
  | 'due'
  /** Nothing is left of the attempt that the controller is to follow up. */
  | 'leave'
  /** The process has ended, and no attempt follows. */
  | 'end'
  /** The job ends. */
  | 'stop';

export const RANK_LIFE: LifeTable<RankState, RankEvent> = {
  of: 'a rank',
  first: 'queued',
  rows: {
    queued: { start: 'running', end: 'over', stop: 'over' },
    running: { fail: 'pausing', move: 'leaving', end: 'over', stop: 'ending' },
    ending: { end: 'over', stop: 'ending' },
    pausing: { due: 'queued', stop: 'over' },
    leaving: { leave: 'over', stop: 'over' },
    over: { queue: 'queued', stop: 'over' },
  },
};

/** What the ranks of one job on one host have in common; most are parts of their session agent. */
export interface RankPlace {
  readonly platform: Platform;
  /** Of the session agent. */
  readonly holds: Scope;
  readonly params: Params;
  readonly launch: Launch;
  readonly context: HostContext;
  /** Inherited by all processes of this host and job. */
  readonly mark: string;
  readonly errorManager: ErrorManager;
  readonly watch: ToolWatch;
  readonly reports: ToolReports;
  readonly output: HostOutput;
  readonly feed: StdinFeed;
  readonly binding: BoundRanks;
  readonly services: Pick<JobServices, 'add' | 'remove' | 'socketOf' | 'complaintOf' | 'defaults'>;
  /** It is to be started. */
  onQueued(rank: HostedRank): void;
  /** It is over, and nothing is left of it. */
  onDone(rank: HostedRank): void;
}

/** An attempt that another one follows. */
interface Followed {
  readonly end: ToolEnd;
  readonly afterMs: number;
  /** The report that told its start; 0: none did. */
  readonly report: number;
}


export class HostedRank implements ToolEvents {
  readonly #place: RankPlace;
  readonly #placement: Placement;
  readonly #life = new Lifecycle(RANK_LIFE);
  readonly #timers: Timers<'pause'>;
  /** Of the process that runs, or is to be started, or was the last. */
  #attempt = 0;
  #tool: Tool | undefined;
  /** Attempts of which something is left: one that the controller starts may come before the last is gone. */
  readonly #left = new Set<Tool>();
  #followed: Followed | undefined;
  /** The report of its last restart. */
  #report = 0;
  /** Failures in succession, each soon after its start. */
  #quickCount = 0;
  /** Of the next attempt, from services. */
  #variables: Readonly<Record<string, string>> = {};
  /** When streams have ended whose end is not told yet. */
  readonly #endsWallMs = new Map<StreamName, number>();
  readonly #unfinishedLines = new Set<StreamName>();
  /** Of attempts that are gone: processes that could not be ended, and whether there were any. */
  readonly survivors: number[] = [];
  hadProcesses = false;

  constructor(place: RankPlace, placement: Placement, attempt: number) {
    this.#place = place;
    this.#placement = placement;
    this.#timers = new Timers(place.platform.clock, place.holds);
    this.#queue(attempt);
  }

  get attempt(): number {
    return this.#attempt;
  }

  get isOver(): boolean {
    return this.#life.is('over');
  }

  /** The tool whose process runs. */
  get running(): Tool | undefined {
    return this.#life.is('running', 'ending') ? this.#tool : undefined;
  }

  /** The controller starts it again. */
  restart(attempt: number): void {
    this.#life.apply('queue');
    this.#queue(attempt);
  }

  start(): void {
    const { platform, holds, params, launch, context, mark, output, services, binding } = this.#place;
    const [{ rank }, attempt] = [this.#placement, this.#attempt];
    this.#life.apply('start');
    this.#followed = undefined;
    this.#endsWallMs.clear();
    const variables = rankEnvironment(launch, context, this.#placement, attempt);
    const env = { ...services.defaults(), ...variables, ...this.#variables, [MARK_VARIABLE]: mark };
    const { cpus, nodes } = binding.of(this.#placement) ?? {};
    const onCpus = { ...(cpus !== undefined && { cpus }), ...(nodes !== undefined && { nodes }) };
    const spawn = { ...toolSpawn(launch, this.#placement, env), ...onCpus };
    const [graceMs, drainMs] = [params.int('tool.grace'), params.int('iof.drain')];
    const onSocket = services.socketOf(rank);
    const tool = new Tool({ platform, holds, rank, attempt, spawn, graceMs, drainMs, onSocket }, this);
    this.#tool = tool;
    this.#left.add(tool);
    tool.start();
    output.add(tool);
    const report = binding.report(this.#placement);
    if (report !== undefined) this.#send('stderr', report, platform.clock.wallMs());
  }

  /** Its process cannot be started. */
  refuse(error: ErrorRecord): void {
    this.#life.apply('end');
    this.#finish(this.#endOf('failed-start', { ...error, rank: this.#placement.rank }));
  }

  /** The job ends, and with it what runs: SIGKILL at once if `kill`. `isSent`: SIGTERM comes from elsewhere. */
  stop(kill: boolean, isSent: boolean): void {
    const isWaiting = this.#life.is('queued', 'pausing', 'leaving');
    this.#life.apply('stop');
    if (isWaiting) this.#finish(this.#followed?.end ?? this.#endOf('not-started'));
    for (const tool of this.#left) if (isSent) tool.expectEnd(); else tool.end(kill);
  }

  /** Looks whether what it waits for has come. */
  check(): void {
    if (this.#left.size > 0) return;
    const { reports } = this.#place;
    if (this.isOver) this.#place.onDone(this);
    if (this.#followed === undefined) return;
    const { end, afterMs, report } = this.#followed;
    if (this.#life.is('leaving')) {
      this.#life.apply('leave');
      reports.followed(end, afterMs, true);
      this.#place.onDone(this);
    } else if (this.#life.is('pausing') && !this.#timers.has('pause') && reports.isNoted(report)) {
      this.#life.apply('due');
      this.#place.onQueued(this);
    }
  }

  onStarted(tool: Tool): void {
    this.#place.reports.started(tool);
    this.#place.feed.onStarted(tool);
  }

  onOutput(_tool: Tool, stream: StreamName, chunk: Uint8Array, wallMs: number): void {
    if (chunk.at(-1) === NEWLINE) this.#unfinishedLines.delete(stream);
    else this.#unfinishedLines.add(stream);
    this.#send(stream, chunk, wallMs);
  }

  onOutputEnd(tool: Tool, stream: StreamName, wallMs: number): void {
    const isLast = tool !== this.#tool || this.isOver || this.#place.errorManager.local === undefined;
    if (isLast) return this.#endStream(stream, wallMs);
    this.#endsWallMs.set(stream, wallMs);
    if (this.#followed !== undefined) this.#endLine(stream, wallMs);
  }

  /** As if its process had written it to standard error. */
  say(bytes: Uint8Array): void {
    if (this.isOver) return;
    this.onOutput(this.#tool as Tool, 'stderr', bytes, this.#place.platform.clock.wallMs());
  }

  onEnded({ rank, attempt }: Tool, own: ToolEnd): void {
    const { watch, services, feed, reports } = this.#place;
    const complaint = own.outcome === 'exited' && own.end?.status === 0 ? services.complaintOf(rank) : undefined;
    const end = complaint === undefined ? own : { ...own, error: complaint };
    // Services first: what other ranks learn from them, an MPI library's survivors wait for.
    services.remove(rank, end.outcome === 'exited' && end.end?.status === 0 && complaint === undefined);
    watch.onEnded(end);
    const afterMs = this.#life.is('running') ? this.#pauseMs(end) : undefined;
    if (afterMs === undefined) {
      this.#life.apply('end');
      return this.#finish(end);
    }
    const leaves = this.#failsQuickly(end);
    this.#life.apply(leaves ? 'move' : 'fail');
    this.#followed = { end, afterMs, report: this.#report };
    for (const [stream, wallMs] of this.#endsWallMs) this.#endLine(stream, wallMs);
    if (leaves) return feed.forget(rank);
    this.#prepare(attempt + 1);
    this.#report = reports.followed(end, afterMs);
    this.#timers.set('pause', afterMs, () => this.check());
  }

  onGone(tool: Tool): void {
    this.#left.delete(tool);
    this.survivors.push(...tool.survivors);
    this.hadProcesses ||= tool.pid !== 0;
    this.#place.output.remove(tool);
    this.check();
  }

  onStdinDrain(tool: Tool): void {
    this.#place.feed.onDrain(tool);
  }

  onStdinClosed(tool: Tool): void {
    if (this.running === tool) this.#place.feed.remove(tool.rank);
  }

  #queue(attempt: number): void {
    const wallMs = this.#place.platform.clock.wallMs();
    this.#tool = undefined;
    this.#followed = undefined;
    this.#endsWallMs.set('stdout', wallMs).set('stderr', wallMs);
    this.#prepare(attempt);
    this.#place.onQueued(this);
  }

  /** What comes for the next attempt waits for it. */
  #prepare(attempt: number): void {
    const { launch, feed, services } = this.#place;
    const { rank } = this.#placement;
    this.#attempt = attempt;
    if (takesStdin(launch, rank)) feed.add(rank);
    this.#variables = services.add(rank, attempt);
  }

  /** The pause before the next attempt here; undefined: none follows. */
  #pauseMs(end: ToolEnd): number | undefined {
    const { errorManager, context: { job, hostMap: { host: index, name } } } = this.#place;
    const failure = failureOf(end, { index, name }, { job, attempt: end.attempt }, end.endWallMs);
    if (failure === undefined) return undefined;
    const action = errorManager.local?.(failure, { of: 'tool', attempt: end.attempt });
    return action?.type === 'restart' ? action.afterMs : undefined;
  }

  /** Whether it has failed so often, each time so soon after its start, that it is to leave. */
  #failsQuickly({ outcome, startWallMs = 0, endWallMs }: ToolEnd): boolean {
    const { params } = this.#place;
    const isQuick = outcome === 'failed-start' || endWallMs - startWallMs < params.int('errmgr.quick');
    this.#quickCount = isQuick ? this.#quickCount + 1 : 0;
    const countMax = params.int('errmgr.elsewhere');
    return countMax > 0 && this.#quickCount >= countMax;
  }

  #endLine(stream: StreamName, wallMs: number): void {
    if (this.#unfinishedLines.delete(stream)) this.#send(stream, NEWLINE_BYTES, wallMs);
  }

  #endStream(stream: StreamName, wallMs: number): void {
    this.#unfinishedLines.delete(stream);
    this.#send(stream, NO_BYTES, wallMs);
  }

  /** An empty chunk ends the stream. Its start is told before its output. */
  #send(stream: StreamName, chunk: Uint8Array, wallMs: number): void {
    this.#place.reports.flushStarted();
    this.#place.output.push([this.#placement.rank, stream === 'stdout' ? 1 : 2, wallMs], chunk);
  }

  /** It is over, with this as its last end. */
  #finish(end: ToolEnd): void {
    const { feed, services, reports } = this.#place;
    const { rank } = this.#placement;
    this.#timers.clear('pause');
    services.remove(rank);
    feed.remove(rank);
    for (const [stream, wallMs] of this.#endsWallMs) this.#endStream(stream, wallMs);
    this.#endsWallMs.clear();
    reports.ended(end);
    this.check();
  }

  /** Its end where no process was started. */
  #endOf(outcome: 'failed-start' | 'not-started', error?: ErrorRecord): ToolEnd {
    const endWallMs = this.#place.platform.clock.wallMs();
    const end = { rank: this.#placement.rank, pid: 0, outcome, attempt: this.#attempt, endWallMs, leftovers: 0 };
    return error === undefined ? end : { ...end, error };
  }
}
