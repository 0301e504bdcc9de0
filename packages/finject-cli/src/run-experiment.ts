/** An experiment from its directory to its exit code: runner, record, view, signals, summary. */

import { join } from 'node:path';
import { alignColumns } from '@stci/core';
import {
  CLOSE_MS, repeatName, Runner, RunJudge, type Experiment, type ExperimentDriver, type HistoryRecord, type RepeatPlan,
  type RepeatSummary, type RunFacts, type RunResult, type RunSummary, type StopReason,
} from '@stci/finject/experiment';
import { ERROR_KINDS, StciError, printable } from '@stci/interface';
import { openSessions, printError, printOut } from '@stci/stcirun/front-end';
import { HistoryFile } from './history-file.js';
import { writeReport } from './report-files.js';
import { RUN_FILES } from './run-files.js';
import { leaveRunDirectory, openRunDirectory, type OpenRun } from './run-directory.js';
import { RunView } from './run-view.js';
import { withinLimit } from './within-limit.js';

export interface RunRequest {
  readonly experiment: Experiment;
  readonly plans: readonly RepeatPlan[];
  readonly facts: RunFacts;
  readonly directory: string;
  readonly isQuiet: boolean;
  /** Records on standard output, instead of the view. */
  readonly isJson: boolean;
  driver(init: DriverInit): ExperimentDriver;
  /** Lets the time of a driver pass that has its own, until `isOver`. */
  play?(isOver: () => boolean): Promise<void>;
}

export interface DriverInit {
  readonly mark: string;
  write(record: HistoryRecord): void;
  onStep(text: string): void;
  onKilled(): void;
}

/** Signals that end the run; the second one in a hurry, the third at once. */
const ENDING: Readonly<Record<string, { readonly reason: StopReason; readonly exitCode: number }>> = {
  SIGINT: { reason: 'signal', exitCode: 130 },
  SIGHUP: { reason: 'signal', exitCode: 129 },
  // Of `finject abort`.
  SIGTERM: { reason: 'abort', exitCode: 143 },
};
const SIGNALS_MAX = 3;
/** What the first signal waits for, and what the second one changes. */
const UNDOING = { once: 'undoing all faults and ending the repeat', again: 'faster' };
const SEARCHING = {
  once: 'the repeat is over; looking at its hosts for what it has left there, which takes '
    + `${CLOSE_MS / 1000} s at most where a host does not answer`,
  again: 'without that',
};
const TICK_MS = 500;
/** Where a terminal does not say. */
const COLUMNS = 80;

/** Resolves with the exit code; see docs/finject.md. */
export async function runExperiment(request: RunRequest): Promise<number> {
  const identity = openRunDirectory(request.directory, (await openSessions({})).place);
  try {
    return await new ExperimentRun(request, identity).run();
  } finally {
    leaveRunDirectory(identity);
  }
}

class ExperimentRun {
  readonly #request: RunRequest;
  readonly #identity: OpenRun;
  readonly #judge: RunJudge;
  #runner: Runner | undefined;
  #writeError: StciError | undefined;
  #signals = 0;
  #exitCode: number | undefined;

  constructor(request: RunRequest, identity: OpenRun) {
    this.#request = request;
    this.#identity = identity;
    this.#judge = new RunJudge(identity.directory, withinLimit);
  }

