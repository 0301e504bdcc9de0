/**
 * Row of the membership table: what the controller knows of one host, and what each event does to it. A column ends
 * with an event of the row, as `CLEARED` says, and not because somebody remembers to clear it. Pure.
 *
 * A host is `planned` → `starting` → `up`. A host whose link was reported lost is `suspect`, one whose parent is lost
 * `orphaned`, until it is linked again or given up. `left`: out of the session by decision. `failed`: its agent is
 * known to have ended. `fenced`: not reached in time, and refused from then on, whether it lives or not. Each start of
 * a host's agent has an incarnation of its own; `plan` begins the next.
 */

import type { HostIndex, HostSpec, StciError } from '@stci/interface';
import type { LifeTable } from '../event/lifecycle.js';
import type { Silence } from './mend-times.js';

export type MemberState = 'planned' | 'starting' | 'up' | 'suspect' | 'orphaned' | 'left' | 'failed' | 'fenced';

export type MemberEvent =
  /** The next incarnation is to be started. */
  | 'plan'
  /** Its parent starts it. */
  | 'start'
  /** Its agent runs, and its link is up. */
  | 'up'
  /** The agent at the other end of its link reported the link lost. */
  | 'suspect'
  /** Its parent is lost. */
  | 'orphan'
  /** It is linked, to the parent that the event names or to the one it had. */
  | 'link'
  | 'leave'
  | 'fail'
  | 'fence';

export const MEMBER_LIFE: LifeTable<MemberState, MemberEvent> = {
  of: 'a host',
  first: 'planned',
  rows: {
    planned: { start: 'starting', leave: 'left', fail: 'failed' },
    starting: { plan: 'planned', up: 'up', leave: 'left', fail: 'failed' },
    up: { plan: 'planned', suspect: 'suspect', orphan: 'orphaned', link: 'up', leave: 'left', fail: 'failed' },
    suspect: { plan: 'planned', link: 'up', leave: 'left', fail: 'failed', fence: 'fenced' },
    orphaned: { plan: 'planned', suspect: 'suspect', link: 'up', leave: 'left', fail: 'failed', fence: 'fenced' },
    left: { plan: 'planned' },
    failed: { plan: 'planned', leave: 'left' },
    fenced: { plan: 'planned', leave: 'left' },
  },
};

/** A host whose agent this host's agent is linked to; undefined: the controller. */
export type ParentHost = HostIndex | undefined;

export type LossEvidence = 'exited' | 'closed' | 'silent';

/** The agent of `reporter` lost its link to the agent of `host`. */
export interface LossReport {
  readonly reporter: ParentHost;
  readonly host: HostIndex;
  readonly incarnation: number;
  readonly evidence: LossEvidence;
  /** For messages. */
  readonly text: string;
  /** What is told of it if it is not mended; absent: it adds nothing to what was reported before. */
  readonly news?: { readonly error: StciError; readonly wallMs: number };
}

/** How a host that is suspect or orphaned is mended. */
export interface Case {
  /** In the order in which cases are opened. */
  readonly number: number;
  readonly host: HostIndex;
  readonly cause: HostIndex;
  readonly sinceMs: number;
  evidence: string;
  report: LossReport | undefined;
  /** The parent that reported the loss, in a tuple, because the controller is undefined; undefined: inferred. */
  lostBy: readonly [ParentHost] | undefined;
  /** Its parent was given up, and its link is lost with it, even where the parent's host has another agent by now. */
  isCut: boolean;
  deadlineMs: number;
  silence: Silence;
  attempts: number;
  unreached: number;
  /** The attempt that is awaited, and until when. */
  pending: number | undefined;
  pendingUntilMs: number;
  /** Changed by `setDue`. */
  dueMs: number;
}

/** Routes of a host's agent, as far as they differ from the planned ones. */
export interface AgentRoutes {
  /** Next hops, by host. */
  readonly hops: Map<HostIndex, HostIndex>;
  /** It was started while the session ran: it knows no other hops. */
  readonly isLate: boolean;
  /** Orders about routes without an answer: it may carry them out after what it did by itself. */
  orders: number;
}

/** What ends with an event, or with another host that gets the index. */
export interface MemberColumns {
  /** Why it is in this state, where there is something to say; else empty. */
  readonly evidence: string;
  /** Another incarnation is to be started after a pause. */
  readonly isPausing: boolean;
  /** Another is wanted while the session runs. `waitMs`: for its start; undefined: its planned parent's is first. */
  readonly start: { readonly waitMs: number | undefined } | undefined;
  /** It gets no more jobs, and leaves the session when those that it has are over. */
  readonly isDraining: boolean;
  /** ... as it was told to do. */
  readonly isLeaving: boolean;
  /** What started its agent told that to end, and it is not known yet what it means. */
  readonly isTerminated: boolean;
  /** Where its agent waits that lost its parent; undefined: it does not. */
  readonly socket: string | undefined;
  /** Name of its network stack, as its agent says. */
  readonly network: string | undefined;
  /** Until it is linked again, or given up. */
  readonly mend: Case | undefined;
  /** undefined: as planned. */
  readonly routes: AgentRoutes | undefined;
  /** Agents that have it at a wrong hop, and are told when there is a way to it again. */
  readonly misled: ReadonlySet<ParentHost> | undefined;
  /** When its agent came up; undefined: it has not. */
  readonly upMs: number | undefined;
  /** Starts of agents on this host by the error manager. */
  readonly starts: number;
}

export interface Member extends MemberColumns {
  readonly host: HostIndex;
  /** The host that has the index now: a spare may have replaced the first. */
  readonly spec: HostSpec;
  /** 1, 2, …: of the agent that is to be started, runs, or ran last. */
  readonly incarnation: number;
  readonly state: MemberState;
  readonly parent: ParentHost;
}

/** What an event changes besides the state. */
export type MemberChange = Partial<MemberColumns> & { readonly parent?: ParentHost };

/** With every event. */
const OF_STATE = { evidence: '', isPausing: false } as const;
const OF_MEND = { ...OF_STATE, mend: undefined, start: undefined } as const;
const OF_STAY = { ...OF_MEND, isDraining: false, isLeaving: false } as const;
const OF_INCARNATION = {
  ...OF_STAY, isTerminated: false, socket: undefined, network: undefined, routes: undefined, misled: undefined,
  upMs: undefined,
};

/** With another host that gets the index. */
export const OF_SPEC = { starts: 1 } as const;

export const BLANK: MemberColumns = { ...OF_INCARNATION, ...OF_SPEC };

/** Event → the columns that end with it. */
export const CLEARED: Readonly<Record<MemberEvent, Partial<MemberColumns>>> = {
  plan: OF_INCARNATION, start: OF_STATE, up: OF_MEND, suspect: OF_STATE, orphan: OF_STATE, link: OF_MEND,
  leave: OF_STAY, fail: OF_MEND, fence: OF_MEND,
};
