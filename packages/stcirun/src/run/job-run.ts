/**
 * One job, from submit to exit code: the front-end agent on one side, the caller's output, input and signals on the
 * other. What the job's end means is the controller's to say (the exit rule); only where the end was ours (a signal,
 * output that nobody takes) is there an exit code of our own, and then only if the job was not ending already.
 */

import { writeFileSync } from 'node:fs';
import { foldHostlist, signalExitCode } from '@stci/core';
import { EXIT, StciError } from '@stci/interface';
import type {
  FrontEnd,
  FrontEndEvents,
  JobEvent,
  JobMap,
  JobReport,
  JobSpec,
  Rank,
  SignalName,
} from '@stci/interface';
import type { RunRequest } from '../cli/parse.js';
import { outputError } from '../output/file-sink.js';
import { eventJson } from '../output/json-sink.js';
import type { OutputSink } from '../output/sink.js';
import type { Terminal } from '../output/terminal.js';
import { exitReport, failureSummary, timeoutState } from './report.js';
import { Progress } from './progress.js';
import { watchSignals } from './signals.js';
import { StdinPump } from './stdin-pump.js';

/** 128 + SIGPIPE: what a program that writes into a closed pipe ends with. */
const EXIT_PIPE = 141;

/** As long as can be told: the user decides when stcirun goes on. */
const SILENCE_MS_MAX = 0xffff_ffff;

export interface JobRunParams {
  readonly spec: JobSpec;
  /** As it is planned. */
  readonly map: JobMap;
  /** Told where it is mapped otherwise after all. */
  readonly onMapped: (map: JobMap) => void;
  readonly request: RunRequest;
  readonly forwarded: readonly SignalName[];
  /** Where the output is shown or put. `onFault` is told when it cannot be. */
  readonly openTerminal: (onFault: (error: NodeJS.ErrnoException) => void) => Terminal;
  readonly openSink: (terminal: Terminal, onFault: (error: StciError) => void) => OutputSink;
  readonly startFrontEnd: (events: FrontEndEvents) => FrontEnd;
}

/** Any long time: what counts is that something is pending. */
const ALIVE_MS = 1 << 30;

/** An end that we asked for. */
interface OwnEnd {
  readonly exitCode: number;
}

/** The exit code. Never rejects for what a job can do. */
export function runJob(params: JobRunParams): Promise<number> {
  return new Promise((resolve) => new JobRun(params, resolve).start());
}

class JobRun implements FrontEndEvents {
  readonly #params: JobRunParams;
  readonly #resolve: (exitCode: number) => void;
  readonly #terminal: Terminal;
  readonly #sink: OutputSink;
  #frontEnd: FrontEnd | undefined;
  #stdin: StdinPump | undefined;
  #progress: Progress | undefined;
  readonly #startMs = performance.now();
  /** Timers of agents keep no process alive: where every host has failed, nothing else would until the report. */
  readonly #alive = setInterval(() => undefined, ALIVE_MS);
  #unwatch: () => void = () => undefined;
  #ownEnd: OwnEnd | undefined;
  /** The job is ending, for whatever reason. */
  #ending = false;
  /** What that was before the last failure, and its text: a bootstrap policy may bear with it. */
  #beforeFailure = { ending: false, text: '' };
  #map: JobMap;
  #report: JobReport | undefined;
  #shown = false;
  #stopped = false;

