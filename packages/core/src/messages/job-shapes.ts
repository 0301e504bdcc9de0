/** Wire shapes of a job's data: its specification, its map, its results. */

import {
  ERROR_CAUSES_MAX, ERROR_FACTS_MAX, ERROR_FACT_CHARS_MAX, assert,
} from '@stci/interface';
import type {
  AppSpec, DroppedOutput, EndCause, ErrorRecord, HostDaemons, HostMap, HostSpec, JobControl,
  JobEvent, JobMap, JobReport, JobSpec, MapBy, MemberEvent, ProcessEnd, RankAttempt, RankReport, RankRun, SignalName,
  Spawn, SpawnRequest, SpawnedApp, StdinTo,
} from '@stci/interface';
import {
  MEMBERS_MAX, BODY_BYTES_MAX, NAME_CHARS_MAX, WORD_CHARS_MAX, members, name, numbers, text, word,
} from '../codec/bounds.js';
import {
  bool, choice, integer, narrowed, none, num, object, oneOf, optional, plain, record, str, u32, variant, wallTime,
  type Shape, type VariantKinds,
} from '../codec/shape.js';
import { HOSTLIST_MAX } from '../job/hostlist.js';
import { signalNumber } from '../job/signals.js';
import { failureId, failureRecord } from './failure-shapes.js';

assert(HOSTLIST_MAX < MEMBERS_MAX, 'all hosts of a session, and the controller, can be named');

/** Largest exit status of a process, and exit code of a job. */
const STATUS_MAX = 255;

const status = integer(0, STATUS_MAX);

/** Longest name of a signal, in characters. */
const SIGNAL_CHARS_MAX = 32;

export const signalName = narrowed<string, SignalName>(
  str(SIGNAL_CHARS_MAX), (name) => (signalNumber(name) === undefined ? 'Expected the name of a signal' : undefined),
  { good: ['SIGTERM', 'SIG64'], bad: ['', 'TERM', 'SIG65'] },
);

/** Facts of an error: numbers, texts and booleans. */
const factText = str(ERROR_FACT_CHARS_MAX);
const fact = choice([bool, factText, num], (value) =>
  typeof value === 'boolean' ? bool : typeof value === 'string' ? factText : num);

/** An error that was caused by so many others at most, one by the other. */
function errorOf(causesMax: number): Shape<ErrorRecord> {
  return object<ErrorRecord>({
    code: name,
    message: text,
    agent: optional(name),
    host: optional(name),
    rank: optional(u32),
    failure: optional(failureId),
    data: optional(record(fact, ERROR_FACTS_MAX, NAME_CHARS_MAX)),
    cause: optional(causesMax === 0 ? none(`at most ${ERROR_CAUSES_MAX} causes`) : errorOf(causesMax - 1)),
  });
}

/** An unknown code comes from a newer peer; the receiver keeps it as a fact. */
export const errorRecord: Shape<ErrorRecord> = errorOf(ERROR_CAUSES_MAX);

/** Variables of an environment. */
export const texts = record(word, MEMBERS_MAX, WORD_CHARS_MAX);

export const appSpec = object<AppSpec>({
  program: word,
  args: members(word),
  count: optional(u32),
  hosts: optional(numbers),
  env: texts,
  wdir: optional(word),
});

const mapBy = variant<'by', MapBy>('by', {
  slot: object<{ by: 'slot' }>({ by: oneOf('slot') }),
  node: object<{ by: 'node' }>({ by: oneOf('node') }),
  ppr: object<{ by: 'ppr'; perHost: number }>({ by: oneOf('ppr'), perHost: u32 }),
});

export const spawnRequest = object<SpawnRequest>({
  parent: u32,
  apps: members(object<SpawnedApp>({
    program: word, args: members(word), count: u32, hosts: optional(members(name)), env: texts, wdir: optional(word),
  })),
  mapBy: optional(mapBy),
});

export const hostSpec = object<HostSpec>({ name, slots: u32, slotsBound: bool, user: optional(name), origin: text });

export const stdinTo = variant<'to', StdinTo>('to', {
  none: object<{ to: 'none' }>({ to: oneOf('none') }),
  all: object<{ to: 'all' }>({ to: oneOf('all') }),
  rank: object<{ to: 'rank'; rank: number }>({ to: oneOf('rank'), rank: u32 }),
});

/** Checked by the catalogue of parameters. */
export const jobParams = plain<NonNullable<JobSpec['params']>>(BODY_BYTES_MAX);

export const jobSpec = object<JobSpec>({
  apps: members(appSpec),
  mapBy,
  oversubscribe: bool,
  env: texts,
  wdir: word,
  stdin: stdinTo,
  timeoutMs: optional(num),
  params: optional(jobParams),
  launchTimeoutMs: num,
});

export const processEnd = object<ProcessEnd>({ status: optional(status), signal: optional(signalName) });

