/** What one run with failures does: a session, its detectors, and what befalls its agents. */

import type { LinkParams } from '@stci/platform-sim';
import type { PhasedStep } from './scenario.js';

/** A job of the session whose ranks, one on each host, call each other while agents fail. */
export interface CallsPlan {
  readonly rounds: number;
  readonly pauseMs: number;
  readonly policy: string;
}

/** A job of the session whose ranks, one on each host, end while agents fail. */
export interface BriefPlan {
  readonly lastsMs: number;
  readonly policy: string;
}

export interface FailurePlan {
  readonly seed: number;
  readonly hosts: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly link: LinkPlan;
  readonly faults: readonly PhasedStep[];
  /** Its ranks agree with each other. */
  readonly agree?: CallsPlan | undefined;
  /** Its ranks send messages and meet in strict collectives. */
  readonly talk?: CallsPlan | undefined;
  readonly brief?: BriefPlan | undefined;
  /** It waits as long as anything may take, even if all is well before. */
  readonly isPatient: boolean;
  /** All must know of the crashes in time; see stabilization.ts. */
  readonly isTimed?: boolean;
  /** No agent is started more often. */
  readonly incarnationMax?: number;
  /** None is linked again more often. */
  readonly linksMax?: number;
}

export type LinkPlan = Pick<LinkParams, 'latencyMs' | 'jitterMs' | 'cutChance' | 'bytesPerMs' | 'timeoutMs'>;
