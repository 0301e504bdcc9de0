/** Result of a run with failures, for the checkers. */

import type { HistoryRecord } from '@stci/finject/experiment';
import type { FailurePlan } from '../scenarios/failure-plan.js';
import type { InjectedFault } from '../scenarios/faults.js';
import type { EndedJob, HostsSession } from './run-hosts.js';
import type { WitnessRecord } from './witness.js';

/** When all was quiet, before the session was ended. */
export interface QuietState {
  readonly atMs: number;
  readonly hosts: HostsSession['session']['hosts'];
  /** Names of hosts: one for each root agent that runs, and for each tool. */
  readonly agents: readonly string[];
  readonly tools: readonly string[];
}

/** The job whose ranks end while agents fail: when the last of them was over, and when the job was. */
export interface BriefRun {
  readonly ranksOverMs: number | undefined;
  readonly endedMs: number | undefined;
}

export interface FailureRun {
  readonly plan: FailurePlan;
  readonly witness: WitnessRecord;
  /** Of the session, until its end begins. */
  readonly history: readonly HistoryRecord[];
  readonly faults: readonly InjectedFault[];
  /** When the last fault ended. */
  readonly calmMs: number;
  /** When the session was up; undefined: its launch was ended. */
  readonly readyMs: number | undefined;
  readonly quiet: QuietState | undefined;
  /** The job whose ranks agree, if it ended. */
  readonly agreed: EndedJob | undefined;
  /** The job whose ranks talk, if it ended. */
  readonly talked: EndedJob | undefined;
  readonly brief: BriefRun | undefined;
  /** What is wrong with the world in the end. */
  readonly problems: readonly string[];
  readonly traceHash: string;
}
