/**
 * The simulated `stcirun`: submits the job, feeds its input, takes its output, ends when the runtime has stopped. It
 * writes down all that it is told; it judges nothing.
 */

import { createFrontEnd } from '@stci/core';
import { ERROR_KINDS } from '@stci/interface';
import type { AppSpec, EndCause, FrontEnd, FrontEndEvents, HostSpec } from '@stci/interface';
import type { JobEvent, JobReport, JobSpec, Timer } from '@stci/interface';
import { textBytes, type AgentContext } from '@stci/platform-sim';
import { resolveSettings, composition } from './assembly.js';
import type { SwarmOptions } from './options.js';

/** Bytes of one stream of one rank, as they came. */
export interface StreamRecord {
  readonly chunks: Uint8Array[];
  bytes: number;
  /** How often its end was told. */
  ends: number;
  /** Bytes that came after the end. */
  lateBytes: number;
}

export interface JobRecord {
  readonly events: JobEvent[];
  /** By `RANK/STREAM`. */
  readonly streams: Map<string, StreamRecord>;
  report: JobReport | undefined;
  reportMs: number | undefined;
  stoppedMs: number | undefined;
  /** Told after `onStopped`, or a second time. */
  lateCalls: number;
  unreleasedBytes: number;
  unreleasedBytesMax: number;
}

export function newRecord(): JobRecord {
  return {
    events: [],
    streams: new Map(),
    report: undefined,
    reportMs: undefined,
    stoppedMs: undefined,
    lateCalls: 0,
    unreleasedBytes: 0,
    unreleasedBytesMax: 0,
  };
}

export function hostName(index: number): string {
  return `n${index}`;
}

/** The standard input of the job: lines, so that a program that reads one finds one. */
export function stdinBytes(options: SwarmOptions): Uint8Array {
  let text = '';
  for (let line = 0; text.length < options.stdinBytes; line++) text += `input line ${line} of the job\n`;
  return textBytes(text.slice(0, options.stdinBytes));
}

/** Two more hosts, for those that do not come up. */
function spareHosts({ hosts, slots }: SwarmOptions): HostSpec[] {
  const names = [hostName(hosts), hostName(hosts + 1)];
  return names.map((name): HostSpec => ({ name, slots, slotsBound: false, origin: 'swarm' }));
}

export function jobSpec(options: SwarmOptions): JobSpec {
  const hosts = Array.from({ length: options.hosts }, (_, index): HostSpec => {
    return { name: hostName(index), slots: options.slots, slotsBound: false, origin: 'swarm' };
  });
  const apps = options.apps.map(({ program, args, count, wdir }): AppSpec => {
    return { program, args, count, env: {}, ...(wdir !== undefined && { wdir }) };
  });
  return {
    apps,
    hosts,
    ...(options.settings['bootstrap'] === 'spare' && { spares: spareHosts(options) }),
    mapBy: { by: options.byNode ? 'node' : 'slot' },
    oversubscribe: true,
    env: { PATH: '/bin:/usr/bin' },
    wdir: '/',
    stdin: options.stdin,
    launchTimeoutMs: options.launchTimeoutMs,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
  };
}

/** What Ctrl-C means, as stcirun says it. */
const INTERRUPT: EndCause = {
  kind: 'timeout',
  error: { code: 'STCI_JOB_INTERRUPTED', message: 'Interrupted' },
  exitCode: ERROR_KINDS.STCI_JOB_INTERRUPTED.exitCode,
};

const INPUT_CHUNK_BYTES = 4096;
/** After the runtime has stopped, nothing may be left to do in this process; looked at this much later. */
const AFTERMATH_MS = 50;

/** Moments at which somebody looks at the world. */
export interface FrontEndHooks {
  onReport(): void;
  /** Some time after `onStopped`; so many timers are the front-end's own. */
  onAftermath(ownTimers: number): void;
}

