/**
 * Detectors (STCI paper, II-F.1; RDaemon#, 4.5; IJHPCA, 3.1; Kharbas, 2): they find failures. Framework `detector`,
 * mode many: any number at a time, each with a notifier. A detector is pure: events and the time go in, actions come
 * out; the driver in core binds it to clock, links and membership, so that it runs unchanged in simulation.
 *
 * A detector of agents runs in the controller and in each root agent, one of tools in each session agent.
 */

import type { DetectionInterval, FailureCause, MemberId, Members } from './failure.js';
import type { Rank } from './ids.js';
import type { LinkCloseReason } from './link.js';
import type { Position, Topology } from './topology.js';

/** What a detector promises, as long as a message takes at most `latencyBoundMs`, and what it costs. */
export interface DetectorPromise {
  /** From the failure to the first report; undefined: it promises nothing, and `text` says when it reports. */
  readonly detection?: DetectionInterval;
  /** A dead agent is suspected so long before it is reported, at least; undefined: only then. */
  readonly leadMs?: number;
  /** In the mean over agents, while nothing fails. */
  readonly messagesPerSecond: number;
  readonly bytesPerSecond: number;
  /** One sentence: `A dead agent is reported after 900 to 1000 ms.` */
  readonly text: string;
}

/** Setting for which a promise is asked. */
export interface PromiseRequest {
  /** Agents that take part, at least 1. */
  readonly members: number;
  /** The longest time that a message between two agents takes, ms. */
  readonly latencyBoundMs: number;
  /** As in `DetectorInit`. */
  readonly answerMs: number;
}

/** Metric that a detector's `count` actions name, in its own unit: `heartbeats`, `round_trip_ms`. */
export interface MetricSpec {
  readonly type: 'counter' | 'histogram';
  readonly help: string;
}

/**
 * The component's module: what is decided by parameters alone. Promises, by which the compliance suite names what is
 * broken; they hold while messages keep their bound:
 *
 * - `record`: The registry takes it; version, help, parameters and metrics can be shown; it runs where it is named.
 * - `promise`: What it promises is an interval, costs that are numbers, and a sentence; one agent alone sends nothing.
 * - `quiet`: While nobody dies, nobody is reported, and it costs no more than promised.
 * - `interval`: A death is suspected and reported when promised; nothing else is reported, nor twice by one agent.
 * - `several`: Several deaths are reported, all of them, and nothing else is; nothing is sent to the dead later.
 * - `standstill`: An agent that stood still accuses nobody, and is not reported itself if that was short.
 * - `joined`: One that joins at a new position is not reported while it lives, and its death is.
 * - `left`: One that has left alive is not reported, and the deaths of others are.
 * - `refuted`: One that was reported and lives, as the controller says, is watched again: its death is reported.
 * - `links`: Links that end with a goodbye, or come back at once, leave nobody suspected, and cost nothing later.
 * - `restart`: Who comes back is not reported for what was before, and its next death is.
 * - `strange`: Strange messages and events of strangers change nothing, and nothing is thrown.
 * - `metrics`: It counts the metrics that it declares and no others; misses only where somebody is silent.
 * - `same`: The same seed gives the same run, whatever others do meanwhile, and when.
 * - `sockets`: On real sockets, under the failure watch of agents, all are told of a death, and of nothing else.
 */
export interface DetectorModule {
  readonly watches: 'agents' | 'tools';
  /** The topology over which its messages go, as `--overlay` writes it (`bmg`, `mesh:dimensions=1`); empty: none. */
  readonly topology: string;
  /** True: where the session has an overlay, its topology takes the place of `topology`. */
  readonly followsOverlay?: boolean;
  /** True: it is passed `waiting` and `over`, at each message or request. */
  readonly hearsWaits?: boolean;
  readonly metrics: Readonly<Record<string, MetricSpec>>;
  promise(request: PromiseRequest): DetectorPromise;
  /** What is wrong with its parameters in a session of so many hosts that gets no more; undefined: nothing. */
  problemFor?(hosts: number): string | undefined;
  open(init: DetectorInit): Detector;
}

