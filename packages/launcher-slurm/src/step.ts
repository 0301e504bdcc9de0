/**
 * One step of Slurm: a srun with one task a host. Its standard input goes to all tasks: the start's secret in one line,
 * then the bundle, once, if any host needs it. What the tasks say is told apart by the number before each line, and the
 * number stands for a host from its first line on, which names it.
 *
 * srun passes input on only when all tasks run: a host that is not reached keeps all others from going on.
 */

import { hex } from '@stci/host-program';
import type { AgentBundle, NetworkAddress, Platform, Process, ProcessEnd, Timer } from '@stci/interface';
import { slurmProgram, srunCommand, type SlurmParams } from './command.js';
import { askEnvironment, stepEnvironment } from './environment.js';
import { LineReader, type LabelledLine } from './lines.js';
import { utf8 } from './text.js';
import { readLine, type SlurmLine } from './words.js';

const NONCE_BYTES = 8;
/** Most addresses of one agent; each is its own listener. */
const ADDRESSES_MAX = 64;
/** Last lines of srun kept for messages. */
const LINES_MAX = 12;
/** Time for which srun's output is awaited after its end: another process may hold it. */
const OUTPUT_MS = 2000;
/** How long srun may take to cancel the step: it waits for hosts that are lost, and for those that it launches. */
const CANCEL_MS = 2000;
/** Time after `kill` in which a step has ended, at the latest; the rest is for processes to be reaped. */
export const STOP_MS = CANCEL_MS + OUTPUT_MS + 1000;
/** The reason for an end comes from the hosts, and may come after srun's own word. */
const REASON_MS = 300;

export type StepPlatform = { readonly [key in 'clock' | 'secrets' | 'processes' | 'env']: Platform[key] };

export interface StepInit {
  /** Names in Slurm. */
  readonly hosts: readonly string[];
  readonly bundle: AgentBundle;
  /** 32 bytes. */
  readonly secret: Uint8Array;
  readonly waitMs: number;
}

/** What a host's task has said last. */
export type HostPhase = 'nothing' | 'node' | 'secret' | 'bundle' | 'agent';

export interface StepEvents {
  /** The host's agent waits there. */
  onWaits(host: string, addresses: readonly NetworkAddress[]): void;
  /** There is no node on the host, the bundle came damaged, or the agent named no place. */
  onFailed(host: string, phase: 'node' | 'bundle' | 'agent', text: string): void;
  /** The host's task has ended, in srun's words or its own; possibly told by both. */
  onEnded(host: string, end: ProcessEnd, what: string): void;
  /** Slurm has lost the host. */
  onLost(host: string): void;
  /** Slurm ends the step: `line` is its word. */
  onCancelled(line: string, reason: string | undefined): void;
  onLine(host: string | undefined, line: string): void;
  /** srun has ended, and its output is read. Nothing follows. */
  onEnd(end: StepEnd): void;
}

export interface StepEnd {
  readonly end: ProcessEnd;
  /** Last lines of srun, known ones included. */
  readonly lines: readonly string[];
  /** Hosts that srun could not reach, and why. */
  readonly unreached: ReadonlyMap<string, string>;
  /** srun could not be run. */
  readonly failure?: string;
}

export class Step {
  readonly #platform: StepPlatform;
  readonly #params: SlurmParams;
  readonly #init: StepInit;
  readonly #events: StepEvents;
  readonly #process: Process;
  readonly #mark: string;
  readonly #phases: Map<string, HostPhase>;
  /** Task → host. */
  readonly #tasks = new Map<number, string>();
  readonly #unreached = new Map<string, string>();
  readonly #lines: string[] = [];
  readonly #open = new Set(['stdout', 'stderr', 'process']);
  #end: ProcessEnd = { status: 0 };
  #id: string | undefined;
  #waitsFor: string | undefined;
  #heardMs: number;
  #isBundleSent = false;
  /** srun's word of an end, whose reason is awaited. */
  #aborted: { readonly line: string; readonly timer: Timer } | undefined;
  #isKilled = false;
  #isAborted = false;
  #isOver = false;

