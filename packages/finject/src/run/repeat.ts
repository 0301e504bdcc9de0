/**
 * One repeat: opens its session, runs the target, injects, ends, undoes, closes. Whatever happens, it ends: each wait
 * has a deadline, and what it began is undone and closed before it calls back.
 */

import type { AcceptedJob } from '@stci/core/session';
import {
  StciError, type Clock, type ClockOffset, type FrontEnd, type FrontEndEvents, type JobEvent, type JobReport, type Rank,
} from '@stci/interface';
import type { Experiment, RepeatPlan } from '../experiment/contracts.js';
import type { HistoryEntry, StopReason } from '../history/contracts.js';
import { CommandChecks } from './command-checks.js';
import type { ExperimentDriver, OpenedTarget } from './contracts.js';
import { Injector } from './injector.js';
import { OutputLog } from './output-log.js';
import { Timers } from './timers.js';

/** The session ends the experiment so long after it has heard of this front-end for the last time. */
const LEASE_MS = 15_000;
const RENEWALS = 5;
/** How long the session may take: to come up, for an answer, to measure clocks, to undo everything, to end. */
const OPEN_MS = 600_000;
const ANSWER_MS = 60_000;
const CLOCKS_MS = 15_000;
const UNDO_MS = 20_000;
const CLOSE_MS = 120_000;
/** How long the job may take to end after TERM, and after KILL; and in a hurry. */
const TERM_MS = 15_000;
const KILL_MS = 30_000;
const HURRY_MS = 5000;
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

type Answer<T> = (error: StciError | undefined, value?: T) => void;

export class Repeat implements FrontEndEvents {
  readonly #init: RepeatInit;
  readonly #clock: Clock;
  /** Of what the repeat waits for now. */
  readonly #timers: Timers;
  readonly #lease: Timers;
  readonly #output: OutputLog;
  readonly #checks: CommandChecks;
  #target: OpenedTarget | undefined;
  #injector: Injector | undefined;
  #frontEnd: FrontEnd | undefined;
  #report: JobReport | undefined;
  #error: StciError | undefined;
  #stopped: StopReason | undefined;
  #isOpening = false;
  #isTimeOut = false;
  /** It is to end, or its job has. */
  #isEnding = false;
  #isHurried = false;
  #isJobOver = false;
  #isLost = false;
  /** After the job. */
  #isChecking = false;
  #isClosing = false;

