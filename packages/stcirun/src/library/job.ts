/** `launch`: a job as an object. */

import { getMaxListeners, setMaxListeners } from 'node:events';
import { signalNamed } from '@stci/core';
import type { OutputLine } from '@stci/core/iof';
import type { ExitReportJson, SignalActions } from '@stci/core/run';
import { StciError, printable, type JobMap, type SignalName } from '@stci/interface';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { JobFacts } from '../output/facts.js';
import { followJob, type JobSource } from '../run/follow-job.js';
import { mpiRemarks } from '../run/mpi-program.js';
import { openJob, type PlannedRun } from '../run/plan-run.js';
import type { Prepared } from '../run/prepare.js';
import { parseForwardList, watchSignals } from '../run/terminal/signals.js';
import { ask, planAsked, watchPlugins } from './ask.js';
import { EventFeed, type JobEvent } from './event-feed.js';
import { JobInput } from './job-input.js';
import { libraryDriver } from './library-driver.js';
import { inOptionNames } from './option-table.js';
import type { InputChunk, LaunchOptions } from './options.js';
import { OutputFeed, type OutputChunk } from './output-feed.js';
import { passOn } from './pass-on.js';
import type { PluginWatch } from './plugin-watch.js';

/** A timer that keeps the process while the job runs: the longest period that Node allows. */
const AWAKE_MS = 2 ** 31 - 1;

/** Of a job whose plugin has failed, after parameter tool.grace: then its agents are ended without a report. */
const IN_ORDER_MS = 5000;

export interface JobResult {
  /** As stcirun's (docs/exit-codes.md). */
  readonly exitCode: number;
  /** As `--exit-report=json` has it; undefined where none came, or the job was left to its session. */
  readonly report: ExitReportJson | undefined;
}

/** A job that was launched. */
export interface Job {
  /** In a session, once that has accepted it: its name, as `stci ps` shows it; else undefined. */
  readonly id: string | undefined;
  /** Output as it comes; who stops reading wants no more, and what comes is dropped. Read once, this or `lines`. */
  readonly output: AsyncIterable<OutputChunk>;
  /** The same, line by line. */
  lines(): AsyncIterable<OutputLine>;
  /** Events as `--json` has them, and messages. Of more than 16384 unread ones the oldest are dropped. Read once. */
  readonly events: AsyncIterable<JobEvent>;
  /**
   * Resolves when the job has ended, also if it failed, and all that it started is gone. Rejects with StciError for
   * what is wrong before anything is started. A rejection that nobody handles is no unhandled rejection of the process.
   */
  readonly result: Promise<JobResult>;
  /** Sends a signal, as `SIGUSR1`, to all ranks. False if none can get it yet, or any longer. Throws STCI_USAGE. */
  signal(name: string): boolean;
  /** Resolves when there is room for more: with false if no rank reads any longer. Rejects with STCI_USAGE. */
  writeStdin(chunk: InputChunk): Promise<boolean>;
  closeStdin(): Promise<void>;
  /** Ends the job in order, as an aborted signal does: TERM to all ranks, KILL after parameter tool.grace. */
  end(): void;
  /** Ends it at once. Ranks no longer wait for their output to be read. */
  kill(): void;
  /** Leaves it to its session. Throws STCI_USAGE where it has agents of its own, which end with this process. */
  detach(): void;
  /** Kills it, and waits for its end. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Runs a job, as stcirun does. Nothing is shared with other jobs of this process, nothing printed, no handler
 * installed unless an option says so. The job ends with this process, however that ends.
 */
export function launch(options: LaunchOptions): Job {
  return new LaunchedJob(options);
}

class LaunchedJob implements Job {
  readonly result: Promise<JobResult>;
  readonly #options: LaunchOptions;
  readonly #events = new EventFeed();
  readonly #output = new OutputFeed();
  readonly #input: JobInput;
  #source: JobSource | undefined;
  #facts: JobFacts | undefined;
  #actions: SignalActions | undefined;
  /** Ends are asked for: 1 in order, 2 at once. */
  #ends = 0;
  /** Who asked first, for the report. */
  #why = 'The job was ended';
  #onEarlyEnd: () => void = () => undefined;
  #report: ExitReportJson | undefined;
  #sinkFault: (error: StciError) => void = () => undefined;
  #pluginFault: StciError | undefined;
  #stopAgents: () => void = () => undefined;
  #forceMs = 0;
  #forceTimer: NodeJS.Timeout | undefined;

  constructor(options: LaunchOptions) {
    this.#options = options;
    this.#input = new JobInput(options?.input, (thrown) => this.#onInputFault(thrown));
    this.result = this.#run();
    this.result.catch(() => undefined);
  }

  get id(): string | undefined {
    return this.#source?.name;
  }

  get output(): AsyncIterable<OutputChunk> {
    return this.#readable(() => this.#output.chunks());
  }

