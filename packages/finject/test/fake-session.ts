/** A session and its target that are made up, at a virtual clock: what a runner is given in tests. */

import type {
  ExperimentDriver, HistoryRecord, OpenedTarget, PlannedInjection, RepeatPlan,
} from '@stci/finject/experiment';
import {
  StciError, type Clock, type FaultOrder, type FaultReport, type FrontEndEvents, type JobControl, type JobEvent,
  type JobReport, type JobSpec, type Random, type Timer,
} from '@stci/interface';

/** Time passes only in `run`. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  #number = 0;
  readonly #queue = new Map<number, { readonly atMs: number; readonly fire: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }

  wallMs(): number {
    return 1_000_000 + this.#nowMs;
  }

  after(delayMs: number, fire: () => void): Timer {
    const number = (this.#number += 1);
    this.#queue.set(number, { atMs: this.#nowMs + delayMs, fire });
    return { cancel: () => void this.#queue.delete(number) };
  }

  soon(fire: () => void): void {
    this.after(0, fire);
  }

  /** Until `isOver`, or nothing is left to happen. */
  run(isOver: () => boolean): void {
    for (let steps = 0; !isOver() && steps < 100_000; steps += 1) {
      const next = [...this.#queue].reduce<[number, number] | undefined>((first, [number, { atMs }]) =>
        (first === undefined || atMs < first[1] ? [number, atMs] : first), undefined);
      if (next === undefined) return;
      const [number, atMs] = next;
      const { fire } = this.#queue.get(number) as { fire: () => void };
      this.#queue.delete(number);
      this.#nowMs = Math.max(this.#nowMs, atMs);
      fire();
    }
  }
}

/** How the session and its job behave; times in ms. */
export interface Behaviour {
  readonly openMs: number;
  readonly openError?: string;
  readonly experimentError?: string;
  readonly submitError?: string;
  readonly runningMs: number;
  /** Of the job, from its start; undefined: it goes on until it is ended. */
  readonly jobMs?: number;
  /** How long it takes to end after TERM; undefined: only KILL ends it; `deaf`: nothing does. */
  readonly termMs?: number;
  readonly isDeaf?: boolean;
  /** Answers nothing but reports. */
  readonly isMute?: boolean;
  readonly faultMs: number;
  /** The connection ends so long after the job's start. */
  readonly lossMs?: number;
  readonly output?: readonly (readonly [atMs: number, text: string])[];
  /** How long it takes to end, and to look at its hosts; default: 5. */
  readonly closeMs?: number;
}

export const CALM: Behaviour = { openMs: 50, runningMs: 20, jobMs: 10_000, termMs: 30, faultMs: 2 };

export const SPEC = { apps: [], launchTimeoutMs: 60_000 } as unknown as JobSpec;

const encoder = new (globalThis as unknown as { TextEncoder: new () => { encode(text: string): Uint8Array } })
  .TextEncoder();

export class FakeSession {
  readonly clock: Clock;
  readonly orders: FaultOrder[] = [];
  readonly inForce = new Set<string>();
  readonly controls: JobControl[] = [];
  /** Renewals included. */
  opened = 0;
  undone = 0;
  isClientClosed = false;
  isClosed = false;
  /** Whether other hosts were to be looked at. */
  wasSearched: boolean | undefined;
  isJobOver = false;
  readonly #behaviour: Behaviour;
  #events: FrontEndEvents | undefined;
  #onReport: (report: FaultReport) => void = () => undefined;

  constructor(clock: Clock, behaviour: Behaviour) {
    this.clock = clock;
    this.#behaviour = behaviour;
  }

