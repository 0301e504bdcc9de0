/** The jobs of a session that stays: those that run, that wait for slots, and the last that have ended. */

import {
  StciError, fromErrorRecord, type Clock, type ErrorRecord, type HostSpec, type JobEvent, type JobId, type JobSpec,
} from '@stci/interface';
import type { SessionObserver } from '../controller/controller-contracts.js';
import type { Session } from '../controller/session.js';
import { heldTimer } from '../event/timers.js';
import type { HostsChanged, RemoveOptions } from '../hosts/elastic-hosts.js';
import type { HostStatus } from '../hosts/host-status.js';
import { behindError } from '../jobs/job-failures.js';
import { recoveryText } from '../run/recovery-text.js';
import type { JobStatus, SessionStatus } from './contracts.js';
import type { SpoolFiles } from './files.js';
import { ResidentJob } from './resident-job.js';

/** Ended jobs whose status, and output that nobody has seen, are kept. */
const ENDED_MAX = 64;
/** Of their events together; the last one is kept in any case. */
const ENDED_EVENT_BYTES = 64 << 20;
/** Full spools of ended jobs. */
const ENDED_SPOOLS = 4;

/** What runs the jobs: the controller and its agents. */
export type OpenedSession = Omit<Session, 'pairs'>;

export interface SessionJobsInit {
  readonly name: string;
  readonly version: string;
  readonly clock: Clock;
  /** Makes the session, which is opened at once. */
  session(observer: SessionObserver): OpenedSession;
  /** For the spool of one job; they have different names. */
  spoolFiles(name: string): SpoolFiles;
  readonly spoolBytesMax: number;
  /** The session is for one job: how long it keeps the result after the job's end; its agents end at once. */
  readonly lingerMs?: number;
  /** What is done about hosts that do not come up, or are lost. */
  readonly onStep?: ((text: string) => void) | undefined;
  /** What happens to its hosts, and failures. */
  readonly onEvent?: ((event: JobEvent) => void) | undefined;
  readonly onReady?: ((up: number) => void) | undefined;
  /** Its hosts have not come up: it ends. */
  readonly onAborted?: ((error: StciError) => void) | undefined;
  /** A batch system takes the hosts: it ends after its jobs. */
  readonly onEnding?: ((error: StciError) => void) | undefined;
  /** Of its jobs, as they happen. */
  readonly onJobEvent?: ((job: JobId, event: JobEvent) => void) | undefined;
  /** Of a session for one job: its agents have ended, and the result is kept. */
  readonly onAgentsEnded?: (() => void) | undefined;
  /** All jobs and agents have ended. */
  readonly onStopped: () => void;
}

export interface SubmitOptions {
  /** Wait for slots that other jobs have. */
  readonly wait: boolean;
  /** What `stci ps` shows. */
  readonly label: string;
}

export interface SubmitEvents {
  onAccepted(job: ResidentJob): void;
  onRefused(error: StciError): void;
  /** It waits, for this reason. */
  onWaiting(reason: string): void;
}

interface Waiting {
  readonly spec: JobSpec;
  readonly options: SubmitOptions;
  readonly events: SubmitEvents;
  readonly sinceWallMs: number;
}

/** Throws StciError. */
export class SessionJobs {
  readonly #init: SessionJobsInit;
  readonly session: OpenedSession;
  #isReady = false;
  readonly #jobs = new Map<JobId, ResidentJob>();
  /** In the order of their submission. */
  readonly #waiting: Waiting[] = [];
  /** One is being tried. */
  #isRetrying = false;
  /** Something has changed since the job that is being retried was submitted. */
  #isRetryDue = false;
  #spools = 0;
  /** Those that the controller has not answered yet. */
  #starting = 0;
  #isStopping = false;
  #isStopped = false;

  constructor(init: SessionJobsInit) {
    this.#init = init;
    this.session = init.session({
      onEvent: (event) => this.#onEvent(event),
      onReady: () => {
        this.#isReady = true;
        init.onReady?.(this.session.hosts.filter(({ state }) => state === 'up').length);
      },
      onRoom: () => this.#onRoom(),
      onAborted: (failures) => {
        init.onAborted?.(abortError(failures.map(({ error }) => error)));
        this.stop();
      },
      onEnding: (error) => {
        init.onEnding?.(error);
        this.stopAfterJobs();
      },
    });
    this.session.open();
  }

