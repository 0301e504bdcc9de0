/**
 * Requirements on every error manager: what the contract of `ErrorManager` in @stci/interface promises, for every kind
 * of failure in every situation that it is asked about, the simplest first, with parameters at their bounds. Pure.
 */

import { errmgrFramework, mayRestart, type ErrorManagerDeps } from '@stci/core/component';
import type { Component, ErrorManager, Failure, FailureKind } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { checkCases, type SuiteCall } from '../kit/cases.js';
import { atBounds, checkTexts, paramsOf } from '../kit/component-record.js';
import { less, verify, type Contract, type Example } from '../kit/counterexample.js';
import { elsewhere } from '../kit/elsewhere.js';
import { frozen } from '../kit/frozen.js';
import { skip } from '../kit/running-test.js';
import { progress } from '../kit/stall.js';
import { suite } from '../kit/suite.js';
import {
  KINDS, OTHERS, OVER, PROMISES, TOOL, questions, type Context, type Failed, type Question,
} from './errmgr-questions.js';

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
    pure: 'The same failure in the same context has the same answer, first or later; neither is changed.',
    session: 'A session gets exactly one action about its host, and a launch is only ended while launching.',
    spare: 'A spare host is used only where one is left.',
    job: 'A job gets at least one action, each of which is one of a job.',
    over: 'A job whose time is up, that the user has ended, or whose output cannot be written, is ended.',
    restart: '`decide` restarts nothing where no rank is lost, or where another start cannot go better.',
    toleratesFailures: 'Where a job goes on without a rank, `toleratesFailures` says that it may.',
    local: '`local` answers with a report or a restart, and with a report where the program cannot be started.',
    pause: 'A pause is a time, at most an hour.',
    bound: 'What fails each time is given up after at most a thousand starts.',
  },
} as const satisfies Contract<string>;

/** A counter-example: a failure, and the situation in which it was asked about. */
export interface ErrmgrExample extends Example<keyof typeof ERRMGR.promises> {
  readonly params?: Readonly<Record<string, string>>;
  readonly kind?: FailureKind;
  readonly context?: Context;
  /** What failed; default: rank 0, host 0, exit code 1. */
  readonly failed?: Failed;
  /** What the session's parameters say about its hosts; default: abort, leave-out. */
  readonly hosts?: Pick<ErrorManagerDeps['hosts'], 'launch' | 'loss'> & Partial<ErrorManagerDeps['hosts']>;
}

const STARTS_MAX = 1000;
/** Times that all questions are asked of the same manager. */
const ROUNDS = 10;
const LONG = { timeoutMs: 60_000 };
const PAUSE_MS_MAX = 3_600_000;
const TEXT = /^[\x21-\x7e]{1,100}$/;

const CODES: Readonly<Partial<Record<FailureKind, Failure['error']['code']>>> = {
  'tool-start': 'STCI_PROGRAM_NOT_FOUND',
};

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
      test(`${label}: policy`, () => {
        check({ promise: 'policy' });
        for (const kind of KINDS) for (const failed of OTHERS) check({ promise: 'policy', kind, failed });
      }, LONG);
      test(`${label}: pure, all in turn`, () => check({ promise: 'pure' }), LONG);
      for (const promise of PROMISES) {
        test(`${label}: ${promise}`, () => {
          for (const question of questions(promise)) check({ promise, ...question });
        }, LONG);
      }
    }
    test('parameters at their bounds', () => {
      const all = atBounds(component, undefined);
      if (all.length === 0) return skip('no parameter has bounds');
      for (const params of all) {
        errmgrExample(component, { promise: 'policy', params });
        for (const promise of PROMISES) {
          for (const question of questions(promise)) errmgrExample(component, { promise, ...question, params });
        }
      }
    }, LONG);
  });
}

/** Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise. */
export function errmgrExample(component: ErrmgrComponent, example: ErrmgrExample): void {
  verify(ERRMGR, example, (one) => check(component, one), smaller);
}

/** Smaller numbers; no parameters; the parameters of the session that everybody has. */
function* smaller(example: ErrmgrExample): Generator<ErrmgrExample> {
  const { params, hosts, failed, context, promise } = example;
  if (failed !== undefined) {
    const { failed: _, ...rest } = example;
    yield rest;
  }
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
  const limits = { launchMin: 1, launchRetries: 2, launchPauseMs: 1000, lossRetries: 5, lossPauseMs: 1000 };
  const policy = { launch: 'abort', loss: 'leave-out', ...limits };
  const deps = frozen({ hosts: { ...policy, ...hosts } as ErrorManagerDeps['hosts'] });
  return component.create(deps, frozen(paramsKnown(component, params)), undefined);
}

type Params = ReturnType<typeof paramsOf>;
const known = new WeakMap<ErrmgrComponent, Map<string, Params>>();

