/**
 * One repeat, from its checks before to those after: opens its session, runs the target, injects, ends, undoes, closes.
 * Whatever happens, it ends: each wait has a deadline, and what it began is undone and closed before it calls back.
 */

import { formatDuration } from '@stci/core';
import { StciError, type Clock, type JobReport } from '@stci/interface';
import type { Experiment, RepeatPlan } from '../experiment/contracts.js';
import type { HistoryEntry, StopReason } from '../history/contracts.js';
import { CommandChecks } from './command-checks.js';
import type { ExperimentDriver, LeftBehind, OpenedTarget } from './contracts.js';
import { Injector } from './injector.js';
import { RepeatJob } from './repeat-job.js';
import { RepeatSession } from './repeat-session.js';
import { Timers } from './timers.js';

/** How long the session may take to undo all faults before the repeat goes on; and in a hurry. */
const UNDO_ALL_MS = 20_000;
const HURRY_MS = 5000;
/** How long the job may take to end after TERM, and after KILL. */
const TERM_MS = 15_000;
const KILL_MS = 30_000;
/** A job whose launch takes longer than its own time-out, and this, has no session that would end it. */
const LAUNCH_MS = 60_000;

export interface RepeatInit {
  readonly experiment: Experiment;
  readonly plan: RepeatPlan;
  readonly driver: ExperimentDriver;
  record(entry: HistoryEntry): void;
  /** `error`: it could not be begun. */
  done(error: StciError | undefined): void;
}

export class Repeat {
  readonly #init: RepeatInit;
  readonly #clock: Clock;
  /** Of the step that it is at. */
  readonly #timers: Timers;
  readonly #checks: CommandChecks;
  readonly #session: RepeatSession;
  #injector: Injector | undefined;
  #job: RepeatJob | undefined;
  #report: JobReport | undefined;
  #error: StciError | undefined;
  #stopped: StopReason | undefined;
  #isOpening = false;
  #isTimeOut = false;
  /** The repeat is to end, or its job has. */
  #isEnding = false;
  #isHurried = false;
  /** After the job. */
  #isChecking = false;
  #isClosing = false;
  /** By somebody who waits, while it was closing. */
  #wasToldToEnd = false;

