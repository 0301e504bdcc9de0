/**
 * `--each`: the program on each host by itself, as pdsh and clush run a command. Each host has an agent and a job of
 * its own, which begins when its agent is up: no host waits for another, and what becomes of one ends no other. They
 * share the screen, or the files of `--output`; at the end one summary says what became of all.
 */

import { counted, foldSorted, mapJob, paramsSnapshot, signalExitCode } from '@stci/core';
import { createFrontEnd } from '@stci/core/controller';
import { parseTemplate } from '@stci/core/iof';
import { JobRun, type OutputSink, type RunDriver, type RunScreen, type SignalActions } from '@stci/core/run';
import {
  EXIT, type FrontEndEvents, type HostIndex, type JobReport, type Rank, type SignalName, type StciError,
} from '@stci/interface';
import type { EachRequest } from '../cli/parse.js';
import { leave } from '../process/leave.js';
import { JobFacts } from '../output/facts.js';
import { openSink } from '../output/open-sink.js';
import { openTerminal, type Terminal } from '../output/terminal.js';
import type { PlannedRun } from './plan-run.js';
import { parseForwardList, watchSignals } from './terminal/signals.js';

/** What became of a host. */
export interface EachOutcome {
  readonly host: string;
  readonly what: 'ok' | 'failed' | 'timed-out' | 'unreached' | 'lost' | 'not-started';
  readonly exitCode: number;
  /** Why, where there is more to say than the exit code. */
  readonly text: string;
}

/** Outcomes by the code of the cause; else it failed by itself. */
const OUTCOMES: Readonly<Record<string, EachOutcome['what']>> = {
  STCI_LAUNCH_FAILED: 'unreached', STCI_LAUNCH_TIMEOUT: 'unreached', STCI_JOB_TIMEOUT: 'timed-out',
  STCI_AGENT_LOST: 'lost',
};

const WORDS: Readonly<Record<EachOutcome['what'], string>> = {
  ok: 'ok', failed: 'exit code', 'timed-out': 'not done in time', unreached: 'not reached', lost: 'lost',
  'not-started': 'not begun',
};

export function eachOutcome(host: string, exitCode: number, report: JobReport | undefined): EachOutcome {
  const cause = report?.cause;
  if (exitCode === 0) return { host, what: 'ok', exitCode, text: '' };
  const what = OUTCOMES[cause?.code ?? ''] ?? 'failed';
  // Of a program that ran, the code says all.
  const hasRun = cause?.code === 'STCI_TOOL_STATUS' || cause?.code === 'STCI_TOOL_SIGNAL';
  const text = hasRun ? '' : cause?.message.replace('(--timeout)', '(--hosttimeout)') ?? '';
  return { host, what, exitCode, text };
}

/** The lines at the end: how many are well, and of the others what became of which. */
export function eachSummary(outcomes: readonly EachOutcome[]): string[] {
  const groups = new Map<string, string[]>();
  for (const { host, what, exitCode } of outcomes) {
    const key = what === 'failed' ? `${WORDS.failed} ${exitCode}` : WORDS[what];
    groups.set(key, [...(groups.get(key) ?? []), host]);
  }
  const ok = groups.get(WORDS.ok)?.length ?? 0;
  groups.delete(WORDS.ok);
  const all = counted(outcomes.length, 'host');
  if (groups.size === 0) return [`${all}: all ok`];
  return [`${ok} of ${all} ok`, ...[...groups].map(([key, hosts]) => `${key}: ${foldSorted(hosts)} (${hosts.length})`)];
}

/** 0 if all hosts are well; else the largest of their exit codes, which are 193 and more where no program ran. */
export function eachExitCode(outcomes: readonly EachOutcome[]): number {
  return outcomes.reduce((most, { exitCode }) => Math.max(most, exitCode), 0);
}

/** Resolves with the exit code. */
export function runEach(run: PlannedRun, each: EachRequest, ignoresHangup: boolean): Promise<number> {
  return new Promise((resolve) => new Each(run, each, resolve).start(ignoresHangup));
}

