/**
 * A session with one job, and front-ends that inject faults into it: for tests of the session's side of fault
 * injection. All of it is shipped code, but for the front-ends' own decisions.
 */

import type { ExperimentTerms, FaultOrder, FaultReport, FrontEndEvents, JobEvent, JobSpec } from '@stci/interface';
import type { SessionClient } from '@stci/core/session';
import type { AgentContext, SimProcess, World } from '@stci/platform-sim';
import { LOGIN_HOST, isAgent, isTool } from '../scenarios/faults.js';
import { PLAIN } from '../scenarios/plain.js';
import { makeWorld } from '../worlds/make-world.js';
import { connectTo, sessionMain } from '../worlds/session-process.js';
import { newSession, stopMain, type SimulatedSession } from '../worlds/session-processes.js';
import { bytesText } from '../worlds/text.js';

const SETTINGS = { launcherproc: 'remote', 'launcher.tree.arity': '2', 'bootcom.lease': '2s' };
const REST_MS = 120_000;
const EVENTS_MAX = 20_000_000;

export interface InjectionOptions {
  readonly seed?: number;
  readonly hosts: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** Program and arguments of every rank. */
  readonly command: readonly string[];
  readonly ranks: number;
  readonly jobParams?: JobSpec['params'];
}

/** A front-end, and what it was told. */
export interface Experimenter {
  readonly process: SimProcess;
  readonly context: AgentContext;
  readonly client: SessionClient;
  readonly reports: FaultReport[];
}

export const TERMS: ExperimentTerms = {
  leaseMs: 30_000, ownsSession: false, allow: [], victimsMax: 100, keepRanks: [], keepHosts: [],
};

export class InjectionRun {
  readonly options: InjectionOptions;
  readonly world: World;
  readonly session: SimulatedSession;
  readonly process: SimProcess;
  /** Of the job. */
  readonly events: JobEvent[] = [];
  /** Output of the job, by rank. */
  readonly out: string[] = [];
  job = 0;

  constructor(options: InjectionOptions) {
    const { seed = 1, hosts, settings = {} } = options;
    this.options = options;
    this.world = makeWorld({ ...PLAIN, seed, hosts, remote: true });
    this.session = newSession({
      seed, hosts, settings: { ...SETTINGS, ...settings }, jobs: [], frontEnds: [], faults: [],
      spoolBytes: 1 << 20, diskBytes: Infinity,
    });
    this.process = this.world.start(LOGIN_HOST, ['stci-session'], sessionMain(this.session, undefined), {
      PATH: '/bin',
    });
    this.until('the session', () => this.session.isReady === true && this.session.socket !== undefined);
    this.#submit();
    this.until('the job', () => this.events.some(({ type }) => type === 'running'));
  }

  until(what: string, isTrue: () => boolean, withinMs = REST_MS): void {
    const untilMs = this.world.nowMs + withinMs;
    const outcome = this.world.run({ until: isTrue, untilMs, maxEvents: EVENTS_MAX });
    if (outcome !== 'until' && !isTrue()) throw new Error(`${what}: not within ${withinMs} ms of virtual time`);
  }

  rest(forMs: number): void {
    this.world.run({ untilMs: this.world.nowMs + forMs, maxEvents: EVENTS_MAX });
  }

  /** A front-end that has begun an experiment, or was refused. */
  experimenter(terms: Partial<ExperimentTerms> = {}, onBegun?: (problem: string | undefined) => void): Experimenter {
    let found: Experimenter | undefined;
    let isAnswered = false;
    const process = this.world.start(LOGIN_HOST, ['finject'], (context) => {
      const client = connectTo(this.session, context);
      const reports: FaultReport[] = [];
      client.experiment.onReport = (report) => void reports.push(report);
      client.experiment.open({ ...TERMS, ...terms }, (error) => {
        isAnswered = true;
        onBegun?.(error?.message);
      });
      found = { process, context, client, reports };
    }, { PATH: '/bin' });
    this.until('the experiment', () => isAnswered);
    return found as Experimenter;
  }

  order(order: Partial<FaultOrder> & Pick<FaultOrder, 'kind' | 'victim'>): FaultOrder {
    return { id: '1.fault.1', args: {}, job: this.job, timeoutMs: 2000, ...order };
  }

  /** Gives the order, and waits for a report of it in one of these states. */
  inject({ client, reports }: Experimenter, order: FaultOrder, ...states: FaultReport['state'][]): FaultReport {
    client.experiment.inject(order);
    return this.reportOf({ reports }, order.id, ...states);
  }