  constructor(init: RepeatInit) {
    this.#init = init;
    const { experiment, plan, driver, record } = init;
    const { repeat } = plan;
    this.#clock = driver.platform.clock;
    this.#timers = new Timers(this.#clock);
    this.#checks = new CommandChecks({
      checks: experiment.checks, clock: this.#clock, driver,
      onResult: ({ name, phase }, isPassed, text) => record({ type: 'check', repeat, name, phase, isPassed, text }),
    });
    this.#session = new RepeatSession({
      experiment, plan, driver, clock: this.#clock,
      onClocks: (clocks) => record({ type: 'clock', repeat, clocks }),
      onProblem: (text) => this.#problem(text),
      onUnrenewed: ({ message }) => {
        if (!this.#isEnding) this.#problem(`The experiment is not renewed: ${message}`);
      },
    });
  }

  get #number(): number {
    return this.#init.plan.repeat;
  }

  start(): void {
    this.#init.record({ type: 'repeat', plan: this.#init.plan });
    this.#checks.run('before', (failed) => {
      if (failed === undefined) return this.#open();
      const text = `Check ${failed} failed before the repeat: it was not begun.`;
      this.#fail(new StciError('STCI_EXPERIMENT_FAILED', text));
    });
  }

  /** The repeat is over, but for the look at what it has left. */
  get isSearching(): boolean {
    return this.#session.isSearching;
  }

  /** Ends it, for this reason; the second time faster. */
  stop(reason: StopReason): void {
    if (this.#isClosing) {
      const isTold = reason === 'signal' || reason === 'abort';
      if (isTold && this.#wasToldToEnd) this.#session.leaveSearch();
      this.#wasToldToEnd ||= isTold;
      return;
    }
    const isAgain = this.#stopped !== undefined;
    this.#stopped ??= reason;
    if (!isAgain) this.#endJob();
    else if (!this.#isHurried) this.#hurry();
  }

  /** The session, the experiment in it, then the job. */
  #open(): void {
    this.#isOpening = true;
    this.#session.open((error, target) => {
      this.#isOpening = false;
      if (target === undefined) return this.#fail(error);
      if (this.#isEnding) return this.#close();
      this.#begin(target);
    });
  }

  #begin(target: OpenedTarget): void {
    const { driver, plan, record, experiment } = this.#init;
    const { client } = target;
    const injector = new Injector({
      plan, client, record, clock: this.#clock, timers: new Timers(this.#clock), within: driver.within,
      allowsFrontEnd: experiment.allow.includes('front-end'), killSelf: () => driver.killSelf(),
    });
    this.#injector = injector;
    client.experiment.onReport = (report) => {
      if (!this.#isClosing) injector.onReport(report);
    };
    this.#session.hold(target, (error) => {
      if (error !== undefined) return this.#fail(error);
      if (this.#isEnding) return this.#close();
      this.#submit(target, injector);
    });
  }

  #submit(target: OpenedTarget, injector: Injector): void {
    const { record, experiment } = this.#init;
    const job = new RepeatJob({
      repeat: this.#number, target, injector, clock: this.#clock, record,
      outputBytesMax: experiment.outputs.outputBytesMax,
      onRunning: () => this.#onRunning(),
      onProblem: (text) => this.#problem(text),
      onEnded: (report) => {
        this.#report = report;
        this.#onJobOver();
      },
      onLost: (why) => this.#onLost(why),
    });
    this.#job = job;
    job.submit((error, accepted) => {
      if (accepted === undefined) return this.#fail(error);
      if (this.#isEnding) return this.#isHurried ? this.#killJob() : this.#terminateJob();
      this.#timers.after(target.spec.launchTimeoutMs + LAUNCH_MS, () => this.#onTimeOut('its ranks did not run'));
      injector.open(accepted.job);
    });
  }

  #onRunning(): void {
    if (this.#isEnding) return;
    this.#timers.cancelAll();
    this.#session.measureClocks(() => {
      if (!this.#isEnding) this.#timers.after(this.#init.experiment.warmUpMs, () => this.#onStart());
    });
  }

  #onStart(): void {
    this.#init.record({ type: 'start', repeat: this.#number });
    const { timeLimitMs } = this.#init.experiment;
    const text = `The target was not over within the time limit, ${formatDuration(timeLimitMs)}.`;
    this.#timers.after(timeLimitMs, () => this.#onTimeOut(text));
    this.#checks.run('during', () => undefined);
    this.#injector?.onMoment('start');
  }

  #onTimeOut(problem: string): void {
    if (this.#isEnding) return;
    this.#problem(problem);
    this.#isTimeOut = true;
    this.#endJob();
  }

  /** Unless the controller is a victim, the repeat says nothing of its target. */
  #onLost(why: string): void {
    this.#session.lose();
    this.#problem(why);
    const victims = this.#init.plan.injections.flatMap((injection) => injection.victims);
    if (!victims.some((victim) => victim.kind === 'agent' && victim.role === 'controller')) this.#stopped ??= 'error';
    this.#onJobOver();
  }

  #onJobOver(): void {
    if (!this.#isEnding) this.#tellOfNone();
    this.#isEnding = true;
    this.#injector?.stop();
    this.#timers.cancelAll();
    this.#session.undo(this.#isHurried ? HURRY_MS : UNDO_ALL_MS, () => {
      if (this.#stopped !== undefined) return this.#close();
      this.#isChecking = true;
      this.#checks.run('after', () => this.#close());
    });
  }

  #tellOfNone(): void {
    const planned = this.#init.plan.injections.length;
    if (planned === 0 || this.#injector?.injected !== 0 || this.#report === undefined) return;
    this.#problem(`The target ended before the first of ${planned} planned injections. Inject earlier, or let it run `
      + 'longer.');
  }

  /** Ends the repeat, wherever it is. */
  #endJob(): void {
    this.#isEnding = true;
    this.#injector?.stop();
    if (this.#job?.isOver === true) return this.#isChecking ? this.#close() : undefined;
    if (this.#job?.isAccepted === true) return this.#terminateJob();
    // Else what is under way goes on with it: the session comes up, or takes the job.
    if (this.#session.target === undefined && !this.#isOpening) this.#close();
  }

  #hurry(): void {
    this.#isHurried = true;
    if (this.#job?.isAccepted !== true || this.#job.isOver) return this.#close();
    this.#killJob();
  }

  /** First all faults are undone, for what is stopped cannot end. */
  #terminateJob(): void {
    this.#timers.cancelAll();
    this.#session.undo(UNDO_ALL_MS, () => {
      if (this.#isHurried || this.#job?.isOver === true) return;
      this.#tellToEnd(false);
      this.#timers.after(TERM_MS, () => {
        this.#tellToEnd(true);
        this.#closeAfter(KILL_MS);
      });
    });
  }

  #killJob(): void {
    this.#timers.cancelAll();
    this.#tellToEnd(true);
    this.#session.undo(HURRY_MS, () => undefined);
    this.#closeAfter(HURRY_MS);
  }

  #closeAfter(ms: number): void {
    this.#timers.after(ms, () => {
      this.#problem(`The job has not ended within ${ms / 1000} s of SIGKILL.`);
      this.#close();
    });
  }

  #tellToEnd(kill: boolean): void {
    this.#job?.end(kill, this.#isTimeOut ? "the repeat's time limit" : 'finject was stopped');
  }

  /** The repeat could not be begun. */
  #fail(error: StciError | undefined): void {
    if (this.#isClosing) return;
    if (this.#stopped === undefined && error !== undefined) {
      this.#error = error;
      this.#stopped = 'error';
      this.#problem(error.message);
    }
    this.#close();
  }

  #close(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#isEnding = true;
    this.#injector?.stop();
    this.#checks.stop();
    this.#timers.cancelAll();
    this.#job?.close();
    // A repeat that was stopped is not judged, and whoever stopped it waits.
    const { checks } = this.#init.experiment;
    const isSearched = this.#stopped === undefined && checks.some(({ type }) => type === 'no-orphan');
    this.#session.close(isSearched, (found) => this.#finish(found));
  }

  #finish(found: LeftBehind): void {
    const { record, done, plan } = this.#init;
    for (const { id } of this.#injector === undefined ? plan.injections : []) {
      record({ type: 'injection', repeat: this.#number, id, state: 'never', text: 'the target was not started' });
    }
    record({
      type: 'repeat-end', repeat: this.#number, report: this.#report, isTimeOut: this.#isTimeOut, ...found,
      stopped: this.#stopped,
    });
    done(this.#error);
  }

  #problem(text: string): void {
    this.#init.record({ type: 'problem', repeat: this.#number, text });
  }
}
