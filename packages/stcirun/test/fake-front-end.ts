/** A front-end agent that does what the test says, and terminals that are arrays. */

import type {
  Clock, FrontEnd, FrontEndEvents, JobControl, JobMap, JobReport, JobSpec, RankReport, StciError,
} from '@stci/interface';
import { parseTemplate } from '@stci/core/iof';
import { JobRun } from '@stci/core/run';
import {
  EventsFile, JobFacts, makeTerminal, openDriver, openSink, outputError, parseCommandLine, Writer, type Terminal,
} from '@stci/stcirun/internal';

export const CLOCK: Clock = {
  nowMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: (delayMs, fire) => {
    const timer = setTimeout(fire, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
  soon: (fire) => void setImmediate(fire),
};

export class FakeFrontEnd implements FrontEnd {
  job = 0;
  readonly events: FrontEndEvents;
  readonly controls: JobControl[] = [];
  readonly input: Uint8Array[] = [];
  inputClosed = false;
  readonly silences: number[] = [];
  stops = 0;
  spec: JobSpec | undefined;
  /** Answers each control; default: nothing. */
  onControl: (control: JobControl) => void = () => undefined;

  constructor(events: FrontEndEvents) {
    this.events = events;
  }

  submit(spec: JobSpec): void {
    this.spec = spec;
  }

  control(control: JobControl): void {
    this.controls.push(control);
    this.onControl(control);
  }

  writeStdin(chunk: Uint8Array): boolean {
    this.input.push(chunk);
    return true;
  }

  closeStdin(): void {
    this.inputClosed = true;
  }

  announceSilence(silenceMs: number): void {
    this.silences.push(silenceMs);
  }

  stop(): void {
    this.stops += 1;
    setImmediate(() => this.events.onStopped());
  }

  output(rank: number, stream: 'stdout' | 'stderr', text: string, release: () => void = () => undefined): void {
    this.events.onOutput(rank, stream, Buffer.from(text), 0, release);
  }

  /** Ends as a controller does that is told to, with the cause that came first. */
  endAsTold(): void {
    const control = this.controls.find(({ verb }) => verb === 'end');
    const cause = control?.verb === 'end' ? control.cause : undefined;
    if (cause === undefined) return this.end();
    this.end({ exitCode: cause.exitCode, cause: cause.error, failures: [cause.error] });
  }

  endsAsTold(): void {
    this.onControl = () => this.endAsTold();
  }

  end(report: Partial<JobReport> = {}): void {
    const ranks: RankReport[] = [];
    const whole = { job: 1, exitCode: 0, failures: [], ranks, daemons: [], submitWallMs: 0, endWallMs: 1, ...report };
    this.events.onJobEvent({ type: 'ended', report: whole });
  }
}

export interface FakeRun {
  readonly frontEnd: FakeFrontEnd;
  readonly exitCode: Promise<number>;
  out(): string;
  err(): string;
  /** Lets a write of standard output that is held back go on, or fail. */
  releaseOut(error?: NodeJS.ErrnoException): void;
  isOutHeld(): boolean;
}

export interface FakeRunOptions {
  /** Standard output takes nothing until `releaseOut`. */
  readonly holdOut?: boolean;
  /** Standard error is a terminal so wide. */
  readonly columns?: number;
  /** As with the error manager `continue`. */
  readonly toleratesFailures?: boolean;
}

export async function fakeRun(argv: readonly string[], size: number, options: FakeRunOptions = {}): Promise<FakeRun> {
  const line = await parseCommandLine([...argv, 'program']);
  if (line.kind !== 'run') throw new Error('expected a run');
  const { request } = line;
  const template = request.output === undefined ? undefined : parseTemplate(request.output);
  const texts = { out: '', err: '' };
  let held: ((error?: Error) => void) | undefined;
  const openTerminal = (onFault: (error: StciError) => void): Terminal => {
    const out = new Writer((batch, done) => {
      const finish = (error?: Error): void => {
        if (error === undefined) texts.out += Buffer.concat(batch).toString();
        done(error);
      };
      if (options.holdOut === true) held = finish;
      else setImmediate(finish);
    }, (error) => onFault(outputError('standard output', error)));
    const err = new Writer((batch, done) => {
      texts.err += Buffer.concat(batch).toString();
      setImmediate(done);
    }, () => undefined, { breaksLines: true });
    const terminal = makeTerminal(out, err);
    return { ...terminal, columns: options.columns, isTerminal: () => true, shared: false };
  };
  let frontEnd: FakeFrontEnd | undefined;
  const facts = new JobFacts(fakeMap(size), 1 << 20);
  const driver = openDriver({
    forwarded: [],
    ignoresHangup: false,
    map: fakeMap(size),
    events: request.events === undefined ? undefined : await EventsFile.make(request.events),
    openTerminal,
    openSink: (terminal, onFault) => openSink({ request, template, terminal, facts, onFault }),
  });
  const exitCode = new Promise<number>((resolve) => {
    const run = new JobRun({
      clock: CLOCK,
      spec: { stdin: { to: 'none' } } as JobSpec,
      map: fakeMap(size),
      onMapped: (map) => facts.remap(map),
      options: request,
      toleratesFailures: options.toleratesFailures === true,
      driver,
      startFrontEnd: (events) => (frontEnd = new FakeFrontEnd(events)),
      onExit: resolve,
    });
    run.start();
  });
  return {
    frontEnd: frontEnd as unknown as FakeFrontEnd,
    exitCode,
    out: () => texts.out,
    err: () => texts.err,
    releaseOut: (error) => {
      const finish = held;
      held = undefined;
      finish?.(error);
    },
    isOutHeld: () => held !== undefined,
  };
}

export function fakeMap(size: number): JobMap {
  return { size, hosts: [{ host: 0, name: 'n1', runs: [{ app: 0, first: 0, count: size, stride: 1 }] }] };
}
