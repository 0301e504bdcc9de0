/**
 * One session that stays: a world, the session's process, and front-ends in processes of their own that submit jobs,
 * attach, leave, are killed or stopped, while agents and connections are killed. Then a last job on every host that is
 * left, and the end of the session. Each job goes on after a failure (error manager `continue`), so that of every rank
 * whose host lives all is known. The same options give the same run.
 */

import type { SessionStatus } from '@stci/core/session';
import type { SimProcess, World } from '@stci/platform-sim';
import { checkSession } from '../checkers/check-session.js';
import { LOGIN_HOST, scheduleSteps, type InjectedFault } from '../scenarios/faults.js';
import { PLAIN } from '../scenarios/plain.js';
import type { FrontEndPlan, SessionOptions } from '../scenarios/session-plan.js';
import { makeWorld } from '../worlds/make-world.js';
import { MemoryPeaks } from '../worlds/memory-peaks.js';
import { JobRecord } from '../worlds/record.js';
import { sessionMain } from '../worlds/session-process.js';
import { frontEndMain, newSession, stopMain, type SimulatedSession } from '../worlds/session-processes.js';
import type { FrontEndRun, SessionRun } from '../worlds/session-record.js';
import { Wire } from '../worlds/wire.js';

/** From the last fault to the end of all front-ends: leases, the times of programs, and attempts to reach agents. */
const REST_MS = 60_000;
const EVENTS_MAX = 20_000_000;
/** Then all agents have been told that the launch is over: before, those below one that dies end with it. */
const TOLD_MS = 20;

export interface SessionHooks {
  readonly onTrace?: ((line: string) => void) | undefined;
  /** Before anything happens. */
  readonly onWorld?: ((world: World) => void) | undefined;
}

export function runSession(options: SessionOptions, hooks: SessionHooks = {}): SessionRun & {
  readonly problems: readonly string[];
} {
  const run = new Simulation(options, hooks).run();
  return { ...run, problems: checkSession(run) };
}

class Simulation {
  readonly #options: SessionOptions;
  readonly #world: World;
  readonly #session: SimulatedSession;
  readonly #process: SimProcess;
  readonly #frontEnds: FrontEndRun[] = [];
  readonly #faults: InjectedFault[] = [];
  readonly #wire = new Wire();
  readonly #peaks = new MemoryPeaks();

  constructor(options: SessionOptions, { onTrace, onWorld }: SessionHooks) {
    this.#options = options;
    const session = newSession(options);
    this.#session = session;
    const { onNode } = this.#peaks;
    this.#world = makeWorld({ ...PLAIN, seed: options.seed, hosts: options.hosts, remote: true }, onNode);
    this.#world.scheduler.onTrace = onTrace;
    this.#world.onFlow = (flow) => this.#wire.watch(flow);
    onWorld?.(this.#world);
    this.#process = this.#world.start(LOGIN_HOST, ['stci-session'], sessionMain(session, onNode), { PATH: '/bin' });
  }

  run(): SessionRun {
    let last: FrontEndRun | undefined;
    let status: SessionStatus | undefined;
    const stuck = this.#play([
      ['the start of the session', () => this.#session.isReady === true],
      ['the jobs', () => this.#areOver(), () => this.#schedule()],
      // After all mends: the session goes on with every host that is left.
      ['the last job', () => last?.process.isAlive === false, () => (last = this.#submitLast())],
      ['the end of the session', () => !this.#process.isAlive, () => {
        status = this.#session.jobs?.status();
        this.#world.start(LOGIN_HOST, ['stci', 'stop'], stopMain(this.#session));
      }],
    ]);
    this.#world.run({ untilMs: this.#world.nowMs + REST_MS, maxEvents: EVENTS_MAX });
    return {
      options: this.#options, world: this.#world, frontEnds: this.#frontEnds, last, faults: this.#faults, status, stuck,
      peaks: this.#peaks, diskBytesMax: this.#session.disk.bytesMax, unreleasedBytesMax: this.#session.unreleased.max,
      wire: this.#wire,
    };
  }

  /** Each phase begins when the one before has ended. Returns the one that does not end. */
  #play(phases: readonly (readonly [string, () => boolean, (() => void)?])[]): string | undefined {
    const world = this.#world;
    const isBusy = (): boolean => this.#frontEnds.some(({ process }) => process.isAlive);
    this.#peaks.watch(world, isBusy, () => this.#process.isAlive);
    for (const [name, isOver, begin] of phases) {
      begin?.();
      const untilMs = world.nowMs + 2 * REST_MS;
      if (world.run({ until: isOver, untilMs, maxEvents: EVENTS_MAX }) !== 'until') return name;
    }
    return undefined;
  }

  /** All that was planned has happened, and no job and no front-end is left. */
  #areOver(): boolean {
    return this.#frontEnds.length === this.#options.frontEnds.length
      && this.#frontEnds.every(({ process }) => !process.isAlive)
      && this.#session.jobs?.status().jobs.every(({ state }) => state === 'ended') === true;
  }

  #schedule(): void {
    const { frontEnds, faults } = this.#options;
    const startMs = this.#world.nowMs;
    for (const plan of frontEnds) this.#world.at(startMs + plan.atMs, () => this.#start(plan));
    const steps = faults.map((step) => ({ ...step, atMs: Math.max(TOLD_MS, step.atMs) }));
    scheduleSteps(this.#world, steps, PLAIN.link, this.#faults);
  }

  #submitLast(): FrontEndRun {
    this.#world.run({ untilMs: this.#world.nowMs + REST_MS / 2, maxEvents: EVENTS_MAX });
    const job = this.#options.jobs.length;
    return this.#start({ kind: 'submit', job, atMs: 0, all: false, releaseMs: 0, leave: undefined });
  }

  #start(plan: FrontEndPlan): FrontEndRun {
    const world = this.#world;
    const record = new JobRecord();
    const onMissed = (): void => void (run.hasMissed = true);
    const main = frontEndMain(this.#session, plan, record, onMissed);
    const process = world.start(LOGIN_HOST, ['stcirun', plan.kind], main, { PATH: '/bin' });
    const run: FrontEndRun = { plan, process, record, hasMissed: false };
    this.#frontEnds.push(run);
    const { leave } = plan;
    if (leave !== undefined && leave.how !== 'detach') {
      world.at(world.nowMs + leave.afterMs, () => {
        if (leave.how === 'kill') world.killProcess(LOGIN_HOST, process.pid);
        else if (process.isAlive) this.#stopFor(process, leave.stoppedMs);
      });
    }
    return run;
  }

  #stopFor(process: SimProcess, stoppedMs: number): void {
    this.#world.pauseProcess(LOGIN_HOST, process.pid);
    this.#world.at(this.#world.nowMs + stoppedMs, () => this.#world.resumeProcess(LOGIN_HOST, process.pid));
  }
}
