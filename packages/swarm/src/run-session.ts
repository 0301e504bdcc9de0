/**
 * One session: a world, many jobs in it from front-ends of their own, beside each other and one after the other, and
 * root agents that are killed meanwhile. Each job goes on after a failure (error manager `continue`), so that of every
 * rank whose host lives all is known. The same seed gives the same run.
 */

import { ResidentSession } from '@stci/core';
import type { Allocation, HostSpec, JobReport, JobSpec } from '@stci/interface';
import { SimRandom, type AgentContext, type SimProcess, type World } from '@stci/platform-sim';
import { composition, resolveSettings } from './assembly.js';
import { LOGIN_HOST } from './faults.js';
import { hostName } from './job-spec.js';
import { PLAIN } from './plain.js';
import { expectedOf, type AppPlan } from './programs.js';
import { makeWorld } from './run-job.js';

/** Jobs begin within this time, and agents are killed within it. */
const BUSY_MS = 3000;
/** From there to the last job: a lease, the times of programs, and attempts to reach agents. */
const REST_MS = 60_000;
const EVENTS_MAX = 20_000_000;

interface JobPlan {
  readonly atMs: number;
  readonly app: AppPlan;
}

interface KillPlan {
  readonly atMs: number;
  readonly host: number;
}

export interface SessionOptions {
  readonly seed: number;
  readonly hosts: number;
  readonly arity: number;
  readonly leaseMs: number;
  readonly jobs: readonly JobPlan[];
  readonly kills: readonly KillPlan[];
}

interface JobRecord {
  readonly app: AppPlan;
  ends: number;
  report: JobReport | undefined;
  readonly out: string[];
}

export interface SessionRun {
  readonly options: SessionOptions;
  readonly world: World;
  readonly jobs: readonly JobRecord[];
  /** Hosts whose root agent was killed. */
  readonly killed: ReadonlySet<string>;
  readonly problems: readonly string[];
}

type Command = readonly [string, ...string[]];

const PROGRAMS: readonly ((random: SimRandom) => Command)[] = [
  (): Command => ['true'],
  (): Command => ['echo', 'hello'],
  (random) => ['exit', String(random.pick([0, 3])), String(random.pick([0, 0.5]))],
  (random) => ['lines', String(random.pick([20, 200])), '60', String(random.pick([0, 0.005, 0.02]))],
  (): Command => ['lines', '2000', '80'],
  (random) => ['sleep', String(random.pick([0.1, 2]))],
];

export function drawSession(seed: number): SessionOptions {
  const random = new SimRandom(`session ${seed}`);
  const hosts = 2 + random.integer(random.chance(0.2) ? 40 : 14);
  const jobs = Array.from({ length: 2 + random.integer(8) }, (): JobPlan => {
    const [program, ...args] = random.pick(PROGRAMS)(random);
    return { atMs: random.between(0, BUSY_MS), app: { program, args, count: 1 + random.integer(2 * hosts) } };
  });
  // At least one agent is left.
  const kills = Array.from({ length: random.integer(Math.min(hosts, 5)) }, (): KillPlan => {
    return { atMs: random.between(0, BUSY_MS), host: random.integer(hosts) };
  });
  const atOnce = random.chance(0.3) ? kills.map((kill) => ({ ...kill, atMs: kills[0]?.atMs ?? 0 })) : kills;
  return { seed, hosts, arity: random.pick([1, 2, 3, 8]), leaseMs: random.pick([2000, 4000]), jobs, kills: atOnce };
}

export function runSession(options: SessionOptions, onTrace?: (line: string) => void): SessionRun {
  const world = makeWorld({ ...PLAIN, seed: options.seed, hosts: options.hosts, remote: true });
  world.scheduler.onTrace = onTrace;
  const jobs: JobRecord[] = [];
  const killed = new Set<string>();
  let stopped = 0;
  let ready = Infinity;
  const main = (context: AgentContext): void => {
    playSession(context, options, jobs, {
      onReady: () => {
        ready = world.nowMs;
        scheduleKills(world, options, killed);
      },
      onStopped: () => (stopped += 1),
    });
  };
  const frontEnd: SimProcess = world.start(LOGIN_HOST, ['stci'], main, { PATH: '/bin' });
  const outcome = world.run({ until: () => !frontEnd.isAlive, untilMs: BUSY_MS + 2 * REST_MS, maxEvents: EVENTS_MAX });
  const restMs = world.nowMs + 2 * options.leaseMs + 5000;
  world.run({ untilMs: restMs, maxEvents: EVENTS_MAX });
  const problems = [
    ...(outcome === 'until' && stopped === 1 ? [] : [`the session did not end: ${outcome}, ready at ${ready} ms`]),
    ...world.faults.map(({ error }) => `fault: ${String(error)}`),
    ...world.livingProcesses().map(({ host, command }) => `left on ${host}: ${command.join(' ')}`),
    ...jobs.flatMap((job, index) => jobProblems(job, index, options, killed)),
  ];
  return { options, world, jobs, killed, problems };
}