  lines(): AsyncIterable<OutputLine> {
    return this.#readable(() => this.#output.lines(() => this.#facts as JobFacts));
  }

  get events(): AsyncIterable<JobEvent> {
    return { [Symbol.asyncIterator]: () => this.#events.read() };
  }

  signal(name: string): boolean {
    const signal = signalNamed(String(name));
    if (signal === undefined) throw new StciError('STCI_USAGE', `signal: unknown signal '${name}'. Write SIGUSR1.`);
    this.#actions?.forward(signal);
    return this.#actions !== undefined;
  }

  async writeStdin(chunk: InputChunk): Promise<boolean> {
    this.#checkInput();
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) return this.#input.write(chunk);
    throw new StciError('STCI_USAGE', `writeStdin: expected text or bytes, got ${typeof chunk}.`);
  }

  async closeStdin(): Promise<void> {
    this.#checkInput();
    await this.#input.close();
  }

  end(): void {
    this.#end(1, 'by end()');
  }

  kill(): void {
    this.#end(2, 'by kill()');
  }

  detach(): void {
    if (this.#actions === undefined) return;
    if (this.#source?.detach === undefined) {
      throw new StciError('STCI_USAGE', 'detach: the job is of no session. Launch it with `session`.');
    }
    this.#actions.detach();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill();
    this.#output.discard();
    await this.result.catch(() => undefined);
  }

  async #run(): Promise<JobResult> {
    let unlisten = (): void => undefined;
    let watch: PluginWatch | undefined;
    const awake = setInterval(() => undefined, AWAKE_MS);
    try {
      const asked = ask(this.#options);
      unlisten = this.#listen();
      this.#checkEarlyEnd();
      const say = (text: string): void => this.#events.push({ type: 'message', text, isError: false });
      const writeLog = (line: string): void => this.#events.push({ type: 'log', text: line.trimEnd() });
      const run = await planAsked(asked, say, writeLog, {
        watch: async (prepared) =>
          (watch = await watchPlugins(prepared, (error) => setImmediate(() => this.#onPluginFault(error)))),
        ask: (prepared) => this.#askSlurm(prepared),
      });
      try {
        return await this.#follow(run);
      } finally {
        run.platform.close();
        if ((await run.allocation?.release()) === false) say(run.allocation?.unconfirmed ?? '');
      }
    } catch (error) {
      const thrown = inOptionNames(watch?.attributed(error) ?? error);
      this.#output.fail(thrown);
      this.#events.end(thrown);
      throw thrown;
    } finally {
      unlisten();
      watch?.release();
      clearTimeout(this.#forceTimer);
      clearInterval(awake);
      this.#input.stop();
      this.#output.fail(undefined);
      this.#events.end();
    }
  }

  #listen(): () => void {
    const { signal } = this.#options;
    if (signal === undefined) return () => undefined;
    const onAbort = (): void => this.#end(1, `by its AbortSignal: ${reasonText(signal.reason)}`);
    // A caller may have any number of jobs; Node would warn of a leak at the eleventh.
    moreListeners(signal, 1);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    return () => {
      signal.removeEventListener('abort', onAbort);
      moreListeners(signal, -1);
    };
  }

  async #follow(run: PlannedRun): Promise<JobResult> {
    const driver = this.#driver();
    const source = await this.#open(run);
    this.#source = source;
    const facts = (this.#facts = new JobFacts(run.map, run.params.int('iof.line.max')));
    const { output = 'iterate' } = this.#options;
    if (output === 'discard') this.#output.discard();
    const passedOn = output !== 'inherit' ? undefined : passOn(this.#output, () => facts).then((error) => {
      if (error !== undefined) this.#sinkFault(error);
    });
    this.#forceMs = run.params.int('tool.grace') + IN_ORDER_MS;
    const followed = {
      ...run, ...source, remarks: () => mpiRemarks(run),
      startFrontEnd: (...args: Parameters<JobSource['startFrontEnd']>) => {
        const frontEnd = source.startFrontEnd(...args);
        this.#stopAgents = () => frontEnd.stop();
        return frontEnd;
      },
    };
    const exitCode = await followJob(followed, driver, {
      options: {
        quiet: false, verbose: false, json: true, strict: false, exitReport: { format: 'json', file: 'result' },
      },
      prefix: '',
      onMapped: (map: JobMap) => facts.remap(map),
      say: (text) => this.#events.push({ type: 'message', text, isError: true }),
    });
    await passedOn;
    return { exitCode, report: this.#report };
  }

  /** An end that is asked for while Slurm has the request in its queue takes that back. */
  async #askSlurm(prepared: Prepared): Promise<HeldAllocation> {
    const { askSlurm } = await import('../run/ask-slurm.js');
    const aborting = new AbortController();
    this.#onEarlyEnd = () => aborting.abort();
    let allocation: HeldAllocation | undefined;
    try {
      if (this.#ends > 0) this.#onEarlyEnd();
      allocation = await askSlurm(prepared, { signal: aborting.signal });
      this.#checkEarlyEnd();
      return allocation;
    } catch (thrown) {
      await allocation?.release();
      this.#checkEarlyEnd();
      throw thrown;
    } finally {
      this.#onEarlyEnd = () => undefined;
    }
  }

  /** In a session the job may wait to be accepted: an end that is asked for meanwhile closes the connection. */
  async #open(run: PlannedRun): Promise<JobSource> {
    this.#onEarlyEnd = () => run.session?.client.close();
    try {
      if (this.#ends > 0) this.#onEarlyEnd();
      this.#checkEarlyEnd();
      return await openJob(run);
    } catch (thrown) {
      this.#checkEarlyEnd();
      throw thrown;
    } finally {
      this.#onEarlyEnd = () => undefined;
    }
  }

  #driver(): ReturnType<typeof libraryDriver> {
    const { handleSignals = false, forwardSignals } = this.#options;
    const forwarded = parseForwardList(forwardSignals?.toString());
    return libraryDriver({
      events: this.#events,
      output: this.#output,
      input: this.#input,
      onReport: (report) => (this.#report = report),
      onSink: (onFault) => (this.#sinkFault = onFault),
      watch: (actions) => {
        this.#actions = actions;
        const unwatch = handleSignals ? watchOwn(forwarded, actions) : () => undefined;
        // The job is submitted in this turn.
        setImmediate(() => this.#carryOut());
        return () => {
          unwatch();
          this.#actions = undefined;
        };
      },
    });
  }

  #readable<T>(read: () => AsyncGenerator<T, void, undefined>): AsyncIterable<T> {
    const { output = 'iterate' } = this.#options ?? {};
    return {
      [Symbol.asyncIterator]: () => {
        if (output === 'iterate') return read();
        throw new StciError('STCI_USAGE', `The job was launched with output: '${output}'. Nothing of it can be read.`);
      },
    };
  }

  #checkInput(): void {
    const { stdin, input } = this.#options;
    if (input === undefined && stdin !== undefined && stdin !== 'none') return;
    const text = input === undefined ? 'no rank reads. Launch it with `stdin`, such as stdin: 0' : '`input` is given';
    throw new StciError('STCI_USAGE', `writeStdin: ${text}.`);
  }

  #checkEarlyEnd(): void {
    if (this.#ends === 0) return;
    const cause = this.#options.signal?.reason as unknown;
    throw new StciError('STCI_JOB_INTERRUPTED', `${this.#why} (before it began)`, { cause });
  }

  #end(times: 1 | 2, who: string): void {
    if (this.#ends === 0) this.#why = `The job was ended ${who}`;
    this.#ends = Math.max(this.#ends, times);
    if (this.#actions === undefined) this.#onEarlyEnd();
    else this.#carryOut();
  }

  #carryOut(): void {
    if (this.#actions === undefined) return;
    if (this.#pluginFault !== undefined) this.#endByPlugin(this.#pluginFault);
    if (this.#ends === 0) return;
    this.#actions.end('SIGINT', this.#ends, this.#why);
    // Who has asked for the end, and does not read, does not wait for output.
    if (!this.#output.isRead) this.#output.discard();
  }

  /** The first decides the exit code, unless something failed before. It ends the job in order, or else its agents. */
  #onPluginFault(error: StciError): void {
    if (this.#pluginFault !== undefined) return;
    this.#pluginFault = error;
    this.#carryOut();
  }

  #endByPlugin(error: StciError): void {
    if (this.#forceTimer !== undefined) return;
    this.#sinkFault(error);
    this.#forceTimer = setTimeout(() => this.#stopAgents(), this.#forceMs);
  }

  #onInputFault(thrown: unknown): void {
    const text = `input: ${reasonText(thrown)}`;
    this.#events.push({ type: 'message', text, isError: true });
    this.#end(1, `by its ${text}`);
  }
}

const REASON_CHARS_MAX = 200;

/** Of an error its message; a program may give anything. */
function reasonText(reason: unknown): string {
  let text = '';
  try {
    text = reason instanceof Error ? reason.message : String(reason);
  } catch {
    // An object without a text.
  }
  return printable(text.slice(0, REASON_CHARS_MAX));
}

function moreListeners(signal: AbortSignal, count: 1 | -1): void {
  const now = getMaxListeners(signal);
  if (now > 0) setMaxListeners(now + count, signal); // 0: any number.
}

/** Signals of this process, which any number of its jobs may watch. */
function watchOwn(forwarded: readonly SignalName[], actions: SignalActions): () => void {
  process.setMaxListeners(process.getMaxListeners() + 1);
  const unwatch = watchSignals(forwarded, actions);
  return () => {
    unwatch();
    process.setMaxListeners(process.getMaxListeners() - 1);
  };
}
