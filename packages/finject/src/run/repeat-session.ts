/**
 * The session of one repeat: opened, held by a lease, asked for its clocks, told to undo all faults, closed. Each
 * answer has a deadline, after which the repeat goes on without it.
 */

import { StciError, type Clock, type ClockOffset } from '@stci/interface';
import type { Experiment, RepeatPlan } from '../experiment/contracts.js';
import type { UnknownHost } from '../history/contracts.js';
import type { ExperimentDriver, LeftBehind, OpenedTarget } from './contracts.js';
import { Timers } from './timers.js';

/** The session ends the experiment so long after it has heard of its front-end for the last time. */
export const LEASE_MS = 15_000;
export const RENEWAL_MS = LEASE_MS / 5;
/** How long the session may take: to come up, for an answer, to measure clocks, to end. */
const OPEN_MS = 600_000;
const ANSWER_MS = 60_000;
const CLOCKS_MS = 15_000;
export const CLOSE_MS = 180_000;

const NOT_LOOKED: LeftBehind = { orphans: 0, left: [], unknown: undefined };

export type Answer<T> = (error: StciError | undefined, value?: T) => void;

export interface RepeatSessionInit {
  readonly experiment: Experiment;
  readonly plan: RepeatPlan;
  readonly driver: ExperimentDriver;
  readonly clock: Clock;
  onClocks(clocks: readonly ClockOffset[]): void;
  onProblem(text: string): void;
  /** It has not taken a renewal of the experiment. */
  onUnrenewed(error: StciError): void;
}

export class RepeatSession {
  readonly #init: RepeatSessionInit;
  /** Of what it is asked for now. */
  readonly #timers: Timers;
  readonly #lease: Timers;
  #target: OpenedTarget | undefined;
  #isLost = false;
  #isClosed = false;
  #leaveSearch: (() => void) | undefined;

  constructor(init: RepeatSessionInit) {
    this.#init = init;
    this.#timers = new Timers(init.clock);
    this.#lease = new Timers(init.clock);
  }

  /** Undefined: it has not come up. */
  get target(): OpenedTarget | undefined {
    return this.#target;
  }

  /** `done` is called once with the target, or with why there is none. */
  open(done: Answer<OpenedTarget>): void {
    const { driver, plan } = this.#init;
    this.#timers.after(OPEN_MS, () => done(lateError('come up', OPEN_MS)));
    driver.open(plan, (error, target) => {
      if (this.#isClosed) return target === undefined ? undefined : discard(target);
      this.#timers.cancelAll();
      this.#target = target;
      if (target === undefined) return done(error ?? new StciError('STCI_LAUNCH_FAILED', 'No session.'));
      done(undefined, target);
    });
  }

  /** Opens the experiment in it, then renews it again and again until all is undone, or it is closed. */
  hold(target: OpenedTarget, done: (error: StciError | undefined) => void): void {
    const { experiment, plan, onUnrenewed } = this.#init;
    const terms = {
      leaseMs: LEASE_MS, ownsSession: target.ownsSession, allow: experiment.allow, victimsMax: experiment.victimsMax,
      keepRanks: plan.keep.ranks, keepHosts: plan.keep.hosts,
    };
    const late = (): void => done(lateError('begin the experiment', ANSWER_MS));
    this.#lease.within(ANSWER_MS, (answer: Answer<never>) => target.client.experiment.open(terms, answer), (error) => {
      if (this.#isClosed) return;
      const again = (): void => this.hold(target, (fault) => (fault === undefined ? undefined : onUnrenewed(fault)));
      if (error === undefined) this.#lease.after(RENEWAL_MS, again);
      done(error);
    }, late);
  }

  measureClocks(done: () => void): void {
    const { onClocks, onProblem } = this.#init;
    const late = (): void => {
      onProblem(`The clocks were not measured within ${CLOCKS_MS / 1000} s.`);
      done();
    };
    const measure = (answer: Answer<readonly ClockOffset[]>): void => this.#target?.client.experiment.clocks(answer);
    this.#timers.within(CLOCKS_MS, measure, (error, clocks) => {
      if (this.#isClosed) return;
      if (clocks !== undefined) onClocks(clocks);
      else onProblem(`The clocks were not measured: ${error?.message ?? 'no answer'}`);
      done();
    }, late);
  }

  /** Its connection has ended: it is asked for nothing any more. */
  lose(): void {
    this.#isLost = true;
  }

  /** All faults. The experiment is renewed no more. */
  undo(deadlineMs: number, done: () => void): void {
    const { onProblem } = this.#init;
    this.#timers.cancelAll();
    this.#lease.cancelAll();
    const { experiment } = this.#target?.client ?? {};
    if (experiment === undefined || this.#isLost) return done();
    const late = (): void => {
      onProblem(`Not all faults were undone within ${deadlineMs / 1000} s: they lapse by themselves.`);
      done();
    };
    const undo = (answer: Answer<readonly string[]>): void => experiment.undo('', answer);
    this.#timers.within(deadlineMs, undo, (error, left = []) => {
      if (this.#isClosed) return;
      if (error !== undefined) onProblem(`The faults were not undone: ${error.message}`);
      if (left.length > 0) onProblem(`Not reached to undo faults, which lapse by themselves: ${left.join(', ')}`);
      done();
    }, late);
  }

  /** Once. `isSearched`: whether other hosts are looked at. `done` is told what was left. */
  close(isSearched: boolean, done: (found: LeftBehind) => void): void {
    this.#isClosed = true;
    this.#lease.cancelAll();
    this.#timers.cancelAll();
    const target = this.#target;
    if (target === undefined) return done(NOT_LOOKED);
    target.client.close();
    let isOver = false;
    const over = (found: LeftBehind): void => {
      this.#leaveSearch = undefined;
      if (!isOver) done(found);
      isOver = true;
    };
    const late = (): void => {
      this.#init.onProblem(`Session ${target.session} has not ended within ${CLOSE_MS / 1000} s.`);
      over({ ...NOT_LOOKED, orphans: 1 });
    };
    if (isSearched) this.#leaveSearch = () => over({ ...NOT_LOOKED, unknown: target.hosts.map(notWaitedFor) });
    const close = (answer: (found: LeftBehind) => void): void => target.close(isSearched, answer);
    this.#timers.within(CLOSE_MS, close, over, late);
  }

  /** Its hosts are being looked at, or its end is waited for before. */
  get isSearching(): boolean {
    return this.#leaveSearch !== undefined;
  }

  /** Waits for that no longer: what is left there is not known. */
  leaveSearch(): void {
    this.#timers.cancelAll();
    this.#leaveSearch?.();
  }
}

function notWaitedFor(host: string): UnknownHost {
  return { host, reason: 'the run was ended before it had been looked at' };
}

/** One that came too late. */
function discard(target: OpenedTarget): void {
  target.client.close();
  target.close(false, () => undefined);
}

export function lateError(what: string, ms: number): StciError {
  return new StciError('STCI_REQUEST_TIMEOUT', `The session did not ${what} within ${ms / 1000} s.`);
}
