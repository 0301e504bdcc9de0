/** What error managers are asked about, by promise: every kind of failure in every situation, the simplest first. */

import type { ErrorManagerDeps } from '@stci/core/component';
import type {
  AgentContext, Failure, FailureKind, JobContext, SessionContext, ToolContext,
} from '@stci/interface';

export type Context = SessionContext | JobContext | ToolContext | AgentContext;

/** What the session's parameters say. */
export type Hosts = Pick<ErrorManagerDeps['hosts'], 'launch' | 'loss'> & Partial<ErrorManagerDeps['hosts']>;

export type Failed = Pick<Failure, 'exitCode'> & {
  readonly rank: number; readonly host: number; readonly wallMs?: number;
  /** Of `tool-start`: nothing that another start would make better. The error has no data, then. */
  readonly code?: Failure['error']['code'];
};

/** Counted in bytes, or in words, they are few again. */
const MANY_STARTS = [1001, 1024, 2047, 4096, 65_537, 1_000_000];
export const TOOL: readonly FailureKind[] = ['tool-status', 'tool-signal', 'tool-start', 'tool-survived'];
const HOST: readonly FailureKind[] = ['agent-lost', 'agent-launch'];
export const OVER: readonly FailureKind[] = ['timeout', 'interrupt', 'output'];
export const KINDS: readonly FailureKind[] = [...TOOL, 'session-lost', ...HOST, ...OVER];
const ATTEMPTS = [1, 2, 3, 4, 5, 6, 30];
const FAILURES_BEFORE = [0, 1, 2, 5, 1000];
/** Attempts of these few questions: shifted by as many bits, a pause is negative, or short again. */
const LATER_ATTEMPTS = [7, 8, 12, 16, 31, 32, 33, 64, 100, 101];
export const OTHERS: readonly Failed[] = [
  { rank: 7, host: 3, exitCode: 137, code: 'STCI_PROGRAM_NOT_EXECUTABLE' },
  { rank: 300, host: 70, exitCode: 255, wallMs: 2 ** 41, code: 'STCI_PROGRAM_WDIR' },
];
/** Names of hosts that are started at least three times. */
const HOST_NAMES = ['fd00::5', 'Node-3.EXAMPLE.org', '10.0.0.4', `n.${'a-long-label.'.repeat(12)}org`];

export const PROMISES = [
  'pure', 'session', 'spare', 'job', 'over', 'restart', 'toleratesFailures', 'local', 'pause', 'bound',
] as const;

export interface Question {
  readonly kind?: FailureKind;
  readonly context?: Context;
  readonly failed?: Failed;
  readonly hosts?: Hosts;
}

/** Questions that a promise is about. */
export function* questions(promise: (typeof PROMISES)[number]): Generator<Question> {
  for (const question of plainQuestions(promise)) {
    yield question;
    for (const failed of OTHERS) yield { ...question, failed };
  }
}

function* plainQuestions(promise: (typeof PROMISES)[number]): Generator<Question> {
  if (promise === 'pure' || promise === 'pause') {
    for (const each of ['session', 'job', 'local'] as const) yield* plainQuestions(each);
    yield* laterQuestions();
  } else if (promise === 'session' || promise === 'spare') {
    yield* hostQuestions();
  } else if (promise === 'local') {
    yield* localQuestions();
  } else if (promise === 'bound') {
    for (const question of [...hostQuestions(), ...jobQuestions(), ...localQuestions()]) {
      const { context } = question;
      const starts = context?.of === 'session' ? context.starts : context?.attempt;
      if (starts !== 1) continue;
      for (const many of MANY_STARTS) {
        if (context?.of === 'session') yield { ...question, context: { ...context, starts: many } };
        else if (context !== undefined) yield { ...question, context: { ...context, attempt: many } };
      }
    }
  } else {
    for (const question of jobQuestions()) {
      if (promise !== 'over' || OVER.includes(question.kind as FailureKind)) yield question;
    }
  }
}

const HOST_POLICIES = [
  ['abort', 'leave-out'], ['retry', 'start-again'], ['spare', 'use-spare'], ['shrink', 'leave-out'],
] as const;

function* hostQuestions(): Generator<Question> {
  for (const [launch, loss] of HOST_POLICIES) {
    for (const phase of ['launching', 'idle', 'running'] as const) {
      for (const starts of ATTEMPTS) {
        for (const [hostsLeft, sparesLeft] of [[0, 0], [0, 1], [1, 1], [3, 0], [3, 2], [3, 40]] as const) {
          const hostName = HOST_NAMES[starts - 3] ?? 'a';
          const context = { of: 'session', phase, hostName, starts, hostsLeft, sparesLeft } as const;
          yield { kind: phase === 'launching' ? 'agent-launch' : 'agent-lost', context, hosts: { launch, loss } };
        }
      }
    }
  }
}

/** Questions after many starts; of hosts, with the largest values of the session's parameters. */
function* laterQuestions(): Generator<Question> {
  for (const attempt of LATER_ATTEMPTS) {
    for (const kind of [...TOOL, ...HOST]) {
      yield { kind, context: { of: 'job', phase: 'running', ranksAlive: 3, failuresBefore: attempt, attempt } };
    }
    for (const kind of TOOL) yield { kind, context: { of: 'tool', attempt } };
    yield { kind: 'session-lost', context: { of: 'agent', attempt } };
    for (const [launch, loss] of HOST_POLICIES) {
      for (const phase of ['launching', 'running'] as const) {
        const context = { of: 'session', phase, hostName: 'a', starts: attempt, hostsLeft: 3, sparesLeft: 2 } as const;
        const hosts = { launch, loss, ...LARGEST };
        yield { kind: phase === 'launching' ? 'agent-launch' : 'agent-lost', context, hosts };
      }
    }
  }
}

const LARGEST = {
  launchMin: 1_000_000, launchRetries: 100, launchPauseMs: 600_000, lossRetries: 100, lossPauseMs: 600_000,
};

function* jobQuestions(): Generator<Question> {
  for (const kind of KINDS) {
    for (const phase of ['launching', 'running', 'ending'] as const) {
      for (const ranksAlive of [0, 1, 3]) {
        for (const attempt of OVER.includes(kind) ? [0] : TOOL.includes(kind) ? ATTEMPTS : [0, ...ATTEMPTS]) {
          for (const failuresBefore of [0, 1, 3].includes(attempt) ? FAILURES_BEFORE : [0]) {
            yield { kind, context: { of: 'job', phase, ranksAlive, failuresBefore, attempt } };
          }
        }
      }
    }
  }
}

function* localQuestions(): Generator<Question> {
  for (const attempt of ATTEMPTS) {
    for (const kind of TOOL) yield { kind, context: { of: 'tool', attempt } };
    yield { kind: 'session-lost', context: { of: 'agent', attempt } };
  }
}
