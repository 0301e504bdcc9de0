/** A front-end agent that does what the test says, and terminals that are arrays. */

import type { FrontEnd, FrontEndEvents, JobControl, JobMap, JobReport, JobSpec, RankReport } from '@stci/interface';
import { JobFacts, openSink, parseCommandLine, runJob, Writer, type Terminal } from '@stci/stcirun';

export class FakeFrontEnd implements FrontEnd {
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

  end(report: Partial<JobReport> = {}): void {
    const ranks: RankReport[] = [];
    const whole = { job: 1, exitCode: 0, failures: [], ranks, submitWallMs: 0, endWallMs: 1, ...report };
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
}

export interface FakeRunOptions {
  /** Standard output takes nothing until `releaseOut`. */
  readonly holdOut?: boolean;
  /** Standard error is a terminal so wide. */
  readonly columns?: number;
}

export async function fakeRun(argv: readonly string[], size: number, options: FakeRunOptions = {}): Promise<FakeRun> {
  const line = await parseCommandLine([...argv, 'program']);
  if (line.kind !== 'run') throw new Error('expected a run');
  const { request } = line;
  const texts = { out: '', err: '' };
  let held: ((error?: Error) => void) | undefined;
  const openTerminal = (onFault: (error: NodeJS.ErrnoException) => void): Terminal => {
    const out = new Writer((batch, done) => {
      const finish = (error?: Error): void => {
        if (error === undefined) texts.out += Buffer.concat(batch).toString();
        done(error);
      };
      if (options.holdOut === true) held = finish;
      else setImmediate(finish);
    }, onFault);
    const err = new Writer((batch, done) => {
      texts.err += Buffer.concat(batch).toString();
      setImmediate(done);
    }, () => undefined);
    return makeTerminal(out, err, options.columns);
  };
  let frontEnd: FakeFrontEnd | undefined;
  const facts = new JobFacts(fakeMap(size), 1 << 20);
  const exitCode = runJob({
    spec: { stdin: { to: 'none' } } as JobSpec,
    map: fakeMap(size),
    onMapped: (map) => facts.remap(map),
    request,
    forwarded: [],
    openTerminal,
    openSink: (terminal, onFault) => {
      return openSink({ request, template: undefined, terminal, facts, onFault });
    },
    startFrontEnd: (events) => (frontEnd = new FakeFrontEnd(events)),
  });
  return {
    frontEnd: frontEnd as unknown as FakeFrontEnd,
    exitCode,
    out: () => texts.out,
    err: () => texts.err,
    releaseOut: (error) => held?.(error),
  };
}

function makeTerminal(out: Writer, err: Writer, columns: number | undefined): Terminal {
  const terminal: Terminal = {
    out,
    err,
    shared: false,
    columns,
    beforeMessage: () => undefined,
    message: (text) => {
      terminal.beforeMessage();
      err.write(Buffer.from(`${text.trimEnd()}\n`));
    },
    flush: (done) => out.after(() => err.after(done)),
  };
  return terminal;
}

function fakeMap(size: number): JobMap {
  return { size, hosts: [{ host: 0, name: 'n1', runs: [{ app: 0, first: 0, count: size, stride: 1 }] }] };
}
