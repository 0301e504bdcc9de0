/**
 * Scenario: what befalls a run, step by step, in the words of an experiment (finject): a kind of fault, its victim, its
 * moment, its duration. The world carries it out from outside, no agent takes part (faults.ts). Runs of all kinds have
 * one.
 */

import type { FaultVictim, HostIndex, Position, SignalName } from '@stci/interface';

/** When something happens. With `event` it is right after that event, and `atMs` says when that was; see moments.ts. */
export interface Moment {
  readonly atMs: number;
  readonly event?: number;
}

type Victim<Kind extends FaultVictim['kind']> = Extract<FaultVictim, { readonly kind: Kind }>;

/** The first agent of a host; the process of the controller, which is the front-end's where a job has no session. */
export type AgentVictim = Victim<'agent'> & { readonly role: 'root' | 'controller' | 'front-end' };

/** One side of a partition: all other hosts are on the other. */
export interface SideVictim {
  readonly kind: 'side';
  readonly hosts: readonly HostIndex[];
}

/**
 * One of those that there are at that time: 0 is the first, nearly 1 the last. `agents`: of all roles, and what carries
 * their links; `roots`: one of each host, and never the last that is left; `links`: logins that carry one.
 */
export interface Chosen {
  readonly of: 'ranks' | 'agents' | 'roots' | 'links';
  readonly pick: number;
}

export type LinkVictim = Victim<'link'>;

export type Step = Moment & (
  | {
    readonly kind: 'kill'; readonly victim: AgentVictim | Chosen; readonly signal?: SignalName;
    /** Of a root agent: `atMs` counts from the start of this number of an agent on its host. */
    readonly start?: number;
  }
  | { readonly kind: 'pause'; readonly victim: AgentVictim | Chosen; readonly durationMs: number }
  /** No sign of it; with `durationMs` the host runs again so much later. */
  | { readonly kind: 'crash'; readonly victim: Victim<'host'>; readonly durationMs?: number }
  /** Without `durationMs` for ever. */
  | { readonly kind: 'part'; readonly victim: SideVictim; readonly durationMs?: number }
  | { readonly kind: 'cut'; readonly victim: LinkVictim; readonly durationMs: number }
  /** Without `durationMs` for ever. */
  | {
    readonly kind: 'slow'; readonly victim: LinkVictim; readonly latencyMs: number; readonly durationMs?: number;
  }
  /** So many starts of an agent on the host fail, from that number on (default: 1): the login, or step, is refused. */
  | {
    readonly kind: 'refuse-login'; readonly victim: Victim<'host'>; readonly starts: number; readonly start?: number;
    /** It is never answered instead. */
    readonly isSilent?: boolean;
  }
);

export type Refusal = Extract<Step, { readonly kind: 'refuse-login' }>;

/** A step of a session: its moment counts from the beginning of this phase; default: from when all agents are up. */
export type PhasedStep = Step & { readonly during?: 'launch' | 'end' };

export const FRONT_END: AgentVictim = { kind: 'agent', role: 'front-end', host: 0 };
export const CONTROLLER: AgentVictim = { kind: 'agent', role: 'controller', host: 0 };

export function rootAgent(host: HostIndex): AgentVictim {
  return { kind: 'agent', role: 'root', host };
}

/** Of a run from its beginning on. */
export function refuseLogin(host: HostIndex, starts: number, more: Pick<Refusal, 'start' | 'isSilent'> = {}): Refusal {
  return { kind: 'refuse-login', victim: { kind: 'host', host }, atMs: 0, starts, ...more };
}

export function refusalsOf(steps: readonly Step[]): Refusal[] {
  return steps.filter((step) => step.kind === 'refuse-login');
}

export function hitsRanks({ victim }: Step): boolean {
  return 'of' in victim && victim.of === 'ranks';
}

/** Or the controller, which is the same process in a job of its own. */
export function hitsFrontEnd({ victim }: Step): boolean {
  return !('of' in victim) && victim.kind === 'agent' && victim.role !== 'root';
}

/** Those that it names. */
export function hostsOf({ victim }: Step): readonly HostIndex[] {
  if ('of' in victim) return [];
  switch (victim.kind) {
    case 'agent':
      return victim.role === 'root' ? [victim.host] : [];
    case 'host':
      return [victim.host];
    case 'side':
      return victim.hosts;
    case 'link':
      return victim.ends.filter((position) => position > 0).map((position) => position - 1);
  }
}

/** Of that phase. */
export function stepsOf(steps: readonly PhasedStep[], phase: 'launch' | 'run' | 'end'): PhasedStep[] {
  return steps.filter(({ during = 'run' }) => during === phase);
}

/** The moment after which none of them disturbs anything any more; 0: there is none. */
export function lastEndMs(steps: readonly Step[]): number {
  return Math.max(0, ...steps.map((step) => step.atMs + (('durationMs' in step ? step.durationMs : undefined) ?? 0)));
}

/** Without those that name one of these hosts; those behind them get their places. */
export function withoutHosts<Each extends Step>(steps: readonly Each[], first: HostIndex, count: number): Each[] {
  const moved = (host: HostIndex): HostIndex => (host >= first ? host - count : host);
  const movedEnd = (end: Position): Position => (end > 0 ? moved(end - 1) + 1 : end);
  const movedVictim = (victim: Step['victim']): Step['victim'] => {
    if ('of' in victim) return victim;
    if (victim.kind === 'side') return { ...victim, hosts: victim.hosts.map(moved) };
    if (victim.kind === 'link') return { ...victim, ends: [movedEnd(victim.ends[0]), movedEnd(victim.ends[1])] };
    return { ...victim, host: moved(victim.host) };
  };
  return steps.filter((step) => !hostsOf(step).some((host) => host >= first && host < first + count))
    .map((step) => ({ ...step, victim: movedVictim(step.victim) }));
}