  /** Waits for a report of this injection in one of these states; none: in any. */
  reportOf({ reports }: Pick<Experimenter, 'reports'>, wanted: string, ...states: FaultReport['state'][]): FaultReport {
    const find = (): FaultReport | undefined =>
      reports.find(({ id, state }) => id === wanted && (states.length === 0 || states.includes(state)));
    this.until(`report ${states.join(' or ')} of ${wanted}`, () => find() !== undefined);
    return find() as FaultReport;
  }

  /** Orders without exactly one end of each part (core/src/injection/fault-reports.ts), or with more after it. */
  endless({ reports }: Pick<Experimenter, 'reports'>, orders: readonly FaultOrder[]): string[] {
    return orders.flatMap((order) => {
      const own = reports.filter(({ id }) => id === order.id);
      const told = own.map(({ agent, state, text }) => `${agent} ${state} ${text}`).join('; ');
      return areEnded(order, own) ? [] : [`${order.id} (${order.kind}): ${told || 'no report'}`];
    });
  }

  connect(context: AgentContext): SessionClient {
    return connectTo(this.session, context);
  }

  get tools(): SimProcess[] {
    return this.world.livingProcesses().filter(isTool);
  }

  tool(rank: number): SimProcess | undefined {
    return this.tools.find(({ env }) => env['STCI_RANK'] === String(rank));
  }

  get agents(): SimProcess[] {
    return this.world.livingProcesses().filter((each) => isAgent(each) && each.command[0] === 'stci-agent');
  }

  /** Everything that runs, by host and command. */
  get left(): string[] {
    return this.world.livingProcesses().map(({ host, command }) => `${host}: ${command.join(' ')}`);
  }

  /**
   * Stops the session. What is left then, besides front-ends: by host and command, or thrown on the way. `pausedMs`: so
   * much longer may agents stand still.
   */
  stop(pausedMs = 0): string[] {
    this.world.start(LOGIN_HOST, ['stci', 'stop'], stopMain(this.session));
    this.until('the end of the session', () => !this.process.isAlive);
    this.rest(REST_MS / 4 + pausedMs);
    const left = this.left.filter((each) => !/^login: (?:stcirun|finject)$/.test(each));
    return [...this.world.faults.map(({ error }) => String(error)), ...left];
  }

  #submit(): void {
    const { command: [program = '', ...args], ranks, jobParams = { errmgr: ['continue'] } } = this.options;
    const spec: JobSpec = {
      apps: [{ program, args, count: ranks, env: {} }], mapBy: { by: 'node' }, oversubscribe: true,
      env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 60_000, params: jobParams,
    };
    const events: FrontEndEvents = {
      onJobEvent: (event) => void this.events.push(event),
      onOutput: (rank, _stream, chunk, _wallMs, release) => {
        this.out[rank] = (this.out[rank] ?? '') + bytesText(chunk);
        release();
      },
      onStdinDrain: () => undefined, onStdinClosed: () => undefined, onStopped: () => undefined,
    };
    this.world.start(LOGIN_HOST, ['stcirun'], (context) => {
      const client = connectTo(this.session, context);
      const request = { wait: false, detach: false, label: 'job' };
      client.submit(spec, request, () => undefined, (error, accepted) => {
        if (error !== undefined) throw error;
        this.job = accepted?.job ?? 0;
        client.follow(events, () => undefined).submit(spec);
      });
    }, { PATH: '/bin' });
  }
}

/** Parts of a partition are at several agents; the controller speaks for those that cannot. Others have one part. */
function areEnded({ durationMs, victim }: FaultOrder, reports: readonly FaultReport[]): boolean {
  const isEnd = ({ state }: FaultReport): boolean => state !== 'injected' || durationMs === undefined;
  const injected = reports.filter(({ state }) => state === 'injected');
  const ends = reports.filter(isEnd);
  if (victim.kind !== 'partition') {
    return ends.length === 1 && reports.at(-1) === ends[0] && injected.length <= 1;
  }
  const agents = new Set(reports.map(({ agent }) => agent));
  agents.delete('controller');
  const isOnce = [...agents].every((name) => {
    const own = reports.filter(({ agent }) => agent === name);
    return own.filter(isEnd).length <= 1 && own.slice(0, -1).every((one) => !isEnd(one));
  });
  return isOnce && ends.length > 0 && injected.length <= ends.length;
}