class Each {
  readonly #run: PlannedRun;
  readonly #each: EachRequest;
  readonly #onExit: (exitCode: number) => void;
  readonly #terminal: Terminal;
  readonly #sink: OutputSink;
  readonly #waiting: HostIndex[];
  readonly #running = new Set<HostIndex>();
  readonly #actions = new Map<HostIndex, SignalActions>();
  readonly #outcomes: EachOutcome[] = [];
  readonly #perHost: number;
  #unwatch: () => void = () => undefined;
  /** By a signal, or because output cannot be written: then this is the exit code. */
  #endCode: number | undefined;
  #ends = 0;
  #isOver = false;

  constructor(run: PlannedRun, each: EachRequest, onExit: (exitCode: number) => void) {
    const { request, map, params, spec } = run;
    this.#run = run;
    this.#each = each;
    this.#onExit = onExit;
    this.#waiting = [...spec.hosts.keys()];
    this.#perHost = map.size / spec.hosts.length;
    const onFault = (error: StciError): void => this.#onFault(error);
    this.#terminal = openTerminal(onFault, request.color);
    const template = request.output === undefined ? undefined : parseTemplate(request.output);
    const facts = new JobFacts(map, params.int('iof.line.max'), this.#perHost);
    this.#sink = openSink({ request, template, terminal: this.#terminal, facts, onFault });
  }

  start(ignoresHangup: boolean): void {
    const all = (act: (actions: SignalActions) => void): void => [...this.#actions.values()].forEach(act);
    this.#unwatch = watchSignals(parseForwardList(this.#run.request.forwardSignals), {
      end: (signal, times) => this.#onEndSignal(signal, times),
      forward: (signal) => all((actions) => actions.forward(signal)),
      detach: () => undefined,
      pause: (on) => all((actions) => actions.pause(on)),
    }, { ignoresHangup });
    this.#fill();
  }

  /** Begins as many as there may be at a time. */
  #fill(): void {
    while (this.#running.size < this.#each.fanout) {
      const host = this.#waiting.shift();
      if (host === undefined) break;
      this.#begin(host);
    }
    if (this.#running.size === 0 && this.#waiting.length === 0) this.#finish();
  }

  #begin(host: HostIndex): void {
    const { spec: whole, params, registry, platform, composition, scope, isHere } = this.#run;
    const own = whole.hosts[host] as (typeof whole.hosts)[number];
    const { hostTimeoutMs } = this.#each;
    const timeout = hostTimeoutMs === undefined ? {}
      : { timeoutMs: hostTimeoutMs, launchTimeoutMs: Math.min(whole.launchTimeoutMs, hostTimeoutMs) };
    const spec = {
      ...whole, ...timeout, hosts: [own], apps: whole.apps.map((app) => ({ ...app, count: this.#perHost })),
    };
    const limits = {
      ranksMax: params.int('job.size.max'), ranksPerHostMax: params.int('job.ranks.per.host.max'),
    };
    const { hosts, ...job } = spec;
    let report: JobReport | undefined;
    this.#running.add(host);
    new JobRun({
      clock: platform.clock,
      spec: job,
      map: mapJob(spec, limits),
      onMapped: () => undefined,
      options: { quiet: true, verbose: false, json: false, strict: false },
      toleratesFailures: scope.errorManager(params).toleratesFailures,
      driver: this.#driver(host),
      startFrontEnd: (events) => createFrontEnd({
        platform, composition, params, snapshot: paramsSnapshot(registry.catalog, params),
        allocation: { hosts, spares: [] },
      }, withReport(events, (ended) => (report = ended))),
      isHere,
      onExit: (exitCode) => this.#onHostOver(host, eachOutcome(own.name, exitCode, report)),
    }).start();
  }

  #onHostOver(host: HostIndex, outcome: EachOutcome): void {
    this.#running.delete(host);
    this.#outcomes.push(outcome);
    const { host: name, what, exitCode, text } = outcome;
    const { request } = this.#run;
    if (request.json) this.#terminal.event(`${JSON.stringify({ type: 'host-ended', ...outcome })}\n`);
    else if (what !== 'ok') {
      const words = what === 'failed' ? `${WORDS.failed} ${exitCode}` : WORDS[what];
      this.#say(`${name}: ${words}${text && `: ${text}`}`, true);
    }
    this.#fill();
  }

  #driver(host: HostIndex): RunDriver {
    const sink = this.#sink;
    const rankOf = (rank: Rank): Rank => host * this.#perHost + rank;
    const nothing = (): void => undefined;
    // What it would say is in its report; output that is not written yet holds up no host.
    const screen: RunScreen = { message: nothing, event: nothing, abandon: nothing, flush: (done) => done() };
    return {
      openScreen: () => screen,
      openSink: () => ({
        started: (rank, pid) => sink.started(rankOf(rank), pid),
        push: (rank, stream, chunk, wallMs, release) => sink.push(rankOf(rank), stream, chunk, wallMs, release),
        end: (rank, stream) => sink.end(rankOf(rank), stream),
        finish: (done) => done(),
        breakLine: nothing,
        abandon: nothing,
      }),
      openProgress: () => undefined,
      openStdin: () => ({ start: nothing, drain: nothing, stop: nothing }),
      openEvents: () => undefined,
      watchSignals: (actions) => {
        this.#actions.set(host, actions);
        return () => this.#actions.delete(host);
      },
      writeReport: (_file, _text, done) => done(undefined),
      leave: nothing,
    };
  }

