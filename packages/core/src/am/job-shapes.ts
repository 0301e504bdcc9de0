/** Wire shapes of a job's data: its specification, its map, its results. */

import type {
  Allocation, AppSpec, DroppedOutput, EndCause, ErrorRecord, FailureKind, HostDaemons, HostMap, HostSpec, JobControl,
  JobEvent, JobMap, JobReport, JobSpec, MapBy, MemberEvent, ProcessEnd, RankAttempt, RankReport, RankRun, SignalName,
  StdinTo,
} from '@stci/interface';
import {
  bool, integer, list, num, object, oneOf, optional, plain, record, str, u32, variant, wallTime, type Shape,
} from '../codec/shape.js';
import { signalNumber } from '../job/signals.js';
import { failureRecord } from './failure-shapes.js';

/** Largest exit status of a process, and exit code of a job. */
const STATUS_MAX = 255;

const status = integer(0, STATUS_MAX);

export const signalName: Shape<SignalName> = (value, path) => {
  const name = str(value, path);
  return signalNumber(name) !== undefined ? (name as SignalName) : (oneOf('SIG…')(value, path) as never);
};

/** Facts of an error: numbers, texts and booleans. */
const fact: Shape<string | number | boolean> = (value, path) =>
  typeof value === 'string' || typeof value === 'boolean' ? value : num(value, path);

/** An unknown code comes from a newer peer; the receiver keeps it as a fact. */
export const errorRecord: Shape<ErrorRecord> = object<ErrorRecord>({
  code: str,
  message: str,
  agent: optional(str),
  host: optional(str),
  rank: optional(u32),
  data: optional(record(fact)),
  cause: optional((value, path) => errorRecord(value, path)),
});

export const texts = record(str);

export const appSpec = object<AppSpec>({
  program: str,
  args: list(str),
  count: optional(u32),
  hosts: optional(list(u32)),
  env: texts,
  wdir: optional(str),
});

export const hostSpec = object<HostSpec>({ name: str, slots: u32, slotsBound: bool, user: optional(str), origin: str });

const mapBy = variant<'by', MapBy>('by', {
  slot: object<{ by: 'slot' }>({ by: oneOf('slot') }),
  node: object<{ by: 'node' }>({ by: oneOf('node') }),
  ppr: object<{ by: 'ppr'; perHost: number }>({ by: oneOf('ppr'), perHost: u32 }),
});

export const stdinTo = variant<'to', StdinTo>('to', {
  none: object<{ to: 'none' }>({ to: oneOf('none') }),
  all: object<{ to: 'all' }>({ to: oneOf('all') }),
  rank: object<{ to: 'rank'; rank: number }>({ to: oneOf('rank'), rank: u32 }),
});

export const allocation = object<Allocation>({ hosts: list(hostSpec), spares: list(hostSpec) });

/** Checked by the catalogue of parameters. */
export const jobParams = plain<NonNullable<JobSpec['params']>>();

export const jobSpec = object<JobSpec>({
  apps: list(appSpec),
  mapBy,
  oversubscribe: bool,
  env: texts,
  wdir: str,
  stdin: stdinTo,
  timeoutMs: optional(num),
  params: optional(jobParams),
  launchTimeoutMs: num,
});

export const processEnd = object<ProcessEnd>({ status: optional(status), signal: optional(signalName) });

const KINDS: readonly FailureKind[] = [
  'tool-status', 'tool-signal', 'tool-start', 'agent-launch', 'agent-lost', 'timeout', 'interrupt', 'output',
];

const endCause = object<EndCause>({ kind: oneOf(...KINDS), error: errorRecord, exitCode: status });

export const jobControl = variant<'verb', JobControl>('verb', {
  signal: object<{ verb: 'signal'; signal: SignalName }>({ verb: oneOf('signal'), signal: signalName }),
  end: object<Extract<JobControl, { verb: 'end' }>>({
    verb: oneOf('end'), kill: bool, reason: str, cause: optional(endCause),
  }),
});

