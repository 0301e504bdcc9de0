/**
 * Tool agent (STCI paper, II-A): the user's program, as its session agent sees it. Watches one process from its start
 * until its own end, the end of its output, and the end of the processes it left in its group.
 */

import {
  fromErrorRecord, toErrorRecord, type Channel, type ErrorRecord, type Platform, type Process, type ProcessEnd,
  type Rank, type SignalName, type SpawnSpec,
} from '@stci/interface';
import { formatDuration } from '@stci/registry';
import { Lifecycle, type LifeTable } from '../event/lifecycle.js';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { RankEnd } from '../job/ledger.js';

export interface ToolInit {
  readonly platform: Platform;
  /** Of its rank. */
  readonly holds: Scope;
  readonly rank: Rank;
  /** Number of this start of the rank, from 1. */
  readonly attempt: number;
  readonly spawn: SpawnSpec;
  /** It inherits a socket: gets the other end. */
  readonly onSocket?: ((channel: Channel) => void) | undefined;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** How long output is awaited after the last process of the group has ended. */
  readonly drainMs: number;
}

/** What the session agent reports of a rank's end. */
export interface ToolEnd extends Omit<RankEnd, 'failure'> {
  readonly endWallMs: number;
  readonly attempt: number;
}

export interface ToolEvents {
  onStarted(tool: Tool): void;
  onOutput(tool: Tool, stream: 'stdout' | 'stderr', chunk: Uint8Array, wallMs: number): void;
  onOutputEnd(tool: Tool, stream: 'stdout' | 'stderr', wallMs: number): void;
  /** The process itself has ended, or was never started. */
  onEnded(tool: Tool, end: ToolEnd): void;
  /** Process, group and output have ended. */
  onGone(tool: Tool): void;
  /** Standard input has room again. */
  onStdinDrain(tool: Tool): void;
  onStdinClosed(tool: Tool): void;
}

export type ToolState = 'unstarted' | 'running' | 'ending' | 'ended' | 'gone';

export type ToolEvent =
  | 'start'
  /** The runtime ends it: its end will not be its own. */
  | 'stop'
  /** Its process has ended, or could not be started, or is given up. */
  | 'end'
  /** Nothing is left of its group and output. */
  | 'leave';

export const TOOL_LIFE: LifeTable<ToolState, ToolEvent> = {
  of: 'a tool',
  first: 'unstarted',
  rows: {
    unstarted: { start: 'running' },
    running: { stop: 'ending', end: 'ended' },
    ending: { stop: 'ending', end: 'ended' },
    ended: { stop: 'ended', end: 'ended', leave: 'gone' },
    gone: { stop: 'gone', end: 'gone' },
  },
};

/**
 * Interval at which a process group that is being ended is polled: no system call waits for the end of processes that
 * are not children. It ends with the group, or KILL_WAIT_MS after its SIGKILL; only pipes that others hold are longer.
 */
const GROUP_POLL_MS = 20;

/** Signals with which the runtime ends a group. */
const ENDING_SIGNALS: ReadonlySet<string> = new Set<SignalName>(['SIGTERM', 'SIGKILL']);

/** From SIGKILL to giving up a remaining member: it is another user's, or hangs in the kernel. */
const KILL_WAIT_MS = 2000;

export class Tool {
  readonly rank: Rank;
  readonly attempt: number;
  readonly #init: ToolInit;
  readonly #events: ToolEvents;
  #process: Process | undefined;
  #startWallMs = 0;
  readonly #life = new Lifecycle(TOOL_LIFE);
  #openStreams = 2;
  /** While reading is paused for lack of credit, no output does not mean that it has ended. */
  #reading = false;
  /** Its group has got SIGTERM. */
  #isTerminated = false;
  /** Until nothing of it is left. */
  readonly #holds: Scope;
  readonly #timers: Timers<'kill' | 'poll' | 'drain' | 'giveUp'>;
  #survivors: readonly number[] | undefined;
  /** Why it was killed by `killFor`. */
  #reason: string | undefined;

  constructor(init: ToolInit, events: ToolEvents) {
    this.rank = init.rank;
    this.attempt = init.attempt;
    this.#init = init;
    this.#events = events;
    this.#holds = init.holds.child(`process of rank ${this.rank}`);
    this.#timers = new Timers(init.platform.clock, this.#holds);
  }

  get gone(): boolean {
    return this.#life.is('gone');
  }