/** A front-end ends a job for these alone; of failures of its own a job has the ids. */
const endCause = object<EndCause>({ kind: oneOf('interrupt', 'output'), error: errorRecord, exitCode: status });

export const jobControl = variant<'verb', JobControl>('verb', {
  signal: object<{ verb: 'signal'; signal: SignalName }>({ verb: oneOf('signal'), signal: signalName }),
  end: object<Extract<JobControl, { verb: 'end' }>>({
    verb: oneOf('end'), kill: bool, reason: text, cause: optional(endCause),
  }),
});

const rankRun = object<RankRun>({ app: u32, first: u32, count: u32, stride: u32 });
const hostMap = object<HostMap>({ host: u32, name, runs: members(rankRun) });
export const jobMap = object<JobMap>({ size: u32, hosts: members(hostMap) });
export const spawn = object<Spawn>({ parent: u32, first: u32, count: u32, app: u32 });

const attempt = {
  host: name,
  pid: u32,
  outcome: oneOf('exited', 'signalled', 'ended', 'failed-start', 'lost', 'not-started'),
  end: optional(processEnd),
  error: optional(errorRecord),
  failure: optional(failureId),
  startWallMs: optional(wallTime),
  endWallMs: optional(wallTime),
  leftovers: u32,
  readInput: optional(bool),
} as const;

const rankReport = object<RankReport>({
  ...attempt, rank: u32, app: u32, earlier: optional(members(object<RankAttempt>(attempt))),
});

export const jobReport = object<JobReport>({
  job: u32,
  exitCode: status,
  cause: optional(errorRecord),
  failures: members(errorRecord),
  ranks: members(rankReport),
  daemons: members(object<HostDaemons>({ host: name, count: u32 })),
  dropped: optional(members(object<DroppedOutput>({ rank: u32, stream: oneOf('stdout', 'stderr'), bytes: num }))),
  submitWallMs: wallTime,
  endWallMs: wallTime,
});

type EventOf<Type extends JobEvent['type']> = Extract<JobEvent, { readonly type: Type }>;

type MemberChange<Change extends MemberEvent['change']> = Extract<MemberEvent, { readonly change: Change }>;

const member = { type: oneOf('member'), host: u32, name, incarnation: u32, wallMs: wallTime } as const;

/** Shapes of events, by their types. */
export const jobEvents: VariantKinds<'type', JobEvent> = {
  mapped: object<EventOf<'mapped'>>({ type: oneOf('mapped'), map: jobMap, spawned: optional(spawn) }),
  'host-up': object<EventOf<'host-up'>>({
    type: oneOf('host-up'), host: u32, name, up: u32, total: u32, incarnation: u32,
  }),
  member: variant<'change', MemberEvent>('change', {
    suspected: object<MemberChange<'suspected'>>({
      ...member, change: oneOf('suspected'), detector: name, reporter: name, evidence: text,
    }),
    refuted: object<MemberChange<'refuted'>>({ ...member, change: oneOf('refuted') }),
    linked: object<MemberChange<'linked'>>({ ...member, change: oneOf('linked'), parent: name }),
  }),
  recovery: object<EventOf<'recovery'>>({
    type: oneOf('recovery'), phase: oneOf('launching', 'running', 'idle'), host: u32, name,
    action: oneOf('start-again', 'use-spare', 'leave-out'), error: errorRecord, afterMs: optional(u32),
    starts: optional(u32), spare: optional(name), reason: optional(text),
  }),
  started: object<EventOf<'started'>>({
    type: oneOf('started'), rank: u32, host: u32, pid: u32, wallMs: wallTime, attempt: optional(u32),
  }),
  restarting: object<EventOf<'restarting'>>({
    type: oneOf('restarting'), report: rankReport, host: optional(u32), attempt: u32, afterMs: u32,
  }),
  running: object<EventOf<'running'>>({ type: oneOf('running') }),
  mark: object<EventOf<'mark'>>({ type: oneOf('mark'), rank: u32, host: u32, name, wallMs: wallTime }),
  mpi: object<EventOf<'mpi'>>({ type: oneOf('mpi'), protocol: name, version: name }),
  exited: object<EventOf<'exited'>>({ type: oneOf('exited'), report: rankReport }),
  failure: object<EventOf<'failure'>>({
    type: oneOf('failure'), error: errorRecord, isRecorded: optional(bool),
  }),
  'failure-record': object<EventOf<'failure-record'>>({ type: oneOf('failure-record'), record: failureRecord }),
  warning: object<EventOf<'warning'>>({ type: oneOf('warning'), text }),
  ending: object<EventOf<'ending'>>({ type: oneOf('ending'), reason: text, failure: optional(failureId) }),
  ended: object<EventOf<'ended'>>({ type: oneOf('ended'), report: jobReport }),
};
