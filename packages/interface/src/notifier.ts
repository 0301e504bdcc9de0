/**
 * Notifiers (STCI paper, II-F.2; RDaemon#, algorithm 1; IJHPCA, 3.2): reliable broadcasts among the agents that
 * survive. Framework `notifier`, keyed: each detector names one. Pure, as detectors are. It carries any payload, and
 * delivers it once to every survivor.
 */

import type { MemberId, Members } from './failure.js';
import type { Position, Topology } from './topology.js';

/** Promise for broadcasts while nobody joins or leaves, and no failed agent is known yet to those that relay them. */
export interface NotifierPromise {
  /** Every survivor has it after `steps` times the longest time of a message, and `delayMs` of waiting besides. */
  readonly steps: number;
  readonly delayMs: number;
  /** The most messages of one broadcast, over all agents. */
  readonly messages: number;
  /** Failures of agents that it survives whichever they are; beyond, delivery is likely, not certain. */
  readonly tolerates: number;
  /** Within these, a broadcast that one survivor has got reaches all of them, though its source died meanwhile. */
  readonly isUniform: boolean;
  readonly text: string;
}

export interface NotifierPromiseRequest {
  /** Agents that take part, at least 1. */
  readonly members: number;
  /** Of them, those that fail meanwhile. */
  readonly failures: number;
  /** The one that the module names, over so many positions; undefined if it names none. */
  readonly topology: Topology | undefined;
}

/**
 * The component's module. Promises, by which the compliance suite names what is broken:
 *
 * - `record`: The registry takes it; version, help and parameters can be shown; `query` depends on its input only.
 * - `promise`: Its figures are numbers, not all agents may fail, and its text is sentences.
 * - `quiet`: While nobody fails, each other agent is told once, in time, with no more messages than promised.
 * - `failures`: So it is while agents are dead that nobody knows of, as many as it tolerates.
 * - `uniform`: If it says so, all survivors are told, or none, though agents die meanwhile, the source too.
 * - `gone`: Nothing is sent to the dead that it knows, and all others are told.
 * - `joined`: Agents that join, later or again, are told, and tell all.
 * - `incarnation`: The next incarnation of an agent begins anew, and what the last one has sent still counts.
 * - `repeated`: Many broadcasts at a time are told once each; messages that come again change nothing.
 * - `payload`: Any payload is delivered, an empty and the largest one, too; a larger one is refused by an assertion.
 * - `malformed`: A malformed message is refused with STCI_MESSAGE_INVALID, and changes nothing.
 * - `same`: The same events lead to the same actions, whatever others do meanwhile, and when.
 */
export interface NotifierModule {
  /** As DetectorModule.topology; empty: it sends to any agent. */
  readonly topology: string;
  promise(request: NotifierPromiseRequest): NotifierPromise;
  open(init: NotifierInit): Notifier;
}

export interface NotifierInit {
  readonly self: MemberId;
  /** As this agent knows them, at any time: it changes before `joined` and `gone` tell of it. */
  readonly members: Members;
  /** The one that the module names, over so many positions: sessions grow. Undefined if it names none. */
  readonly topologyOf: ((size: number) => Topology) | undefined;
}

/** Notifier of one agent, for as long as it lives: the numbers of its broadcasts are never used again. */
export interface Notifier {
  readonly dueMs: number | undefined;
  /**
   * Throws STCI_MESSAGE_INVALID for a message that is malformed, whose sender is at fault. Actions are carried out in
   * their order.
   */
  on(event: NotifierEvent, nowMs: number): readonly NotifierAction[];
}

export type NotifierEvent =
  /**
   * This agent is the source. It is not delivered to itself. At most NOTIFIER_PAYLOAD_MAX bytes. The agents that it
   * reports have been told as `gone` before, so that no relay counts on them.
   */
  | { readonly type: 'broadcast'; readonly payload: Uint8Array }
  | { readonly type: 'message'; readonly from: MemberId; readonly body: unknown }
  | { readonly type: 'due' }
  | { readonly type: 'joined'; readonly member: MemberId }
  | { readonly type: 'gone'; readonly member: MemberId };

export type NotifierAction =
  /** To the notifier of the same name at `to`; arrives unless one of both dies. `body`: plain values and bytes. */
  | { readonly type: 'send'; readonly to: Position; readonly body: unknown }
  /** Once for each broadcast of `source`. */
  | { readonly type: 'deliver'; readonly source: MemberId; readonly payload: Uint8Array };

/** Largest payload of a broadcast, bytes. */
export const NOTIFIER_PAYLOAD_MAX = 65_536;