  constructor(platform: StepPlatform, params: SlurmParams, init: StepInit, events: StepEvents) {
    this.#platform = platform;
    this.#params = params;
    this.#init = init;
    this.#events = events;
    this.#phases = new Map(init.hosts.map((host) => [host, 'nothing']));
    this.#heardMs = platform.clock.nowMs();
    const nonce = hex(platform.secrets.bytes(NONCE_BYTES));
    this.#mark = `STCI ${nonce} `;
    const { hosts, bundle, waitMs } = init;
    const [program, ...args] = srunCommand(params, { hosts, nonce, bundle, waitMs });
    const readers = {
      stdout: new LineReader((line) => this.#onOutput(line)), stderr: new LineReader((line) => this.#onError(line)),
    };
    this.#process = platform.processes.spawn({
      program, args, env: stepEnvironment(platform.env.variables),
      stdin: 'pipe', stdout: 'pipe', stderr: 'pipe', lifetime: 'apart',
    }, {
      onError: (error) => this.#finish(error.message),
      onOutput: (stream, chunk) => readers[stream].push(chunk),
      onOutputEnd: (stream) => {
        readers[stream].end();
        this.#close(stream);
      },
      onStdinDrain: () => undefined,
      onStdinClosed: () => undefined,
      onExit: (end) => {
        this.#end = end;
        platform.clock.after(OUTPUT_MS, () => this.#finish());
        this.#close('process');
      },
    });
    this.#process.readable(true);
    this.#process.writeStdin(utf8(`${hex(init.secret)}\n`));
  }

  /** `5.0`, once a task has said it. */
  get id(): string | undefined {
    return this.#id;
  }

  /** When a host got further, by the clock. */
  get heardMs(): number {
    return this.#heardMs;
  }

  /** What Slurm says that the step waits for. */
  get waitsFor(): string | undefined {
    return this.#waitsFor;
  }

  /** All tasks are being ended, which says nothing of any of them. */
  get isAborted(): boolean {
    return this.#isAborted || this.#isKilled || this.#unreached.size > 0;
  }

  phaseOf(host: string): HostPhase | undefined {
    return this.#phases.get(host);
  }

