/**
 * Requirements on every error manager: what the contract of `ErrorManager` in @stci/interface promises, for every kind
 * of failure in every situation that it is asked about, the simplest first. Pure.
 */

import { errmgrFramework, mayRestart, type ErrorManagerDeps } from '@stci/core/component';
import type {
  AgentContext, Component, ErrorManager, Failure, FailureKind, JobContext, SessionContext, ToolContext,
} from '@stci/interface';
import * as assert from './assert.js';
import { checkCases, type SuiteCall } from './cases.js';
import { checkTexts, paramsOf } from './component-record.js';
import { less, verify, type Contract, type Example } from './counterexample.js';
import { suite } from './suite.js';

export type ErrmgrComponent = Component<ErrorManager, ErrorManagerDeps>;

export interface ErrmgrCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Parameters of the component, by short name, as a user sets them. */
  readonly params?: Readonly<Record<string, string>>;
}

/** As in the docstring of `ErrorManager`. */
export const ERRMGR = {
  framework: 'errmgr',
  again: 'errmgrExample',
  promises: {
    record: 'The registry takes it; version, help and parameters can be shown; `query` depends on its input only.',
    policy: 'Its policy is named in a few characters that can be printed; `policyOf` answers with such a name, too.',
    pure: 'The same failure in the same context has the same answer, and neither is changed.',
    session: 'A session gets exactly one action about its host, and a launch is only ended while launching.',
    spare: 'A spare host is used only where one is left.',
    job: 'A job gets at least one action, each of which is one of a job.',
    over: 'A job whose time is up, that the user has ended, or whose output cannot be written, is ended.',
    restart: '`decide` restarts nothing where no rank is lost, or where another start cannot go better.',
    goesOn: 'Where a job goes on without a rank, `goesOn` says that it may.',
    local: '`local` answers with a report or a restart, and with a report where the program cannot be started.',
    pause: 'A pause is a time, at most an hour.',
    bound: 'What fails each time is given up after at most a thousand starts.',
  },
} as const satisfies Contract<string>;

type Context = SessionContext | JobContext | ToolContext | AgentContext;

/** A counter-example: a failure, and the situation in which it was asked about. */
export interface ErrmgrExample extends Example<keyof typeof ERRMGR.promises> {
  readonly params?: Readonly<Record<string, string>>;
  readonly kind?: FailureKind;
  readonly context?: Context;
  /** What the session's parameters say about its hosts; default: abort, leave-out. */
  readonly hosts?: Pick<ErrorManagerDeps['hosts'], 'launch' | 'loss'>;
}

const STARTS_MAX = 1000;
const PAUSE_MS_MAX = 3_600_000;
const TEXT = /^[\x21-\x7e]{1,100}$/;

const CODES: Readonly<Partial<Record<FailureKind, Failure['error']['code']>>> = {
  'tool-start': 'STCI_PROGRAM_NOT_FOUND',
};
const TOOL: readonly FailureKind[] = ['tool-status', 'tool-signal', 'tool-start', 'tool-survived'];
const HOST: readonly FailureKind[] = ['agent-lost', 'agent-launch'];
const OVER: readonly FailureKind[] = ['timeout', 'interrupt', 'output'];
const ATTEMPTS = [1, 2, 5, 30];

const CALL: SuiteCall<ErrmgrCase> = {
  suite: 'errmgrCompliance',
  framework: 'errmgr',
  fields: {
    label: 'text',
    params: 'an object of texts, as a user sets parameters',
  },
  required: ['label'],
};

/** Defines a suite; for each case, such as each value of a parameter that changes the policy, tests of its own. */
export function errmgrCompliance(
  component: ErrmgrComponent,
  cases: readonly ErrmgrCase[] = [{ label: 'default' }],
): void {
  checkCases(CALL, component, cases);
  suite(`errmgr compliance: ${component.name}`, (test) => {
    test('record', () => errmgrExample(component, { promise: 'record' }));
    for (const { label, params } of cases) {
      const check = (example: ErrmgrExample): void => {
        errmgrExample(component, { ...example, ...(params && { params }) });
      };
      test(`${label}: policy`, () => check({ promise: 'policy' }));
      for (const promise of PROMISES) {
        test(`${label}: ${promise}`, () => {
          for (const question of questions(promise)) check({ promise, ...question });
        });
      }
    }
  });
}

/** Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise. */
export function errmgrExample(component: ErrmgrComponent, example: ErrmgrExample): void {
  verify(ERRMGR, example, (one) => check(component, one), smaller);
}

const PROMISES = ['pure', 'session', 'spare', 'job', 'over', 'restart', 'goesOn', 'local', 'pause', 'bound'] as const;

type Question = Pick<ErrmgrExample, 'kind' | 'context' | 'hosts'>;

/** Those that a promise is about. */
function* questions(promise: (typeof PROMISES)[number]): Generator<Question> {
  if (promise === 'pure' || promise === 'pause') {
    for (const each of ['session', 'job', 'local'] as const) yield* questions(each);
  } else if (promise === 'session' || promise === 'spare') {
    yield* hostQuestions();
  } else if (promise === 'local') {
    yield* localQuestions();
  } else if (promise === 'bound') {
    for (const question of [...hostQuestions(), ...jobQuestions(), ...localQuestions()]) {
      const { context } = question;
      if (context?.of === 'session') yield { ...question, context: { ...context, starts: STARTS_MAX + 1 } };
      else if (context !== undefined) yield { ...question, context: { ...context, attempt: STARTS_MAX + 1 } };
    }
  } else {
    for (const question of jobQuestions()) {
      if (promise !== 'over' || OVER.includes(question.kind as FailureKind)) yield question;
    }
  }
}

function* hostQuestions(): Generator<Question> {
  for (const [launch, loss] of [['abort', 'leave-out'], ['retry', 'start-again'], ['spare', 'use-spare']] as const) {
    for (const phase of ['launching', 'idle', 'running'] as const) {
      for (const starts of ATTEMPTS) {
        for (const [hostsLeft, sparesLeft] of [[0, 0], [0, 1], [3, 0], [3, 2]] as const) {
          const context = { of: 'session', phase, hostName: 'a', starts, hostsLeft, sparesLeft } as const;
          yield { kind: phase === 'launching' ? 'agent-launch' : 'agent-lost', context, hosts: { launch, loss } };
        }
      }
    }
  }
}

