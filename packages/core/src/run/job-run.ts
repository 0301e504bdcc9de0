/**
 * One job, from submit to exit code: the front-end agent on one side, the caller's output, input and signals on the
 * other. The exit code is not decided here: causes on this side (a signal, output that cannot be written) go to the
 * controller, whose exit rule orders them among the job's failures, and outcome.ts settles the rest.
 */

import { StciError } from '@stci/interface';
import type {
  Clock, EndCause, ErrorRecord, FailureRecord, FrontEnd, FrontEndEvents, HostIndex, JobEvent, JobMap, JobReport,
  JobSpec, Rank, RecoveryEvent, SignalName, Timer,
} from '@stci/interface';
import type { StreamName } from '../iof/source.js';
import type { OutputSink, RunDriver, RunOptions, RunProgress, RunScreen, StdinSource } from './contracts.js';
import { eventJson } from './event-json.js';
import {
  causeElsewhere, exitCodeWithoutReport, interruptCause, outputCause, settleReport, signalText,
} from './outcome.js';
import { recordText } from './record-text.js';
import { recoveryText, restartText } from './recovery-text.js';
import { endText, exitReport, finalLines, withHosts } from './report.js';

/** After so long a job that is ending, or whose output is not yet written, does not keep its failure to itself. */
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
  /** Failures do not end the job (its error manager's `goesOn`): each is reported when it is known. */
  readonly failuresAtOnce: boolean;
  readonly driver: RunDriver;
  readonly startFrontEnd: (events: FrontEndEvents) => FrontEnd;
  /** The job can be left to a session; `text` says how it is found again. `isViewer`: one that only attached to it. */
  readonly detach?: { readonly text: string; readonly isViewer: boolean } | undefined;
  /** Agents of that host run on this machine, without a login. */
  readonly isHere?: (host: string) => boolean;
  /** What else is worth a remark; asked when all ranks run. */
  readonly remarks?: () => readonly string[];
  /** Called once, last. */
  readonly onExit: (exitCode: number) => void;
}

