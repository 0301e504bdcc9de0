/**
 * One run: a world, a job in it from launch to exit, faults, then a phase without faults in which the job must end
 * or report, and at last an inspection of what is left. The same options give the same run.
 */

import { hostWaitMs, probeMs, startMsMax, type AgentNode } from '@stci/core';
import { CODE, type AgentContext, type SimEvent, type SimProcess, type World } from '@stci/platform-sim';
import { checkRun } from '../checkers/checkers.js';
import { LOGIN_HOST, describe, isTool, scheduleSteps } from '../scenarios/faults.js';
import { PROGRAM_MS_MAX, type SwarmOptions } from '../scenarios/options.js';
import { expectedOf } from '../scenarios/programs.js';
import { plannedApps } from '../scenarios/spawner.js';
import { hitsFrontEnd, hitsRanks, lastEndMs } from '../scenarios/scenario.js';
import { resolveSettings } from '../worlds/assembly.js';
import { startSimulatedRun } from '../worlds/front-end.js';
import { makeWorld } from '../worlds/make-world.js';
import type { MemoryPeaks } from '../worlds/memory-peaks.js';
import { JobRecord } from '../worlds/record.js';
import type { Run } from '../worlds/run.js';
import { Wire } from '../worlds/wire.js';

/** From the last fault and the longest program to the end of the job: more is a job that neither ends nor reports. */
const LIVENESS_MS = 120_000;
/** From the end of the front-end to the end of all processes. */
const ORPHAN_MS = 5000;
/**
 * As much again where agents find out by their leases, and wait for children that do not answer: hosts are cut off, or
 * an agent has lost its parent, or takes it to be silent, and nobody is left to link to it.
 */
const SILENT_ORPHAN_MS = 12_000;
/** After that the world must become idle within this time. */
const AFTER_MS = 120_000;
const EVENTS_MAX = 50_000_000;

export interface RunOutcome {
  readonly run: Run;
  /** What the checkers found; empty: all is well. */
  readonly problems: readonly string[];
  readonly traceHash: string;
}

export interface RunHooks {
  /** Sees what agents hold. */
  readonly peaks?: MemoryPeaks | undefined;
  readonly onTrace?: ((line: string) => void) | undefined;
  /** Changes the world before anything happens: tests of the checkers break it. */
  readonly onWorld?: ((world: World) => void) | undefined;
}

export function runJob(options: SwarmOptions, hooks: RunHooks = {}): RunOutcome {
  const run = simulate(options, hooks);
  return { run, problems: checkRun(run), traceHash: run.world.traceHash };
}

/** The time that all processes have to end. */
function orphanMs({ settings, faults, hosts }: SwarmOptions): number {
  const ofAgents = faults.filter((step) => !hitsRanks(step) && !hitsFrontEnd(step));
  const has = (...kinds: string[]): boolean => ofAgents.some(({ kind }) => kinds.includes(kind));
  const { params } = resolveSettings(settings);
  // A parent that answers after the time of a probe is silent to the agent, which waits for another.
  const isLate = faults.some((fault) => fault.kind === 'slow' && 2 * fault.latencyMs >= probeMs(params));
  const isOrphaned = faults.some(hitsFrontEnd) && (isLate || has('kill'));
  if (!isOrphaned && !has('crash', 'part', 'cut', 'pause')) return ORPHAN_MS;
  // An agent that was started together with others, and is cut off while it waits, waits to its end.
  const isTogether = settings['launcherproc'] === 'together';
  const waitMs = isTogether ? 2 * hosts * startMsMax(params.int('launcher.handshake')) : 0;
  return ORPHAN_MS + SILENT_ORPHAN_MS + waitMs + params.int('bootcom.lease') + params.int('tool.grace');
}

/** Root and session agents of a run that have got their boot record. */
class BootedAgents {
  readonly #keys = new Set<string>();
  readonly #waitMs: number;

  constructor({ settings }: SwarmOptions) {
    this.#waitMs = hostWaitMs(resolveSettings(settings).params.int('launcher.handshake'));
  }

  add({ platform: { env: { hostname, pid } } }: AgentNode): void {
    this.#keys.add(`${hostname}/${pid}`);
  }