const rankRun = object<RankRun>({ app: u32, first: u32, count: u32, stride: u32 });
const hostMap = object<HostMap>({ host: u32, name: str, runs: list(rankRun) });
export const jobMap = object<JobMap>({ size: u32, hosts: list(hostMap) });

const attempt = {
  host: str,
  pid: u32,
  outcome: oneOf('exited', 'signalled', 'ended', 'failed-start', 'lost', 'not-started'),
  end: optional(processEnd),
  error: optional(errorRecord),
  startWallMs: optional(wallTime),
  endWallMs: optional(wallTime),
  leftovers: u32,
} as const;

const rankReport = object<RankReport>({
  ...attempt, rank: u32, app: u32, earlier: optional(list(object<RankAttempt>(attempt))),
});

export const jobReport = object<JobReport>({
  job: u32,
  exitCode: status,
  cause: optional(errorRecord),
  failures: list(errorRecord),
  ranks: list(rankReport),
  daemons: list(object<HostDaemons>({ host: str, count: u32 })),
  dropped: optional(list(object<DroppedOutput>({ rank: u32, stream: oneOf('stdout', 'stderr'), bytes: num }))),
  submitWallMs: wallTime,
  endWallMs: wallTime,
});

type EventOf<Type extends JobEvent['type']> = Extract<JobEvent, { readonly type: Type }>;

type MemberChange<Change extends MemberEvent['change']> = Extract<MemberEvent, { readonly change: Change }>;

const member = { type: oneOf('member'), host: u32, name: str, incarnation: u32, wallMs: wallTime } as const;

export const jobEvent = variant<'type', JobEvent>('type', {
  mapped: object<EventOf<'mapped'>>({ type: oneOf('mapped'), map: jobMap }),
  'host-up': object<EventOf<'host-up'>>({
    type: oneOf('host-up'), host: u32, name: str, up: u32, total: u32, incarnation: u32,
  }),
  member: variant<'change', MemberEvent>('change', {
    suspected: object<MemberChange<'suspected'>>({
      ...member, change: oneOf('suspected'), detector: str, reporter: str, evidence: str,
    }),
    refuted: object<MemberChange<'refuted'>>({ ...member, change: oneOf('refuted') }),
    linked: object<MemberChange<'linked'>>({ ...member, change: oneOf('linked'), parent: str }),
  }),
  recovery: object<EventOf<'recovery'>>({
    type: oneOf('recovery'), phase: oneOf('launching', 'running', 'idle'), host: u32, name: str,
    action: oneOf('start-again', 'use-spare', 'leave-out'), error: errorRecord, afterMs: optional(u32),
    starts: optional(u32), spare: optional(str), reason: optional(str),
  }),
  started: object<EventOf<'started'>>({
    type: oneOf('started'), rank: u32, host: u32, pid: u32, wallMs: wallTime, attempt: optional(u32),
  }),
  restarting: object<EventOf<'restarting'>>({
    type: oneOf('restarting'), report: rankReport, host: optional(u32), attempt: u32, afterMs: u32,
  }),
  running: object<EventOf<'running'>>({ type: oneOf('running') }),
  mark: object<EventOf<'mark'>>({ type: oneOf('mark'), rank: u32, host: u32, name: str, wallMs: wallTime }),
  exited: object<EventOf<'exited'>>({ type: oneOf('exited'), report: rankReport }),
  failure: object<EventOf<'failure'>>({
    type: oneOf('failure'), error: errorRecord, isRecorded: optional(bool),
  }),
  'failure-record': object<EventOf<'failure-record'>>({ type: oneOf('failure-record'), record: failureRecord }),
  warning: object<EventOf<'warning'>>({ type: oneOf('warning'), text: str }),
  ending: object<EventOf<'ending'>>({ type: oneOf('ending'), reason: str }),
  ended: object<EventOf<'ended'>>({ type: oneOf('ended'), report: jobReport }),
});
