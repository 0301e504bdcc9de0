/**
 * The history of a run: `history.jsonl`, one object a line, appended as it happens and never changed. Each has the wall
 * and the monotonic time of finject when it was written; times that were taken elsewhere are wall-clock times of their
 * source, whose clock's offset is in a `clock` record. A history whose last record is no `run-end` was cut off.
 */

import type { ClockOffset, FaultReport, HostIndex, JobEvent, JobReport, Rank } from '@stci/interface';
import type { Experiment, PlannedInjection, RepeatPlan, TargetShape } from '../experiment/contracts.js';

export const HISTORY_FORMAT = 2;

export interface Stamp {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export type InjectionState =
  /** The moment has come; sent to the session; at its site; as FaultReport; the moment never came. */
  | 'due' | 'ordered' | FaultReport['state'] | 'never';

/** Why a run or repeat ended before its end. */
export type StopReason = 'abort' | 'signal' | 'time' | 'failures' | 'error';

/** A process that outlived its repeat. */
export interface LeftProcess {
  readonly host: string;
  readonly pid: number;
  readonly command: string;
}

/** A host that could not be looked at after the end of a repeat. */
export interface UnknownHost {
  readonly host: string;
  readonly reason: string;
}

export type HistoryEntry =
  | { readonly type: 'run'; readonly format: typeof HISTORY_FORMAT; readonly experiment: Experiment;
      readonly file: string; readonly text: string; readonly shape: TargetShape; readonly isSimulated: boolean;
      readonly isGolden: boolean;
      /** stci, node, the operating system. */
      readonly versions: Readonly<Record<string, string>>;
      readonly parameters: readonly { readonly name: string; readonly value: unknown; readonly source: string }[] }
  | { readonly type: 'repeat'; readonly plan: RepeatPlan }
  /** What the session says of itself. */
  | { readonly type: 'target'; readonly repeat: number; readonly session: string; readonly job: number;
      readonly hosts: readonly string[] }
  | { readonly type: 'clock'; readonly repeat: number; readonly clocks: readonly ClockOffset[] }
  /** The repeat's start, from which `atMs` of the plan counts. */
  | { readonly type: 'start'; readonly repeat: number }
  | { readonly type: 'event'; readonly repeat: number; readonly event: JobEvent }
  /** `text`: UTF-8; what is no UTF-8 is replaced. */
  | { readonly type: 'output'; readonly repeat: number; readonly rank: Rank; readonly stream: 'stdout' | 'stderr';
      readonly text: string; readonly sourceWallMs: number }
  /** The rest of the output is not kept. */
  | { readonly type: 'output-full'; readonly repeat: number }
  | { readonly type: 'injection'; readonly repeat: number; readonly id: string; readonly state: InjectionState;
      /** Number of the victim in the injection's list, from 0; absent: all. */
      readonly victim?: number; readonly host?: HostIndex; readonly agent?: string; readonly text: string;
      readonly sourceWallMs?: number; readonly sourceMonotonicMs?: number }
  | { readonly type: 'check'; readonly repeat: number; readonly name: string;
      readonly phase: 'before' | 'during' | 'after'; readonly isPassed: boolean; readonly text: string }
  | { readonly type: 'problem'; readonly repeat: number; readonly text: string }
  /**
   * The exit report; undefined: none came. `orphans`: processes that were left, `left`: some of them. `unknown`: hosts
   * on which it is not known; absent: only the machine of finject was looked at.
   */
  | { readonly type: 'repeat-end'; readonly repeat: number; readonly report: JobReport | undefined;
      readonly isTimeOut: boolean; readonly orphans: number; readonly left?: readonly LeftProcess[] | undefined;
      readonly unknown?: readonly UnknownHost[] | undefined; readonly stopped: StopReason | undefined }
  | { readonly type: 'run-end'; readonly stopped: StopReason | undefined; readonly text: string };

export type HistoryRecord = Stamp & HistoryEntry;

/** Where a history goes; `write` returns when the line is on its way, `end` when it is on the disk. */
export interface HistoryWriter {
  write(record: HistoryRecord): void;
  end(): Promise<void>;
}

/** A history as it was read. */
export interface History {
  readonly directory: string;
  readonly records: readonly HistoryRecord[];
  /** The history has no end, or its last line is damaged. */
  readonly isCutOff: boolean;
  /** What was wrong with its lines, by their numbers. */
  readonly problems?: readonly string[] | undefined;
}

export type { PlannedInjection };
