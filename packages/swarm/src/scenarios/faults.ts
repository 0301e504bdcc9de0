/** Carries the steps of a scenario out in a world, at their moments; reverts those that end. */

import type { AgentMain, SimProcess, World } from '@stci/platform-sim';
import { hostName } from './job-spec.js';
import { atMoment } from './moments.js';
import { hostsOf, refusalsOf, type AgentVictim, type Chosen, type Refusal, type Step } from './scenario.js';

/** A fault that was injected, and its target. */
export interface InjectedFault {
  readonly step: Step;
  readonly timeMs: number;
  /** A process as `describe` has it, a host, or the two ends of a link. */
  readonly target: string;
}

export const LOGIN_HOST = 'login';

/** Processes with the controller: of a job, of a session in one process, of a session that stays. */
const CONTROLLERS = ['stcirun', 'stci', 'stci-session'];
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

/** Why the next start of this program on a host fails; undefined: it does not. */
export type NextStart = (host: string, program: string) => 'refused' | 'silent' | undefined;

/** Logins are asked by the world itself: it is made with its refusals. */
export function refusedStarts(world: World, steps: readonly Step[]): NextStart {
  const refusals = refusalsOf(steps);
  const starts = new Map<string, number>();
  return (host, program) => {
    const refusal = refusals.find(({ victim, atMs }) => hostName(victim.host) === host && atMs <= world.nowMs);
    if (refusal === undefined) return undefined;
    // An agent is reached by a login of its own, which is no start.
    const key = `${host} ${program}`;
    const start = (starts.get(key) ?? 0) + 1;
    starts.set(key, start);
    const { start: first = 1, starts: count, isSilent = false } = refusal;
    if (start < first || start >= first + count) return undefined;
    return isSilent ? 'silent' : 'refused';
  };
}

/** Schedules all of them, from now on; `done` grows as they happen. `link`: of links that are not slow. */
export function scheduleSteps(
  world: World, steps: readonly Step[], link: { readonly latencyMs: number }, done: InjectedFault[] = [],
): InjectedFault[] {
  for (const step of steps) {
    if (step.kind === 'refuse-login') continue;
    const happen = (started?: SimProcess): void => {
      const target = inject(world, step, link, started);
      if (target !== undefined) done.push({ step, timeMs: world.nowMs, target });
    };
    if (step.kind === 'kill' && step.start !== undefined) atStart(world, step, step.start, happen);
    else atMoment(world, step, happen);
  }
  return done;
}

/** Calls `happen` for the agent that is started as the nth on the host, `atMs` after that, if it lives then. */
function atStart(world: World, step: Step, nth: number, happen: (agent: SimProcess) => void): void {
  const main = world.findAgent('stci-agent') as AgentMain;
  const [name = LOGIN_HOST] = hostsOf(step).map(hostName);
  // Stand-ins for hosts are on that of the front-end.
  const host = world.findHost(name) === undefined ? LOGIN_HOST : name;
  let starts = 0;
  world.program('stci-agent', (context) => {
    const { hostname, pid } = context.platform.env;
    if (hostname === host && ++starts === nth) {
      world.at(world.nowMs + step.atMs, () => {
        const process = world.host(host).table.find(pid);
        // A thread's process is its starter's.
        if (process?.isAlive === true && isAgent(process)) happen(process);
      });
    }
    main(context);
  });
}

/** Returns the target; undefined: there is none. */
function inject(
  world: World, step: Exclude<Step, Refusal>, link: { readonly latencyMs: number }, started: SimProcess | undefined,
): string | undefined {
  const later = (ms: number | undefined, call: () => void): void => {
    if (ms !== undefined) world.at(world.nowMs + ms, call);
  };
  switch (step.kind) {
    case 'kill':
    case 'pause': {
      const target = started ?? processOf(world, step.victim);
      if (target?.isAlive !== true) return undefined;
      const { host, pid } = target;
      if (step.kind === 'kill') world.killProcess(host, pid, step.signal);
      else {
        world.pauseProcess(host, pid);
        later(step.durationMs, () => world.resumeProcess(host, pid));
      }
      return describe(target);
    }
    case 'crash': {
      const name = hostName(step.victim.host);
      world.crashHost(name);
      later(step.durationMs, () => void (world.host(name).isCrashed = false));
      return name;
    }
    case 'part': {
      const side = step.victim.hosts.map(hostName);
      const others = [...world.hosts].map(({ name }) => name).filter((name) => !side.includes(name));
      later(step.durationMs, world.partition(side, others));
      return side.join(', ');
    }
    case 'cut':
    case 'slow': {
      const [a, b] = step.victim.ends.map((end) => (end === 0 ? LOGIN_HOST : hostName(end - 1))) as [string, string];
      if (step.kind === 'cut') {
        world.cutLink(a, b);
        later(step.durationMs, () => world.mendLink(a, b));
      } else {
        world.slowLink(a, b, { latencyMs: step.latencyMs });
        later(step.durationMs, () => world.slowLink(a, b, { latencyMs: link.latencyMs }));
      }
      return `${a} to ${b}`;
    }
  }
}

function processOf(world: World, victim: AgentVictim | Chosen): SimProcess | undefined {
  const living = world.livingProcesses();
  if ('of' in victim) {
    const found = candidates(living, victim.of);
    return found[Math.floor(victim.pick * found.length)];
  }
  if (victim.role === 'root') return rootAgents(living).get(hostName(victim.host));
  return living.find(({ host, command: [name = ''] }) => host === LOGIN_HOST && CONTROLLERS.includes(name));
}

function candidates(living: readonly SimProcess[], of: Chosen['of']): readonly SimProcess[] {
  if (of === 'ranks') return living.filter(isTool);
  if (of === 'agents') return living.filter(isAgent);
  if (of === 'links') return living.filter(({ command: [name] }) => name === 'login');
  const roots = [...rootAgents(living).values()];
  return roots.length < 2 ? [] : roots;
}

/** By the name of the host. There it comes first; the others are session agents. */
export function rootAgents(living: readonly SimProcess[]): ReadonlyMap<string, SimProcess> {
  const found = new Map<string, SimProcess>();
  for (const process of living) {
    if (process.command[0] === 'stci-agent' && !found.has(process.host)) found.set(process.host, process);
  }
  return found;
}