export class SimulatedFrontEnd {
  readonly #context: AgentContext;
  readonly #options: SwarmOptions;
  readonly #record: JobRecord;
  readonly #frontEnd: FrontEnd;
  readonly #hooks: FrontEndHooks;
  readonly #controls: readonly Timer[];
  /** Own timers that release output late. */
  #releases = 0;
  #input: Uint8Array;
  #isInputClosed = false;

  constructor(
    context: AgentContext,
    options: SwarmOptions,
    record: JobRecord,
    hooks: FrontEndHooks,
  ) {
    this.#context = context;
    this.#options = options;
    this.#record = record;
    this.#hooks = hooks;
    this.#input = stdinBytes(options);
    const { params, snapshot } = resolveSettings(options.settings);
    const { platform } = context;
    this.#frontEnd = createFrontEnd({ platform, composition, params, snapshot }, this.#events());
    this.#frontEnd.submit(jobSpec(options));
    const { clock } = platform;
    this.#controls = options.controls.map((plan) => clock.after(plan.atMs, () => this.#control(plan)));
    if (options.stdin.to !== 'none') this.#feed();
  }

  #control(control: SwarmOptions['controls'][number]): void {
    if (this.#record.stoppedMs !== undefined) return;
    if (control.kind === 'signal') this.#frontEnd.control({ verb: 'signal', signal: control.signal });
    else this.#frontEnd.control({ verb: 'end', kill: control.kill, reason: 'interrupted', cause: INTERRUPT });
  }

  #events(): FrontEndEvents {
    const record = this.#record;
    const alive = (): boolean => {
      if (record.stoppedMs !== undefined) record.lateCalls++;
      return record.stoppedMs === undefined;
    };
    return {
      onJobEvent: (event) => alive() && this.#onJobEvent(event),
      onOutput: (rank, stream, chunk, _wallMs, release) => {
        if (alive()) this.#onOutput(`${rank}/${stream}`, chunk, release);
      },
      onStdinDrain: () => alive() && this.#feed(),
      onStdinClosed: () => {
        alive();
        this.#isInputClosed = true;
      },
      onStopped: () => alive() && this.#onStopped(),
    };
  }

  #onJobEvent(event: JobEvent): void {
    this.#record.events.push(event);
    if (event.type !== 'ended') return;
    this.#hooks.onReport();
    this.#record.report = event.report;
    this.#record.reportMs = this.#context.platform.clock.nowMs();
    this.#frontEnd.stop();
  }

  #onStopped(): void {
    const { clock } = this.#context.platform;
    this.#record.stoppedMs = clock.nowMs();
    for (const timer of this.#controls) timer.cancel();
    clock.after(AFTERMATH_MS, () => {
      this.#hooks.onAftermath(this.#releases);
      this.#context.exit(this.#record.report?.exitCode ?? 1);
    });
  }

  #onOutput(key: string, chunk: Uint8Array, release: () => void): void {
    const record = this.#record;
    let stream = record.streams.get(key);
    if (stream === undefined) record.streams.set(key, (stream = { chunks: [], bytes: 0, ends: 0, lateBytes: 0 }));
    if (chunk.length === 0) stream.ends++;
    else if (stream.ends > 0) stream.lateBytes += chunk.length;
    // The receiver owns the chunk until it releases it, no longer.
    stream.chunks.push(chunk.slice());
    stream.bytes += chunk.length;
    record.unreleasedBytes += chunk.length;
    record.unreleasedBytesMax = Math.max(record.unreleasedBytesMax, record.unreleasedBytes);
    const letGo = (): void => {
      this.#releases--;
      record.unreleasedBytes -= chunk.length;
      release();
    };
    this.#releases++;
    if (this.#options.releaseMs === 0) letGo();
    else this.#context.platform.clock.after(this.#options.releaseMs, letGo);
  }

  #feed(): void {
    while (!this.#isInputClosed) {
      if (this.#input.length === 0) {
        this.#isInputClosed = true;
        this.#frontEnd.closeStdin();
        return;
      }
      const chunk = this.#input.subarray(0, INPUT_CHUNK_BYTES);
      this.#input = this.#input.subarray(chunk.length);
      if (!this.#frontEnd.writeStdin(chunk.slice())) return;
    }
  }
}