function scheduleKills(world: World, { kills }: SessionOptions, killed: Set<string>): void {
  for (const { atMs, host } of kills) {
    world.at(world.nowMs + atMs, () => {
      const name = hostName(host);
      const agent = world.livingProcesses().find((each) => each.host === name && each.command[0] === 'stci-agent');
      if (agent === undefined) return;
      killed.add(name);
      world.killProcess(name, agent.pid);
    });
  }
}

/** Submits the jobs at their times, one more when all of them have ended, and stops the session. */
function playSession(
  context: AgentContext,
  options: SessionOptions,
  jobs: JobRecord[],
  hooks: { onReady(): void; onStopped(): void },
): void {
  const { platform } = context;
  const { clock } = platform;
  const { params, snapshot } = resolveSettings({
    launcherproc: 'remote', 'launcher.tree.arity': String(options.arity), 'bootcom.lease': `${options.leaseMs}ms`,
  });
  const nothing = (): void => undefined;
  const onReady = (): void => {
    hooks.onReady();
    for (const { atMs, app } of options.jobs) clock.after(atMs, () => submit(app));
    if (options.jobs.length === 0) submit({ program: 'true', args: [], count: 1 });
  };
  const session = new ResidentSession(
    { platform, composition, params, snapshot, allocation: allocationOf(options) },
    { onEvent: nothing, onReady, onAborted: nothing },
  );
  const onEnded = (): void => {
    if (jobs.length < options.jobs.length || jobs.some(({ ends }) => ends === 0)) return;
    if (jobs.length === options.jobs.length) {
      // After all mends: the session goes on with every host that is left.
      clock.after(REST_MS / 2, () => submit({ program: 'hostname', args: [], count: options.hosts }));
    } else clock.after(1000, () => session.stop(() => (hooks.onStopped(), context.exit(0))));
  };
  const submit = (app: AppPlan): void => {
    const job: JobRecord = { app, ends: 0, report: undefined, out: Array.from({ length: app.count }, () => '') };
    jobs.push(job);
    const frontEnd = session.openFrontEnd({
      onJobEvent: (event) => {
        if (event.type !== 'ended') return;
        job.ends += 1;
        job.report = event.report;
        frontEnd.stop();
        onEnded();
      },
      onOutput: (rank, _stream, chunk, _wallMs, release) => {
        job.out[rank] += textOf(chunk);
        release();
      },
      onStdinDrain: nothing,
      onStdinClosed: nothing,
      onStopped: nothing,
    });
    frontEnd.submit(specOf(app));
  };
}

function allocationOf({ hosts }: SessionOptions): Allocation {
  const host = (_: unknown, i: number): HostSpec =>
    ({ name: hostName(i), slots: 8, slotsBound: false, origin: 'swarm' });
  return { hosts: Array.from({ length: hosts }, host), spares: [] };
}

function specOf({ program, args, count }: AppPlan): JobSpec {
  return {
    apps: [{ program, args, count, env: {} }], mapBy: { by: 'node' }, oversubscribe: true,
    env: { PATH: '/bin' }, wdir: '/', stdin: { to: 'none' }, launchTimeoutMs: 60_000, params: { errmgr: ['continue'] },
  };
}

/**
 * Each rank has one outcome. On a host that was not hit it is the program's own, and its output is whole; a rank is
 * lost only with its host.
 */
function jobProblems(job: JobRecord, index: number, { jobs }: SessionOptions, killed: ReadonlySet<string>): string[] {
  const { app, report, ends, out } = job;
  const where = `job ${index} (${[app.program, ...app.args].join(' ')}, ${app.count} ranks)`;
  if (report === undefined || ends !== 1) return [`${where}: its end was reported ${ends} times`];
  const problems: string[] = [];
  if (report.ranks.length !== app.count) problems.push(`${where}: ${report.ranks.length} ranks are reported`);
  for (const { rank, host, outcome, end } of report.ranks) {
    const expected = expectedOf(app, { rank, hostname: host, stdin: new Uint8Array(0) });
    const wanted = textOf(expected.stdout);
    const said = out[rank] ?? '';
    const what = `${where}: rank ${rank} on ${host}`;
    if (!wanted.startsWith(said)) problems.push(`${what}: its output is not what its program writes`);
    const isOwn = outcome === 'exited' && end?.status === expected.end?.status;
    if (isOwn && said !== wanted && !killed.has(host)) {
      problems.push(`${what}: ${said.length} bytes arrived of ${wanted.length}`);
    }
    if (!isOwn && !killed.has(host)) problems.push(`${what}: ${outcome} ${JSON.stringify(end)}, its host lives`);
  }
  // The last job begins when everybody knows who is left.
  const isLast = index === jobs.length;
  const cause = `exit code ${report.exitCode}: ${report.cause?.message}`;
  if (isLast && report.exitCode !== 0) problems.push(`${where}: ${cause}`);
  return problems;
}

function textOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
}
