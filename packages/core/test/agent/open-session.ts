/** A session that stays, in simulation, with its agents in reach of the test. */

import { roleFactory, runAgent, type AgentNode, type Composition } from '@stci/core';
import { Session } from '@stci/core/controller';
import type {
  FaultAction, FaultEvent, FaultModule, FaultReport, FrontEnd, HostIndex, JobEvent, JobMap, JobReport, JobSpec, Rank,
  ServiceModule,
} from '@stci/interface';
import { createWorld, type AgentContext } from '@stci/platform-sim';
import { assert } from '@stci/testkit';
import type { AgentScope } from '../../dist/assembly/composition.js';
import type { Service } from '../../dist/service/contracts.js';
import type { SessionFaults } from '../../dist/injection/fault-contracts.js';
import { composition, resolved, type Settings } from '../assembly.js';

export const HOSTS = 4;
/** Of each host. */
export const SLOTS = 4;

/** A kind of fault that does this and is in force then, at the root agent of a host or the session agent of a job. */
export const faultOf = (role: 'root' | 'session', action: FaultAction): FaultModule => ({
  victims: ['host'], undoes: action.type !== 'kill', args: {}, problemOf: () => undefined,
  plan: () => [{ at: { role, host: 1 }, body: {} }],
  open: () => ({
    dueMs: undefined,
    on: (event: FaultEvent) => {
      if (event.type === 'inject') return [action];
      if (event.type === 'done') return [{ type: 'injected', text: '' }];
      return event.type === 'undo' ? [{ type: 'undone' }] : [];
    },
  }),
} as unknown as FaultModule);

/** The tests' composition, with one kind of fault, and a service of jobs; `nodes`: of agents, by name. */
function compositionWith(
  fault: FaultModule | undefined, { service, agentServices = [] }: OpenOptions, nodes: Map<string, AgentNode>,
): Composition {
  const scope = (...given: Parameters<Composition['scope']>): AgentScope => {
    const made = composition.scope(...given);
    const selected: AgentScope['selected'] = (framework, params) => (framework.name === 'service'
      ? [{ name: 'test', create: () => service as never }] : made.selected(framework, params));
    return { ...made, ...(fault && { fault: () => fault }), ...(service && { selected }) };
  };
  const onNode = (node: AgentNode): void => void nodes.set(node.name, node);
  return { ...composition, services: [...composition.services, ...agentServices], scope, onNode };
}

export interface Job {
  readonly frontEnd: FrontEnd;
  readonly events: JobEvent[];
  /** By rank, what it has written. */
  readonly output: Map<Rank, string>;
  report: JobReport | undefined;
}

function lastMap({ events }: Job): readonly JobMap['hosts'][number][] {
  return events.flatMap((event) => (event.type === 'mapped' ? [event.map] : [])).at(-1)?.hosts ?? [];
}

/** Hosts with ranks, by the last map that was told. */
export function hostsOf(job: Job): HostIndex[] {
  return lastMap(job).filter(({ runs }) => runs.length > 0).map(({ host }) => host);
}

/** By host, ranks of the last map that was told. */
export function ranksOf(job: Job): number[] {
  return lastMap(job).map(({ runs }) => runs.reduce((sum, { count }) => sum + count, 0));
}

export function warningsOf({ events }: Job): string[] {
  return events.flatMap((event) => (event.type === 'warning' ? [event.text] : []));
}

export interface OpenOptions {
  /** What a rank takes of a host's slots no other gets. */
  readonly slotsBound?: boolean;
  /** That jobs have. */
  readonly service?: ServiceModule;
  /** Services of agents, besides those that all have. */
  readonly agentServices?: readonly Service[];
  readonly hosts?: number;
}

