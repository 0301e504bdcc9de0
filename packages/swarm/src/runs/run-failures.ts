/** One run with failures: a session, a job, faults, then a time without any in which all must be told and mended. */

import type { JobEvent, Rank } from '@stci/interface';
import type { World } from '@stci/platform-sim';
import { checkFailures, checkSettled } from '../checkers/check-failures.js';
import type { BriefPlan, CallsPlan, FailureFault, FailurePlan, Place } from '../scenarios/failure-plan.js';
import { LOGIN_HOST, isTool } from '../scenarios/faults.js';
import { hostName } from '../scenarios/job-spec.js';
import { atFaultTime } from '../scenarios/moments.js';
import type { FailureRun, QuietState } from '../worlds/failure-run.js';
import { runHosts, type EndedJob, type HostsSession } from '../worlds/run-hosts.js';
import { WitnessRecord, memberKey, withWitness, type MemberKey } from '../worlds/witness.js';

/** How long the witnesses send to each other. */
const ROUTES_MS = 1500;
/** Between two looks at whether all is well. */
const LOOK_MS = 500;
/** What follows a verdict: links are mended, agents start again, records are told. */
const AFTERMATH_MS = 8000;
/** How long the start of an agent on a host that has crashed takes to fail: `launcher.handshake`. */
const HANDSHAKE_MS = 10_000;

export interface FailureOutcome {
  readonly run: FailureRun;
  readonly problems: readonly string[];
}

export interface FailureHooks {
  readonly onTrace?: ((line: string) => void) | undefined;
  /** Before anything happens. */
  readonly onWorld?: ((world: World) => void) | undefined;
  /** The session is up; all is settled and witnesses send to each other; the end of the session begins. */
  readonly onPhase?: ((phase: 'run' | 'quiet' | 'end') => void) | undefined;
}

export function runFailures(plan: FailurePlan, hooks: FailureHooks = {}): FailureOutcome {
  const run = simulate(plan, hooks);
  return { run, problems: checkFailures(run) };
}

/** Of a run that goes on. */
type Record = { -readonly [Key in keyof FailureRun]: FailureRun[Key] };

function simulate(plan: FailurePlan, hooks: FailureHooks): FailureRun {
  const { seed, hosts, settings, link, edges } = plan;
  let world: World | undefined;
  const witness = new WitnessRecord(() => world?.nowMs ?? 0);
  const run: Record = {
    plan, witness, events: [], calmMs: 0, readyMs: undefined, quiet: undefined, agreed: undefined, talked: undefined,
    brief: undefined, problems: [], traceHash: '',
  };
  const onWorld = (made: World): void => {
    world = made;
    made.scheduler.onTrace = hooks.onTrace;
    hooks.onWorld?.(made);
    injectAll(made, edges.filter(({ when }) => when === 'launch'), link);
  };
  run.problems = withWitness(witness, () =>
    runHosts({ seed, hosts, hostsMax: hosts, settings, link, onWorld }, (one) => {
      run.events = one.events;
      run.readyMs = one.world.nowMs;
      hooks.onPhase?.('run');
      play(run, one, hooks);
    }));
  run.traceHash = world?.traceHash ?? '';
  return run;
}

function play(run: Record, one: HostsSession, { onPhase }: FailureHooks): void {
  const { plan, witness } = run;
  const { world } = one;
  const readyMs = world.nowMs;
  one.submit(['sleep', '100000'], {}, () => undefined);
  submitCalls(one, 'agree', plan.agree, (job) => void (run.agreed = job));
  submitCalls(one, 'talk', plan.talk, (job) => void (run.talked = job));
  if (plan.brief !== undefined) submitBrief(run, one, plan.brief);
  const ofLaunch = plan.edges.filter(({ when }) => when === 'launch');
  run.calmMs = Math.max(readyMs + lastEndMs(plan.faults), lastEndMs(ofLaunch));
  injectAll(world, plan.faults, plan.link);
  world.at(run.calmMs, () => whenSettled(run, one, () => {
    onPhase?.('quiet');
    witness.ask();
    world.at(world.nowMs + ROUTES_MS, () => {
      run.quiet = stateOf(one);
      // Agents that are killed while jobs are being ended are failures, too.
      run.events = [...one.events];
      witness.end();
      onPhase?.('end');
      injectAll(world, plan.edges.filter(({ when }) => when === 'end'), plan.link);
      one.stop();
    });
  }));
}

function submitCalls(
  { submit }: HostsSession, program: string, plan: CallsPlan | undefined, done: (job: EndedJob) => void,
): void {
  if (plan === undefined) return;
  const { rounds, pauseMs, policy } = plan;
  submit([program, `${rounds}`, `${pauseMs / 1000}`], { params: { errmgr: [policy] } }, done);
}

function submitBrief(run: Record, { world, submit }: HostsSession, { lastsMs, policy }: BriefPlan): void {
  const over = new Set<Rank>();
  const onEvent = (event: JobEvent): void => {
    if (event.type !== 'exited') return;
    over.add(event.report.rank);
    if (over.size === run.plan.hosts) run.brief = { ranksOverMs: world.nowMs, endedMs: run.brief?.endedMs };
  };
  run.brief = { ranksOverMs: undefined, endedMs: undefined };
  submit(['sleep', `${lastsMs / 1000}`], { params: { errmgr: [policy] }, onEvent }, () => {
    run.brief = { ranksOverMs: run.brief?.ranksOverMs, endedMs: world.nowMs };
  });
}