  /** srun cancels the step; it and the step are killed if that takes too long. */
  kill(): void {
    if (this.#isKilled || this.#isOver) return;
    this.#isKilled = true;
    this.#process.signal('SIGTERM', 'process');
    this.#platform.clock.after(CANCEL_MS, () => this.#forceEnd());
  }

  #forceEnd(): void {
    if (this.#isOver) return;
    const { processes, env } = this.#platform;
    // srun's second process asks slurmctld to end the step when the first one has gone.
    this.#process.signal('SIGKILL', 'process');
    if (this.#id === undefined) return;
    processes.spawn({
      program: slurmProgram(this.#params.client, 'scancel'), args: ['--signal=KILL', this.#id],
      env: askEnvironment(env.variables),
      stdin: 'null', stdout: 'null', stderr: 'null', lifetime: 'plain',
    }, {
      onError: () => undefined, onOutput: () => undefined, onOutputEnd: () => undefined, onStdinDrain: () => undefined,
      onStdinClosed: () => undefined, onExit: () => undefined,
    });
  }

  #onOutput({ task, text }: LabelledLine): void {
    if (this.#isOver) return;
    const at = text.indexOf(this.#mark);
    if (at < 0 || task === undefined) return this.#tell(task, text);
    const [word = '', ...rest] = text.slice(at + this.#mark.length).split(' ');
    if (word === 'host') return this.#onHost(task, rest);
    const host = this.#tasks.get(task);
    if (host === undefined) return;
    if (word === 'need') this.#sendBundle();
    if (word === 'need' || word === 'have') this.#advance(host, 'node', word === 'need' ? 'bundle' : 'secret');
    if (word === 'wait') this.#onWaits(host, rest);
    if (word === 'end') this.#events.onEnded(host, { status: Number(rest[0]) }, `status ${rest[0] ?? ''}`);
    const [phase, ...why] = rest;
    const isFailure = word === 'fail' && (phase === 'node' || phase === 'bundle');
    if (isFailure) this.#events.onFailed(host, phase, why.join(' '));
  }

  #onHost(task: number, [host = '', id]: readonly string[]): void {
    if (!this.#phases.has(host) || this.#tasks.has(task)) return;
    this.#tasks.set(task, host);
    this.#advance(host, 'nothing', 'node');
    if (id !== undefined && /^\d+\.\d+$/.test(id)) this.#id ??= id;
  }

  /** A word that is repeated is no news: the silence of a host that says the same for ever counts. */
  #advance(host: string, from: HostPhase, to: HostPhase): void {
    if (this.#phases.get(host) !== from) return;
    this.#phases.set(host, to);
    this.#heardMs = this.#platform.clock.nowMs();
  }

  #onWaits(host: string, addresses: readonly string[]): void {
    if (this.#phases.get(host) === 'agent') return;
    this.#advance(host, this.#phases.get(host) as HostPhase, 'agent');
    const isPlace = addresses.length > 0 && addresses.length <= ADDRESSES_MAX
      && addresses.every((address) => address.startsWith('tls://'));
    if (isPlace) return this.#events.onWaits(host, addresses);
    const text = `expected 1 to ${ADDRESSES_MAX} addresses tls://… at which it waits, it said '${addresses.join(' ')}'`;
    this.#events.onFailed(host, 'agent', text);
  }

  #sendBundle(): void {
    if (this.#isBundleSent) return;
    this.#isBundleSent = true;
    this.#process.writeStdin(this.#init.bundle.bytes);
  }

  #onError({ task, text }: LabelledLine): void {
    if (this.#isOver) return;
    const line = this.#ofThisStep(readLine(text));
    if (line.kind === 'noise') return;
    // What srun says of the end that we asked for is no cause of anything.
    const isOwnEnd = this.#isKilled && (line.kind === 'cancelled' || line.kind === 'aborted');
    if ((task === undefined || line.kind === 'cancelled') && !isOwnEnd) this.#keep(text);
    if (task === undefined) this.#onSlurm(line, text);
    if (line.kind === 'cancelled' && !this.#isKilled) this.#onCancelled(text, line.reason);
    if (line.kind === 'other' || (task !== undefined && line.kind !== 'cancelled')) this.#tell(task, text);
  }

  /** Programs on the hosts may print what Slurm says of other steps, and srun names hosts that are none of ours. */
  #ofThisStep(line: SlurmLine): SlurmLine {
    if (line.kind === 'cancelled') {
      const own = this.#id ?? this.#platform.env.variables['SLURM_JOB_ID'];
      const job = own?.split('.')[0];
      const isOwn = own === undefined || line.step === own || line.step === job
        || (own === job && line.step.startsWith(`${job}.`));
      return isOwn ? line : { kind: 'other' };
    }
    if (line.kind !== 'ended' && line.kind !== 'lost') return line;
    const hosts = line.hosts.filter((host) => this.#phases.has(host));
    return hosts.length === 0 ? { kind: 'other' } : { ...line, hosts };
  }

  #onSlurm(line: SlurmLine, text: string): void {
    if (line.kind === 'unreached') this.#unreached.set(line.host, line.what);
    if (line.kind === 'waits') this.#waitsFor = line.what;
    if (line.kind === 'lost') for (const host of line.hosts) this.#events.onLost(host);
    if (line.kind === 'ended') {
      this.#tellAborted();
      for (const host of line.hosts) this.#events.onEnded(host, line.end, line.what);
    }
    if (line.kind !== 'aborted' || this.isAborted) return;
    this.#isAborted = true;
    this.#aborted = { line: text, timer: this.#platform.clock.after(REASON_MS, () => this.#tellAborted()) };
  }

  #tellAborted(): void {
    if (this.#aborted !== undefined) this.#onCancelled(this.#aborted.line);
  }

  #onCancelled(line: string, reason?: string): void {
    this.#aborted?.timer.cancel();
    this.#aborted = undefined;
    this.#events.onCancelled(line, reason);
  }

  #tell(task: number | undefined, text: string): void {
    this.#events.onLine(task === undefined ? undefined : this.#tasks.get(task), text);
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > LINES_MAX) this.#lines.shift();
  }

  #close(what: string): void {
    this.#open.delete(what);
    if (this.#open.size === 0) this.#finish();
  }

  #finish(failure?: string): void {
    if (this.#isOver) return;
    this.#tellAborted();
    this.#isOver = true;
    this.#events.onEnd({
      end: this.#end, lines: this.#lines, unreached: this.#unreached, ...(failure !== undefined && { failure }),
    });
  }
}
