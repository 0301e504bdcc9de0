/**
 * Notifiers (STCI paper, II-F.2; RDaemon#, algorithm 1; IJHPCA, 3.2): reliable broadcasts among the agents that survive.
 * Framework `notifier`, keyed: each detector names one. Pure, as detectors are. It carries any payload, and delivers it
 * once to every survivor.
 */

import type { MemberId } from './failure.js';
import type { Position, Topology } from './topology.js';

export interface NotifierPromise {
  /** Steps of one message each until the last survivor has it, with `failures` dead agents that nobody knows of yet. */
  readonly steps: number;
  /** Messages of one broadcast, over all agents. */
  readonly messages: number;
  /** Failures that it survives whatever they are; beyond, delivery is likely, not certain. */
  readonly tolerates: number;
  readonly text: string;
}

export interface NotifierModule {
  /** As DetectorModule.topology; empty: it sends to any agent. */
  readonly topology: string;
  promise(request: { readonly members: number; readonly failures: number }): NotifierPromise;
  open(init: NotifierInit): Notifier;
}

export interface NotifierInit {
  readonly self: MemberId;
  readonly members: readonly MemberId[];
  readonly topology: Topology | undefined;
}

export interface Notifier {
  readonly dueMs: number | undefined;
  on(event: NotifierEvent, nowMs: number): readonly NotifierAction[];
}

export type NotifierEvent =
  /** This agent is the source. It is not delivered to itself. */
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