/** All hosts are up when this returns. */
export function open(settings: Settings = {}, fault?: FaultModule, options: OpenOptions = {}) {
  const { slotsBound = false, hosts = HOSTS } = options;
  const world = createWorld({ seed: 1 });
  const nodes = new Map<string, AgentNode>();
  const used = compositionWith(fault, options, nodes);
  world.program('stci-agent', ({ platform, channel, exit }: AgentContext) => {
    const load = (done: (start: ReturnType<typeof roleFactory>) => void): void => done(roleFactory(used));
    runAgent({ platform, channel, load, exit: ({ failed }) => exit(failed ? 1 : 0) });
  });
  const { params, snapshot } = resolved({ launcherproc: 'local', errmgr: 'continue', ...settings });
  const host = (_: unknown, i: number) => ({ name: `h${i}`, slots: SLOTS, slotsBound, origin: 'test' });
  const allocation = { hosts: Array.from({ length: hosts }, host), spares: [] };
  const nothing = (): void => undefined;
  let [isReady, hasStopped] = [false, false];
  const told: JobEvent[] = [];
  /** When those that wait in its queue were told to try again. */
  const rooms: number[] = [];
  let given: Session | undefined;
  const login = world.start('login', ['stci'], ({ platform, exit }) => {
    const onEvent = (event: JobEvent): void => void told.push(event);
    const observer = {
      onEvent, onReady: () => (isReady = true), onAborted: nothing, onRoom: () => void rooms.push(world.nowMs),
      onEnding: nothing,
    };
    given = new Session({ platform, composition: used, params, snapshot, allocation }, observer);
    given.open();
    stop = () => given?.stop(() => {
      hasStopped = true;
      exit(0);
    });
  });
  let stop = nothing;
  const until = (holds: () => boolean, what: string, withinMs = 10_000): void => {
    const endMs = world.nowMs + withinMs;
    world.at(endMs, () => undefined); // A world in which nothing happens any more stands still.
    while (!holds() && world.nowMs < endMs) world.run({ untilMs: world.nowMs + 10, maxEvents: 5_000_000 });
    assert.ok(holds(), `within ${withinMs} ms: ${what}`);
  };
  until(() => isReady, 'all hosts');
  const session = given as unknown as Session;
  const begin = (
    count: number, [program, ...args]: readonly [string, ...string[]], spec: Partial<JobSpec> = {},
  ): Job => {
    const job: Job = {
      events: [], output: new Map(), report: undefined,
      frontEnd: session.follow({
        onJobEvent: (event) => {
          job.events.push(event);
          if (event.type === 'ended') job.report = event.report;
        },
        onOutput: (rank, _stream, chunk, _wallMs, release) => {
          job.output.set(rank, (job.output.get(rank) ?? '') + new TextDecoder().decode(chunk));
          release();
        },
        onStdinDrain: nothing, onStdinClosed: nothing, onStopped: nothing,
      }),
    };
    job.frontEnd.submit({
      apps: [{ program, args, count, env: {} }], mapBy: { by: 'node' }, oversubscribe: false,
      env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 30_000, ...spec,
    });
    return job;
  };
  const submit = (...command: [string, ...string[]]): Job => {
    const job = begin(HOSTS, command, { oversubscribe: true });
    until(() => job.events.some(({ type }) => type === 'running'), 'the job runs');
    return job;
  };
  const reports: FaultReport[] = [];
  const inject = (job: number): void => {
    const owner = { onReport: (report: FaultReport) => void reports.push(report), onAbandoned: nothing };
    let faults: SessionFaults | undefined;
    session.useFaults((used) => void (faults = used));
    faults?.begin(owner, {
      leaseMs: 60_000, ownsSession: false, allow: [], victimsMax: 9, keepRanks: [], keepHosts: [],
    });
    faults?.inject(owner, [
      {
        id: 'a', kind: 'test', args: {}, victim: { kind: 'host', host: 1 }, job, timeoutMs: 1000,
        ...(job > 0 && { durationMs: 3_600_000 }),
      },
    ]);
  };
  const pidOf = (name: string): number => nodes.get(name)?.platform.env.pid as number;
  const pause = (name: string): void => {
    world.pauseProcess(login.host, pidOf(name));
    world.run({ untilMs: world.nowMs + 10, maxEvents: 1_000_000 });
  };
  const resume = (name: string): void => world.resumeProcess(login.host, pidOf(name));
  const stateOf = (at: number): string | undefined => session.hosts[at]?.state;
  const end = (): void => {
    stop();
    until(() => hasStopped, 'the end', 60_000);
    assert.equal(world.faults.map(({ error }) => String(error)), []);
    assert.equal(world.livingProcesses().map(({ command }) => command.join(' ')), [], 'nothing is left');
  };
  return {
    world, session, login, told, rooms, nodes, pidOf, pause, resume, until, begin, submit, inject, reports, stateOf,
    end,
  };
}
