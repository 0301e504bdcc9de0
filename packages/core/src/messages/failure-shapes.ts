/** Wire shapes of failures: who failed, what is told of it, the record that is kept. */

import type {
  DetectionInterval, FailedSubject, FailureCause, Evidence, FailureRecord, MemberId,
} from '@stci/interface';
import { members, name, numbers } from '../codec/bounds.js';
import {
  bool, closed, closedObject, fields, num, object, oneOf, optional, str, u32, variant, wallTime, type Infer,
} from '../codec/shape.js';

/** Longest text of a notice, so that one fits into every message of a notifier. */
export const TEXT_CHARS_MAX = 1024;

/** `session JOB HOST#ATTEMPT`, each number of 32 bits. */
const FAILURE_ID_CHARS_MAX = 48;

const text = str(TEXT_CHARS_MAX);

export const memberId = object<MemberId>({ position: u32, incarnation: u32 });

/** As `failureId` makes it. */
export const failureId = str(FAILURE_ID_CHARS_MAX);

type Subject<Kind extends FailedSubject['kind']> = Extract<FailedSubject, { readonly kind: Kind }>;

export const failedSubject = variant<'kind', FailedSubject>('kind', {
  host: object<Subject<'host'>>({ kind: oneOf('host'), host: u32, incarnation: u32 }),
  'session-agent': object<Subject<'session-agent'>>({
    kind: oneOf('session-agent'), host: u32, incarnation: u32, job: u32, attempt: u32,
  }),
  tool: object<Subject<'tool'>>({ kind: oneOf('tool'), host: u32, job: u32, rank: u32, attempt: u32 }),
});

const CAUSES: readonly FailureCause[] = [
  'exited', 'signalled', 'closed', 'silent', 'watchdog', 'unreachable', 'malformed', 'not-started',
];

export const failureCause = oneOf(...CAUSES);

const interval = object<DetectionInterval>({ minMs: num, maxMs: num });

const foundOf = {
  cause: failureCause,
  evidence: text,
  detector: text,
  failedWallMs: optional(wallTime),
  heardWallMs: optional(wallTime),
  suspectedWallMs: wallTime,
  confirmedWallMs: wallTime,
  promised: optional(interval),
} as const;

const found = { ...foundOf, subject: failedSubject } as const;

export const evidence = closedObject<Evidence>({ ...found, reporter: memberId });

export const failureRecord = object<FailureRecord>({
  failure: failureId,
  ...found,
  hostName: name,
  reporter: name,
  confirmers: members(name),
  notified: u32,
  notifiedWallMs: optional(wallTime),
  lostRanks: members(object<FailureRecord['lostRanks'][number]>({ job: u32, ranks: numbers })),
  newParents: members(object<FailureRecord['newParents'][number]>({ host: name, parent: name })),
  policy: members(name),
  achievedMs: optional(num),
  achievedMaxMs: optional(num),
});

/** What a session agent found of one of its tools; its root agent is the reporter. */
export const toolEvidence = closed({ ...foundOf, rank: u32, attempt: u32 });
export type ToolEvidence = Infer<typeof toolEvidence>;

/**
 * What a root agent says of a session agent that it has lost. `launch`: number of the one that it was given, 0: none;
 * `isReplaced`: another is started, which waits for a launch.
 */
export const sessionFailure = fields({ launch: u32, isReplaced: bool });
export type SessionFailure = Infer<typeof sessionFailure>;
