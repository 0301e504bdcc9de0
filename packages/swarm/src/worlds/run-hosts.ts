/**
 * A session whose hosts change: a script adds, kills and removes hosts and submits jobs, in a world of its own. The
 * same script and seed give the same run.
 */

import { type HostsChanged, type RemoveOptions } from '@stci/core';
import { Session } from '@stci/core/controller';
import type { HistoryRecord } from '@stci/finject/experiment';
import type { Clock, HostSpec, JobEvent, JobReport, JobSpec } from '@stci/interface';
import type { SimProcess, World } from '@stci/platform-sim';
import { LOGIN_HOST, rootAgents, scheduleSteps, type InjectedFault } from '../scenarios/faults.js';
import { hostName } from '../scenarios/job-spec.js';
import type { SwarmOptions } from '../scenarios/options.js';
import { PLAIN } from '../scenarios/plain.js';
import type { Step } from '../scenarios/scenario.js';
import { composition, resolveSettings } from './assembly.js';
import { makeWorld } from './make-world.js';
import { bytesText } from './text.js';

const UNTIL_MS = 3_600_000;
const EVENTS_MAX = 30_000_000;
/** More than a lease, after the end. */
const REST_MS = 30_000;

export interface HostsOptions {
  readonly seed: number;
  /** With which the session begins. */
  readonly hosts: number;
  /** That there are. */
  readonly hostsMax: number;
  readonly settings?: Readonly<Record<string, string>>;
  readonly slots?: number;
  /** Hosts behind those with which it begins. */
  readonly spares?: number;
  /** Their moments count from the beginning. */
  readonly faults?: readonly Step[];
  readonly link?: SwarmOptions['link'];
  /** Before anything happens. */
  readonly onWorld?: (world: World) => void;
}

type Command = readonly [string, ...string[]];

export interface JobOptions extends Partial<JobSpec> {
  readonly count?: number;
  readonly onEvent?: (event: JobEvent) => void;
}

export interface EndedJob {
  readonly report: JobReport;
  readonly out: readonly string[];
}

/** What a script has. */
export interface HostsSession {
  readonly world: World;
  readonly clock: Clock;
  readonly session: Session;
  /** Of the session, so far. */
  readonly history: readonly HistoryRecord[];
  readonly events: readonly JobEvent[];
  /** That were injected, so far. */
  readonly faults: readonly InjectedFault[];
  /** Their moments count from now on. */
  schedule(steps: readonly Step[]): void;
  /** Adds hosts by their indices in the world. */
  add(hosts: readonly number[], done: HostsChanged): void;
  remove(hosts: readonly number[], options: RemoveOptions, done: HostsChanged): void;
  submit(command: Command, more: JobOptions, done: (job: EndedJob) => void): void;
  /** Kills the root agent of a host; false if there is none. */
  kill(host: number): boolean;
  stop(): void;
}

/** Runs the script once the session is up. Returns what is wrong with the world in the end. */
export function runHosts(options: HostsOptions, script: (session: HostsSession) => void): string[] {
  const { hosts, hostsMax, seed, slots = 8, spares = 0, faults: steps = [], link = PLAIN.link } = options;
  const world = makeWorld({ ...PLAIN, seed, hosts: hostsMax, remote: true, faults: steps, link });
  options.onWorld?.(world);
  const history: HistoryRecord[] = [];
  const faults: InjectedFault[] = [];
  const schedule = (some: readonly Step[]): void => void scheduleSteps(world, some, link, faults);
  schedule(steps);
  let stopped = 0;
  const spec = (host: number): HostSpec => ({ name: hostName(host), slots, slotsBound: true, origin: 'swarm' });
  const frontEnd: SimProcess = world.start(LOGIN_HOST, ['stci'], (context) => {
    const { params, snapshot } = resolveSettings({ launcherproc: 'remote', ...options.settings });
    const all = Array.from({ length: hosts + spares }, (_, host) => spec(host));
    const allocation = { hosts: all.slice(0, hosts), spares: all.slice(hosts) };
    const { platform } = context;
    const stop = (): void => session.stop(() => context.exit(stopped += 1));
    const onReady = (): void => script({
      world,
      clock: platform.clock,
      session,
      history,
      faults,
      schedule,
      get events() {
        return eventsOf(history);
      },
      add: (more, done) => session.addHosts(more.map(spec), done),
      remove: (some, how, done) => session.removeHosts(some.map(hostName), how, done),
      submit: (command, more, done) => submit(session, command, more, done),
      kill: (host) => killAgent(world, host),
      stop,
    });
    const init = { platform, composition, params, snapshot, allocation };
    const onEvent = (event: JobEvent): void => void history.push(
      { wallMs: platform.clock.wallMs(), monotonicMs: world.nowMs, type: 'event', repeat: 1, event });
    const onRoom = (): void => undefined;
    const session = new Session(init, { onEvent, onReady, onAborted: stop, onRoom, onEnding: stop });
    session.open();
  }, { PATH: '/bin' });
  const outcome = world.run({ until: () => !frontEnd.isAlive, untilMs: UNTIL_MS, maxEvents: EVENTS_MAX });
  world.run({ untilMs: world.nowMs + REST_MS, maxEvents: EVENTS_MAX });
  return [
    ...(outcome === 'until' && stopped === 1 ? [] : [`the session did not end: ${outcome} at ${world.nowMs} ms`]),
    ...world.faults.map(({ error }) => `fault: ${String(error)}`),
    ...world.livingProcesses().map(({ host, command }) => `left on ${host}: ${command.join(' ')}`),
  ];
}

export function eventsOf(history: readonly HistoryRecord[]): JobEvent[] {
  return history.flatMap((record) => (record.type === 'event' ? [record.event] : []));
}

function killAgent(world: World, host: number): boolean {
  const name = hostName(host);
  const agent = rootAgents(world.livingProcesses()).get(name);
  if (agent !== undefined) world.killProcess(name, agent.pid);
  return agent !== undefined;
}

function submit(
  session: Session,
  [program, ...args]: Command,
  { count, onEvent, ...more }: JobOptions,
  done: (job: EndedJob) => void,
): void {
  const out: string[] = [];
  const frontEnd = session.follow({
    onJobEvent: (event) => {
      onEvent?.(event);
      if (event.type !== 'ended') return;
      frontEnd.stop();
      done({ report: event.report, out });
    },
    onOutput: (rank, _stream, chunk, _wallMs, release) => {
      out[rank] = (out[rank] ?? '') + bytesText(chunk);
      release();
    },
    onStdinDrain: () => undefined,
    onStdinClosed: () => undefined,
    onStopped: () => undefined,
  });
  frontEnd.submit({
    apps: [{ program, args, env: {}, ...(count !== undefined && { count }) }],
    mapBy: { by: 'ppr', perHost: 1 }, oversubscribe: false, env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' },
    launchTimeoutMs: 60_000, params: { errmgr: ['continue'] }, ...more,
  });
}