  async run(): Promise<number> {
    const { directory: path, at } = this.#identity;
    const history = new HistoryFile({ path, at }, (error) => this.#onWriteError(error));
    // The view also keeps the process until the end: the platform's timers do not.
    const view = this.#openView();
    const tick = setInterval(() => view?.tick(performance.now()), TICK_MS);
    const unwatch = this.#watchSignals();
    try {
      const result = await this.#run(history, view);
      view?.end();
      return this.#finish(result);
    } finally {
      unwatch();
      clearInterval(tick);
      history.close();
    }
  }

  #run(history: HistoryFile, view: RunView | undefined): Promise<RunResult> {
    const { experiment, plans, facts, isJson } = this.#request;
    const driver = this.#request.driver({
      mark: this.#identity.mark,
      write: (record) => history.write(record),
      onStep: (text) => this.#say(text),
      onKilled: () => history.close(),
    });
    const onRecord = (record: HistoryRecord): void => {
      this.#judge.add(record);
      if (isJson) this.#printRecord(record);
      view?.onRecord(record);
    };
    const didPass = (): boolean => this.#judge.didPass;
    return new Promise((resolve, reject) => {
      let isOver = false;
      const over = (result: RunResult): void => {
        isOver = true;
        resolve(result);
      };
      this.#runner = new Runner(
        { experiment, plans, driver, observer: { onRecord }, stop: experiment.stop, facts, didPass }, over,
      );
      this.#runner.start();
      this.#request.play?.(() => isOver).catch(reject);
    });
  }

  #openView(): RunView | undefined {
    const { isQuiet, isJson, plans, facts } = this.#request;
    if (isQuiet || isJson) return undefined;
    const isTerminal = process.stderr.isTTY && process.env['TERM'] !== 'dumb';
    return new RunView({
      plans, hosts: facts.shape.hosts,
      columns: () => (isTerminal ? process.stderr.columns || COLUMNS : undefined),
      write: (text) => printError('', text),
    });
  }

  #say(text: string): void {
    const { isQuiet, isJson } = this.#request;
    if (!isQuiet && !isJson) printError(`finject: ${text}\n`);
  }

  #watchSignals(): () => void {
    const handlers = Object.entries(ENDING).map(([signal, { reason, exitCode }]) => {
      const handler = (): void => {
        this.#signals += 1;
        this.#exitCode ??= exitCode;
        if (this.#signals >= SIGNALS_MAX) process.exit(exitCode);
        const what = this.#runner?.isSearching === true ? SEARCHING : UNDOING;
        this.#say(this.#signals === 1 ? `${what.once}; once more: ${what.again}` : 'ending now');
        this.#runner?.abort(reason);
      };
      process.on(signal, handler);
      return () => process.off(signal, handler);
    });
    return () => {
      for (const unwatch of handlers) unwatch();
    };
  }

  /** Whoever read them has gone, or their file is full: the run is ended, as its history says. */
  #printRecord(record: HistoryRecord): void {
    if (this.#writeError !== undefined) return;
    try {
      printOut(`${JSON.stringify(record)}\n`);
    } catch (thrown) {
      this.#onWriteError(thrown as StciError);
    }
  }

  /** The record cannot be written: the run is worth nothing without it. */
  #onWriteError(error: StciError): void {
    this.#writeError = error;
    this.#runner?.abort('error');
  }

  #finish({ stopped, text, error }: RunResult): number {
    const summary = this.#judge.summary();
    const { directory, isQuiet, isJson } = this.#request;
    let failure: unknown = this.#writeError ?? error;
    let report: string | undefined;
    // Before anything is printed: whoever reads that may have gone.
    try {
      if (failure === undefined) {
        const { directory: path, at } = this.#identity;
        writeReport({ path, at }, { history: this.#judge.history(), summary });
        report = join(directory, RUN_FILES.report);
      }
    } catch (thrown) {
      failure = thrown;
    }
    const where = `record: ${directory}\n${report === undefined ? '' : `report: ${report}\n`}`;
    if (!isJson && !isQuiet) printOut(`${summaryText(summary, text, error?.message)}${where}`);
    if (failure !== undefined) throw failure;
    if (this.#exitCode !== undefined && (stopped === 'signal' || stopped === 'abort')) return this.#exitCode;
    const failures = summary.repeats.filter((repeat) => !repeat.isPassed).length;
    const isPassed = stopped === undefined && failures === 0;
    if (!isPassed && isQuiet) printError(`finject: ${text}; ${failures} did not pass. Report: ${report}\n`);
    return isPassed ? 0 : ERROR_KINDS.STCI_EXPERIMENT_FAILED.exitCode;
  }
}

const DETECTION = 'detection: from the fault at its victim to the confirmation at the agent that detected it\n';

/** Length of the reason in the table; the report has all of it. */
const REASON_CHARS = 60;
/** Reasons that are told below the table. */
const REASONS_MAX = 10;

/** A table of the repeats, and below it why some did not pass. `error`: why one was not begun; it is told elsewhere. */
export function summaryText({ repeats }: RunSummary, end: string, error?: string): string {
  const wasBegun = ({ problems }: RepeatSummary): boolean => error === undefined || !problems.includes(error);
  const hasConfigurations = repeats.some(({ configuration }) => configuration !== '');
  const of = hasConfigurations ? ['configuration'] : [];
  const head = ['repeat', ...of, 'outcome', 'passed', 'faults', 'detection', 'exit'];
  const rows = repeats.map((repeat) => [
    String(repeat.number), ...(hasConfigurations ? [String(repeat.configuration)] : []), repeat.outcome,
    repeat.isPassed ? 'yes' : `no: ${wasBegun(repeat) ? reasonsOf(repeat) : 'not begun'}`,
    faultsText(repeat),
    detectionText(repeat), repeat.exitCode === undefined ? '-' : String(repeat.exitCode),
  ]);
  const passed = repeats.filter(({ isPassed }) => isPassed).length;
  const lines = alignColumns([head, ...rows]).map((line) => `${line.trimEnd()}\n`).join('');
  const isMeasured = repeats.some((repeat) => detectionText(repeat) !== '-');
  return `${lines}${isMeasured ? DETECTION : ''}${failuresText(repeats.filter(wasBegun))}${end}; ${passed} passed\n`;
}

/** Faults that were made, and of how many where some were not. */
function faultsText({ injections }: RepeatSummary): string {
  const made = injections.filter(({ injectedMs }) => injectedMs !== undefined).length;
  return made === injections.length ? String(made) : `${made} of ${injections.length}`;
}

function failuresText(repeats: readonly RepeatSummary[]): string {
  const failures = repeats.filter(({ isPassed }) => !isPassed).flatMap((repeat) => [
    ...repeat.problems,
    ...repeat.checks.filter(({ isPassed }) => !isPassed).map(({ name, text }) => `${name}: ${text}`),
  ].map((text) => `${repeatName(repeat)}: ${text}`));
  const rest = failures.length - REASONS_MAX;
  const shown = [...failures.slice(0, REASONS_MAX), ...(rest > 0 ? [`and ${rest} more, in the report`] : [])];
  return shown.map((line) => `${printable(line).replaceAll('\n', '\n  ')}\n`).join('');
}

function reasonsOf({ checks, problems, outcome }: RepeatSummary): string {
  const failed = checks.filter(({ isPassed }) => !isPassed).map(({ name }) => name);
  const text = [...failed, ...(failed.length === 0 ? problems.slice(0, 1) : [])].join(', ') || outcome;
  return text.length > REASON_CHARS ? `${text.slice(0, REASON_CHARS)}…` : text;
}

function detectionText({ injections }: RepeatSummary): string {
  const known = injections.flatMap(({ detectionMs }) => (detectionMs === undefined ? [] : [detectionMs]));
  if (known.length === 0) return '-';
  const [min, max] = [Math.min(...known), Math.max(...known)].map((ms) => ms.toFixed(1));
  return known.length === 1 ? `${min} ms` : `${min}–${max} ms`;
}