export class JobRun implements FrontEndEvents {
  readonly #init: JobRunInit;
  readonly #driver: RunDriver;
  readonly #screen: RunScreen;
  readonly #sink: OutputSink;
  readonly #progress: RunProgress | undefined;
  readonly #startMs: number;
  #frontEnd: FrontEnd | undefined;
  #stdin: StdinSource | undefined;
  #unwatch: () => void = () => undefined;
  #map: JobMap;
  /** Where the error manager tolerates the last failure, it is reported with what is done about it. */
  #lastFailure: ErrorRecord | undefined;
  /** Why the job is ending. */
  #endReason: string | undefined;
  /** Ranks that have ended. */
  #ended = 0;
  /** Chunks of output that are not yet written. */
  #unwritten = 0;
  #stallTimer: Timer | undefined;
  #isSummarized = false;
  #isStallSaid = false;
  /** Messages of failures that were reported when they were known, as they came and as they were shown. */
  readonly #reported = new Set<string>();
  readonly #records: FailureRecord[] = [];
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
    const { quiet, verbose } = init.options;
    if (!quiet && !verbose) this.#progress = this.#driver.openProgress(() => this.#sink.breakLine());
  }

  start(): void {
    const frontEnd = this.#init.startFrontEnd(this);
    this.#frontEnd = frontEnd;
    this.#unwatch = this.#driver.watchSignals({
      end: (signal, times) => this.#onEndSignal(signal, times),
      forward: (signal) => this.#hasAgents && frontEnd.control({ verb: 'signal', signal }),
      detach: () => this.detach(),
      pause: (on) => this.#hasAgents && frontEnd.announceSilence(on ? SILENCE_MS_MAX : 0),
    });
    try {
      frontEnd.submit(this.#init.spec);
    } catch (thrown) {
      if (!(thrown instanceof StciError)) throw thrown;
      this.#say(thrown.message);
      this.#refusedCode = thrown.exitCode;
      this.#shown = true;
      frontEnd.stop();
    }
  }

  /** Leaves the job to its session: shows what has come, and ends with 0, or with its own failure. */
  detach(): void {
    const { detach } = this.#init;
    if (detach === undefined || !this.#hasAgents || this.#isDetached) return;
    this.#isDetached = true;
    this.#stdin?.stop();
    this.#progress?.stop();
    this.#sink.finish(() => {
      this.#frontEnd?.stop();
      this.#frontEnd?.stop(); // At once: what came since is for the next front-end.
      this.#remark(detach.text);
      this.#shown = true;
      this.#finish();
    });
  }

  onJobEvent(event: JobEvent): void {
    if (this.#isDetached) return;
    this.#progress?.on(event);
    // `ended` is written after all output, since a failed write can still change the exit code.
    if (this.#init.options.json && event.type !== 'ended') this.#writeEvent(event);
    switch (event.type) {
      case 'mapped':
        this.#map = event.map;
        return this.#init.onMapped(event.map);
      case 'recovery':
        return this.#onRecovery(event);
      case 'host-up':
        return this.#logStep(`host ${event.name} is up (${event.up} of ${event.total})`);
      case 'started':
        return this.#onStarted(event.rank, event.pid);
      case 'running':
        this.#logStep(this.#map.size === 1 ? 'the rank is running' : `all ${this.#map.size} ranks are running`);
        for (const text of this.#init.remarks?.() ?? []) this.#remark(text);
        return;
      case 'restarting':
      case 'warning':
        return this.#remark(event.type === 'warning' ? event.text : restartText(event));
      case 'exited':
        this.#ended += 1;
        if (!this.#hasRanks && this.#endReason !== undefined) this.#watchStall();
        return this.#logStep(`rank ${event.report.rank} on ${event.report.host}: ${endText(event.report)}`);
      case 'failure':
        return this.#onFailure(event.error);
      case 'failure-record':
        this.#records.push(event.record);
        return this.#logStep(recordText(event.record));
      case 'ending':
        this.#endReason = event.reason;
        this.#watchStall();
        return this.#logStep(this.#reported.has(event.reason) ? 'ending the job' : `ending the job: ${event.reason}`);
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

  /** Reports each failure once: immediately with --verbose, or where the job continues; else in the final summary. */
  #onFailure(error: ErrorRecord): void {
    const { code, data } = error;
    this.#lastFailure = error;
    const { verbose } = this.#init.options;
    // The error manager decides whether a host that does not come up is a failure of the job.
    const atOnce = verbose || (this.#init.failuresAtOnce && code !== 'STCI_LAUNCH_FAILED');
    const text = withHosts(error);
    if (!atOnce || this.#reported.has(text) || this.#causes.some((cause) => cause.error.code === code)) return;
    const searched = data?.['searched'] === undefined ? '' : `\n  PATH=${data['searched']}`;
    if (verbose) this.#logStep(`failure: ${text}${searched}`, true);
    else this.#say(this.#reported.size === 0 ? text : `also: ${text}`);
    this.#reported.add(error.message).add(text);
  }

  #watchStall(): void {
    this.#stallTimer ??= this.#init.clock.after(STALL_MS, () => {
      this.#stallTimer = undefined;
      this.#onStall();
    });
  }

  /** The end takes long, such as where the reader of the output stands still: why the job ends is told before. */
  #onStall(): void {
    const failure = this.#lastFailure;
    if (this.#report !== undefined) this.#summarize(this.#report);
    else if (failure !== undefined && failure.message === this.#endReason && !this.#reported.has(failure.message)) {
      this.#say(withHosts(failure));
      this.#reported.add(failure.message);
    }
    const hasFailed = this.#endReason !== undefined || this.#report?.cause !== undefined;
    const isWriting = !this.#shown && (this.#report !== undefined || this.#unwritten > 0);
    if (this.#isStallSaid || this.#hasRanks || !hasFailed || !isWriting) return;
    this.#isStallSaid = true;
    this.#remark('the output is still being written');
  }

  /** The failure that was reported just before does not end the job. */
  #onRecovery(event: RecoveryEvent): void {
    const { phase, action, error: { message } } = event;
    const text = recoveryText(event);
    // What becomes of a lost host concerns later jobs.
    if (phase !== 'launching' || action === 'start-again') this.#logStep(text);
    else this.#remark(this.#reported.has(message) ? text : `${text}: ${message}`);
  }

  #onEndSignal(signal: SignalName, times: number): void {
    const cause = interruptCause(signal);
    if (this.#settled === undefined) this.#addCause(cause);
    if (times > 2) return this.#driver.leave(this.#exitCode());
    if (times === 2) {
      this.#remark(this.#hasRanks ? 'killing all ranks' : 'dropping the output that is not yet written');
      // A reader that has stopped reading must not hold up the end.
      this.#onReportDropped(cause);
      this.#screen.abandon();
      this.#sink.abandon();
      if (this.#report !== undefined) this.#frontEnd?.stop();
    } else {
      this.#remark(signalText(signal, this.#map, this.#hasRanks));
    }
    if (this.#hasAgents) this.#frontEnd?.control({ verb: 'end', kill: times > 1, reason: signal, cause });
  }

  #onOutputFault(error: StciError): void {
    if (this.#isDetached) return;
    if (error.code !== 'STCI_OUTPUT_CLOSED') this.#say(error.message);
    const cause = outputCause(error);
    this.#addCause(cause);
    if (!this.#hasAgents) return;
    if (this.#init.detach?.isViewer === true) {
      this.#sink.abandon();
      return this.detach();
    }
    this.#frontEnd?.control({ verb: 'end', kill: false, reason: error.message, cause });
  }

  #addCause(cause: EndCause): void {
    if (!this.#causes.some(({ error }) => error.code === cause.error.code)) this.#causes.push(cause);
  }

  #onEnded(report: JobReport): void {
    this.#report = report;
    this.#stdin?.stop();
    this.#frontEnd?.stop();
    this.#watchStall();
    this.#sink.finish(() => {
      this.#summarize(this.#settle());
      this.#writeReport(() => this.#showEnd());
    });
  }

  /** Once. */
  #summarize(report: JobReport): void {
    if (this.#isSummarized) return;
    this.#isSummarized = true;
    const elsewhere = causeElsewhere(report, this.#causes);
    if (elsewhere !== undefined && !this.#reported.has(elsewhere)) this.#say(elsewhere);
    for (const line of finalLines(report, this.#reported, this.#init.isHere)) this.#say(line.text, line.isRemark);
  }

  /** Writes the last event and the report. Only a failure of these writes can still change the exit code. */
  #showEnd(): void {
    const { exitCode } = this.#settle();
    if (this.#init.options.json) this.#writeEvent({ type: 'ended', report: this.#settle() });
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
    const text = exitReport(this.#settle(), wanted.format, this.#records);
    if (wanted.file === undefined) {
      this.#message(text);
      return done();
    }
    const onWritten = (error?: StciError): void => {
      this.#onReportDropped = () => undefined;
      if (error !== undefined) this.#onOutputFault(error);
      done();
    };
    const onDropped = (this.#onReportDropped = (cause) => {
      this.#addCause(cause);
      onWritten();
    });
    this.#driver.writeReport(wanted.file, text, (error) => this.#onReportDropped === onDropped && onWritten(error));
  }

  #writeEvent(event: JobEvent): void {
    const hostName = (host: HostIndex): string => this.#map.hosts[host]?.name ?? '?';
    this.#screen.event(eventJson(event, hostName));
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
    if (!isRemark || !this.#init.options.quiet) this.#message(`stcirun: ${text}`, !isRemark);
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