  get target(): OpenedTarget {
    return {
      session: 'fake', spec: SPEC, label: 'target', hosts: ['a', 'b'], ownsSession: true, client: this.#client(),
      close: (isSearched, done) => void this.clock.after(this.#behaviour.closeMs ?? 5, () => {
        this.isClosed = true;
        this.isJobOver = true;
        this.wasSearched = isSearched;
        done({ orphans: 0, left: [], unknown: isSearched ? [] : undefined });
      }),
    };
  }

  emit(event: JobEvent): void {
    if (!this.isClientClosed) this.#events?.onJobEvent(event);
  }

  #client(): OpenedTarget['client'] {
    const { isMute, experimentError, submitError } = this.#behaviour;
    const self = this;
    const answer = (fire: () => void): void => void (isMute === true || this.clock.after(1, fire));
    return {
      submit: (_spec, _request, _onWaiting, done) => answer(() => {
        if (submitError !== undefined) return done(new StciError('STCI_SLOTS_EXCEEDED', submitError));
        done(undefined, { job: 7, stdin: { to: 'none' }, map: { size: 2, hosts: [] }, input: false });
      }),
      follow: (events) => {
        this.#events = events;
        return {
          submit: () => this.#startJob(), control: (control) => this.#control(control), writeStdin: () => true,
          closeStdin: () => undefined, announceSilence: () => undefined, stop: () => undefined,
        };
      },
      close: () => {
        this.isClientClosed = true;
      },
      experiment: {
        set onReport(onReport: (report: FaultReport) => void) {
          self.#onReport = onReport;
        },
        get onReport() {
          return self.#onReport;
        },
        open: (_terms, done) => answer(() => {
          this.opened += 1;
          done(experimentError === undefined ? undefined : new StciError('STCI_SESSION_REFUSED', experimentError));
        }),
        inject: (order) => this.#inject(order),
        undo: (_id, done) => answer(() => {
          this.undone += 1;
          for (const id of this.inForce) this.#end(id);
          done(undefined, []);
        }),
        clocks: (done) => answer(() => done(undefined, [{ host: 0, name: 'a', offsetMs: 0, errorMs: 0, samples: 8 }])),
      },
    };
  }

  #startJob(): void {
    const { runningMs, jobMs, lossMs, output = [] } = this.#behaviour;
    this.clock.after(runningMs, () => this.emit({ type: 'running' }));
    for (const [atMs, text] of output) {
      this.clock.after(runningMs + atMs, () =>
        this.#events?.onOutput(0, 'stdout', encoder.encode(text), this.clock.wallMs(), () => undefined));
    }
    if (jobMs !== undefined) this.clock.after(runningMs + jobMs, () => this.#endJob(0));
    if (lossMs !== undefined) this.clock.after(runningMs + lossMs, () => this.#endJob(200, 0));
  }

  #inject(order: FaultOrder): void {
    this.orders.push(order);
    this.clock.after(this.#behaviour.faultMs, () => {
      this.#report(order.id, 'injected');
      if (order.durationMs === undefined) return;
      this.inForce.add(order.id);
      this.clock.after(order.durationMs, () => this.#end(order.id));
    });
  }

  #end(id: string): void {
    if (this.inForce.delete(id)) this.#report(id, 'undone');
  }

  #report(id: string, state: FaultReport['state']): void {
    this.#onReport({
      id, agent: 'session:0', host: 0, state, text: '', wallMs: this.clock.wallMs(), monotonicMs: this.clock.nowMs(),
    });
  }

  #control(control: JobControl): void {
    this.controls.push(control);
    const { isDeaf, termMs } = this.#behaviour;
    if (isDeaf === true || control.verb !== 'end') return;
    if (control.kill) this.clock.after(1, () => this.#endJob(137));
    else if (termMs !== undefined) this.clock.after(termMs, () => this.#endJob(143));
  }

  #endJob(exitCode: number, job = 7): void {
    if (this.isJobOver) return;
    this.isJobOver = true;
    const report: JobReport =
      { job, exitCode, failures: [], ranks: [], daemons: [], submitWallMs: 0, endWallMs: this.clock.wallMs() };
    this.emit({ type: 'ended', report });
  }
}

export class FakeDriver implements ExperimentDriver {
  readonly clock: VirtualClock;
  readonly platform: ExperimentDriver['platform'];
  readonly records: HistoryRecord[] = [];
  readonly sessions: FakeSession[] = [];
  commandMs = 10;
  passes: (name: string) => boolean = () => true;
  isKilled = false;
  readonly #behaviour: Behaviour;

  constructor(behaviour: Behaviour, clock = new VirtualClock()) {
    this.clock = clock;
    this.#behaviour = behaviour;
    this.platform = { clock, random: {} as Random };
  }

  open(_plan: RepeatPlan, done: (error: StciError | undefined, target: OpenedTarget | undefined) => void): void {
    this.clock.after(this.#behaviour.openMs, () => {
      const { openError } = this.#behaviour;
      if (openError !== undefined) return done(new StciError('STCI_LAUNCH_FAILED', openError), undefined);
      const session = new FakeSession(this.clock, this.#behaviour);
      this.sessions.push(session);
      done(undefined, session.target);
    });
  }

  command(check: { readonly name: string }, done: (isPassed: boolean, text: string) => void): void {
    this.clock.after(this.commandMs, () => done(this.passes(check.name), 'said'));
  }

  write(record: HistoryRecord): void {
    this.records.push(record);
  }

  killSelf(): void {
    this.isKilled = true;
  }
}

/** An injection at the start, with a rank as its victim. */
export function injection(more: Partial<PlannedInjection> & Pick<PlannedInjection, 'id'>): PlannedInjection {
  return {
    fault: 'f', kind: 'pkill', args: {}, victims: [{ kind: 'rank', rank: 1 }], follows: undefined,
    trigger: { on: 'event', event: 'start', nth: 1, fault: undefined }, delayMs: 100, atMs: 100, durationMs: undefined,
    coolDownMs: 0, timeoutMs: 1000, impact: 'disturbs', ...more,
  };
}
