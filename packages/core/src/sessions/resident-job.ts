/**
 * A job of a session that stays, between the front-end in the session's process and the front-ends that come and
 * go: keeps its events and output (spool.ts), and what `stci ps` tells of it.
 */

import {
  StciError, fromErrorRecord, type Clock, type ErrorRecord, type FrontEndEvents, type JobControl, type JobEvent,
  type JobId, type JobMap, type JobReport, type Rank, type SignalName, type StdinTo,
} from '@stci/interface';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { StreamName } from '../iof/source.js';
import type { JobFrontEnd } from '../controller/session.js';
import type {
  FollowOptions, JobFollower, JobState, JobStatus, RankPage, RankStatus, RecordReader,
} from './contracts.js';
import type { SpoolFiles } from './files.js';
import type { CursorPlace, SpoolCursor } from './spool-cursor.js';
import { Spool } from './spool.js';

/** How long the job's tools wait for a front-end that has stopped reading, when the spool is full. */
const STANDSTILL_MS = 10_000;
/** Of one answer: those of a large job would exceed the largest message. */
const PAGE_RANKS = 1000;

export interface ResidentJobInit {
  readonly clock: Clock;
  /** Until nothing is kept of it. */
  readonly holds: Scope;
  readonly label: string;
  readonly stdin: StdinTo;
  /** Of its spool. */
  readonly files: SpoolFiles;
  readonly spoolBytesMax: number;
  /** The job was mapped for the first time, or refused. */
  readonly onAccepted: (error: StciError | undefined) => void;
  readonly onEvent: (event: JobEvent) => void;
  readonly onEnded: () => void;
  /** A front-end has read it to its end. */
  readonly onCollected: () => void;
}

interface Follower {
  readonly cursor: SpoolCursor;
  /** It has input, which waits here while another front-end's is taken. */
  readonly isOwner: boolean;
  readonly input: Uint8Array[];
  /** When it last read. */
  readMs: number;
}

export class ResidentJob implements FrontEndEvents {
  readonly #init: ResidentJobInit;
  readonly #spool: Spool;
  readonly #followers = new Map<JobFollower, Follower>();
  readonly #ranks = new Map<Rank, RankStatus>();
  readonly submitWallMs: number;
  #frontEnd: JobFrontEnd | undefined;
  #map: JobMap | undefined;
  #state: JobState = 'starting';
  #report: JobReport | undefined;
  readonly #onEnd = new Set<(report: JobReport) => void>();
  /** A front-end has read it to its end. */
  isCollected = false;
  #running = 0;
  #outputBytes = 0;
  /** Where the front-end that left last, or never came, is to go on. */
  #place: SpoolCursor;
  #writer: JobFollower | undefined;
  #isInputClosed = false;
  /** Output waits for a follower that does not read. */
  readonly #timers: Timers<'follower'>;