  constructor(init: RepeatInit) {
    this.#init = init;
    const { experiment, driver, plan: { repeat } } = init;
    this.#clock = driver.platform.clock;
    this.#timers = new Timers(this.#clock);
    this.#lease = new Timers(this.#clock);
    this.#output = new OutputLog(repeat, experiment.outputs.outputBytesMax, init.record);
    this.#checks = new CommandChecks({
      checks: experiment.checks, clock: this.#clock, driver,
      onResult: ({ name, phase }, isPassed, text) =>
        init.record({ type: 'check', repeat, name, phase, isPassed, text }),
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

  /** Ends it, for this reason; the second time faster. */
  stop(reason: StopReason): void {
    if (this.#isClosing) return;
    const isAgain = this.#stopped !== undefined;
    this.#stopped ??= reason;
    if (!isAgain) this.#endJob();
    else if (!this.#isHurried) this.#hurry();
  }

  #open(): void {
    this.#isOpening = true;
    this.#timers.after(OPEN_MS, () => this.#fail(lateError('come up', OPEN_MS)));
    this.#init.driver.open(this.#init.plan, (error, target) => {
      if (this.#isClosing) return target === undefined ? undefined : discard(target);
      this.#timers.cancelAll();
      this.#isOpening = false;
      this.#target = target;
      if (target === undefined) return this.#fail(error ?? new StciError('STCI_LAUNCH_FAILED', 'No session.'));
      if (this.#isEnding) return this.#close();
      this.#begin(target);
    });
  }

  /** The experiment in the session, then the job. */
  #begin(target: OpenedTarget): void {
    const { driver, plan, record, experiment } = this.#init;
    const { client } = target;
    const injector = new Injector({
      plan, client, record, clock: this.#clock, timers: new Timers(this.#clock),
      allowsFrontEnd: experiment.allow.includes('front-end'), killSelf: () => driver.killSelf(),
    });
    this.#injector = injector;
    client.experiment.onReport = (report) => {
      if (!this.#isClosing) injector.onReport(report);
    };
    this.#renew(target, (error) => {
      if (error !== undefined) return this.#fail(error);
      if (this.#isEnding) return this.#close();
      this.#submit(target, injector);
    });
  }

  /** Again and again, until the repeat is closed. */
  #renew(target: OpenedTarget, done: (error: StciError | undefined) => void): void {
    const { experiment, plan } = this.#init;
    const terms = {
      leaseMs: LEASE_MS, ownsSession: target.ownsSession, allow: experiment.allow, victimsMax: experiment.victimsMax,
      keepRanks: plan.keep.ranks, keepHosts: plan.keep.hosts,
    };
    const late = (): void => done(lateError('begin the experiment', ANSWER_MS));
    this.#lease.within(ANSWER_MS, (answer: Answer<never>) => target.client.experiment.open(terms, answer), (error) => {
      if (this.#isClosing) return;
      const again = (): void => this.#renew(target, (fault) => this.#onUnrenewed(fault));
      if (error === undefined) this.#lease.after(LEASE_MS / RENEWALS, again);
      done(error);
    }, late);
  }

  #onUnrenewed(error: StciError | undefined): void {
    if (error !== undefined && !this.#isEnding) this.#problem(`The experiment is not renewed: ${error.message}`);
  }

  #submit({ client, spec, label, session, hosts }: OpenedTarget, injector: Injector): void {
    const request = { wait: false, detach: false, label };
    const late = (): void => this.#fail(lateError('accept the job', ANSWER_MS));
    const submit = (answer: Answer<AcceptedJob>): void => client.submit(spec, request, () => undefined, answer);
    this.#timers.within(ANSWER_MS, submit, (error, accepted) => {
      if (this.#isClosing) return;
      if (accepted === undefined) return this.#fail(error ?? new StciError('STCI_INTERNAL', 'no job'));
      this.#init.record({ type: 'target', repeat: this.#number, session, job: accepted.job, hosts });
      this.#frontEnd = client.follow(this, () => this.#problem('output was dropped before it could be recorded'));
      this.#frontEnd.submit(spec);
      if (this.#isEnding) return this.#isHurried ? this.#killJob() : this.#terminateJob();
      this.#timers.after(spec.launchTimeoutMs + LAUNCH_MS, () => this.#onTimeOut('its ranks did not run'));
      injector.open(accepted.job);
    }, late);
  }

  onJobEvent(event: JobEvent): void {
    if (this.#isClosing || this.#isJobOver) return;
    this.#init.record({ type: 'event', repeat: this.#number, event });
    this.#injector?.onJobEvent(event);
    if (event.type === 'running') this.#onRunning();
    if (event.type === 'ended') this.#onEnded(event.report);
  }

  onOutput(rank: Rank, stream: 'stdout' | 'stderr', chunk: Uint8Array, wallMs: number, release: () => void): void {
    if (!this.#isClosing) {
      const text = this.#output.add(rank, stream, chunk, wallMs);
      this.#injector?.onOutput(rank, stream, text);
    }
    release();
  }

  onStdinDrain(): void {}

  onStdinClosed(): void {}

  /** The connection has ended. */
  onStopped(): void {
    this.#onEnded(undefined);
  }

  #onRunning(): void {
    if (this.#isEnding) return;
    this.#timers.cancelAll();
    this.#clocks(() => {
      if (!this.#isEnding) this.#timers.after(this.#init.experiment.warmUpMs, () => this.#onStart());
    });
  }

  #clocks(done: () => void): void {
    const { record } = this.#init;
    const late = (): void => {
      this.#problem(`The clocks were not measured within ${CLOCKS_MS / 1000} s.`);
      done();
    };
    const measure = (answer: Answer<readonly ClockOffset[]>): void => this.#target?.client.experiment.clocks(answer);
    this.#timers.within(CLOCKS_MS, measure, (error, clocks) => {
      if (this.#isClosing) return;
      if (clocks !== undefined) record({ type: 'clock', repeat: this.#number, clocks });
      else this.#problem(`The clocks were not measured: ${error?.message ?? 'no answer'}`);
      done();
    }, late);
  }

  #onStart(): void {
    this.#init.record({ type: 'start', repeat: this.#number });
    const { timeLimitMs } = this.#init.experiment;
    this.#timers.after(timeLimitMs, () => this.#onTimeOut(undefined));
    this.#checks.run('during', () => undefined);
    this.#injector?.onMoment('start');
  }

  #onTimeOut(problem: string | undefined): void {
    if (this.#isEnding) return;
    if (problem !== undefined) this.#problem(problem);
    this.#isTimeOut = true;
    this.#endJob();
  }

  #onEnded(report: JobReport | undefined): void {
    if (this.#isJobOver || this.#isClosing) return;
    this.#isJobOver = true;
    // A connection that has ended makes a report of its own, of no job.
    this.#isLost = report === undefined || report.job === 0;
    if (this.#isLost) this.#onLost(report);
    else this.#report = report;
    if (!this.#isEnding) this.#tellOfNone();
    this.#isEnding = true;
    this.#injector?.stop();
    this.#timers.cancelAll();
    this.#undo(this.#isHurried ? HURRY_MS : UNDO_MS, () => {
      if (this.#stopped !== undefined) return this.#close();
      this.#isChecking = true;
      this.#checks.run('after', () => this.#close());
    });
  }

  /** Unless the controller is a victim, the repeat says nothing of its target. */
  #onLost(report: JobReport | undefined): void {
    this.#problem(report?.cause?.message ?? 'The connection to the session has ended.');
    const victims = this.#init.plan.injections.flatMap((injection) => injection.victims);
    if (!victims.some((victim) => victim.kind === 'agent' && victim.role === 'controller')) this.#stopped ??= 'error';
  }

  #tellOfNone(): void {
    const planned = this.#init.plan.injections.length;
    if (planned === 0 || this.#injector?.injected !== 0 || this.#isLost) return;
    this.#problem(`The target ended before the first of ${planned} planned injections. Inject earlier, or let it run `
      + 'longer.');
  }

  /** Ends the repeat, wherever it is. */
  #endJob(): void {
    this.#isEnding = true;
    this.#injector?.stop();
    if (this.#isJobOver) return this.#isChecking ? this.#close() : undefined;
    if (this.#frontEnd !== undefined) return this.#terminateJob();
    // Else what is under way goes on with it: the session comes up, or takes the job.
    if (this.#target === undefined && !this.#isOpening) this.#close();
  }

  #hurry(): void {
    this.#isHurried = true;
    if (this.#frontEnd === undefined || this.#isJobOver) return this.#close();
    this.#killJob();
  }

  /** First all faults are undone, for what is stopped cannot end. */
  #terminateJob(): void {
    this.#timers.cancelAll();
    this.#undo(UNDO_MS, () => {
      if (this.#isHurried || this.#isJobOver) return;
      this.#control(false);
      this.#timers.after(TERM_MS, () => {
        this.#control(true);
        this.#closeAfter(KILL_MS);
      });
    });
  }

  #killJob(): void {
    this.#timers.cancelAll();
    this.#control(true);
    this.#undo(HURRY_MS, () => undefined);
    this.#closeAfter(HURRY_MS);
  }

  #closeAfter(ms: number): void {
    this.#timers.after(ms, () => {
      this.#problem(`The job has not ended within ${ms / 1000} s of SIGKILL.`);
      this.#close();
    });
  }

  #control(kill: boolean): void {
    const reason = this.#isTimeOut ? "the repeat's time limit" : 'finject was stopped';
    this.#frontEnd?.control({ verb: 'end', kill, reason });
  }

  /** All faults. */
  #undo(deadlineMs: number, done: () => void): void {
    const { experiment } = this.#target?.client ?? {};
    this.#lease.cancelAll();
    if (experiment === undefined || this.#isLost) return done();
    const late = (): void => {
      this.#problem(`Not all faults were undone within ${deadlineMs / 1000} s: they lapse by themselves.`);
      done();
    };
    const undo = (answer: Answer<readonly string[]>): void => experiment.undo('', answer);
    this.#timers.within(deadlineMs, undo, (error, left = []) => {
      if (this.#isClosing) return;
      if (error !== undefined) this.#problem(`The faults were not undone: ${error.message}`);
      if (left.length > 0) this.#problem(`Not reached to undo faults, which lapse by themselves: ${left.join(', ')}`);
      done();
    }, late);
  }

  /** It could not be begun. */
  #fail(error: StciError): void {
    if (this.#isClosing) return;
    if (this.#stopped === undefined) {
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
    this.#lease.cancelAll();
    this.#timers.cancelAll();
    const target = this.#target;
    if (target === undefined) return this.#finish(0);
    target.client.close();
    const late = (): void => {
      this.#problem(`Session ${target.session} has not ended within ${CLOSE_MS / 1000} s.`);
      this.#finish(1);
    };
    this.#timers.within(CLOSE_MS, (answer: (orphans: number) => void) => target.close(answer),
      (orphans) => this.#finish(orphans), late);
  }

  #finish(orphans: number): void {
    this.#timers.cancelAll();
    const { record, done, plan } = this.#init;
    for (const { id } of this.#injector === undefined ? plan.injections : []) {
      record({ type: 'injection', repeat: this.#number, id, state: 'never', text: 'the target was not started' });
    }
    record({
      type: 'repeat-end', repeat: this.#number, report: this.#report, isTimeOut: this.#isTimeOut, orphans,
      stopped: this.#stopped,
    });
    done(this.#error);
  }

  #problem(text: string): void {
    this.#init.record({ type: 'problem', repeat: this.#number, text });
  }
}

/** One that came too late. */
function discard(target: OpenedTarget): void {
  target.client.close();
  target.close(() => undefined);
}

function lateError(what: string, ms: number): StciError {
  return new StciError('STCI_REQUEST_TIMEOUT', `The session did not ${what} within ${ms / 1000} s.`);
}
