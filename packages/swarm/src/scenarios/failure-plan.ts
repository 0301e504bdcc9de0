/** What one run with failures does: a session, its detectors, and what befalls its agents. */

import type { LinkParams } from '@stci/platform-sim';

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

/** Hosts by index; the login host with the controller is `login`. */
export type Place = number | 'login';

/** When something happens. With `event` it is right after that event, and `atMs` says when that was; see moments.ts. */
export interface FaultTime {
  readonly atMs: number;
  readonly event?: number;
}

export type FailureFault = FaultTime & (
  | { readonly kind: 'kill'; readonly host: number }
  /** No sign of it; with `backMs` the host runs again so much later. */
  | { readonly kind: 'crash'; readonly host: number; readonly backMs?: number }
  | { readonly kind: 'freeze'; readonly host: Place; readonly lastsMs: number }
  /** These hosts from all others; without `lastsMs` for ever. */
  | { readonly kind: 'part'; readonly hosts: readonly number[]; readonly lastsMs?: number }
  | { readonly kind: 'cut'; readonly between: readonly [Place, Place]; readonly lastsMs: number }
  /** Without `lastsMs` for ever. */
  | {
    readonly kind: 'slow'; readonly between: readonly [Place, Place]; readonly latencyMs: number;
    readonly lastsMs?: number;
  }
);

export type EdgeFault = FailureFault & { readonly when: 'launch' | 'end' };

export interface FailurePlan {
  readonly seed: number;
  readonly hosts: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly link: LinkPlan;
  /** `atMs` and `event` from the time when all agents are up. */
  readonly faults: readonly FailureFault[];
  /** Faults while the session is launched or ends: `atMs` and `event` from the beginning of that. */
  readonly edges: readonly EdgeFault[];
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

/** All to which something happens. */
export function placesOf(faults: readonly FailureFault[]): Place[] {
  return faults.flatMap((fault): readonly Place[] =>
    ('hosts' in fault ? fault.hosts : 'between' in fault ? fault.between : [fault.host]));
}
