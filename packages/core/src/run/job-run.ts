/**
 * One job, from submit to exit code: the front-end on one side, the caller's output, input and signals on the
 * other. The exit code is not decided here: causes on this side (a signal, output that cannot be written) go to the
 * controller, whose exit rule orders them among the job's failures, and outcome.ts settles the rest.
 */

import { StciError, caught } from '@stci/interface';
import type {
  Clock, EndCause, FrontEnd, FrontEndEvents, JobEvent, JobMap, JobReport, JobSpec, Rank, SignalName,
  Timer,
} from '@stci/interface';
import type { StreamName } from '../iof/source.js';
import type {
  OutputSink, RunDriver, RunOptions, RunProgress, RunRemarks, RunScreen, StdinSource,
} from './contracts.js';
import { EventLog } from './event-log.js';
import {
  causeElsewhere, causeOf, exitCodeWithoutReport, interruptCause, isOwnFailure, leftOutCause, settleReport, signalText,
} from './outcome.js';
import { FailureNews, type EndingEvent } from './failure-news.js';
import { memberText, restartText, spawnText } from './recovery-text.js';
import { endText, exitReport, finalLines, unreadText } from './report.js';

/** Time after which a job that is ending, or whose output is not yet written, does not keep its failure to itself. */
const STALL_MS = 1000;

/** The longest pause that can be announced, since the user decides when the front-end resumes. */
const SILENCE_MS_MAX = 0xffff_ffff;

export interface JobRunInit {
  readonly clock: Clock;
  readonly spec: JobSpec;
  /** As it is planned. */
  readonly map: JobMap;
  /** Called again when the job is remapped. */
  readonly onMapped: (map: JobMap) => void;
  readonly options: RunOptions;
  /** Before each of our messages; default: `stcirun: `. */
  readonly prefix?: string;
  /** Failures do not end the job (its error manager's `toleratesFailures`): each is reported when it is known. */
  readonly toleratesFailures: boolean;
  readonly driver: RunDriver;
  readonly startFrontEnd: (events: FrontEndEvents) => FrontEnd;
  /** The job can be left to a session; `text` says how it is found again. `isViewer`: one that only attached to it. */
  readonly detach?: { readonly text: string; readonly isViewer: boolean } | undefined;
  /** Agents of that host run on this machine, without a login. */
  readonly isHere?: (host: string) => boolean;
  /** Asked when all ranks run. */
  readonly remarks?: () => RunRemarks;
  /** Called once, last. */
  readonly onExit: (exitCode: number) => void;
}

export class JobRun implements FrontEndEvents {
  readonly #init: JobRunInit;
  readonly #driver: RunDriver;
  readonly #screen: RunScreen;
  readonly #sink: OutputSink;
  readonly #log: EventLog;
  readonly #news: FailureNews;
  readonly #progress: RunProgress | undefined;
  readonly #startMs: number;
  #frontEnd: FrontEnd | undefined;
  #stdin: StdinSource | undefined;
  #unwatch: () => void = () => undefined;
  #map: JobMap;
  /** Why the job is ending. */
  #ending: EndingEvent | undefined;
  /** Undefined: a library has spoken. */
  #remarks: RunRemarks | undefined = { texts: [] };
  /** Ranks that have ended. */
  #ended = 0;
  /** Chunks of output that are not yet written. */
  #unwritten = 0;
  #stallTimer: Timer | undefined;
  #isSummarized = false;
  #isStallSaid = false;
  /** Causes for which the front-end ended the job, in order. */
  readonly #causes: EndCause[] = [];
  #report: JobReport | undefined;
  /** What is shown, everywhere the same. */
  #settled: JobReport | undefined;
  /** Exit code of a job that was refused before it began. */
  #refusedCode: number | undefined;
  #onReportDropped: (cause: EndCause) => void = () => undefined;
  #isDetached = false;
  #shown = false;
  #stopped = false;