/** Resolved once: there are many questions. */
function paramsKnown(component: ErrmgrComponent, set: ErrmgrExample['params']): Params {
  const made = known.get(component) ?? new Map<string, Params>();
  known.set(component, made);
  const key = JSON.stringify(set ?? {});
  const params = made.get(key) ?? paramsOf(component, set);
  made.set(key, params);
  return params;
}

function failureOf(kind: FailureKind, failed: Failed = { rank: 0, host: 0, exitCode: 1 }): Failure {
  const code = CODES[kind] ?? 'STCI_INTERNAL';
  const { rank, host, exitCode, wallMs = 0 } = failed;
  const isOther = failed.code !== undefined;
  return frozen({
    kind, error: {
      code: kind === 'tool-start' && isOther ? failed.code : code, message: 'a failure of the suite',
      ...(!isOther && { data: {} }),
    },
    ...(!OVER.includes(kind) && { host }), ...(TOOL.includes(kind) && { rank }), wallMs, exitCode,
  }) as Failure;
}

function check(component: ErrmgrComponent, example: ErrmgrExample): void {
  const { promise, kind = 'tool-status', context, failed } = example;
  if (promise === 'record') {
    assert.is(component.framework.name, errmgrFramework.name, 'it is a component of framework errmgr');
    checkTexts(component, undefined);
    paramsOf(component);
    return;
  }
  const manager = managerOf(component, example);
  if (promise === 'policy') {
    const names = [manager.policy, ...(manager.policyOf === undefined ? []
      : [undefined, failed].flatMap((one) => manager.policyOf?.(failureOf(kind, one))))];
    for (const name of names) {
      assert.ok(typeof name === 'string' && TEXT.test(name), `the policy's name is ${JSON.stringify(name)}`);
    }
    assert.is(typeof manager.toleratesFailures, 'boolean', 'toleratesFailures is true or false');
    return;
  }
  if (promise === 'pure' && context === undefined) return checkInTurn(component, example);
  if (context === undefined) return;
  const ask = (): readonly Answer[] => answersOf(manager, failureOf(kind, failed), frozen(context));
  CHECKS[promise](elsewhere(ask), { manager, kind, context, ask: () => elsewhere(ask) });
}

/** Each question to a manager of its own; then all of them to one, again and again, while there are others. */
function checkInTurn(component: ErrmgrComponent, { params = {} }: ErrmgrExample): void {
  const all = [...questions('pure')];
  const managerFor = ({ hosts }: Question): ErrorManager =>
    managerOf(component, { promise: 'pure', params, ...(hosts && { hosts }) });
  const asked = (manager: ErrorManager, { kind = 'tool-status', context, failed }: Question): string => {
    progress();
    const failure = failureOf(kind, failed);
    const name = manager.policyOf?.(failure);
    const answer = context && JSON.stringify(answersOf(manager, failure, frozen(context)));
    return name === undefined ? `${answer}` : `${answer} of policy ${name}`;
  };
  const alone = elsewhere(() => all.map((question) => asked(managerFor(question), question)));
  const managers = new Map(all.map((question) => [JSON.stringify(question.hosts), managerFor(question)]));
  const rounds = [params, ...atBounds(component, undefined), ...Array.from({ length: ROUNDS }, () => params)];
  for (const set of rounds.slice(0, ROUNDS)) {
    managerOf(component, { promise: 'pure', params: set });
    elsewhere(() => {
      for (const [index, question] of [...all.entries()].reverse()) {
        const found = asked(managers.get(JSON.stringify(question.hosts)) as ErrorManager, question);
        const what = JSON.stringify([question.kind, question.context]);
        assert.ok(found === alone[index], `${what} is answered with ${alone[index]}, later with ${found}`);
      }
    });
  }
}

/** Of any type that may come. */
interface Answer {
  readonly type: string;
  readonly afterMs?: unknown;
  readonly reason?: unknown;
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
    for (const { type, reason } of answers) {
      assert.ok(HOST_ACTIONS.includes(type), `${type} is no action of a session`);
      const isText = reason === undefined || (typeof reason === 'string' && reason !== '');
      assert.ok(isText, `the reason of ${type} is ${JSON.stringify(reason)}, and no text`);
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
  toleratesFailures: (answers, { manager, context }) => {
    if (context.of !== 'job' || context.attempt === 0) return;
    const going = answers.find(({ type }) => type === 'go-on' || type === 'notify');
    assert.ok(going === undefined || manager.toleratesFailures, `${going?.type}, and toleratesFailures is false`);
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
    assert.ok(again === undefined, `${again?.type}, after more than ${STARTS_MAX} starts`);
  },
};

function shown(answers: readonly Answer[]): string {
  return answers.map(({ type }) => type).join(', ');
}