  get #hasEnded(): boolean {
    return this.#life.is('ended', 'gone');
  }

  /** Processes of the group that could not be ended. */
  get survivors(): readonly number[] {
    return this.#survivors ?? [];
  }

  start(): void {
    this.#life.apply('start');
    this.#startWallMs = this.#init.platform.clock.wallMs();
    const { spawn, onSocket } = this.#init;
    const spec = onSocket === undefined ? spawn : { ...spawn, hasSocket: true };
    this.#holds.atEnd(() => {
      if (!this.gone) this.#process?.signal('SIGKILL', 'group');
    });
    this.#process = this.#init.platform.processes.spawn(spec, {
      onError: (error) => this.#onError(error),
      onOutput: (stream, chunk, wallMs) => {
        this.#timers.clear('drain');
        this.#events.onOutput(this, stream, chunk, wallMs);
        this.#checkGone();
      },
      onOutputEnd: (stream) => this.#onOutputEnd(stream),
      onStdinDrain: () => this.#events.onStdinDrain(this),
      onStdinClosed: () => this.#events.onStdinClosed(this),
      onExit: (end) => this.#onExit(end),
    });
    const { pid, socket } = this.#process;
    if (socket !== undefined) onSocket?.(socket);
    if (pid > 0) this.#events.onStarted(this);
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get startWallMs(): number {
    return this.#startWallMs;
  }

  /** False if it does not run. */
  signal(name: SignalName, whom: 'process' | 'group' = 'group'): boolean {
    return !this.#hasEnded && this.#process?.signal(name, whom) === true;
  }

  /** SIGKILL to a tool that hangs: a failure of its own, which its end names. */
  killFor(reason: string): void {
    if (this.signal('SIGKILL')) this.#reason = reason;
  }

  /** Somebody else sends SIGTERM to all that runs here: its end will not be one of its own. */
  expectEnd(): void {
    this.#life.apply('stop');
  }

  /** SIGTERM, and SIGKILL after the grace period; SIGKILL at once if `kill`. */
  end(kill: boolean): void {
    if (this.gone) return;
    this.#life.apply('stop');
    this.#endGroup(kill);
  }

  /** Resumes or pauses reading its output. */
  readable(on: boolean): void {
    this.#reading = on;
    this.#process?.readable(on);
    this.#timers.clear('drain');
    if (on) this.#checkGone();
  }

  writeStdin(chunk: Uint8Array): boolean {
    return this.#process?.writeStdin(chunk) ?? true;
  }

  closeStdin(): void {
    this.#process?.closeStdin();
  }

  #onError(error: ErrorRecord): void {
    // It quotes the program's name, which may be longer than any message.
    const cut = toErrorRecord(fromErrorRecord(error));
    this.#finish({ outcome: 'failed-start', error: { ...cut, rank: this.rank } });
    this.#finishStreams();
  }

  #onExit(end: ProcessEnd): void {
    const process = this.#process as Process;
    const leftovers = process.groupSize();
    // A crash is reported as such even if the job is being ended.
    const isOurs = this.#life.is('ending') && (end.signal === undefined || ENDING_SIGNALS.has(end.signal));
    const outcome = isOurs ? 'ended' : end.signal === undefined ? 'exited' : 'signalled';
    const isHung = outcome === 'signalled' && end.signal === 'SIGKILL' && this.#reason !== undefined;
    const error = { code: 'STCI_TOOL_SIGNAL', message: this.#reason ?? '', rank: this.rank } as const;
    const readInput = process.hasReadInput();
    this.#finish({ outcome, end, leftovers, ...(isHung && { error }), ...(readInput && { readInput }) });
    if (leftovers > 0) this.#endGroup(false);
    this.#checkGone();
  }

  #finish(how: Pick<ToolEnd, 'outcome'> & Partial<ToolEnd>): void {
    const isFirst = !this.#hasEnded;
    this.#life.apply('end');
    if (!isFirst) return;
    const { rank, pid, attempt } = this;
    const endWallMs = this.#init.platform.clock.wallMs();
    const start = how.outcome === 'failed-start' ? {} : { startWallMs: this.#startWallMs };
    this.#events.onEnded(this, { rank, pid, attempt, endWallMs, leftovers: 0, ...start, ...how });
  }

  #finishStreams(): void {
    this.#openStreams = 0;
    const wallMs = this.#init.platform.clock.wallMs();
    this.#events.onOutputEnd(this, 'stdout', wallMs);
    this.#events.onOutputEnd(this, 'stderr', wallMs);
    this.#checkGone();
  }

  #onOutputEnd(stream: 'stdout' | 'stderr'): void {
    if (this.#openStreams === 0) return;
    this.#openStreams -= 1;
    this.#events.onOutputEnd(this, stream, this.#init.platform.clock.wallMs());
    this.#checkGone();
  }

  #endGroup(kill: boolean): void {
    const process = this.#process as Process;
    if (kill) this.#kill(process);
    else if (!this.#isTerminated) {
      this.#isTerminated = true;
      process.signal('SIGTERM', 'group');
      // A stopped process handles SIGTERM only after it is continued.
      process.signal('SIGCONT', 'group');
      this.#timers.set('kill', this.#init.graceMs, () => this.#kill(process));
    }
    this.#poll();
  }

  #kill(process: Process): void {
    process.signal('SIGKILL', 'group');
    this.#timers.ensure('giveUp', KILL_WAIT_MS, () => this.#giveUp(process));
  }

  /** Processes that survive SIGKILL are reported and no longer awaited. */
  #giveUp(process: Process): void {
    if (this.gone || process.groupSize() === 0) return;
    this.#survivors = process.groupMembers();
    const message = `Rank ${this.rank} did not end within ${formatDuration(KILL_WAIT_MS)} of SIGKILL`;
    this.#finish({ outcome: 'lost', error: { code: 'STCI_TOOL_SURVIVED', message, rank: this.rank } });
    this.#checkGone();
  }

  #poll(): void {
    this.#timers.ensure('poll', GROUP_POLL_MS, () => {
      this.#checkGone();
      this.#poll();
    });
  }

  /** After a stall of this process, say, output that has arrived is read first. */
  #awaitOutput(): void {
    this.#timers.ensure('drain', this.#init.drainMs, () => this.#process?.closeOutput(), { running: true });
  }

  #checkGone(): void {
    if (!this.#life.is('ended')) return;
    if (this.#survivors === undefined && (this.#process?.groupSize() ?? 0) > 0) return;
    if (this.#openStreams > 0) {
      // A process outside the group holds the pipe: a daemon with a session of its own.
      if (this.#reading) this.#awaitOutput();
      return;
    }
    this.#life.apply('leave');
    this.#holds.close();
    this.#events.onGone(this);
  }
}
