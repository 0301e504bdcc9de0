/**
 * The environment of an experiment in simulation: a world for each repeat, in it the session's process as shipped and
 * the front-end whose connection the runner uses, all at one virtual clock. The seed and the repeat's number decide
 * everything, so that the same experiment gives the same history, byte for byte.
 */

import {
  searchHosts, type Check, type ExperimentDriver, type HistoryRecord, type HostLook, type LeftBehind, type OpenedTarget,
  type RepeatPlan,
} from '@stci/finject/experiment';
import { StciError, type HostSpec, type Platform } from '@stci/interface';
import {
  SimRandom, type AgentContext, type SimProcess, type World, type WorldOptions,
} from '@stci/platform-sim';
import { checkSimulated, type SimulatedTarget } from '../scenarios/experiment-target.js';
import { LOGIN_HOST } from '../scenarios/faults.js';
import { resolveSettings } from './assembly.js';
import { furnish } from './make-world.js';
import { connectTo, noOutput, sessionMain, type SessionProcess } from './session-process.js';
import { SimulatedDisk } from './spool-files.js';
import { WorldsClock } from './worlds-clock.js';

/** A session's process listens within this time; how often the front-end looks. */
const LISTEN_MS = 10_000;
const LOOK_MS = 1;
/** How often it is looked whether processes are left, and how long, beside the lease and the grace of tools. */
const END_LOOK_MS = 20;
const END_MS = 60_000;
const SPOOL_BYTES = 64 << 20;
const ENV = { PATH: '/bin:/usr/bin' };

export interface SimulationInit {
  readonly seed: number;
  /** Of a configuration, by its name. Throws StciError. */
  target(configuration: string): SimulatedTarget;
  readonly onRecord: (record: HistoryRecord) => void;
  /** Largest difference of a host's wall clock to the others', ms; default: 0. */
  readonly clockSkewMs?: number;
  readonly link?: WorldOptions['link'];
  /** Sees each world before anything happens in it. */
  readonly onWorld?: (world: World) => void;
}

/** `stuck`: nothing is left that could happen; `killed`: by the experiment itself. */
export type PlayOutcome = 'over' | 'busy' | 'killed' | 'stuck';

export class SimulatedDriver implements ExperimentDriver {
  readonly platform: Pick<Platform, 'clock' | 'random'>;
  readonly #init: SimulationInit;
  readonly #clock: WorldsClock;
  #frontEnd: SimProcess | undefined;
  #isKilled = false;