  constructor(init: JobRunInit) {
    this.#init = init;
    this.#driver = init.driver;
    this.#map = init.map;
    this.#startMs = init.clock.nowMs();
    this.#screen = this.#driver.openScreen((error) => this.#onOutputFault(error));
    this.#sink = this.#driver.openSink((error) => this.#onOutputFault(error));
    const { quiet, verbose, json } = init.options;
    const file = this.#driver.openEvents((error) => this.#onFileFault(error));
    this.#log = new EventLog({ clock: init.clock, screen: json ? this.#screen : undefined, file }, init.map);
    this.#news = new FailureNews({
      verbose, toleratesFailures: init.toleratesFailures,
      say: (text, isRemark) => this.#say(text, isRemark),
      logStep: (text, isError) => this.#logStep(text, isError),
    });
    if (!quiet && !verbose) this.#progress = this.#driver.openProgress(() => this.#sink.breakLine());
  }

  start(): void {
    const frontEnd = this.#init.startFrontEnd(this);
    this.#frontEnd = frontEnd;
    this.#unwatch = this.#driver.watchSignals({
      end: (signal, times, why) => this.#onEndSignal(signal, times, why),
      forward: (signal) => this.#hasAgents && frontEnd.control({ verb: 'signal', signal }),
      detach: () => this.detach(),
      pause: (on) => this.#hasAgents && frontEnd.announceSilence(on ? SILENCE_MS_MAX : 0),
    });
    caught(() => frontEnd.submit(this.#init.spec), ({ message, exitCode }) => {
      this.#say(message);
      this.#refusedCode = exitCode;
      this.#shown = true;
      frontEnd.stop();
    });
  }

  /** Leaves the job to its session: shows what has come, and ends with 0, or with its own failure. */
  detach(): void {
    const { detach } = this.#init;
    if (detach === undefined || !this.#hasAgents || this.#isDetached) return;
    this.#isDetached = true;
    this.#stdin?.stop();
    this.#progress?.stop();
    const end = (): void => {
      this.#frontEnd?.stop();
      this.#frontEnd?.stop(); // At once: what came since is for the next front-end.
      this.#remark(detach.text);
      this.#shown = true;
      this.#finish();
    };
    this.#sink.finish(() => this.#log.close(undefined, end));
  }

  onJobEvent(event: JobEvent): void {
    if (this.#isDetached) return;
    this.#progress?.on(event);
    this.#log.on(event);
    switch (event.type) {
      case 'mapped':
        this.#map = event.map;
        if (event.spawned !== undefined) this.#logStep(spawnText(event.spawned));
        return this.#init.onMapped(event.map);
      case 'recovery':
        return this.#news.onRecovery(event);
      case 'host-up':
        return this.#logStep(`host ${event.name} is up (${event.up} of ${event.total})`);
      case 'started':
        return this.#onStarted(event.rank, event.pid);
      case 'running':
        this.#logStep(this.#map.size === 1 ? 'the rank is running' : `all ${this.#map.size} ranks are running`);
        this.#remarks &&= this.#init.remarks?.() ?? this.#remarks;
        return;
      case 'mpi':
        this.#remarks = undefined;
        return this.#logStep(`MPI libraries speak ${event.protocol} (${event.version})`);
      case 'restarting':
      case 'warning':
        return this.#remark(event.type === 'warning' ? event.text : restartText(event));
      case 'exited':
        this.#ended += 1;
        if (!this.#hasRanks && this.#ending !== undefined) this.#watchStall();
        return this.#logStep(`rank ${event.report.rank} on ${event.report.host}: ${endText(event.report)}`);
      case 'failure':
        return this.#news.onFailure(event, this.#isOwn(event.error));
      case 'failure-record':
        return this.#news.onRecord(event.record);
      case 'member':
        return this.#logStep(memberText(event));
      case 'ending':
        this.#ending = event;
        this.#watchStall();
        return this.#logStep(`ending the job${this.#news.hasTold(event) ? '' : `: ${event.reason}`}`);
      case 'ended':
        return this.#onEnded(event.report);
    }
  }

  onOutput(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void {
    if (this.#isDetached) return; // Not released: the next front-end shows it.
    this.#progress?.stop();
    if (chunk.length > 0) {
      this.#unwritten += 1;
      return this.#sink.push(rank, stream, chunk, wallMs, () => {
        this.#unwritten -= 1;
        // What a viewer could not write is not shown: the next one gets it.
        if (!this.#isDetached || this.#causes.length === 0) release();
      });
    }
    this.#sink.end(rank, stream);
    release();
  }

  onStdinDrain(): void {
    this.#stdin?.drain();
  }

  onStdinClosed(): void {
    this.#stdin?.stop();
  }

  onStopped(): void {
    this.#stopped = true;
    this.#progress?.stop();
    if (this.#report === undefined && this.#refusedCode === undefined && !this.#isDetached) {
      if (this.#causes.length === 0) this.#say('the agents ended before they reported on the job');
      this.#shown = true;
    }
    this.#finish();
  }

  /** Agents take commands. False once the job has ended: then only the last output is written. */
  get #hasAgents(): boolean { return this.#report === undefined && !this.#stopped; }

  /** Ranks run, or are to be started. */
  get #hasRanks(): boolean {
    return this.#hasAgents && this.#ended < this.#map.size;
  }

  #onStarted(rank: Rank, pid: number): void {
    this.#sink.started(rank, pid);
    if (this.#stdin === undefined && this.#init.spec.stdin.to !== 'none') {
      this.#stdin = this.#driver.openStdin(this.#frontEnd as FrontEnd);
      this.#stdin.start();
    }
    this.#logStep(`rank ${rank} started as process ${pid}`);
  }

  #watchStall(): void {
    this.#stallTimer ??= this.#init.clock.after(STALL_MS, () => {
      this.#stallTimer = undefined;
      this.#onStall();
    });
  }

  /** The end takes long, such as where the reader of the output stands still: why the job ends is told before. */
  #onStall(): void {
    if (this.#report !== undefined) this.#summarize(this.#report);
    else if (this.#ending !== undefined) this.#news.onStall(this.#ending);
    const hasFailed = this.#ending !== undefined || this.#report?.cause !== undefined;
    const isWriting = !this.#shown && (this.#report !== undefined || this.#unwritten > 0);
    if (this.#isStallSaid || this.#hasRanks || !hasFailed || !isWriting) return;
    this.#isStallSaid = true;
    this.#remark('the output is still being written');
  }

  #onEndSignal(signal: SignalName, times: number, why?: string): void {
    const cause = interruptCause(signal, why);
    if (this.#settled === undefined) this.#addCause(cause);
    if (times > 2) return this.#driver.leave(this.#exitCode());
    if (times === 2) {
      this.#remark(this.#hasRanks ? 'killing all ranks' : 'dropping the output that is not yet written');
      // A reader that has stopped reading must not hold up the end.
      this.#onReportDropped(cause);
      this.#sink.abandon();
      this.#screen.abandon();
      this.#log.abandon();
      if (this.#report !== undefined) this.#frontEnd?.stop();
    } else {
      this.#remark(signalText(signal, this.#map, this.#hasRanks));
    }
    if (this.#hasAgents) this.#frontEnd?.control({ verb: 'end', kill: times > 1, reason: signal, cause });
  }

  #onOutputFault(error: StciError): void {
    if (this.#isDetached) return;
    const cause = this.#onFileFault(error);
    if (!this.#hasAgents) return;
    if (this.#init.detach?.isViewer === true) {
      this.#sink.abandon();
      return this.detach();
    }
    this.#frontEnd?.control({ verb: 'end', kill: false, reason: error.message, cause });
  }

  /** A file beside the output cannot be written: the job goes on, its exit code says so. */
  #onFileFault(error: StciError): EndCause {
    const { reported } = this.#news;
    if (error.code !== 'STCI_OUTPUT_CLOSED' && !reported.has(error.message)) this.#say(error.message);
    if (!isOwnFailure(error)) reported.add(error.message);
    return this.#addCause(causeOf('output', error));
  }

  #addCause(cause: EndCause): EndCause {
    if (!this.#isOwn(cause.error)) this.#causes.push(cause);
    return cause;
  }

  #isOwn({ code }: { readonly code: string }): boolean {
    return this.#causes.some(({ error }) => error.code === code);
  }

  #onEnded(report: JobReport): void {
    this.#report = report;
    const { leftOut } = this.#news;
    if (this.#init.options.strict && leftOut.size > 0) this.#addCause(leftOutCause(leftOut));
    const { failure, texts = [] } = this.#remarks ?? {};
    for (const text of texts) this.#remark(text);
    if (failure !== undefined && report.exitCode === 0) this.#addCause(causeOf('tool-status', failure));
    this.#stdin?.stop();
    this.#frontEnd?.stop();
    this.#watchStall();
    this.#sink.finish(() => {
      this.#log.close(this.#settle(), () => {
        this.#summarize(this.#settle());
        this.#writeReport(() => this.#showEnd());
      });
    });
  }

  /** Once. */
  #summarize(report: JobReport): void {
    if (this.#isSummarized) return;
    this.#isSummarized = true;
    const elsewhere = causeElsewhere(report, this.#causes);
    if (elsewhere !== undefined && !this.#news.reported.has(elsewhere)) this.#say(elsewhere);
    const unread = (this.#stdin?.takenBytes ?? 0) > 0 ? unreadText(report, this.#init.spec.stdin) : undefined;
    if (unread !== undefined) this.#remark(unread);
    for (const line of finalLines(report, this.#news, this.#init.isHere)) this.#say(line.text, line.isRemark);
  }

  /** Writes the last event and the report. Only a failure of these writes can still change the exit code. */
  #showEnd(): void {
    const { exitCode } = this.#settle();
    this.#log.ended(this.#settle());
    this.#screen.flush(() => {
      const done = (): void => {
        this.#shown = true;
        this.#finish();
      };
      if (this.#settle().exitCode !== exitCode) this.#writeReport(done);
      else done();
    });
  }

  #settle(): JobReport {
    return (this.#settled = settleReport(this.#report as JobReport, this.#causes));
  }

  #writeReport(done: () => void): void {
    const wanted = this.#init.options.exitReport;
    if (wanted === undefined) return done();
    const text = exitReport(this.#settle(), wanted.format, this.#log.records);
    if (wanted.file === undefined) {
      this.#message(text);
      return done();
    }
    const onWritten = (error?: StciError): void => {
      this.#onReportDropped = () => undefined;
      if (error !== undefined) this.#onFileFault(error);
      done();
    };
    const onDropped = (this.#onReportDropped = (cause) => {
      this.#addCause(cause);
      onWritten();
    });
    this.#driver.writeReport(wanted.file, text, (error) => this.#onReportDropped === onDropped && onWritten(error));
  }

  #finish(): void {
    if (!this.#shown || !this.#stopped) return;
    this.#unwatch();
    this.#stallTimer?.cancel();
    this.#screen.flush(() => this.#init.onExit(this.#exitCode()));
  }

  #exitCode(): number {
    if (this.#refusedCode !== undefined) return this.#refusedCode;
    if (this.#isDetached) return this.#causes[0]?.exitCode ?? 0;
    return this.#settled?.exitCode ?? exitCodeWithoutReport(this.#causes);
  }

  #message(text: string, isError = false): void {
    this.#progress?.clear();
    this.#sink.breakLine();
    this.#screen.message(text, isError);
  }

  /** Errors: always. Remarks: not with --quiet. */
  #say(text: string, isRemark = false): void {
    if (!isRemark || !this.#init.options.quiet) this.#message(`${this.#init.prefix ?? 'stcirun: '}${text}`, !isRemark);
  }

  #remark(text: string): void {
    this.#say(text, true);
  }

  /** A step and its time, with --verbose. */
  #logStep(text: string, isError = false): void {
    if (!this.#init.options.verbose) return;
    this.#say(`${((this.#init.clock.nowMs() - this.#startMs) / 1000).toFixed(3)} s: ${text}`, !isError);
  }
}
