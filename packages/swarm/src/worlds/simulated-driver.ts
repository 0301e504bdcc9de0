/**
 * Driver of a simulated run: a screen and a sink that record, an exit report in
 * memory, standard input from the options, signals and faults of the output at planned times.
 */

import type { OutputSink, RunDriver, RunScreen, SignalActions, StdinSource } from '@stci/core/run';
import { StciError, type FrontEnd, type Timer } from '@stci/interface';
import type { AgentContext } from '@stci/platform-sim';
import { stdinBytes } from '../scenarios/job-spec.js';
import type { ControlPlan, SwarmOptions } from '../scenarios/options.js';
import { streamRecord, type JobRecord } from './record.js';

const INPUT_CHUNK_BYTES = 4096;

/** What the user of a front-end does. */
export type UserPlan = Pick<SwarmOptions, 'releaseMs' | 'controls' | 'stdinBytes'>;

export interface SimulatedDriver extends RunDriver {
  /** Timers of the sink that release output later. */
  readonly pendingReleases: number;
}

export function simulatedDriver(context: AgentContext, options: UserPlan, record: JobRecord): SimulatedDriver {
  const sink = new RecordingSink(context, options, record);
  let onFault: (error: StciError) => void = () => undefined;
  const failOutput = (isClosed: boolean): void => {
    record.isScreenAbandoned = true;
    sink.abandon();
    const code = isClosed ? 'STCI_OUTPUT_CLOSED' : 'STCI_OUTPUT_FAILED';
    onFault(new StciError(code, 'Standard output cannot be written'));
  };
  const screen: RunScreen = {
    message: (text) => void record.messages.push(text),
    event: (text) => void (record.isScreenAbandoned || record.jsonLines.push(text)),
    abandon: () => void (record.isScreenAbandoned = true),
    flush: (done) => done(),
  };
  return {
    get pendingReleases() {
      return sink.pendingReleases;
    },
    openScreen: (onScreenFault) => {
      onFault = onScreenFault;
      return screen;
    },
    openSink: () => sink,
    openProgress: () => undefined,
    openEvents: () => undefined,
    openStdin: (frontEnd) => new SimulatedStdin(frontEnd, stdinBytes(options)),
    watchSignals: (actions) => {
      const { clock } = context.platform;
      const timers = options.controls.map((plan) => clock.after(plan.atMs, () => act(plan, actions, failOutput)));
      return () => timers.forEach((timer) => timer.cancel());
    },
    writeReport: (_file, text, done) => {
      record.exitReports.push(text);
      done(undefined);
    },
    leave: (exitCode) => context.exit((record.exitCode = exitCode)),
  };
}

function act(plan: ControlPlan, actions: SignalActions, failOutput: (isClosed: boolean) => void): void {
  switch (plan.kind) {
    case 'signal':
      return actions.forward(plan.signal);
    case 'interrupt':
      return actions.end('SIGINT', plan.kill ? 2 : 1);
    case 'detach':
      return actions.detach();
    case 'output-fault':
      return failOutput(plan.isClosed);
  }
}

/** Records each stream, and keeps chunks for `releaseMs` before it releases them. */
class RecordingSink implements OutputSink {
  readonly #context: AgentContext;
  readonly #releaseMs: number;
  readonly #record: JobRecord;
  /** What is not yet released, with its timer. */
  readonly #pending = new Map<() => void, Timer>();
  #isAbandoned = false;
  #onEmpty: (() => void) | undefined;

  constructor(context: AgentContext, { releaseMs }: UserPlan, record: JobRecord) {
    this.#context = context;
    this.#releaseMs = releaseMs;
    this.#record = record;
  }

  get pendingReleases(): number {
    return this.#pending.size;
  }

  started(): void {}

  breakLine(): void {}

  push(rank: number, name: 'stdout' | 'stderr', chunk: Uint8Array, _wallMs: number, release: () => void): void {
    const record = this.#record;
    const stream = streamRecord(record, rank, name);
    if (stream.ends > 0) stream.lateBytes += chunk.length;
    // The receiver owns the chunk until it releases it, no longer.
    stream.chunks.push(chunk.slice());
    stream.bytes += chunk.length;
    record.unreleasedBytes += chunk.length;
    record.unreleasedBytesMax = Math.max(record.unreleasedBytesMax, record.unreleasedBytes);
    const releaseChunk = (): void => {
      this.#pending.delete(releaseChunk);
      record.unreleasedBytes -= chunk.length;
      stream.released += chunk.length;
      release();
      if (this.#pending.size === 0) this.#onEmpty?.();
    };
    if (this.#releaseMs === 0 || this.#isAbandoned) releaseChunk();
    else this.#pending.set(releaseChunk, this.#context.platform.clock.after(this.#releaseMs, releaseChunk));
  }

  end(rank: number, name: 'stdout' | 'stderr'): void {
    streamRecord(this.#record, rank, name).ends++;
  }

  finish(done: () => void): void {
    if (this.#pending.size === 0) return done();
    this.#onEmpty = () => {
      this.#onEmpty = undefined;
      done();
    };
  }

  abandon(): void {
    this.#isAbandoned = true;
    for (const [releaseChunk, timer] of this.#pending) {
      timer.cancel();
      releaseChunk();
    }
  }
}

/** Feeds the input as far as credit goes; then as far again at each drain. */
class SimulatedStdin implements StdinSource {
  readonly #frontEnd: FrontEnd;
  #input: Uint8Array;
  #isStopped = false;

  constructor(frontEnd: FrontEnd, input: Uint8Array) {
    this.#frontEnd = frontEnd;
    this.#input = input;
  }

  start(): void {
    this.drain();
  }

  drain(): void {
    while (!this.#isStopped) {
      if (this.#input.length === 0) {
        this.#isStopped = true;
        return this.#frontEnd.closeStdin();
      }
      const chunk = this.#input.subarray(0, INPUT_CHUNK_BYTES);
      this.#input = this.#input.subarray(chunk.length);
      if (!this.#frontEnd.writeStdin(chunk.slice())) return;
    }
  }

  stop(): void {
    this.#isStopped = true;
  }
}