  constructor(init: SimulationInit) {
    this.#init = init;
    this.#clock = new WorldsClock({ seed: init.seed });
    this.platform = { clock: this.#clock, random: new SimRandom(`finject ${init.seed}`) };
  }

  /** The world of the repeat that is now. */
  get world(): World {
    return this.#clock.world;
  }

  /** What lives in it beside the front-end. */
  get left(): readonly SimProcess[] {
    return this.world.livingProcesses().filter((process) => process !== this.#frontEnd);
  }

  /**
   * Lets time pass until `isOver`, for at most so many events. Of an experiment that killed itself: until all that it
   * started has ended, or nothing more happens. Throws what simulated code threw.
   */
  play(isOver: () => boolean, maxEvents: number): PlayOutcome {
    if (isOver()) return 'over';
    const { world } = this;
    const isEnd = (): boolean => isOver() || world !== this.world || this.#isKilled;
    const outcome = this.#isKilled ? this.#playOut(maxEvents) : world.run({ until: isEnd, maxEvents });
    const [fault] = world.faults;
    if (fault !== undefined) throw fault.error;
    if (isOver()) return 'over';
    if (outcome === 'idle' && world === this.world) return this.#isKilled ? 'killed' : 'stuck';
    return this.#isKilled && this.left.length === 0 ? 'killed' : 'busy';
  }

  open(plan: RepeatPlan, done: (error: StciError | undefined, target: OpenedTarget | undefined) => void): void {
    try {
      this.#open(plan, done);
    } catch (thrown) {
      if (!(thrown instanceof StciError)) throw thrown;
      this.#clock.soon(() => done(thrown, undefined));
    }
  }

  command(_check: Extract<Check, { readonly type: 'command' }>, done: (isPassed: boolean, text: string) => void): void {
    this.#clock.soon(() => done(true, 'not run: this is a simulation'));
  }

  write(record: HistoryRecord): void {
    if (!this.#isKilled) this.#init.onRecord(record);
  }

  killSelf(): void {
    this.#isKilled = true;
    this.#clock.end();
    if (this.#frontEnd !== undefined) this.world.killProcess(LOGIN_HOST, this.#frontEnd.pid);
  }

  #open(plan: RepeatPlan, done: (error: StciError | undefined, target: OpenedTarget | undefined) => void): void {
    const { seed, target: targetOf } = this.#init;
    const target = targetOf(plan.configuration);
    checkSimulated(target.spec);
    const used = [...target.hosts, ...target.spares];
    const world = this.#makeWorld(plan.repeat, used);
    const settings = { launcherproc: 'remote', ...target.settings };
    // Throws for parameters that are not right.
    const { params } = resolveSettings(settings);
    const session: SessionProcess = {
      name: `sim${plan.repeat}`, seed: `${seed} ${plan.repeat}`, settings, spoolBytes: SPOOL_BYTES,
      allocation: { hosts: target.hosts, spares: target.spares }, disk: new SimulatedDisk(Infinity),
      unreleased: noOutput(), lingerMs: 0,
    };
    const endMs = params.int('bootcom.lease') + params.int('tool.grace') + END_MS;
    const frontEnd = world.start(LOGIN_HOST, ['finject'], (context) => whenListening(session, context, (error) => {
      if (error !== undefined) return done(error, undefined);
      const client = connectTo(session, context);
      const close: OpenedTarget['close'] = (isSearched, closed) => {
        // One whose job was never submitted would stay.
        if (process.isAlive) world.killProcess(LOGIN_HOST, process.pid, 'SIGTERM');
        this.#whenEnded(context, endMs, () => this.#search(isSearched ? used : undefined, closed));
      };
      const { spec, label } = target;
      const hosts = target.hosts.map(({ name }) => name);
      done(undefined, { session: session.name, client, spec, label, hosts, ownsSession: true, close });
    }), ENV);
    this.#frontEnd = frontEnd;
    session.owner = frontEnd;
    const process = world.start(LOGIN_HOST, ['stci-session'], sessionMain(session, undefined), ENV);
  }

  #makeWorld(repeat: number, hosts: readonly HostSpec[]): World {
    const { seed, link = {}, clockSkewMs = 0, onWorld } = this.#init;
    const world = this.#clock.next({ seed: `experiment ${seed} ${repeat}`, link, sizes: {} });
    furnish(world, () => undefined);
    for (const { name } of hosts) {
      const host = world.host(name);
      host.wallOffsetMs = clockSkewMs * (2 * world.random.fork(`skew ${name}`).uniform() - 1);
    }
    onWorld?.(world);
    return world;
  }

  /** Calls back when no process is left, or after `withinMs`. */
  #whenEnded({ exit }: AgentContext, withinMs: number, done: () => void): void {
    const untilMs = this.#clock.nowMs() + withinMs;
    const look = (): void => {
      if (this.left.length > 0 && this.#clock.nowMs() < untilMs) return void this.#clock.after(END_LOOK_MS, look);
      exit(0);
      done();
    };
    look();
  }

  /** On the session's own host, and on those that are named. */
  #search(hosts: readonly HostSpec[] | undefined, done: (found: LeftBehind) => void): void {
    const own = this.#lookAt(LOGIN_HOST);
    const left = own.processes.map((process) => ({ host: LOGIN_HOST, ...process }));
    if (hosts === undefined) return done({ orphans: own.count, left, unknown: undefined });
    searchHosts({
      clock: this.#clock, waitMs: 0, hosts: hosts.map(({ name }) => name),
      look: (host, _waitMs, _deadlineMs, answer) => answer(this.#isReached(host)
        ? this.#lookAt(host) : 'the host has crashed, or there is no way to it'),
    }, (found) => done({ ...found, orphans: own.count + found.orphans, left: [...left, ...found.left] }));
  }

  #isReached(host: string): boolean {
    return this.world.findHost(host)?.isCrashed === false && !this.world.link(LOGIN_HOST, host).isCut;
  }

  /** All that lives there is of the repeat. */
  #lookAt(host: string): HostLook {
    const left = this.left.filter((process) => process.host === host);
    return { count: left.length, processes: left.map(({ pid, command }) => ({ pid, command: command.join(' ') })) };
  }

  #playOut(maxEvents: number): ReturnType<World['run']> {
    return this.world.run({ until: () => this.left.length === 0, maxEvents });
  }
}

function whenListening(
  session: SessionProcess,
  { platform: { clock } }: AgentContext,
  done: (error: StciError | undefined) => void,
): void {
  const untilMs = clock.nowMs() + LISTEN_MS;
  const look = (): void => {
    if (session.socket !== undefined) return done(undefined);
    if (clock.nowMs() < untilMs) return void clock.after(LOOK_MS, look);
    done(new StciError('STCI_SESSION_LOST', `The process of session ${session.name} does not listen.`));
  };
  look();
}
