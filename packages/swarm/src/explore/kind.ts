/** Kinds of runs that are explored: what a seed draws, how it is run, and which simpler plans there are. */

import type { World } from '@stci/platform-sim';
import { drawFailures, latencySetting, type FailureSize } from '../runs/draw-failures.js';
import { runFailures } from '../runs/run-failures.js';
import { runJob, type RunOutcome } from '../runs/run-job.js';
import { runSession } from '../runs/run-session.js';
import type { FailurePlan } from '../scenarios/failure-plan.js';
import { drawOptions, type SwarmOptions, type Wishes } from '../scenarios/options.js';
import { PLAIN, plainFailures, plainSession } from '../scenarios/plain.js';
import { hostsOf, withoutHosts, type Step } from '../scenarios/scenario.js';
import { drawSession, type SessionOptions } from '../scenarios/session-plan.js';
import { layout } from './plan-text.js';
import { FAILURE_SHAPE, JOB_SHAPE, SESSION_SHAPE } from './shapes.js';

export interface KindHooks {
  readonly onTrace?: ((line: string) => void) | undefined;
  /** Before anything happens. */
  readonly onWorld?: ((world: World) => void) | undefined;
}

export interface KindRun {
  readonly problems: readonly string[];
  readonly traceHash: string;
  /** For a replay: what happened. */
  summary(): readonly string[];
}

export interface SeededPlan {
  readonly seed: number;
}

export interface Kind<Plan extends SeededPlan = SeededPlan> {
  readonly name: string;
  /** Options of the command by which it is chosen. */
  readonly flags: string;
  /** The file of its regressions. */
  readonly regressions: string;
  /** The simplest plan; others are told by what is different in them. */
  readonly plain: Plan;
  draw(seed: number, wishes: Wishes): Plan;
  run(plan: Plan, hooks?: KindHooks): KindRun;
  /** Plans with fewer hosts or jobs, which are more than one value of the plan. */
  fewer(plan: Plan): Iterable<Plan>;
  /** The plan, with what follows from its other values; undefined: none like it is drawn. */
  fit(plan: Plan): Plan | undefined;
  /** Why a plan that a user gives cannot be run. */
  refuse(plan: Plan): string | undefined;
}

const JOBS: Kind<SwarmOptions> = {
  name: 'jobs',
  flags: '',
  regressions: 'jobs.json',
  plain: { ...PLAIN, settings: { launcherproc: 'local' } },
  draw: (seed, wishes) => drawOptions(seed, wishes),
  run: (plan, hooks = {}) => {
    const outcome = runJob(plan, hooks);
    return { ...outcome, summary: () => jobSummary(outcome) };
  },
  *fewer(plan) {
    yield* fewerHosts(plan, 1);
    const settings = { ...plan.settings, launcherproc: 'local' };
    const faults = plan.faults.filter(({ kind }) => kind !== 'refuse-login');
    if (plan.remote) yield { ...plan, remote: false, faults, settings };
  },
  fit: (plan) => {
    const { hosts, remote, apps, stdin, settings } = plan;
    const ranks = apps.reduce((sum, { count }) => sum + count, 0);
    const isRemote = settings['launcherproc'] !== 'local';
    const hasReader = stdin.to !== 'rank' || stdin.rank < ranks;
    if (!isThere(plan) || remote !== isRemote || !hasReader || apps.some(({ count }) => count < 1)) return undefined;
    return { ...plan, slots: Math.max(1, Math.ceil(ranks / hosts)) };
  },
  refuse: (plan) => JOB_SHAPE(plan, ''),
};

function failures(size: FailureSize): Kind<FailurePlan> {
  return {
    name: size === 'any' ? 'sessions with failures' : 'small sessions with failures',
    flags: size === 'any' ? '--failures' : '--failures --small',
    regressions: 'failures.json',
    plain: plainFailures({ hosts: 2, faults: [], settings: { 'detector.latency': '20ms' } }),
    draw: (seed) => drawFailures(seed, size),
    run: (plan, hooks = {}) => {
      const { run: { traceHash }, problems } = runFailures(plan, hooks);
      return { problems, traceHash, summary: () => [`plan ${layout(plan)}`, `trace ${traceHash}`] };
    },
    refuse: (plan) => FAILURE_SHAPE(plan, '') ?? refuseDetector(plan),
    fewer: fewerFailing,
    fit: (plan) => {
      const { hosts, isTimed, settings, link } = plan;
      if (hosts < 2 || !isThere(plan)) return undefined;
      // What is promised in time is so for the parameters that are drawn for it.
      if (isTimed === true) return settings['detector.ring.timeout'] === undefined ? undefined : plan;
      return { ...plan, settings: { ...settings, 'detector.latency': latencySetting(hosts, settings, link) } };
    },
  };
}

