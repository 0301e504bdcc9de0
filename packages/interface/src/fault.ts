/**
 * Fault injection (STCI paper, IV-B and figure 2). Framework `fault`, mode keyed: each kind of fault is a component. It
 * is pure, in two parts: the plan, made at the controller, says which agents carry an injection out; the machine, at
 * each of these agents, turns set-up, inject, undo and tear-down into actions of its site. The site's driver in core
 * carries them out on the platform, so that a fault is the same in simulation.
 */

import type { HostIndex, JobId, Rank } from './ids.js';
import type { ParamSpecs, ParamValue } from './params.js';
import type { SignalName } from './platform.js';
import type { Position } from './topology.js';

/** Roles of agents that a fault may end or stop. */
export type AgentRole = 'front-end' | 'controller' | 'root' | 'session';

/** What a fault is done to. Positions: 0 the controller, host + 1 its root agent. */
export type FaultVictim =
  /** A rank of the experiment's job. */
  | { readonly kind: 'rank'; readonly rank: Rank }
  /** `host`: of root and session agents; of the others it is 0. */
  | { readonly kind: 'agent'; readonly role: AgentRole; readonly host: HostIndex }
  /** All of a host: tools, session agents, root agent. */
  | { readonly kind: 'host'; readonly host: HostIndex }
  /** Every link between two agents, whichever end opened it. */
  | { readonly kind: 'link'; readonly ends: readonly [Position, Position] }
  /**
   * Positions that share no set cannot talk to each other; a position in several sets is a bridge, one in none is
   * alone.
   */
  | { readonly kind: 'partition'; readonly sets: readonly (readonly Position[])[] };

export type VictimKind = FaultVictim['kind'];

/** One injection, as it is ordered. */
export interface FaultOrder {
  /** Unique in an experiment: `3.kill.2`, repeat, fault and number. */
  readonly id: string;
  /** Component of framework `fault`. */
  readonly kind: string;
  /** Arguments of that kind, checked against its `args`. */
  readonly args: Readonly<Record<string, ParamValue>>;
  readonly victim: FaultVictim;
  /** 0: of no job. */
  readonly job: JobId;
  /**
   * The fault is undone so long after it was injected, by its site alone if need be; ms, at most a day. A kind that
   * can be undone needs one.
   */
  readonly durationMs?: number | undefined;
  /** An injection that is not made within this time has failed, and is undone; ms. */
  readonly timeoutMs: number;
}

/**
 * What an injection does to its victim. `none`: nothing, as a control; `disturbs`: the victim goes on, at the latest
 * when the fault is undone; `may-end`: the victim ends, unless it handles that itself; `ends`: it ends for good, and
 * its failure has to be detected.
 */
export type FaultImpact = 'none' | 'disturbs' | 'may-end' | 'ends';

/** What the controller knows of a session and job when it plans an injection. */
export interface FaultPlace {
  /** Hosts of the session, those included that have left or are lost. */
  readonly hosts: number;
  /** Root agents that are connected. */
  isUp(host: HostIndex): boolean;
  /** Where a rank runs now; undefined: it has ended or was not started. */
  hostOf(rank: Rank): HostIndex | undefined;
  /** Of the controller, as `Environment.network`. */
  readonly network?: string | undefined;
  /** Hops from the controller in the tree as it is: 0 the controller. */
  depth(position: Position): number;
  /** In that tree; undefined: of the controller, and of an agent without one. */
  parent(position: Position): Position | undefined;
}

/** What one agent has to do for an injection. `body`: plain values, for the machine of the kind at that agent. */
export interface FaultPart {
  readonly at: { readonly role: Exclude<AgentRole, 'front-end'>; readonly host: HostIndex };
  readonly body: unknown;
}

/**
 * Module of framework `fault`.
 *
 * Promises, by which the compliance suite of @stci/compliance names what is broken:
 *
 * - `record`: The registry takes it; version, help and arguments can be shown; `query` depends on its input only.
 * - `order`: Of each kind of victim that it names an order is accepted; a refusal is a sentence.
 * - `impact`: `impactOf` answers none, disturbs, may-end or ends.
 * - `plan`: A plan has parts at agents that are up, each once, with plain bodies; or says why there is none.
 * - `pure`: The same order has the same plan, and its machine the same actions, whatever others do meanwhile, and when.
 * - `site`: Each action is one that the agent of its part can carry out; of ranks, one to the rank that is the victim.
 * - `inject`: Once all its actions are done, it has said `injected`, once, or `failed`.
 * - `refused`: Where its actions cannot be carried out, it says `failed`; of those that undo, `failed` or `undone`.
 * - `undo`: A kind that undoes says `undone` after `undo`, also if it was not in force yet.
 * - `clean`: After it was undone, nothing of it is left: links, processes and stopped ranks are as before.
 * - `end`: After `tear-down`, also without `undo`, no link is impaired, and nothing is due.
 * - `due`: What was due has been done: `dueMs` is later, or undefined, and is passed in vain only so often.
 */
export interface FaultModule {
  /** What it may be done to. */
  readonly victims: readonly VictimKind[];
  /** False: nothing is left to undo, as after a kill. */
  readonly undoes: boolean;
  /** Arguments, without framework and component in their names. */
  readonly args: ParamSpecs;
  /** What it does to its victim, by its complete arguments; absent: disturbs. Histories keep it for the judgement. */
  impactOf?(args: FaultOrder['args']): FaultImpact;
  /** What is wrong with an order, in a sentence that says what was expected; undefined: nothing. */
  problemOf(order: Pick<FaultOrder, 'args' | 'victim' | 'durationMs'>): string | undefined;
  /** Who carries it out; a string: why nobody can now, as `rank 3 has ended`. */
  plan(order: FaultOrder, place: FaultPlace): readonly FaultPart[] | string;
  /** At the agent of a part. */
  open(init: FaultInit): FaultMachine;
}