  /** Returns how to withdraw it while it waits. */
  submit(spec: JobSpec, options: SubmitOptions, events: SubmitEvents): () => void {
    if (this.#isStopping) throw this.#stoppingError();
    const waiting: Waiting = { spec, options, events, sinceWallMs: this.#init.clock.wallMs() };
    if (this.#waiting.length > 0 && this.#needsSlots(spec)) this.#onRefused(waiting, behindError());
    else this.#start(waiting, (error) => this.#onRefused(waiting, error));
    return () => {
      if (this.#remove(waiting)) this.#retry();
    };
  }

  job(job: JobId): ResidentJob {
    const found = this.#jobs.get(job);
    if (found !== undefined) return found;
    const last = Math.max(0, ...this.#jobs.keys());
    const reason = job > last ? 'never had a job' : 'has forgotten job';
    const more = job > last ? '' : `; the last ${ENDED_MAX} that ended are kept, fewer after very large ones`;
    throw new StciError('STCI_JOB_UNKNOWN', `Session ${this.#init.name} ${reason} ${job}${more}. See stci ps.`);
  }

  status(): SessionStatus {
    const { name, version } = this.#init;
    const { continues, launcher, hosts, spares } = this.session;
    const waiting = this.#waiting.map(({ options, sinceWallMs }): JobStatus => ({
      job: 0, state: 'waiting', label: options.label, ranks: 0, running: 0, hosts: 0, submitWallMs: sinceWallMs,
      followers: 1, outputBytes: 0, droppedBytes: 0,
    }));
    return {
      name,
      version,
      isStopping: this.#isStopping,
      continues,
      launcher,
      hosts,
      spares,
      jobs: [...[...this.#jobs.values()].map((job) => job.status()), ...waiting],
    };
  }

  /** Calls `done` when each of these hosts is up, or has failed. */
  addHosts(hosts: readonly HostSpec[], done: HostsChanged): void {
    if (this.#isStopping) throw this.#stoppingError();
    this.session.addHosts(hosts, done);
  }

  /** Calls `done` when each of these hosts has left, or stays. */
  removeHosts(names: readonly string[], options: RemoveOptions, done: HostsChanged): void {
    if (this.#isStopping) throw this.#stoppingError();
    this.session.removeHosts(names, options, (outcomes) => {
      done(outcomes);
      this.#retry(); // One that waits may not fit any more.
    });
  }

  /** Ends all jobs and the session. `reason`: for its jobs. */
  stop(reason = 'stci stop'): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    for (const job of this.#running) job.end(reason);
    this.stopAfterJobs();
  }

  /** No job is taken any more; those that run end without its doing. */
  stopAfterJobs(): void {
    this.#isStopping = true;
    for (const { events } of this.#waiting.splice(0)) events.onRefused(this.#stoppingError());
    this.#checkStopped();
  }

  #onEvent(event: JobEvent): void {
    const { onEvent, onStep } = this.#init;
    onEvent?.(event);
    if (event.type === 'recovery') onStep?.(`${recoveryText(event)}: ${event.error.message}`);
    else if (event.type === 'warning') onStep?.(event.text);
    else if (event.type === 'host-up' && this.#isReady) onStep?.(`host ${event.name} is up`);
    if (event.type === 'recovery') this.#onRoom();
  }

  /** Those that wait may get slots, or a host is not awaited any more, and they may not fit. */
  #onRoom(): void {
    if (this.#isReady) this.#retry();
  }

  get #running(): readonly ResidentJob[] {
    return [...this.#jobs.values()].filter(({ isOver }) => !isOver);
  }

  #start({ spec, options, events }: Waiting, onRefused: (error: StciError) => void): void {
    const { clock, spoolFiles, spoolBytesMax } = this.#init;
    this.#spools += 1;
    const job = new ResidentJob({
      clock,
      holds: this.session.holds.child('record of a job'),
      label: options.label,
      stdin: spec.stdin,
      files: spoolFiles(String(this.#spools)),
      spoolBytesMax,
      onAccepted: (error) => {
        this.#starting -= 1;
        if (error === undefined) {
          this.#jobs.set(job.job, job);
          events.onAccepted(job);
          if (this.#isStopping) job.end('the end of its session');
          return;
        }
        frontEnd.stop();
        job.close();
        onRefused(error);
        this.#checkStopped();
        if (this.#lingers && this.#jobs.size === 0) clock.after(0, () => this.stop());
      },
      onEvent: (event) => this.#init.onJobEvent?.(job.job, event),
      onEnded: () => {
        frontEnd.stop();
        this.#onEnded();
      },
      onCollected: () => this.#checkCollected(),
    });
    const frontEnd = this.session.follow(job);
    job.frontEnd = frontEnd;
    this.#starting += 1;
    frontEnd.submit(spec);
  }

  #onRefused(waiting: Waiting, error: StciError): void {
    if (error.data['busy'] === true && waiting.options.wait && !this.#isStopping) {
      return this.#enqueue(waiting, error.message);
    }
    waiting.events.onRefused(error);
  }

  #enqueue(waiting: Waiting, reason: string): void {
    this.#waiting.push(waiting);
    waiting.events.onWaiting(reason);
  }

  /** Whether it waited. */
  #remove(waiting: Waiting): boolean {
    const at = this.#waiting.indexOf(waiting);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** It may get ranks on hosts whose slots are a bound: then it goes behind those that wait for them. */
  #needsSlots({ apps, oversubscribe }: JobSpec): boolean {
    const isBound = ({ host, spec }: HostStatus): boolean =>
      spec.slotsBound && apps.some((app) => app.hosts === undefined || app.hosts.includes(host));
    return !oversubscribe && this.session.hosts.some(isBound);
  }

  #onEnded(): void {
    const ended = [...this.#jobs.values()].filter(({ isOver, isFollowed }) => isOver && !isFollowed);
    let events = ended.reduce((sum, { eventBytes }) => sum + eventBytes, 0);
    while (ended.length > ENDED_MAX || (events > ENDED_EVENT_BYTES && ended.length > 1)) {
      const job = ended.shift() as ResidentJob;
      events -= job.eventBytes;
      job.close();
      this.#jobs.delete(job.job);
    }
    // Of ended jobs together no more than of some jobs that run.
    let bytes = ended.reduce((sum, { spoolBytes }) => sum + spoolBytes, 0);
    for (const job of ended) {
      if (bytes <= this.#init.spoolBytesMax * ENDED_SPOOLS) break;
      bytes -= job.spoolBytes;
      job.dropOutput();
    }
    this.#retry();
    if (this.#lingers && this.#running.length === 0) this.#linger();
    this.#checkStopped();
  }

  #checkCollected(): void {
    if (!this.#lingers || this.#running.length > 0) return;
    if ([...this.#jobs.values()].every(({ isCollected, isFollowed }) => isCollected && !isFollowed)) this.stop();
  }

  get #lingers(): boolean {
    return this.#init.lingerMs !== undefined;
  }

  /** The one job has ended. */
  #linger(): void {
    const { clock, lingerMs = 0, onAgentsEnded } = this.#init;
    this.session.stop(() => onAgentsEnded?.());
    heldTimer(this.session.holds, clock, 'linger', lingerMs, () => this.stop());
  }

  /** The first of those that wait, then the next. */
  #retry(): void {
    const [first] = this.#waiting;
    this.#isRetryDue = this.#isRetrying;
    if (first === undefined || this.#isRetrying) return;
    this.#isRetrying = true;
    const again = (): boolean => {
      this.#isRetrying = false;
      return this.#remove(first);
    };
    const events: SubmitEvents = {
      ...first.events,
      onAccepted: (job) => {
        if (again()) first.events.onAccepted(job);
        else job.end('its front-end, which has left'); // While it was tried.
        this.#retry();
      },
    };
    this.#start({ ...first, events }, (error) => {
      if (error.data['busy'] === true && this.#waiting.includes(first)) {
        this.#isRetrying = false; // It keeps its place.
        if (this.#isRetryDue) this.#retry();
      } else {
        if (again()) first.events.onRefused(error);
        this.#retry();
      }
    });
  }

  #checkStopped(): void {
    if (!this.#isStopping || this.#isStopped || this.#starting > 0 || this.#running.length > 0) return;
    this.#isStopped = true;
    this.session.stop(() => this.#init.onStopped());
  }

  #stoppingError(): StciError {
    return new StciError('STCI_SESSION_REFUSED', `Session ${this.#init.name} is stopping.`);
  }
}

function abortError([first, ...more]: readonly ErrorRecord[]): StciError {
  if (first === undefined) return new StciError('STCI_LAUNCH_FAILED', 'No host came up.');
  const { code, message } = fromErrorRecord(first);
  return new StciError(code, [message, ...new Set(more.map((other) => `also: ${other.message}`))].join('\n'));
}
