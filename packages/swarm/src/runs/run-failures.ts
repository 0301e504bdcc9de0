/** One run with failures: a session, a job, faults, then a time without any in which all must be told and mended. */

import type { JobEvent, Rank } from '@stci/interface';
import type { World } from '@stci/platform-sim';
import { checkFailures, checkSettled } from '../checkers/check-failures.js';
import type { BriefPlan, CallsPlan, FailurePlan } from '../scenarios/failure-plan.js';
import { isTool } from '../scenarios/faults.js';
import { lastEndMs, stepsOf } from '../scenarios/scenario.js';
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
  const { seed, hosts, settings, link } = plan;
  const faults = stepsOf(plan.faults, 'launch');
  let world: World | undefined;
  const witness = new WitnessRecord(() => world?.nowMs ?? 0);
  const run: Record = {
    plan, witness, history: [], faults: [], calmMs: 0, readyMs: undefined, quiet: undefined, agreed: undefined,
    talked: undefined, brief: undefined, problems: [], traceHash: '',
  };
  const onWorld = (made: World): void => {
    world = made;
    made.scheduler.onTrace = hooks.onTrace;
    hooks.onWorld?.(made);
  };
  run.problems = withWitness(witness, () =>
    runHosts({ seed, hosts, hostsMax: hosts, settings, link, faults, onWorld }, (one) => {
      run.history = one.history;
      run.faults = one.faults;
      run.readyMs = one.world.nowMs;
      hooks.onPhase?.('run');
      play(run, one, hooks);
    }));
  run.traceHash = world?.traceHash ?? '';
  return run;
}

function play(run: Record, one: HostsSession, { onPhase }: FailureHooks): void {
  const { plan, witness } = run;
  const { faults } = plan;
  const { world } = one;
  const readyMs = world.nowMs;
  one.submit(['sleep', '100000'], {}, () => undefined);
  submitCalls(one, 'agree', plan.agree, (job) => void (run.agreed = job));
  submitCalls(one, 'talk', plan.talk, (job) => void (run.talked = job));
  if (plan.brief !== undefined) submitBrief(run, one, plan.brief);
  const ofRun = stepsOf(faults, 'run');
  run.calmMs = Math.max(readyMs + lastEndMs(ofRun), lastEndMs(stepsOf(faults, 'launch')));
  one.schedule(ofRun);
  world.at(run.calmMs, () => whenSettled(run, one, () => {
    onPhase?.('quiet');
    witness.ask();
    world.at(world.nowMs + ROUTES_MS, () => {
      run.quiet = stateOf(one);
      // Agents that are killed while jobs are being ended are failures, too.
      run.history = [...one.history];
      run.faults = [...one.faults];
      witness.end();
      onPhase?.('end');
      one.schedule(stepsOf(faults, 'end'));
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
  const { plan, witness } = run;
  const { world, history } = one;
  const lastMs = world.nowMs + settlingMs(plan);
  let wellMs = Infinity;
  let told = -1;
  const look = (): void => {
    const count = witness.sightings.length + history.length;
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

/** From the last fault until nothing changes any more. */
function settlingMs(plan: FailurePlan): number {
  const faults = stepsOf(plan.faults, 'run');
  // Who is below them is started once each of them has not answered; nor do those that are cut off for good.
  const silent = faults.filter((step) =>
    step.kind === 'crash' || (step.kind === 'part' && step.durationMs === undefined));
  const crashed = plan.settings['errmgr.loss'] === 'start-again' ? silent.length : 0;
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