function* jobQuestions(): Generator<Question> {
  for (const kind of [...TOOL, 'session-lost', ...HOST, ...OVER] as const) {
    for (const phase of ['launching', 'running', 'ending'] as const) {
      for (const ranksAlive of [0, 3]) {
        for (const attempt of OVER.includes(kind) ? [0] : TOOL.includes(kind) ? ATTEMPTS : [0, ...ATTEMPTS]) {
          yield { kind, context: { of: 'job', phase, ranksAlive, failuresBefore: 0, attempt } };
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

/** Smaller numbers; no parameters; the parameters of the session that everybody has. */
function* smaller(example: ErrmgrExample): Generator<ErrmgrExample> {
  const { params, hosts, context, promise } = example;
  if (params !== undefined) {
    const { params: _, ...rest } = example;
    yield rest;
  }
  if (hosts !== undefined) {
    const { hosts: _, ...rest } = example;
    yield rest;
  }
  if (context === undefined || promise === 'bound') return;
  for (const [name, value] of Object.entries(context)) {
    if (typeof value !== 'number') continue;
    const least = name === 'starts' || (name === 'attempt' && value > 0) ? 1 : 0;
    for (const fewer of less(value, least)) yield { ...example, context: { ...context, [name]: fewer } };
  }
}

function managerOf(component: ErrmgrComponent, { params, hosts }: ErrmgrExample): ErrorManager {
  const limits = { launchMin: 1, launchRetries: 2, lossRetries: 5, lossPauseMs: 1000 };
  const policy = { launch: 'abort', loss: 'leave-out', ...limits };
  const deps = { hosts: { ...policy, ...hosts } as ErrorManagerDeps['hosts'] };
  return component.create(deps, Object.freeze(paramsOf(component, params)), undefined);
}

function failureOf(kind: FailureKind): Failure {
  const code = CODES[kind] ?? 'STCI_INTERNAL';
  const isRank = TOOL.includes(kind);
  return Object.freeze({
    kind, error: Object.freeze({ code, message: 'a failure of the suite', data: {} }),
    ...(!OVER.includes(kind) && { host: 0 }), ...(isRank && { rank: 0 }), wallMs: 0, exitCode: 1,
  }) as Failure;
}

function check(component: ErrmgrComponent, example: ErrmgrExample): void {
  const { promise, kind = 'tool-status', context } = example;
  if (promise === 'record') {
    assert.is(component.framework.name, errmgrFramework.name, 'it is a component of framework errmgr');
    checkTexts(component, undefined);
    paramsOf(component);
    return;
  }
  const manager = managerOf(component, example);
  if (promise === 'policy') {
    const names = [manager.policy, manager.policyOf?.(failureOf(kind)) ?? manager.policy];
    for (const name of names) assert.ok(TEXT.test(name), `the policy's name is ${JSON.stringify(name)}`);
    assert.is(typeof manager.goesOn, 'boolean', 'goesOn is true or false');
    return;
  }
  if (context === undefined) return;
  const ask = (): readonly Answer[] => answersOf(manager, failureOf(kind), Object.freeze({ ...context }));
  CHECKS[promise](ask(), { manager, kind, context, ask });
}

/** Of any type that may come. */
interface Answer {
  readonly type: string;
  readonly afterMs?: unknown;
}

function answersOf(manager: ErrorManager, failure: Failure, context: Context): readonly Answer[] {
  if (context.of === 'tool' || context.of === 'agent') return [manager.local?.(failure, context) ?? { type: 'report' }];
  const answers: unknown = manager.decide(failure, context);
  assert.ok(Array.isArray(answers), `an answer is a list of actions, got ${JSON.stringify(answers)}`);
  return answers as Answer[];
}

interface Asked {
  readonly manager: ErrorManager;
  readonly kind: FailureKind;
  readonly context: Context;
  ask(): readonly Answer[];
}

const HOST_ACTIONS = ['end-launch', 'start-again', 'use-spare', 'leave-out'];
const JOB_ACTIONS = ['end-job', 'go-on', 'notify', 'restart'];

const CHECKS: Readonly<Record<(typeof PROMISES)[number], (answers: readonly Answer[], asked: Asked) => void>> = {
  pure: (answers, { ask }) => assert.equal(ask(), answers, 'asked again, it answers something else'),
  session: (answers, { context }) => {
    assert.is(answers.length, 1, `${answers.length} actions: ${shown(answers)}`);
    for (const { type } of answers) {
      assert.ok(HOST_ACTIONS.includes(type), `${type} is no action of a session`);
      const isLaunching = context.of === 'session' && context.phase === 'launching';
      assert.ok(type !== 'end-launch' || isLaunching, 'end-launch, where no launch goes on');
    }
  },
  spare: (answers, { context }) => {
    const isUsed = answers.some(({ type }) => type === 'use-spare');
    assert.ok(!isUsed || (context.of === 'session' && context.sparesLeft > 0), 'use-spare, and no spare host is left');
  },
  job: (answers) => {
    assert.ok(answers.length > 0, 'no action');
    for (const { type } of answers) assert.ok(JOB_ACTIONS.includes(type), `${type} is no action of a job`);
  },
  over: (answers) => assert.ok(answers.some(({ type }) => type === 'end-job'), `the job goes on: ${shown(answers)}`),
  restart: (answers, { kind, context }) => {
    if (!answers.some(({ type }) => type === 'restart')) return;
    assert.ok(mayRestart(failureOf(kind)), `restart, after ${kind}`);
    assert.ok(context.of !== 'job' || context.attempt > 0, 'restart, and no rank is lost');
  },
  goesOn: (answers, { manager, context }) => {
    if (context.of !== 'job' || context.attempt === 0) return;
    const going = answers.find(({ type }) => type === 'go-on' || type === 'notify');
    assert.ok(going === undefined || manager.goesOn, `${going?.type}, and goesOn is false`);
  },
  local: (answers, { kind }) => {
    for (const { type } of answers) {
      assert.ok(type === 'report' || type === 'restart', `${type} is no action of a local manager`);
      assert.ok(type === 'report' || kind !== 'tool-start', 'restart, and there is no such program');
    }
  },
  pause: (answers) => {
    for (const { type, afterMs } of answers) {
      if (type !== 'restart' && type !== 'start-again') continue;
      const isTime = typeof afterMs === 'number' && afterMs >= 0 && afterMs <= PAUSE_MS_MAX;
      assert.ok(isTime, `${type} after ${String(afterMs)} ms`);
    }
  },
  bound: (answers) => {
    const again = answers.find(({ type }) => type === 'restart' || type === 'start-again');
    assert.ok(again === undefined, `${again?.type}, after ${STARTS_MAX + 1} starts`);
  },
};

function shown(answers: readonly Answer[]): string {
  return answers.map(({ type }) => type).join(', ');
}
