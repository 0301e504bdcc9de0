/** What a history says: the measures of each injection, the class of each repeat, figures over all. Pure. */

import type { FaultVictim } from '@stci/interface';
import type { RepeatPlan } from '../experiment/contracts.js';

/**
 * `masked`: nothing failed that the job noticed; `recovered`: detected, and the job went on to its end; `aborted`:
 * detected, and the job was ended; `missed`: a fault that ends something, of which no detection came; `hung`: the time
 * limit ended the repeat; `false-alarm`: something was reported that no fault had hit, and that had not ended by
 * itself; `failed`: the target failed by itself; `cut-off`: the record ends, or the repeat was stopped; `no-fault`: the
 * golden run, or no injection was made.
 */
export const OUTCOMES =
  ['masked', 'recovered', 'aborted', 'missed', 'hung', 'false-alarm', 'failed', 'cut-off', 'no-fault'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Times of one victim of an injection, on finject's clock, corrected by its host's offset; ms. */
export interface InjectionMeasures {
  readonly id: string;
  /** As people read it: see `injectionName`. */
  readonly name: string;
  readonly fault: string;
  readonly kind: string;
  readonly victim: FaultVictim;
  readonly victimName: string;
  readonly injectedMs: number | undefined;
  readonly undoneMs: number | undefined;
  /** The failures that it caused, by the subject's key. */
  readonly subjects: readonly string[];
  readonly detector: string | undefined;
  readonly suspectedMs: number | undefined;
  readonly detectedMs: number | undefined;
  /** The last agent was told. */
  readonly notifiedMs: number | undefined;
  /** The first recovery action that concerns it: a restart, a new parent, a spare. */
  readonly recoveredMs: number | undefined;
  /** From the injection; its error bound is the sum of both hosts' offsets', 0 on one host. */
  readonly detectionMs: number | undefined;
  readonly notificationMs: number | undefined;
  readonly recoveryMs: number | undefined;
  readonly errorMs: number;
  /** Of `notificationMs`: which agent was told last is not known, so the worst host's counts. */
  readonly notificationErrorMs: number;
}

export interface CheckResult {
  readonly name: string;
  readonly isPassed: boolean;
  readonly text: string;
}

export interface RepeatSummary extends Pick<RepeatPlan, 'repeat' | 'number' | 'configuration'> {
  readonly outcome: Outcome;
  readonly isPassed: boolean;
  readonly checks: readonly CheckResult[];
  readonly injections: readonly InjectionMeasures[];
  readonly startMs: number;
  readonly endMs: number;
  readonly exitCode: number | undefined;
  /** Reports of what no injection had hit. */
  readonly falseDetections: readonly string[];
  readonly problems: readonly string[];
}

/** Description of at least one value. Confidence: 95 %. */
export interface Description {
  readonly n: number;
  readonly mean: number;
  /** Of the sample: divided by n − 1; 0 for one value. */
  readonly deviation: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
  /** Of the median, by order statistics; undefined with too few values. */
  readonly medianInterval: readonly [number, number] | undefined;
}

/** Figures of one measure. */
export interface Figures extends Description {
  readonly measure: string;
  readonly unit: string;
  readonly configuration: string;
  /** Of injections of this kind only; empty: of all. */
  readonly kind: string;
  readonly values: readonly number[];
}

/** Proportion of repeats or injections. */
export interface Proportion {
  readonly what: string;
  readonly configuration: string;
  readonly count: number;
  readonly n: number;
  /** 95 %: Wilson's score interval. */
  readonly interval: readonly [number, number];
}

/** Which kinds, targets and phases were really hit. */
export interface Coverage {
  readonly dimension: 'kind' | 'victim' | 'host' | 'phase';
  readonly hit: readonly { readonly name: string; readonly count: number }[];
  /** Planned, and never hit. */
  readonly missed: readonly string[];
}

export interface RunSummary {
  readonly name: string;
  readonly seed: number;
  readonly isGolden: boolean;
  readonly isCutOff: boolean;
  readonly isSimulated: boolean;
  readonly repeats: readonly RepeatSummary[];
  readonly outcomes: readonly Proportion[];
  readonly figures: readonly Figures[];
  readonly coverage: readonly Coverage[];
  readonly isPassed: boolean;
}
