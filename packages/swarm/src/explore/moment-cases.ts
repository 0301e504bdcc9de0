/**
 * Single faults, one by one: what a good run's record says of its moments, and the plans that are this run with one
 * fault right after one of them.
 */

import { assert } from '@stci/interface';
import type { EventOwner, World } from '@stci/platform-sim';
import { runFailures } from '../runs/run-failures.js';
import { runJob } from '../runs/run-job.js';
import type { FailurePlan } from '../scenarios/failure-plan.js';
import { isAgent } from '../scenarios/faults.js';
import { plannedParents } from '../scenarios/launcher-random.js';
import { afterEvents } from '../scenarios/moments.js';
import type { SwarmOptions } from '../scenarios/options.js';
import { PLAIN, plainFailures } from '../scenarios/plain.js';
import { rootAgent, type PhasedStep, type Step } from '../scenarios/scenario.js';
import { KINDS, type Kind, type SeededPlan } from './kind.js';

export const FAULT_KINDS = ['kill', 'freeze 0.5', 'freeze 2', 'cut'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** Good runs, all of whose moments are looked at. */
export interface Configuration {
  readonly name: string;
  readonly kind: Kind;
  readonly plan: SeededPlan;
  /** Runs the plan. Throws where it is not good. */
  record(): Recorded;
}

export interface Recorded {
  readonly moments: number;
  /** One more fault: a plan each, in the order of the moments. */
  readonly cases: ReadonlyMap<FaultKind, readonly Case[]>;
}

export type Case = () => SeededPlan;

type Phase = 'launch' | 'run' | 'quiet' | 'end';

/** Right after this event of the phase. */
interface Moment {
  readonly phase: Phase;
  readonly event: number;
  /** From the beginning of the phase. */
  readonly atMs: number;
  /** Those that live: agents and what carries their links, in the order of the world. */
  readonly agents: readonly { readonly host: string; readonly isRoot: boolean }[];
}

const LEASE_MS = 2000;
const [JOBS, , FAILURES] = KINDS as unknown as readonly [Kind<SwarmOptions>, Kind, Kind<FailurePlan>];
const DETECTOR = {
  'detector.ring.period': '100ms', 'detector.ring.timeout': '500ms', 'detector.ring.grace': '300ms',
  'detector.latency': '20ms',
};
const OVERLAY = { 'overlay.topology': 'bmg', 'overlay.open': 'eager', 'bootcom.ws.interface': 'eth0' };

/** Jobs and sessions, with and without overlay and detector; then such that have lost an agent already: pairs. */
export function configurations(hosts: number): readonly Configuration[] {
  const parts = [['', {}, false], [', overlay', OVERLAY, false], [', detector', DETECTOR, true],
    [', overlay and detector', { ...OVERLAY, ...DETECTOR }, true]] as const;
  const single = parts.flatMap(([name, settings, hasDetector]) => [
    jobs(`job${name}`, jobPlan(hosts, { ...settings, ...(hasDetector && { detector: 'ring' }) })),
    sessions(`session${name}`, sessionPlan(hosts, { ...settings, ...(hasDetector && { detector: 'ring,witness' }) })),
  ]);
  const again = { ...OVERLAY, ...DETECTOR, detector: 'ring,witness', 'errmgr.loss': 'start-again' };
  const mended = sessionPlan(hosts, { ...again, 'errmgr.loss.pause': '0ms' });
  const job = jobPlan(hosts, { ...OVERLAY, ...DETECTOR, detector: 'ring' });
  return [
    ...single,
    jobs('job, a mend', hurt(job, 0.5)),
    jobs('job, an end', hurt(job, 0.9)),
    sessions('session, a mend', { ...mended, faults: [{ kind: 'kill', victim: rootAgent(0), atMs: 300 }] }),
    sessions('session, an end',
      { ...mended, faults: [{ during: 'end', kind: 'kill', victim: rootAgent(0), atMs: 0.5 }] }, ['end']),
  ];
}

function jobPlan(hosts: number, settings: SwarmOptions['settings']): SwarmOptions {
  return {
    ...PLAIN, hosts, remote: true, byNode: true, apps: [{ program: 'lines', args: ['5', '60', '0.02'], count: hosts }],
    settings: {
      launcherproc: 'remote', 'launcher.tree.arity': '2', 'launcher.session.method': 'process', errmgr: 'continue',
      'bootcom.lease': `${LEASE_MS}ms`, ...settings,
    },
  };
}

function sessionPlan(hosts: number, settings: FailurePlan['settings']): FailurePlan {
  const plan = plainFailures({
    hosts, faults: [], isPatient: false,
    settings: { ...settings, 'bootcom.lease': `${LEASE_MS}ms`, 'client.enable': 'true' },
    agree: { rounds: 4, pauseMs: 50, policy: 'continue' }, brief: { lastsMs: 400, policy: 'continue' },
  });
  return FAILURES.fit(plan) as FailurePlan;
}

/** The good job, but that a root agent with others below it is killed after this part of its moments. */
function hurt(plan: SwarmOptions, part: number): SwarmOptions {
  const moments = momentsOf('job', plan);
  const { event, atMs, agents } = moments[Math.floor(part * moments.length)] as Moment;
  const at = agents.findIndex(({ host, isRoot }) => isRoot && host === 'n0');
  assert(at >= 0, `n0 has an agent ${atMs} ms after the beginning`);
  const pick = (at + 0.5) / agents.length;
  return { ...plan, faults: [{ kind: 'kill', victim: { of: 'agents', pick }, event, atMs }] };
}

function momentsOf(name: string, plan: SwarmOptions): readonly Moment[] {
  const recorder = new Recorder();
  refuse(name, runJob(plan, { onWorld: (world) => recorder.begin('launch', world) }).problems);
  return recorder.moments;
}

/** Where it has a fault, the moments after that. */
function jobs(name: string, plan: SwarmOptions): Configuration {
  const record = (): Recorded => {
    const [{ event: first = -1 } = {}] = plan.faults;
    const moments = momentsOf(name, plan).filter(({ event }) => event > first);
    return recorded(moments, (moment, kind) => jobCases(plan, moment, kind));
  };
  return { name, kind: JOBS as unknown as Kind, plan, record };
}

function sessions(name: string, plan: FailurePlan, phases: readonly Phase[] = ['launch', 'run', 'end']): Configuration {
  const record = (): Recorded => {
    const recorder = new Recorder();
    let world: World | undefined;
    refuse(name, runFailures(plan, {
      onWorld: (made) => recorder.begin('launch', world = made),
      onPhase: (phase) => recorder.begin(phase, world as World),
    }).problems);
    const moments = recorder.moments.filter(({ phase }) => phases.includes(phase));
    return recorded(moments, (moment, kind) => sessionCases(plan, moment, kind));
  };
  return { name, kind: FAILURES as unknown as Kind, plan, record };
}

function refuse(name: string, problems: readonly string[]): void {
  if (problems.length > 0) throw new Error(`Without a fault '${name}' is not a good run: ${problems.join('; ')}`);
}

function recorded(moments: readonly Moment[], casesOf: (moment: Moment, kind: FaultKind) => readonly Case[]): Recorded {
  const cases = new Map(FAULT_KINDS.map((kind) => [kind, moments.flatMap((moment) => casesOf(moment, kind))]));
  return { moments: moments.length, cases };
}

/**
 * The moments of a run. One after which nothing was sent, started or awaited that was not before is left out if the
 * next event is the same process's: nobody but it can tell them apart.
 */
class Recorder {
  readonly moments: Moment[] = [];
  #phase: Phase = 'launch';

  begin(phase: Phase, world: World): void {
    this.#phase = phase;
    const startMs = world.nowMs;
    let last: { readonly owner: EventOwner; readonly pushed: number; readonly isIdle: boolean } | undefined;
    let pushed = world.scheduler.queue.pushed;
    afterEvents(world, (owner, event) => {
      if (this.#phase !== phase) return;
      if (last?.owner === owner && last.isIdle) this.moments.pop();
      const agents = world.livingProcesses().filter(isAgent)
        .map(({ host, command }) => ({ host, isRoot: command[0] === 'stci-agent' }));
      this.moments.push({ phase, event, atMs: world.nowMs - startMs, agents });
      last = { owner, pushed, isIdle: world.scheduler.queue.pushed === pushed };
      pushed = world.scheduler.queue.pushed;
    });
  }
}

const freezeMs = (kind: FaultKind): number => (kind === 'freeze 2' ? 2 : 0.5) * LEASE_MS;

/** Each agent that lives then, those of the session and of the job, and what carries their links. */
function jobCases(plan: SwarmOptions, { event, atMs, agents }: Moment, kind: FaultKind): Case[] {
  const hosts = [...new Set(agents.map(({ host }) => host))].filter((host) => host !== 'login');
  const at = { event, atMs };
  const durationMs = freezeMs(kind);
  const steps: readonly Step[] = kind === 'cut'
    ? hosts.map((host): Step =>
      ({ ...at, kind: 'part', durationMs, victim: { kind: 'side', hosts: [Number(host.slice(1))] } }))
    : [...agents.keys()].map((agent): Step => {
      const victim = { of: 'agents', pick: (agent + 0.5) / agents.length } as const;
      return kind === 'kill' ? { ...at, kind, victim } : { ...at, kind: 'pause', victim, durationMs };
    });
  return steps.map((step) => () => ({ ...plan, faults: [...plan.faults, step] }));
}

/** Each root agent. */
function sessionCases(plan: FailurePlan, { phase, event, atMs, agents }: Moment, kind: FaultKind): Case[] {
  const living = new Set(agents.filter(({ isRoot }) => isRoot).map(({ host }) => Number(host.slice(1))));
  if (phase === 'quiet') return [];
  return [...living].map((host) => () => {
    const parent = plannedParents(plan.hosts, plan.settings)[host];
    const link = { kind: 'link', ends: [host + 1, (parent ?? -1) + 1] } as const;
    const at = { atMs, event, ...(phase !== 'run' && { during: phase }) };
    const durationMs = freezeMs(kind);
    const step: PhasedStep = kind === 'kill' ? { ...at, kind, victim: rootAgent(host) }
      : kind === 'cut' ? { ...at, kind, victim: link, durationMs }
        : { ...at, kind: 'pause', victim: rootAgent(host), durationMs };
    return { ...plan, faults: [...plan.faults, step] };
  });
}
