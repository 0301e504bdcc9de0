/** Interfaces of a run: its screen, its sink of output, its signals, its standard input. */

import type { FrontEnd, JobEvent, Rank, SignalName, StciError } from '@stci/interface';
import type { StreamName } from '../iof/source.js';

/** Options that decide what the run itself shows. */
export interface RunOptions {
  readonly quiet: boolean;
  readonly verbose: boolean;
  readonly json: boolean;
  /** Hosts that were left out of the launch are a failure. */
  readonly strict: boolean;
  readonly exitReport?: {
    readonly format: 'text' | 'json';
    /** undefined: standard error. */
    readonly file?: string;
  };
}

/** What is worth a remark of programs that are linked with MPI, whose ranks have not spoken with their agents. */
export interface RunRemarks {
  readonly texts: readonly string[];
  /** With which the job has failed if its exit code would be 0. */
  readonly failure?: StciError;
}

/** The caller's standard output and error. */
export interface RunScreen {
  /** A line of our own on standard error; never inside a line of a rank. Errors may be shown in a colour. */
  message(text: string, isError?: boolean): void;
  /** A line of JSON on standard output. */
  event(text: string): void;
  /** Drops unwritten and later output, since its reader does not read. Messages are still written. */
  abandon(): void;
  /** Calls back when all is written, or soon where output was abandoned. */
  flush(done: () => void): void;
}

/**
 * Destination of output. A sink takes chunks as they come from the front-end and releases each once it is written
 * or stored.
 */
export interface OutputSink {
  /** Place and process of a rank; called before its output. */
  started(rank: Rank, pid: number): void;
  push(rank: Rank, stream: StreamName, chunk: Uint8Array, wallMs: number, release: () => void): void;
  /** The stream ends, or its host is lost: its unfinished line is shown. */
  end(rank: Rank, stream: StreamName): void;
  /** The job has ended: shows the rest; calls back when all is written. */
  finish(done: () => void): void;
  /** Ends an unfinished line on the screen. */
  breakLine(): void;
  /** Drops unwritten and later output; `finish` then waits for nothing. */
  abandon(): void;
}

/** A file of events, one a line. */
export interface EventFile {
  write(line: string): void;
  /** Calls back when all is written, or what cannot be is dropped. */
  finish(done: () => void): void;
  /** Drops what is unwritten; `finish` then waits for nothing. */
  abandon(): void;
}

/** The progress line of a launch. */
export interface RunProgress {
  on(event: JobEvent): void;
  /** Erases the line for other text; it is drawn again soon. */
  clear(): void;
  /** Erases it for good. */
  stop(): void;
}

export interface SignalActions {
  /** Ends the job; `times` is 1, 2, 3, …; `why`: what the report says, default: that the signal came. */
  end(signal: SignalName, times: number, why?: string): void;
  forward(signal: SignalName): void;
  /** Leaves the job to its session, where it has one that stays. */
  detach(): void;
  /** The front-end is about to stop (true), or has resumed. */
  pause(on: boolean): void;
}

/** The caller's standard input on its way to the ranks. */
export interface StdinSource {
  /** Read from it, so that who reads it next does not get them; absent: it is nobody else's. */
  readonly takenBytes?: number;
  start(): void;
  /** The ranks take more. */
  drain(): void;
  /** No rank reads any more, or the job has ended. */
  stop(): void;
}

/** The environment of a run. */
export interface RunDriver {
  /** STCI_OUTPUT_CLOSED, here and below: the reader has gone, which is not reported. */
  openScreen(onFault: (error: StciError) => void): RunScreen;
  /** After the screen. */
  openSink(onFault: (error: StciError) => void): OutputSink;
  /** `breakLine` ends an open line of a rank before the live line is drawn. */
  openProgress(breakLine: () => void): RunProgress | undefined;
  openStdin(frontEnd: FrontEnd): StdinSource;
  /** Of `--events`; undefined without. */
  openEvents(onFault: (error: StciError) => void): EventFile | undefined;
  /** Watches until the returned function is called. */
  watchSignals(actions: SignalActions): () => void;
  /** Writes the exit report; `error` is the reason if it could not be written. */
  writeReport(file: string, text: string, done: (error: StciError | undefined) => void): void;
  /** Leaves at once, whatever is unwritten. */
  leave(exitCode: number): void;
}