const SESSIONS: Kind<SessionOptions> = {
  name: 'sessions',
  flags: '--sessions',
  regressions: 'sessions.json',
  plain: plainSession({ program: 'true', args: [], count: 1 }),
  draw: (seed) => drawSession(seed),
  run: (plan, hooks = {}) => {
    const { problems, world: { traceHash } } = runSession(plan, hooks);
    return { problems, traceHash, summary: () => [`options ${layout(plan)}`, `trace ${traceHash}`] };
  },
  *fewer(plan) {
    yield* fewerHosts(plan, 2);
    for (const gone of plan.jobs.keys()) {
      const frontEnds = plan.frontEnds.filter(({ job }) => job !== gone)
        .map((each) => ({ ...each, job: each.job > gone ? each.job - 1 : each.job }));
      yield { ...plan, jobs: plan.jobs.filter((_, job) => job !== gone), frontEnds };
    }
    for (const [index, each] of plan.frontEnds.entries()) {
      if (each.leave === undefined) continue;
      yield { ...plan, frontEnds: plan.frontEnds.with(index, { ...each, leave: undefined }) };
    }
  },
  fit: (plan) => {
    const { jobs, frontEnds, hosts } = plan;
    // Each job is submitted, once, and nobody asks for one that is not there.
    const submits = frontEnds.filter(({ kind }) => kind === 'submit' || kind === 'detached').map(({ job }) => job);
    const isSubmitted = submits.length === jobs.length && new Set(submits).size === submits.length;
    const isKnown = frontEnds.every(({ job }) => job < jobs.length);
    const isWhole = isSubmitted && isKnown && jobs.every(({ app }) => app.count >= 1);
    return hosts >= 2 && isWhole && isThere(plan) ? plan : undefined;
  },
  refuse: (plan) => SESSION_SHAPE(plan, ''),
};

export const KINDS: readonly Kind[] = [JOBS, SESSIONS, failures('any'), failures('small')];

function refuseDetector({ settings: { detector = '' } }: FailurePlan): string | undefined {
  if (detector.split(',').includes('witness')) return undefined;
  return `settings.detector has to name witness, which sees who is told: 'ring,witness', got '${detector}'`;
}

interface Hosted {
  readonly hosts: number;
  readonly faults: readonly Step[];
}

/** All hosts that its faults name are. */
function isThere({ hosts, faults }: Hosted): boolean {
  return hosts >= 1 && faults.flatMap(hostsOf).every((host) => host < hosts);
}

/** A half, then one less. */
function* fewerHosts<Plan extends Hosted>(plan: Plan, least: number): Iterable<Plan> {
  for (const hosts of new Set([Math.ceil(plan.hosts / 2), plan.hosts - 1])) {
    if (hosts >= least && hosts < plan.hosts) yield planWithout(plan, hosts, plan.hosts - hosts);
  }
}

/** Without the second half, then without each. */
function* fewerFailing(plan: FailurePlan): Iterable<FailurePlan> {
  const half = Math.ceil(plan.hosts / 2);
  if (half < plan.hosts - 1) yield planWithout(plan, half, plan.hosts - half);
  for (let host = plan.hosts - 1; host >= 0; host--) yield planWithout(plan, host, 1);
}

function planWithout<Plan extends Hosted>(plan: Plan, first: number, count: number): Plan {
  return { ...plan, hosts: plan.hosts - count, faults: withoutHosts(plan.faults, first, count) };
}

function jobSummary({ run, traceHash }: RunOutcome): string[] {
  const { report } = run.record;
  const { options, world, faults } = run;
  return [
    `options ${layout(options)}`,
    ...faults.map(({ step, timeMs, target }) => `fault at ${timeMs.toFixed(3)} ms: ${step.kind} ${target}`),
    `exit code ${report?.exitCode ?? 'none'}${report?.cause === undefined ? '' : `: ${report.cause.message}`}`,
    `${world.scheduler.fired} events in ${world.nowMs.toFixed(1)} ms of virtual time, trace ${traceHash}`,
  ];
}