  #onEndSignal(signal: SignalName, times: number): void {
    this.#endCode ??= signalExitCode(signal);
    if (times > 2) return leave(this.#endCode);
    const hosts = counted(this.#running.size, 'host');
    this.#say(times === 1 ? `${signal}: ending what runs on ${hosts}; again to kill` : 'killing all', false);
    if (times === 2) {
      this.#sink.abandon();
      this.#terminal.abandon();
    }
    this.#end(signal, times);
  }

  /** Output cannot be written: nothing more is begun. */
  #onFault(error: StciError): void {
    if (this.#endCode !== undefined) return;
    this.#endCode = error.exitCode;
    if (error.code !== 'STCI_OUTPUT_CLOSED') this.#say(error.message, true);
    this.#end('SIGTERM', 1);
  }

  #end(signal: SignalName, times: number): void {
    this.#ends = Math.max(this.#ends, times);
    const { hosts } = this.#run.spec;
    for (const host of this.#waiting.splice(0)) {
      const name = hosts[host]?.name ?? String(host);
      this.#outcomes.push({ host: name, what: 'not-started', exitCode: EXIT.launch, text: '' });
    }
    for (const actions of [...this.#actions.values()]) actions.end(signal, this.#ends);
    if (this.#running.size === 0) this.#finish();
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.finish(() => {
      const code = this.#endCode ?? eachExitCode(this.#outcomes);
      const lines = code !== 0 || !this.#run.request.quiet ? eachSummary(this.#outcomes) : [];
      for (const line of lines) this.#say(line, code !== 0);
      this.#terminal.flush(() => {
        this.#unwatch();
        this.#onExit(code);
      });
    });
  }

  #say(text: string, isError: boolean): void {
    this.#sink.breakLine();
    this.#terminal.message(`stcirun: ${text}`, isError);
  }
}

/** The same events; the report of the end is shown to `onReport` first. */
function withReport(events: FrontEndEvents, onReport: (report: JobReport) => void): FrontEndEvents {
  return {
    onJobEvent: (event) => {
      if (event.type === 'ended') onReport(event.report);
      events.onJobEvent(event);
    },
    onOutput: (rank, stream, chunk, wallMs, release) => events.onOutput(rank, stream, chunk, wallMs, release),
    onStdinDrain: () => events.onStdinDrain(),
    onStdinClosed: () => events.onStdinClosed(),
    onStopped: () => events.onStopped(),
  };
}
