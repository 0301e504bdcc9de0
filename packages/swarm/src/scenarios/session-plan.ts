/**
 * What one run of a session does, drawn from its seed: jobs, front-ends that come and go, agents and connections that
 * are killed meanwhile.
 */

import { SimRandom } from '@stci/platform-sim';
import { drawTree } from './launcher-random.js';
import { drawLoss, drawOverlay, drawTogether } from './options.js';
import type { AppPlan } from './programs.js';
import type { Step } from './scenario.js';

/** Jobs begin within this time, and most faults come within it, ms. */
export const BUSY_MS = 3000;

/** Spare hosts of a session that uses them (errmgr.loss). */
export const SPARES = 2;

export interface JobPlan {
  readonly app: AppPlan;
  /** Of its rank 0; none: it reads nothing. */
  readonly stdinBytes: number;
}

/** `stop`: its process is stopped for `stoppedMs`, and goes on. */
export interface LeavePlan {
  readonly how: 'detach' | 'kill' | 'stop';
  readonly afterMs: number;
  readonly stoppedMs: number;
}

/** A front-end: one that submits a job (`detached`: and leaves at once), looks at it, or waits for its end. */
export interface FrontEndPlan {
  readonly kind: 'submit' | 'detached' | 'attach' | 'wait';
  readonly job: number;
  readonly atMs: number;
  /** `attach`: all output that is kept. */
  readonly all: boolean;
  /** How long it takes to show a chunk, ms. */
  readonly releaseMs: number;
  readonly leave?: LeavePlan | undefined;
}

export interface SessionOptions {
  readonly seed: number;
  readonly hosts: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly jobs: readonly JobPlan[];
  readonly frontEnds: readonly FrontEndPlan[];
  /** Their moments count from when the session is ready. */
  readonly faults: readonly Step[];
  readonly spoolBytes: number;
  /** Room for the spools of all jobs. */
  readonly diskBytes: number;
}

/** What job `index` runs. Behind the planned ones comes the last, a rank for each host. */
export function jobOf({ jobs, hosts }: SessionOptions, index: number): JobPlan {
  return jobs[index] ?? { app: { program: 'hostname', args: [], count: hosts }, stdinBytes: 0 };
}

type Draw = (random: SimRandom) => readonly string[];

const PROGRAMS: readonly Draw[] = [
  () => ['true'],
  () => ['echo', 'hello'],
  (random) => ['exit', String(random.pick([0, 3])), String(random.pick([0, 0.5]))],
  (random) => ['lines', String(random.pick([20, 200])), '60', String(random.pick([0, 0.005, 0.02]))],
  () => ['lines', '2000', '80'],
  () => ['mixed', '600', '80'],
  (random) => ['sleep', String(random.pick([0.1, 2]))],
  () => ['cat'],
];

export function drawSession(seed: number): SessionOptions {
  const random = new SimRandom(`session ${seed}`);
  const hosts = 2 + random.integer(random.chance(0.2) ? 40 : 14);
  const jobs = Array.from({ length: 2 + random.integer(6) }, () => drawJob(random, hosts));
  return {
    seed,
    hosts,
    settings: {
      launcherproc: 'remote',
      'launcher.tree.arity': String(random.pick([1, 2, 3, 8])),
      'bootcom.lease': random.pick(['2s', '4s']),
      ...(random.chance(0.5) && { 'iof.window': String(random.pick([65_536, 262_144])) }),
      ...(random.chance(0.3) && { 'launcher.session.method': 'process' }),
      ...drawLoss(random),
      ...drawOverlay(random, true),
      ...drawTree(random),
      ...drawTogether(random),
    },
    jobs,
    frontEnds: jobs.flatMap((job, index) => drawFrontEnds(random, job, index)).sort((a, b) => a.atMs - b.atMs),
    faults: drawKills(random, hosts),
    spoolBytes: random.pick([32 * 1024, 256 * 1024, 64 * 1024 * 1024]),
    diskBytes: random.chance(0.1) ? 200_000 : Infinity,
  };
}

function drawJob(random: SimRandom, hosts: number): JobPlan {
  const [program = 'true', ...args] = random.pick(PROGRAMS)(random);
  const app = { program, args, count: 1 + random.integer(2 * hosts) };
  return { app, stdinBytes: program === 'cat' ? random.pick([0, 100, 200_000]) : 0 };
}

function drawFrontEnds(random: SimRandom, { app }: JobPlan, job: number): FrontEndPlan[] {
  const atMs = random.between(0, BUSY_MS);
  // Nobody else would end its input.
  const isNeeded = app.program === 'cat';
  const submit: FrontEndPlan = {
    kind: !isNeeded && random.chance(0.2) ? 'detached' : 'submit', job, atMs, all: false,
    releaseMs: drawReleaseMs(random), leave: isNeeded ? undefined : drawLeave(random),
  };
  const viewers = Array.from({ length: random.integer(4) }, (): FrontEndPlan => ({
    kind: 'attach', job, atMs: atMs + random.between(0, BUSY_MS), all: random.chance(0.3),
    releaseMs: drawReleaseMs(random), leave: drawLeave(random),
  }));
  const wait: FrontEndPlan = { ...submit, kind: 'wait', atMs: atMs + random.between(0, 2 * BUSY_MS), leave: undefined };
  return [submit, ...viewers, wait];
}

function drawReleaseMs(random: SimRandom): number {
  return random.chance(0.3) ? random.pick([1, 20, 300]) : 0;
}

function drawLeave(random: SimRandom): LeavePlan | undefined {
  if (!random.chance(0.5)) return undefined;
  const how = random.pick(['detach', 'detach', 'kill', 'kill', 'stop'] as const);
  return { how, afterMs: Math.exp(random.between(0, Math.log(2000))), stoppedMs: random.pick([100, 2000, 20_000]) };
}

function drawKills(random: SimRandom, hosts: number): Step[] {
  const kills = Array.from({ length: random.integer(Math.min(hosts, 5)) }, (): Step => {
    const atMs = random.between(0, BUSY_MS);
    return { atMs, kind: 'kill', victim: { of: random.chance(0.6) ? 'roots' : 'links', pick: random.uniform() } };
  });
  return random.chance(0.3) ? kills.map((kill) => ({ ...kill, atMs: kills[0]?.atMs ?? 0 })) : kills;
}