/**
 * Calls `done` once all has been well for a lease, in which nothing was told, and no start of an agent or of its
 * detectors was awaited; at the latest when all must be well.
 */
function whenSettled(run: Record, one: HostsSession, done: () => void): void {
  const { plan, witness, events } = run;
  const { world } = one;
  const lastMs = world.nowMs + settlingMs(plan);
  let wellMs = Infinity;
  let told = -1;
  const look = (): void => {
    const count = witness.sightings.length + events.length;
    const state = stateOf(one);
    const isAwaited = state.hosts.some(({ isRestarting }) => isRestarting)
      || state.hosts.some((each) => each.state === 'up' && !witness.started.has(keyOf(each)));
    const isWell = count === told && !plan.isPatient && !isAwaited && checkSettled(run, state).length === 0;
    wellMs = isWell ? Math.min(wellMs, world.nowMs) : Infinity;
    told = count;
    if (world.nowMs >= Math.min(lastMs, wellMs + leaseMsOf(plan) + LOOK_MS)) return done();
    world.at(world.nowMs + LOOK_MS, look);
  };
  look();
}

function lastEndMs(faults: readonly FailureFault[]): number {
  const ends = faults.map((fault) =>
    fault.atMs + (('lastsMs' in fault ? fault.lastsMs : undefined) ?? 0) + (('backMs' in fault && fault.backMs) || 0));
  return Math.max(0, ...ends);
}

/** From the last fault until nothing changes any more. */
function settlingMs(plan: FailurePlan): number {
  const { faults, settings } = plan;
  // Who is below them is started once each of them has not answered; nor do those that are cut off for good.
  const isSilent = (fault: FailureFault): boolean =>
    fault.kind === 'crash' || (fault.kind === 'part' && fault.lastsMs === undefined);
  const crashed = settings['errmgr.loss'] === 'start-again' ? faults.filter(isSilent).length : 0;
  return AFTERMATH_MS + crashed * HANDSHAKE_MS + 3 * leaseMsOf(plan) * (1 + Math.min(faults.length, 3));
}

function leaseMsOf({ settings }: FailurePlan): number {
  return Number.parseInt(settings['bootcom.lease'] as string, 10);
}

function keyOf({ host, incarnation }: Pick<QuietState['hosts'][number], 'host' | 'incarnation'>): MemberKey {
  return memberKey({ position: host + 1, incarnation });
}

function stateOf({ world, session }: HostsSession): QuietState {
  const living = world.livingProcesses();
  return {
    atMs: world.nowMs,
    hosts: session.hosts.map((host) => ({ ...host })),
    agents: living.filter(({ command }) => command[0] === 'stci-agent').map(({ host }) => host),
    tools: living.filter(isTool).map(({ host }) => host),
  };
}

function agentOn(world: World, host: number): { host: string; pid: number } | undefined {
  const name = hostName(host);
  return world.livingProcesses().find((each) => each.host === name && each.command[0] === 'stci-agent');
}

/** That of the controller, or of a root agent. */
function processOf(world: World, place: Place): { host: string; pid: number } | undefined {
  if (place !== 'login') return agentOn(world, place);
  return world.livingProcesses().find(({ host }) => host === LOGIN_HOST);
}

function kill(world: World, host: number): void {
  const agent = agentOn(world, host);
  if (agent !== undefined) world.killProcess(agent.host, agent.pid);
}

function placeName(place: Place): string {
  return place === 'login' ? LOGIN_HOST : hostName(place);
}

/** Each at its time from now on. */
function injectAll(world: World, faults: readonly FailureFault[], link: FailurePlan['link']): void {
  for (const fault of faults) atFaultTime(world, fault, () => inject(world, fault, link));
}

function inject(world: World, fault: FailureFault, { latencyMs }: FailurePlan['link']): void {
  const later = (ms: number, call: () => void): void => world.at(world.nowMs + ms, call);
  switch (fault.kind) {
    case 'kill':
      return kill(world, fault.host);
    case 'crash': {
      const name = hostName(fault.host);
      world.crashHost(name);
      if (fault.backMs !== undefined) later(fault.backMs, () => void (world.host(name).isCrashed = false));
      return;
    }
    case 'freeze': {
      const agent = processOf(world, fault.host);
      if (agent === undefined) return;
      world.pauseProcess(agent.host, agent.pid);
      return later(fault.lastsMs, () => world.resumeProcess(agent.host, agent.pid));
    }
    case 'part': {
      const away = fault.hosts.map(hostName);
      const others = [...world.hosts].map(({ name }) => name).filter((name) => !away.includes(name));
      const mend = world.partition(away, others);
      if (fault.lastsMs !== undefined) later(fault.lastsMs, mend);
      return;
    }
    case 'cut':
    case 'slow': {
      const [a, b] = fault.between.map(placeName) as [string, string];
      if (a === b) return;
      if (fault.kind === 'cut') {
        world.cutLink(a, b);
        return later(fault.lastsMs, () => world.mendLink(a, b));
      }
      world.slowLink(a, b, { latencyMs: fault.latencyMs });
      if (fault.lastsMs !== undefined) later(fault.lastsMs, () => world.slowLink(a, b, { latencyMs }));
      return;
    }
  }
}