  /** One that was cut off before knows nothing of any lease: it waits for its boot record, longer than its starter. */
  isAwaited({ host, pid, command, startMs }: SimProcess, nowMs: number): boolean {
    const isAgent = command[0] === 'stci-agent' || command[0] === 'login-shell';
    return isAgent && !this.#keys.has(`${host}/${pid}`) && nowMs - startMs <= this.#waitMs;
  }
}

/**
 * What the ranks of a host write, twice what their pipes hold at least, comes over slow links, a part of a share of the
 * window, a quarter at least, each round trip, and each part is released after a while.
 */
function drainMs({ settings, faults, hosts, slots, pipeBytes, apps, stdinBytes, releaseMs }: SwarmOptions): number {
  const slowMs = faults.reduce((sum, fault) => sum + (fault.kind === 'slow' ? fault.latencyMs : 0), 0);
  const shareBytes = resolveSettings(settings).params.int('iof.window') / hosts;
  const spawned = plannedApps(settings);
  const ranks = slots + spawned.reduce((sum, { count }) => sum + count, 0);
  const written = [...apps, ...spawned].map((app) => {
    const { stdout, stderr } = expectedOf(app, { rank: 0, hostname: '', stdin: new Uint8Array(stdinBytes) });
    return stdout.length + stderr.length;
  });
  return (ranks * Math.max(2 * pipeBytes, ...written) * 4 * (2 * slowMs + releaseMs)) / shareBytes;
}

/** The moment after which nothing is disturbed any more. */
function calmMs({ faults, controls }: SwarmOptions): number {
  return Math.max(lastEndMs(faults), ...controls.map(({ atMs }) => atMs));
}

function simulate(options: SwarmOptions, hooks: RunHooks): Run {
  const { peaks } = hooks;
  const booted = new BootedAgents(options);
  const world = makeWorld(options, (node) => {
    booted.add(node);
    peaks?.onNode(node);
  });
  world.scheduler.onTrace = hooks.onTrace;
  const wire = new Wire();
  world.onFlow = (flow) => wire.watch(flow);
  hooks.onWorld?.(world);
  const record = new JobRecord();
  let leftEvents = 0;
  let toolsAtReport: readonly string[] = [];
  const main = (context: AgentContext): void => {
    const isOwn = ({ owner, code }: SimEvent): boolean =>
      owner === frontEnd.main && (code === CODE.timer || code === CODE.turn);
    const frontEndHooks = {
      onReport: (): void => {
        toolsAtReport = world.livingProcesses().filter(isTool).map(describe);
      },
      onAftermath: (ownTimers: number): void => {
        leftEvents = world.scheduler.queue.pending().filter(isOwn).length - ownTimers;
      },
    };
    startSimulatedRun(context, options, record, { ...frontEndHooks, onNode: peaks?.onNode });
  };
  const frontEnd: SimProcess = world.start(LOGIN_HOST, ['stcirun'], main, { PATH: '/bin' });
  peaks?.watch(world, () => true, () => frontEnd.isAlive);
  const faults = scheduleSteps(world, options.faults, options.link);
  // At worst, in a chain or with a window of 1, one agent starts after the other.
  const startsMs = options.hosts * options.spawnMs[1];
  const untilMs = Math.max(calmMs(options), PROGRAM_MS_MAX) + startsMs + LIVENESS_MS + drainMs(options);
  world.run({ until: () => !frontEnd.isAlive, untilMs, maxEvents: EVENTS_MAX });
  const isOver = !frontEnd.isAlive;
  const restMs = Math.max(world.nowMs, calmMs(options));
  world.run({ untilMs: restMs + orphanMs(options), maxEvents: EVENTS_MAX });
  const orphans = world.livingProcesses().filter((process) => !booted.isAwaited(process, world.nowMs));
  const isQuiet = world.run({ untilMs: world.nowMs + AFTER_MS, maxEvents: EVENTS_MAX }) === 'idle';
  return { options, world, record, frontEnd, faults, isOver, orphans, toolsAtReport, leftEvents, wire, isQuiet };
}