export interface DetectorInit {
  /** Position of the agent that this detector runs in. */
  readonly self: MemberId;
  /** As this agent knows them, at any time: it changes before `joined`, `gone` and `refuted` tell of it. */
  readonly members: Members;
  /** The one that the module names, over so many positions; undefined if it names none. */
  readonly topologyOf: ((size: number) => Topology) | undefined;
  /**
   * The controller asks a member that is suspected, and waits so long for its answer. It decides about the report of
   * one that was suspected as long before without asking it once more.
   */
  readonly answerMs: number;
  /** Uniform in [0, 1): the only randomness. */
  random(): number;
}

/** Detector of one agent or tool; never shared. */
export interface Detector {
  /** When `on` is to be called with `due`; undefined: only after another event. ms, as `nowMs`. */
  readonly dueMs: number | undefined;
  /** `nowMs`: of a clock that never goes back. */
  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[];
}

export type DetectorEvent =
  /** All agents are up, and their links: watching begins. Events of any type but `due` may come before. */
  | { readonly type: 'start' }
  | { readonly type: 'due' }
  /** From the detector of the same name at `from`. `body` has been decoded, its shape is the detector's to check. */
  | { readonly type: 'message'; readonly from: MemberId; readonly body: unknown }
  /** A link between this agent and `peer`. `up` and `closed` alternate; links that are up at the start come first. */
  | { readonly type: 'link'; readonly peer: MemberId; readonly state: 'up' }
  | {
      readonly type: 'link';
      readonly peer: MemberId;
      readonly state: 'closed';
      readonly reason: LinkCloseReason;
      readonly text: string;
    }
  /** Another incarnation at this position takes part from now on; one with a higher number replaces it. */
  | { readonly type: 'joined'; readonly member: MemberId }
  /** It lived until now, and is dead, by whatever detector, or has left: nothing is expected of it. */
  | { readonly type: 'gone'; readonly member: MemberId }
  /** Somebody has reported it, of which this agent need not have known, and it lives: the controller says so. */
  | { readonly type: 'refuted'; readonly member: MemberId }
  /** Somebody at this agent waits for an answer of `on`, or of all; `over` when he does no longer. */
  | { readonly type: 'waiting'; readonly id: number; readonly on: Position | 'all' }
  | { readonly type: 'over'; readonly id: number }
  /** This process could not run for so long: what it did not hear meanwhile says nothing about others. */
  | { readonly type: 'lag'; readonly lagMs: number }
  /** Of tools: it runs; it ended, with a status or signal; it promises, and gives, a sign of life; 0: no more. */
  | { readonly type: 'tool-started'; readonly rank: Rank }
  | { readonly type: 'tool-ended'; readonly rank: Rank; readonly isFailure: boolean; readonly evidence: string;
      readonly isSignal: boolean }
  | { readonly type: 'tool-alive'; readonly rank: Rank; readonly withinMs: number };

export type DetectorAction =
  /** To the detector of the same name at `to`. May be lost; in order. `body`: of plain values, at most 64 KiB. */
  | { readonly type: 'send'; readonly to: Position; readonly body: unknown }
  /** It may be reported soon: the controller asks it. `trust` takes it back. */
  | { readonly type: 'suspect'; readonly member: MemberId; readonly evidence: string }
  | { readonly type: 'trust'; readonly member: MemberId }
  /**
   * It is dead. The driver has all survivors told, this agent by `gone`; not of the controller, which is a member
   * always. No report is repeated until it was heard. `heardMs`: its last sign of life.
   */
  | { readonly type: 'report'; readonly failed: MemberId | { readonly rank: Rank }; readonly cause: FailureCause;
      readonly evidence: string; readonly suspectedMs: number; readonly heardMs?: number | undefined }
  /** Adds to a counter, or observes a value of a histogram, which the module's `metrics` declares. */
  | { readonly type: 'count'; readonly metric: string; readonly value: number };