  constructor(init: ResidentJobInit) {
    this.#init = init;
    this.#timers = new Timers(init.clock, init.holds);
    this.submitWallMs = init.clock.wallMs();
    this.#spool = new Spool({
      files: init.files,
      bytesMax: init.spoolBytesMax,
      onMore: () => this.#onMore(),
      shown: () => this.#shown(),
      mayWait: (oldestEnd) => this.#mayWait(oldestEnd),
    });
    this.#place = this.#spool.open();
    init.holds.atEnd(() => this.#spool.close());
  }

  /** The front-end that submitted it. */
  set frontEnd(frontEnd: JobFrontEnd) {
    this.#frontEnd = frontEnd;
  }

  get job(): JobId {
    return this.#frontEnd?.job ?? 0;
  }

  get stdin(): StdinTo {
    return this.#init.stdin;
  }

  get map(): JobMap {
    return this.#map as JobMap;
  }

  get isOver(): boolean {
    return this.#state === 'ended';
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0;
  }

  follow(follower: JobFollower, { all, input }: FollowOptions): RecordReader {
    const cursor = all ? this.#spool.openAgain() : this.#spool.openAt(this.#nextPlace());
    const own: Follower = { cursor, isOwner: input, input: [], readMs: this.#init.clock.nowMs() };
    this.#followers.set(follower, own);
    if (input && this.#writer === undefined) this.#writer = follower;
    if (this.#isInputClosed) this.#init.clock.after(0, () => follower.onStdinClosed());
    return {
      get isAtEnd() {
        return cursor.isAtEnd;
      },
      read: (bytesMax, done) => {
        own.readMs = this.#init.clock.nowMs();
        cursor.read(bytesMax, (batch) => {
          done(batch);
          if (this.#timers.has('follower')) this.#spool.advance();
        });
      },
      acknowledge: (bytes) => {
        cursor.acknowledge(bytes);
        this.#spool.advance();
      },
      close: () => this.#onLeft(follower, cursor),
    };
  }

  control(control: JobControl): void {
    if (!this.isOver) this.#frontEnd?.control(control);
  }

  /** Returns false if the tools are slower, or the input of another front-end is taken. An empty chunk closes it. */
  writeStdin(follower: JobFollower, chunk: Uint8Array): boolean {
    const own = this.#followers.get(follower);
    if (own?.isOwner !== true || this.#isInputClosed || this.isOver || this.#frontEnd === undefined) return true;
    if (follower !== this.#writer) {
      if (own.input.at(-1)?.length !== 0) own.input.push(chunk); // Else it is closed.
      return false;
    }
    if (chunk.length > 0) return this.#frontEnd.writeStdin(chunk);
    this.#frontEnd.closeStdin();
    this.onStdinClosed();
    return true;
  }

  /** Its input is taken; that of others waits until this one has left. */
  isWriter(follower: JobFollower): boolean {
    return follower === this.#writer;
  }

  /** Calls back when it has ended; the report has neither ranks nor failures. Returns how to cancel that. */
  onEnd(done: (report: JobReport) => void): () => void {
    if (this.#report === undefined) this.#onEnd.add(done);
    else done(this.#report);
    return () => void this.#onEnd.delete(done);
  }

  /** Ends it: TERM, then KILL; or sends another signal. */
  signal(signal: SignalName | undefined): void {
    if (this.isOver) throw new StciError('STCI_JOB_UNKNOWN', `Job ${this.job} has ended already.`);
    if (signal !== undefined && signal !== 'SIGTERM' && signal !== 'SIGKILL') {
      return this.control({ verb: 'signal', signal });
    }
    this.end('stci kill', signal);
  }

  /** TERM, then KILL; or KILL at once. `by`: the command. */
  end(by: string, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): void {
    const error = { code: 'STCI_JOB_INTERRUPTED', message: `Ended by ${by}`, data: { signal } };
    const cause = { kind: 'interrupt', error, exitCode: signal === 'SIGKILL' ? 137 : 143 } as const;
    this.control({ verb: 'end', kill: signal === 'SIGKILL', reason: by, cause });
  }

  /** Output on disk. */
  get spoolBytes(): number {
    return this.#spool.diskBytes;
  }

  /** Of its events, which are in memory. */
  get eventBytes(): number {
    return this.#spool.eventBytes;
  }

  /** Drops its output, which counts as lost where nobody has shown it. */
  dropOutput(): void {
    this.#spool.discard(this.isCollected);
  }

  /** Removes what is kept of its output. */
  close(): void {
    this.#init.holds.close();
  }

  status(): JobStatus {
    return {
      job: this.job,
      state: this.#state,
      label: this.#init.label,
      ranks: this.#map?.size ?? 0,
      running: this.#running,
      hosts: this.#map?.hosts.filter(({ runs }) => runs.length > 0).length ?? 0,
      submitWallMs: this.submitWallMs,
      endWallMs: this.#report?.endWallMs,
      exitCode: this.#report?.exitCode,
      followers: this.#followers.size,
      outputBytes: this.#outputBytes,
      droppedBytes: this.#spool.unseenBytes,
    };
  }

  ranks(from: Rank): RankPage {
    const size = this.#map?.size ?? 0;
    const ranks: RankStatus[] = [];
    let next = from;
    for (; next < size && ranks.length < PAGE_RANKS; next += 1) {
      const status = this.#ranks.get(next);
      if (status !== undefined) ranks.push(status);
    }
    return { ranks, next: next < size ? next : undefined };
  }

  onJobEvent(event: JobEvent): void {
    this.#track(event);
    this.#init.onEvent(event);
    if (event.type === 'ended' && this.#map === undefined) {
      return this.#init.onAccepted(fromErrorRecord(event.report.cause as ErrorRecord));
    }
    if (event.type !== 'ended') return this.#spool.event(event);
    // In parts: the report of many ranks would exceed the largest message.
    for (const error of event.report.failures) this.#spool.event({ type: 'reported', error });
    const report = this.#report as JobReport;
    this.#spool.event({ type: 'ended', report });
    for (const done of this.#onEnd) done(report);
    this.#onEnd.clear();
    this.#init.onEnded();
  }

  onOutput(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void {
    this.#outputBytes += chunk.length;
    this.#spool.output(rank, stream, chunk, wallMs, release);
  }

  onStdinDrain(): void {
    this.#writer?.onStdinDrain();
  }

  onStdinClosed(): void {
    this.#isInputClosed = true;
    for (const follower of this.#followers.keys()) follower.onStdinClosed();
  }

  onStopped(): void {}

  #track(event: JobEvent): void {
    switch (event.type) {
      case 'mapped': {
        const isFirst = this.#map === undefined;
        this.#map = event.map;
        if (isFirst) this.#init.onAccepted(undefined);
        return;
      }
      case 'started': {
        const { rank, host, pid } = event;
        this.#running += 1;
        this.#ranks.set(rank, { rank, host: this.map.hosts[host]?.name ?? '?', pid, state: 'running' });
        return;
      }
      case 'exited':
      case 'restarting': {
        const { rank, host, pid, outcome, end } = event.report;
        if (this.#ranks.get(rank)?.state === 'running') this.#running -= 1;
        this.#ranks.set(rank, { rank, host, pid, state: event.type === 'restarting' ? event.type : outcome, end });
        return;
      }
      case 'running':
      case 'ending':
        this.#state = event.type;
        return;
      case 'ended':
        this.#state = 'ended';
        this.#report = { ...event.report, ranks: [], failures: [] };
        return;
      default:
    }
  }

  #shown(): { readonly before: number; readonly isFollowed: boolean; readonly sent: number } {
    const cursors = this.isFollowed ? [...this.#followers.values()].map(({ cursor }) => cursor) : [this.#place];
    return {
      before: Math.min(...cursors.map(({ shown }) => shown)),
      isFollowed: this.isFollowed,
      sent: Math.max(...cursors.map(({ position }) => position)),
    };
  }

  /** Where somebody who comes now begins: behind what others have been sent. */
  #nextPlace(): CursorPlace {
    const places = [...this.#followers.values()].map(({ cursor }) => cursor.unread);
    return places.sort((a, b) => b.position - a.position)[0] ?? this.#place.place;
  }

  #onLeft(follower: JobFollower, cursor: SpoolCursor): void {
    this.#followers.delete(follower);
    if (this.#writer === follower) this.#nextWriter();
    const { place, isAtEnd } = cursor;
    cursor.close();
    if (this.isOver && isAtEnd && place.position >= this.#spool.outputEnd) {
      this.isCollected = true;
    }
    if (this.isCollected) this.#init.onCollected();
    if (place.position >= this.#place.place.position) {
      this.#place.close();
      this.#place = this.#spool.openAt(place);
    }
    if (this.#timers.has('follower')) this.#spool.advance();
  }

  /** The writer has left: the input is that of the next that has some. */
  #nextWriter(): void {
    const [next, own] = [...this.#followers].find(([, { isOwner }]) => isOwner) ?? [];
    this.#writer = next;
    if (next === undefined) return;
    const room = (own as Follower).input.splice(0).map((chunk) => this.writeStdin(next, chunk));
    if (room.at(-1) === true) next.onStdinDrain();
  }

  #onMore(): void {
    for (const follower of this.#followers.keys()) follower.onMore();
  }

  /** The spool is full: front-ends that read are waited for, one that stands still is not. */
  #mayWait(oldestEnd: number): boolean {
    const { clock } = this.#init;
    const waits = [...this.#followers.values()]
      .filter(({ cursor, isOwner }) => isOwner && cursor.position < oldestEnd)
      .map(({ readMs }) => readMs + STANDSTILL_MS - clock.nowMs())
      .filter((leftMs) => leftMs > 0);
    this.#timers.clear('follower');
    if (waits.length === 0) return false;
    this.#timers.set('follower', Math.max(...waits), () => this.#spool.advance());
    return true;
  }
}
