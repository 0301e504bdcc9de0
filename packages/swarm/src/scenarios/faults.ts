/** Injects a run's faults at their times, into targets chosen among those that exist then; reverts those that end. */

import type { AgentMain, SimProcess, World } from '@stci/platform-sim';
import { hostName } from './job-spec.js';
import { atFaultTime } from './moments.js';
import type { FaultPlan, SwarmOptions } from './options.js';

/** A fault that was injected, and its target. */
export interface InjectedFault {
  readonly plan: FaultPlan;
  readonly timeMs: number;
  readonly target: string;
}

export const LOGIN_HOST = 'login';

/** Agents, and what carries their links. */
const AGENT_COMMANDS = ['stci-agent', 'login', 'ssh', 'login-shell', 'step', 'step-host'];

export function isTool(process: SimProcess): boolean {
  return process.env['STCI_RANK'] !== undefined;
}

export function describe({ host, pid, command }: SimProcess): string {
  return `${host}/${pid} ${command.join(' ')}`;
}

export function isAgent(process: SimProcess): boolean {
  return AGENT_COMMANDS.includes(process.command[0] ?? '');
}

/** Schedules all of them; `done` grows as they happen. */
export function scheduleFaults(world: World, options: SwarmOptions, frontEnd: SimProcess): InjectedFault[] {
  const done: InjectedFault[] = [];
  for (const plan of options.faults) {
    if (plan.kind === 'kill-start') {
      killAtStart(world, options, plan, done);
      continue;
    }
    atFaultTime(world, plan, () => {
      const target = inject(world, options, frontEnd, plan);
      if (target !== undefined) done.push({ plan, timeMs: world.nowMs, target });
    });
  }
  return done;
}

/** The moment after which nothing is disturbed any more. */
export function lastFaultMs(options: SwarmOptions): number {
  const ends = options.faults.map((fault) => fault.atMs + (('lastsMs' in fault ? fault.lastsMs : undefined) ?? 0));
  return Math.max(0, ...ends, ...options.controls.map(({ atMs }) => atMs));
}

function inject(world: World, options: SwarmOptions, frontEnd: SimProcess, plan: FaultPlan): string | undefined {
  if (plan.kind === 'cut-host') return cutHost(world, options, plan);
  if (plan.kind === 'cut' || plan.kind === 'slow') return injectLinkFault(world, options, plan);
  if (plan.kind === 'crash-host') {
    const host = hostName(Math.floor(plan.pick * options.hosts));
    world.crashHost(host);
    return host;
  }
  const target = plan.kind === 'kill-front-end' ? frontEnd : pickProcess(world, plan);
  if (target === undefined || !target.isAlive) return undefined;
  if (plan.kind === 'pause-agent' || plan.kind === 'pause-tool') {
    world.pauseProcess(target.host, target.pid);
    world.at(world.nowMs + plan.lastsMs, () => world.resumeProcess(target.host, target.pid));
  } else world.killProcess(target.host, target.pid, 'signal' in plan ? plan.signal : 'SIGKILL');
  return describe(target);
}

/** Kills the agent that is started as the nth on a host, some time after that. */
function killAtStart(
  world: World,
  options: SwarmOptions,
  plan: FaultPlan & { readonly kind: 'kill-start' },
  done: InjectedFault[],
): void {
  const main = world.findAgent('stci-agent') as AgentMain;
  const host = options.remote ? hostName(Math.floor(plan.pick * options.hosts)) : LOGIN_HOST;
  let starts = 0;
  world.program('stci-agent', (context) => {
    const { hostname, pid } = context.platform.env;
    if (hostname === host && ++starts === plan.start) {
      world.at(world.nowMs + plan.afterMs, () => {
        const process = world.host(host).table.find(pid);
        // A thread's process is its starter's.
        if (process?.isAlive !== true || !isAgent(process)) return;
        world.killProcess(host, pid);
        done.push({ plan, timeMs: world.nowMs, target: `${host}/${pid} stci-agent` });
      });
    }
    main(context);
  });
}

/** Cuts all links of a host, in both directions. */
function cutHost(world: World, options: SwarmOptions, plan: FaultPlan & { readonly kind: 'cut-host' }): string {
  const host = hostName(Math.floor(plan.pick * options.hosts));
  const others = [...world.hosts].map(({ name }) => name).filter((name) => name !== host);
  const mend = world.partition([host], others);
  if (plan.lastsMs !== undefined) world.at(world.nowMs + plan.lastsMs, mend);
  return host;
}

function pickProcess(world: World, plan: FaultPlan & { readonly pick: number }): SimProcess | undefined {
  const isWanted = plan.kind === 'kill-tool' || plan.kind === 'pause-tool' ? isTool : isAgent;
  const found = world.livingProcesses().filter(isWanted);
  return found[Math.floor(plan.pick * found.length)];
}

type LinkFault = Extract<FaultPlan, { kind: 'cut' | 'slow' }>;

/** A link of the login host, or of two others. */
function injectLinkFault(world: World, options: SwarmOptions, plan: LinkFault): string {
  const host = hostName(Math.floor(plan.pick * options.hosts));
  const other = options.hosts > 1 && plan.pick * options.hosts * 10 - Math.floor(plan.pick * options.hosts * 10) < 0.3
    ? hostName(Math.floor((plan.pick * 997 * options.hosts) % options.hosts))
    : LOGIN_HOST;
  if (plan.kind === 'slow') world.slowLink(host, other, { latencyMs: plan.latencyMs });
  else {
    world.cutLink(host, other);
    world.at(world.nowMs + plan.lastsMs, () => world.mendLink(host, other));
  }
  return `${host} to ${other}`;
}