  constructor(params: JobRunParams, resolve: (exitCode: number) => void) {
    this.#params = params;
    this.#resolve = resolve;
    this.#map = params.map;
    this.#terminal = params.openTerminal((error) => this.#onStdoutFault(error));
    this.#sink = params.openSink(this.#terminal, (error) => this.#onOutputFault(error));
    this.#terminal.beforeMessage = () => {
      this.#progress?.clear();
      this.#sink.breakLine();
    };
    const { quiet, verbose } = params.request;
    if (!quiet && !verbose) this.#progress = new Progress(this.#terminal, params.map);
  }

  start(): void {
    const frontEnd = this.#params.startFrontEnd(this);
    this.#frontEnd = frontEnd;
    this.#unwatch = watchSignals(this.#params.forwarded, {
      end: (signal, times) => this.#onEndSignal(signal, times),
      forward: (signal) => frontEnd.control({ verb: 'signal', signal }),
      pause: (on) => frontEnd.announceSilence(on ? SILENCE_MS_MAX : 0),
    });
    try {
      frontEnd.submit(this.#params.spec);
    } catch (thrown) {
      if (!(thrown instanceof StciError)) throw thrown;
      this.#say(thrown.message);
      this.#ownEnd = { exitCode: thrown.exitCode };
      this.#shown = true;
      frontEnd.stop();
    }
  }

  onJobEvent(event: JobEvent): void {
    this.#progress?.on(event);
    if (this.#params.request.json) this.#terminal.out.write(Buffer.from(eventJson(event)));
    switch (event.type) {
      case 'mapped':
        this.#map = event.map;
        return this.#params.onMapped(event.map);
      case 'bootstrap':
        return this.#onBootstrap(event);
      case 'host-up':
        return this.#tell(`host ${event.name} is up (${event.up} of ${event.total})`);
      case 'started':
        return this.#onStarted(event.rank, event.pid);
      case 'running':
        return this.#tell(`all ${this.#map.size} ranks run`);
      case 'exited':
        return this.#tell(`rank ${event.report.rank} on ${event.report.host}: ${endText(event.report)}`);
      case 'failure':
        this.#beforeFailure = { ending: this.#ending, text: event.error.message };
        this.#ending = this.#ending || this.#ownEnd === undefined;
        return this.#tell(`failure: ${event.error.message}`);
      case 'ending':
        this.#ending = true;
        return this.#tell(`ending the job: ${event.reason}`);
      case 'ended':
        return this.#onEnded(event.report);
    }
  }

  onOutput(
    rank: Rank,
    stream: 'stdout' | 'stderr',
    chunk: Uint8Array,
    wallMs: number,
    release: () => void,
  ): void {
    this.#progress?.stop();
    if (chunk.length > 0) return this.#sink.push(rank, stream, chunk, wallMs, release);
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
    if (this.#report === undefined && this.#ownEnd === undefined) {
      this.#say('the agents ended before they reported on the job');
      this.#ownEnd = { exitCode: EXIT.internal };
      this.#shown = true;
    }
    this.#finish();
  }

  #onStarted(rank: Rank, pid: number): void {
    this.#sink.started(rank, pid);
    if (this.#stdin === undefined && this.#params.spec.stdin.to !== 'none') {
      this.#stdin = new StdinPump(this.#frontEnd as FrontEnd);
      this.#stdin.start();
    }
    this.#tell(`rank ${rank} runs as process ${pid}`);
  }

  /** The failure that was told just before does not end the job. */
  #onBootstrap({ name, decision, spare }: Extract<JobEvent, { type: 'bootstrap' }>): void {
    this.#ending = this.#beforeFailure.ending;
    const { text } = this.#beforeFailure;
    if (decision === 'retry') this.#tell(`host ${name} is started again`);
    else if (decision === 'spare') this.#remark(`spare host ${spare} takes the place of ${name}: ${text}`);
    else this.#remark(`host ${name} is left out: ${text}`);
  }

  #onEndSignal(signal: SignalName, times: number): void {
    const map = this.#map;
    this.#ownEnd ??= this.#ending ? undefined : { exitCode: signalExitCode(signal) };
    if (times > 2) process.exit(signalExitCode(signal));
    if (times === 2) {
      this.#remark('killing all ranks');
      // A reader that has stopped reading must not hold up the end.
      this.#terminal.out.abandon();
    } else {
      const ranks = map.size === 1 ? '1 rank' : `${map.size} ranks`;
      const hosts = map.hosts.length === 1 ? '1 host' : `${map.hosts.length} hosts`;
      const [word, again] = signal === 'SIGINT' ? ['interrupted', 'Ctrl-C'] : [`received ${signal}`, signal];
      this.#remark(`${word}: ending ${ranks} on ${hosts}; ${again} again to kill`);
    }
    this.#frontEnd?.control({ verb: 'end', kill: times > 1, reason: signal });
  }

  #onStdoutFault(error: NodeJS.ErrnoException): void {
    if (error.code === 'EPIPE') this.#endByOutput(EXIT_PIPE, 'standard output was closed');
    else this.#onOutputFault(outputError('standard output', error));
  }

  #onOutputFault(error: StciError): void {
    this.#say(error.message);
    this.#endByOutput(error.exitCode, error.message);
  }

  #endByOutput(exitCode: number, reason: string): void {
    this.#ownEnd ??= this.#ending ? undefined : { exitCode };
    if (this.#report === undefined) this.#frontEnd?.control({ verb: 'end', kill: false, reason });
    else this.#ownEnd ??= this.#report.exitCode === 0 ? { exitCode } : undefined;
  }

  #onEnded(report: JobReport): void {
    this.#report = report;
    this.#stdin?.stop();
    this.#frontEnd?.stop();
    this.#sink.finish(() => {
      this.#showReports(report);
      this.#terminal.flush(() => {
        this.#shown = true;
        this.#finish();
      });
    });
  }

  #showReports(report: JobReport): void {
    if (this.#ownEnd === undefined) {
      for (const line of failureSummary(report)) this.#say(line);
      const late = report.exitCode === EXIT.jobTimeout || report.exitCode === EXIT.launchTimeout;
      if (late) for (const line of timeoutState(report)) this.#say(line);
    }
    const left = report.ranks.reduce((sum, rank) => sum + rank.leftovers, 0);
    if (left > 0) this.#remark(leftoverText(report, left));
    const wanted = this.#params.request.exitReport;
    if (wanted === undefined) return;
    const text = exitReport(report, wanted.format);
    if (wanted.file === undefined) this.#terminal.message(text);
    else this.#writeReport(wanted.file, text);
  }

  #writeReport(file: string, text: string): void {
    try {
      writeFileSync(file, text);
    } catch (thrown) {
      this.#onOutputFault(outputError(`file ${file}`, thrown as Error));
    }
  }

  #finish(): void {
    if (!this.#shown || !this.#stopped) return;
    this.#unwatch();
    this.#terminal.flush(() => {
      clearInterval(this.#alive);
      this.#resolve(this.#ownEnd?.exitCode ?? this.#report?.exitCode ?? EXIT.internal);
    });
  }

  /** Errors: always. */
  #say(text: string): void {
    this.#terminal.message(`stcirun: ${text}`);
  }

  /** Remarks: not with --quiet. */
  #remark(text: string): void {
    if (!this.#params.request.quiet) this.#say(text);
  }

  /** What happens on the way, and when: with --verbose. */
  #tell(text: string): void {
    if (!this.#params.request.verbose) return;
    this.#say(`${((performance.now() - this.#startMs) / 1000).toFixed(3)} s: ${text}`);
  }
}

function endText({ outcome, end }: { outcome: string; end?: { status?: number; signal?: string } }): string {
  if (end?.signal !== undefined) return `${outcome}, ${end.signal}`;
  return end?.status === undefined ? outcome : `${outcome}, status ${end.status}`;
}

function leftoverText(report: JobReport, left: number): string {
  const hosts = foldHostlist(new Set(report.ranks.filter((rank) => rank.leftovers > 0).map((rank) => rank.host)));
  return `ended ${left} ${left === 1 ? 'process' : 'processes'} that ranks had left behind on ${hosts}`;
}