export interface FaultInit {
  readonly order: FaultOrder;
  readonly body: unknown;
  /** Uniform in [0, 1): the only randomness. */
  random(): number;
}

/** One part of one injection; a machine as detectors are. */
export interface FaultMachine {
  /** When `due` is to be passed; undefined: only after another event. ms, as `nowMs`. */
  readonly dueMs: number | undefined;
  on(event: FaultEvent, nowMs: number): readonly FaultAction[];
}

export type FaultEvent =
  /** In this order. After `undo`, or without, always `tear-down`, last, however the injection went. */
  | { readonly type: 'set-up' }
  | { readonly type: 'inject' }
  | { readonly type: 'undo' }
  | { readonly type: 'tear-down' }
  | { readonly type: 'due' }
  /** An action with this `key` was carried out, or could not be, for this reason. */
  | { readonly type: 'done'; readonly key: string; readonly problem?: string | undefined };

export type FaultAction =
  /** To the tools of these ranks on this host; `group`: with all processes that they started. */
  | { readonly type: 'signal'; readonly key: string; readonly ranks: readonly Rank[]; readonly signal: SignalName;
      readonly whom: 'process' | 'group' }
  /** A rank ends with this status by itself: asked by the client library. */
  | { readonly type: 'exit'; readonly key: string; readonly rank: Rank; readonly status: number }
  /**
   * This agent, or the session agent of the order's job on this host, ends as by SIGKILL; `all`: the tools of this
   * host, and all agents on it.
   */
  | { readonly type: 'kill'; readonly key: string; readonly what: 'self' | 'session' | 'all' }
  /** This agent is stopped as by SIGSTOP, and continued after so long by another process; `all`: with its tools. */
  | { readonly type: 'pause'; readonly key: string; readonly what: 'self' | 'all'; readonly forMs: number }
  /** Links to these positions, those that are opened later included. A later action replaces an earlier one. */
  | { readonly type: 'impair'; readonly key: string; readonly peers: readonly Position[]; readonly how: Impairment }
  | { readonly type: 'restore'; readonly key: string; readonly peers: readonly Position[] }
  /** The links to these positions are closed at once, without goodbye. */
  | { readonly type: 'close'; readonly key: string; readonly peers: readonly Position[] }
  /** Starts processes that end with the fault; each is this program, guarded as tools are. */
  | { readonly type: 'spawn'; readonly key: string; readonly program: string; readonly args: readonly string[];
      readonly count: number }
  /**
   * Runs a program of the system to its end, which is to come at once. `apartFrom`: in another network than this one
   * (`Environment.network`) alone; where either is not known, not at all.
   */
  | { readonly type: 'run'; readonly key: string; readonly program: string; readonly args: readonly string[];
      readonly apartFrom?: string | undefined }
  /** Ends what this key started. */
  | { readonly type: 'end'; readonly key: string }
  /**
   * The fault is in force from now on (reported with the time of this agent); it is not any more; it cannot be. With a
   * key, `done` of it comes when the controller has been told, or for a while could not be: before what may cut the way
   * to it is done by another process, which may be faster than the report.
   */
  | { readonly type: 'injected'; readonly text: string; readonly key?: string | undefined }
  | { readonly type: 'undone' }
  | { readonly type: 'failed'; readonly reason: string };

/**
 * What happens to the bytes of a link, as this end sees it. `out`: what it sends, `in`: what it receives. Bytes that
 * are held come in order once the impairment is over, as TCP's do after a cable was cut, and count for
 * `bootcom.queue.max`.
 */
export interface Impairment {
  readonly direction: 'in' | 'out' | 'both';
  /** Nothing passes, and neither end learns of the other's close. */
  readonly isSilent?: boolean | undefined;
  /** Each chunk is late by so much, plus a uniform part of `jitterMs`; in order. */
  readonly delayMs?: number | undefined;
  readonly jitterMs?: number | undefined;
  /** At most so much in each direction. */
  readonly bytesPerSecond?: number | undefined;
}

/** What became of one part of an injection, at its agent. */
export interface FaultReport {
  readonly id: string;
  /** Name of the agent, as `root:3`; the controller reports where no agent could. */
  readonly agent: string;
  /** Of its host; 0 for the controller. */
  readonly host: HostIndex;
  /** `skipped`: the victim was gone already; `lapsed`: it was over, and the controller heard that late or never. */
  readonly state: 'injected' | 'undone' | 'lapsed' | 'failed' | 'skipped';
  readonly text: string;
  /** At the agent. */
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** How far a host's wall clock is ahead of the controller's: the true offset lies within `errorMs` of `offsetMs`. */
export interface ClockOffset {
  readonly host: HostIndex;
  readonly name: string;
  readonly offsetMs: number;
  /** Half of the best round trip. */
  readonly errorMs: number;
  readonly samples: number;
}

/** What an experiment may do in a session. The controller refuses what goes beyond it. */
export interface ExperimentTerms {
  /** The front-end renews within this time, else it is gone, and all its faults are undone; ms, 1000..3600000. */
  readonly leaseMs: number;
  /** The session was started for this experiment: it is stopped when the front-end is gone. */
  readonly ownsSession: boolean;
  /** Roles that may be ended or stopped although the experiment needs them. */
  readonly allow: readonly ('controller' | 'front-end')[];
  /** Victims of all kinds together, at most. */
  readonly victimsMax: number;
  /** Never victims: neither they nor the host or agents that they need. */
  readonly keepRanks: readonly Rank[];
  readonly keepHosts: readonly HostIndex[];
}
