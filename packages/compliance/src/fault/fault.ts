/**
 * Requirements on every kind of fault: what the contract of `FaultModule` in @stci/interface promises, with orders for
 * each kind of victim in small sessions, of agents that are up or not, and in a large one (fault-site.ts). Pure: the
 * machine of each part is passed events as its agent passes them.
 */

import { completeFaultArgs, faultFramework, faultOrderProblem } from '@stci/core/component';
import type {
  Component, FaultModule, FaultOrder, FaultPart, FaultPlace, FaultVictim, NoDeps, ParamValue,
} from '@stci/interface';
import * as assert from '../kit/assert.js';
import { checkCases, type SuiteCall } from '../kit/cases.js';
import { boundsOf, checkTexts, paramsOf } from '../kit/component-record.js';
import { verify, type Contract, type Example } from '../kit/counterexample.js';
import { elsewhere } from '../kit/elsewhere.js';
import { frozen } from '../kit/frozen.js';
import { plainSize } from '../kit/plain-size.js';
import { skip } from '../kit/running-test.js';
import { suite } from '../kit/suite.js';
import {
  FAR_VICTIMS, FaultSiteModel, PLACES, VICTIMS, WHOLE, type PlaceName, type SitePlan, type SiteRun,
} from './fault-site.js';

export type FaultComponent = Component<FaultModule, NoDeps>;

export interface FaultCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Arguments of its orders; default: the defaults. */
  readonly args?: Readonly<Record<string, ParamValue>>;
}

/** As in the docstring of `FaultModule`. */
export const FAULT = {
  framework: 'fault',
  again: 'faultExample',
  promises: {
    record: 'The registry takes it; version, help and arguments can be shown; `query` depends on its input only.',
    order: 'Of each kind of victim that it names an order is accepted; a refusal is a sentence.',
    impact: '`impactOf` answers none, disturbs, may-end or ends.',
    plan: 'A plan has parts at agents that are up, each once, with plain bodies; or says why there is none.',
    pure: 'The same order has the same plan, and its machine the same actions, whatever others do meanwhile, and when.',
    site: 'Each action is one that the agent of its part can carry out; of ranks, one to the rank that is the victim.',
    inject: 'Once all its actions are done, it has said `injected`, once, or `failed`.',
    refused: 'Where its actions cannot be carried out, it says `failed`; of those that undo, `failed` or `undone`.',
    undo: 'A kind that undoes says `undone` after `undo`, also if it was not in force yet.',
    clean: 'After it was undone, nothing of it is left: links, processes and stopped ranks are as before.',
    end: 'After `tear-down`, also without `undo`, no link is impaired, and nothing is due.',
    due: 'What was due has been done: `dueMs` is later, or undefined, and is passed in vain only so often.',
  },
} as const satisfies Contract<string>;

/** A counter-example: an order. */
export interface FaultExample extends Example<keyof typeof FAULT.promises> {
  readonly victim?: FaultVictim;
  readonly args?: Readonly<Record<string, ParamValue>>;
  /** The session; default: `chain`. */
  readonly place?: PlaceName;
  /** Of a kind that undoes; default: 1000. */
  readonly durationMs?: number;
  /** 0: of no job; default: 1, in a large session 300. */
  readonly job?: number;
}

const DURATION_MS = 1000;
const LONG = { timeoutMs: 60_000 };
/** The shortest, and the longest. */
const DURATIONS_MS = [1, 86_400_000];
/** A clock that has run for long. */
const LATE_MS = 2 ** 41 + 0.5;
const NAMED = [{ id: '1', job: 1 }, { id: '300', job: 300 }] as const;
const SENTENCE = /^\S.{3,}$/su;
const IMPACTS = ['none', 'disturbs', 'may-end', 'ends'];
const PROMISES = ['impact', 'plan', 'pure', 'site', 'inject', 'refused', 'undo', 'clean', 'end', 'due'] as const;

const CALL: SuiteCall<FaultCase> = {
  suite: 'faultCompliance',
  framework: 'fault',
  fields: {
    label: 'text',
    args: 'an object',
  },
  required: ['label'],
};

/** Defines a suite; each case's arguments make orders of their own. */
export function faultCompliance(component: FaultComponent, cases: readonly FaultCase[] = [{ label: 'default' }]): void {
  checkCases(CALL, component, cases);
  const check = (example: FaultExample): void => faultExample(component, example);
  suite(`fault compliance: ${component.name}`, (test) => {
    test('record', () => check({ promise: 'record' }));
    for (const { label, args } of cases) {
      const given = args && { args };
      test(`${label}: order`, () => check({ promise: 'order', ...given }));
      for (const promise of PROMISES) {
        test(`${label}: ${promise}`, () => {
          for (const order of ordersOf(component, args)) check({ promise, ...given, ...order });
        }, LONG);
      }
    }
  });
}

/** Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise. */
export function faultExample(component: FaultComponent, example: FaultExample): void {
  verify(FAULT, example, (one) => check(component, one), smaller);
}

/** Orders to each victim; then in other sessions, for other times, and with arguments at their bounds. */
function* ordersOf(
  component: FaultComponent, given: FaultExample['args'],
): Generator<Omit<FaultExample, 'promise'>> {
  for (const victim of VICTIMS) yield { victim };
  for (const place of Object.keys(PLACES) as PlaceName[]) {
    if (place !== 'chain') for (const victim of place === 'large' ? FAR_VICTIMS : VICTIMS) yield { victim, place };
  }
  for (const durationMs of DURATIONS_MS) for (const victim of VICTIMS) yield { victim, durationMs };
  for (const victim of VICTIMS) if (victim.kind !== 'rank') yield { victim, job: 0 };
  const { args: specs = {} } = component;
  const bounds = Object.entries(specs).flatMap(([name, spec]) => boundsOf(spec).map((value) => ({ [name]: value })));
  const enums = bounds.filter((one) => Object.values(one).some((value) => typeof value === 'string'));
  for (const args of [...bounds, ...enums.flatMap((one) => bounds.map((other) => ({ ...one, ...other })))]) {
    for (const victim of VICTIMS) yield { victim, args: { ...given, ...args } };
  }
}

/** The default arguments, session and duration. */
function* smaller({ args, place, durationMs, job, ...example }: FaultExample): Generator<FaultExample> {
  const rest = { ...example, ...(job !== undefined && { job }) };
  if (job !== undefined) {
    yield { ...example, ...(args && { args }), ...(place && { place }), ...(durationMs && { durationMs }) };
  }
  const [some, where, long] = [args && { args }, place && { place }, durationMs && { durationMs }];
  if (args !== undefined) yield { ...rest, ...where, ...long };
  if (place !== undefined) yield { ...rest, ...some, ...long };
  if (durationMs !== undefined) yield { ...rest, ...some, ...where };
}

function check(component: FaultComponent, example: FaultExample): void {
  const { promise } = example;
  if (promise === 'record') return checkRecord(component);
  const module = component.create({}, Object.freeze(paramsOf(component)), undefined);
  if (promise === 'order') return checkOrders(component, module, example);
  const order = orderOf(component, module, example);
  if (order === undefined) return;
  CHECKS[promise](module, order, PLACES[example.place ?? 'chain']);
}

function checkRecord(component: FaultComponent): void {
  assert.is(component.framework.name, faultFramework.name, 'it is a component of framework fault');
  checkTexts(component, undefined);
  const module = component.create({}, Object.freeze(paramsOf(component)), undefined);
  assert.ok(module.victims.length > 0, 'it names no kind of victim');
  assert.equal(component.args ?? {}, module.args, 'the record has the arguments of its module');
}

/** undefined: this order is refused, or its victim is not one of this kind. */
function orderOf(
  { name }: FaultComponent,
  module: FaultModule,
  { victim, args = {}, durationMs = DURATION_MS, place, job }: FaultExample,
): FaultOrder | undefined {
  const complete = completeFaultArgs(name, module.args, args);
  if ('problem' in complete) throw new Error(complete.problem);
  if (victim === undefined) return undefined;
  const order: FaultOrder = frozen({
    ...NAMED[place === 'large' ? 1 : 0], ...(job !== undefined && { job }), kind: name, args: complete.args, victim,
    timeoutMs: 10_000, durationMs: module.undoes ? durationMs : undefined,
  });
  return faultOrderProblem(order, module) === undefined ? order : undefined;
}

function checkOrders(component: FaultComponent, module: FaultModule, example: FaultExample): void {
  for (const kind of module.victims) {
    const victims = VICTIMS.filter((each) => each.kind === kind);
    assert.ok(victims.length > 0, `${kind} is no kind of victim`);
    const orders = victims.map((victim) => orderOf(component, module, { ...example, victim }));
    assert.ok(orders.some((order) => order !== undefined), `no order is accepted whose victim is of kind ${kind}`);
  }
  for (const victim of [...VICTIMS, ...FAR_VICTIMS]) {
    const complete = completeFaultArgs(component.name, module.args, example.args ?? {});
    const args = 'args' in complete ? complete.args : {};
    for (const durationMs of module.undoes ? [0, ...DURATIONS_MS] : [undefined]) {
      const problem: unknown = module.problemOf(frozen({ args, victim, durationMs }));
      const isSentence = problem === undefined || (typeof problem === 'string' && SENTENCE.test(problem));
      assert.ok(isSentence, `problemOf answers ${JSON.stringify(problem)}`);
    }
  }
}

function partsOf(module: FaultModule, order: FaultOrder, place: FaultPlace): readonly FaultPart[] {
  const plan = module.plan(order, place);
  return typeof plan === 'string' ? [] : plan;
}

/** Runs of each part. */
function runs(module: FaultModule, order: FaultOrder, place: FaultPlace, plan: SitePlan): SiteRun[] {
  return partsOf(module, order, place).map((part) => new FaultSiteModel(module, order, place, part, plan).finish());
}

const INJECTED: SitePlan = { steps: ['set-up', 'inject', 'wait'] };
const LATE: SitePlan = {
  steps: ['set-up', 'inject', 'wait', 'undo', 'done', 'wait', 'done', 'tear-down'], isLate: true,
};
/** Undone before it is injected; at once; before its actions are done, and before what is waited for. */
const UNDOINGS: readonly (readonly [string, SitePlan])[] = [
  ['in force', WHOLE],
  ['not yet in force', { steps: ['set-up', 'undo', 'wait', 'tear-down'] }],
  ['just injected', { steps: ['set-up', 'inject', 'undo', 'wait', 'tear-down'] }],
  ['its actions are not yet done', LATE],
];

/** What is wrong with one that has undone. */
function undoProblem({ said, saidLater }: SiteRun): string | undefined {
  if (said.includes('failed')) return undefined;
  const isRight = saidLater.length > 0 && saidLater.every((one) => one === 'undone');
  return isRight ? undefined : `after undo it says: ${saidLater.join(', ') || 'nothing'}`;
}

type Check = (module: FaultModule, order: FaultOrder, place: FaultPlace) => void;

const CHECKS: Readonly<Record<(typeof PROMISES)[number], Check>> = {
  impact: (module, { args }) => {
    const impact = module.impactOf?.(args) ?? 'disturbs';
    assert.ok(IMPACTS.includes(impact), `impactOf answers ${JSON.stringify(impact)}`);
  },
  plan: (module, order, place) => {
    const plan: unknown = module.plan(order, place);
    if (typeof plan === 'string') return assert.ok(SENTENCE.test(plan), `plan answers ${JSON.stringify(plan)}`);
    assert.ok(Array.isArray(plan) && plan.length > 0, 'a plan without parts says in a sentence why nobody can');
    const { victim } = order;
    const seen = new Set<string>();
    for (const { at, body } of plan as readonly FaultPart[]) {
      const where = `${at.role}:${at.host}`;
      const isAgent = at.role === 'controller' ? at.host === 0
        : ['root', 'session'].includes(at.role) && place.isUp(at.host);
      assert.ok(isAgent, `there is no agent ${where} that is up`);
      const isOfNone = at.role === 'session' && order.job === 0;
      assert.ok(!isOfNone, `${where} has a part, and no job was named whose session agent it is`);
      const isGone = at.role === 'session' && victim.kind === 'rank' && place.hostOf(victim.rank) === undefined;
      assert.ok(!isGone, `${where} has a part, and the rank does not run`);
      assert.ok(!seen.has(where), `${where} has two parts`);
      seen.add(where);
      plainSize(body);
    }
  },
  pure: checkPure,
  site: (module, order, place) => {
    for (const { misplaced } of runs(module, order, place, WHOLE)) assert.equal(misplaced, [], misplaced[0]);
  },
  inject: (module, order, place) => {
    const late = { steps: [...INJECTED.steps, 'done', 'wait'], isLate: true } as const;
    for (const plan of [INJECTED, late, { ...INJECTED, startMs: LATE_MS, lateMs: 7.25 }]) {
      for (const { said } of runs(module, order, place, plan)) {
        const isRight = said.length === 1 && (said[0] === 'injected' || said[0] === 'failed');
        assert.ok(isRight, `after inject it says: ${said.join(', ') || 'nothing'}`);
      }
    }
  },
  refused: (module, order, place) => {
    for (const plan of module.undoes ? [INJECTED, WHOLE] : [INJECTED]) {
      const most = Math.max(0, ...runs(module, order, place, plan).map(({ done }) => done.length));
      for (const refused of [Infinity, ...Array.from({ length: most }, (_, index) => index)]) {
        for (const { said, saidLater, done } of runs(module, order, place, { ...plan, refused })) {
          const which = done.slice(refused === Infinity ? 0 : refused);
          const isSaid = said.includes('failed') || (plan === WHOLE && saidLater.includes('undone'));
          const what = said.join(', ') || 'nothing';
          assert.ok(which.length === 0 || isSaid, `${which.join(', ')} could not be done, and it says: ${what}`);
        }
      }
    }
  },
  undo: (module, order, place) => {
    if (!module.undoes) return skip('its kind is not undone');
    for (const [when, plan] of UNDOINGS) {
      for (const run of runs(module, order, place, plan)) {
        const problem = undoProblem(run);
        assert.is(problem, undefined, `undone while ${when}: ${problem}`);
      }
    }
  },
  clean: (module, order, place) => {
    if (!module.undoes) return skip('its kind is not undone');
    for (const [when, plan] of UNDOINGS) {
      for (const { left } of runs(module, order, place, plan)) {
        // A pause is over when its time is, whoever undoes it.
        const all = left.filter((what) => plan === WHOLE || !/^(self|all) stopped$/.test(what));
        assert.equal(all, [], `undone while ${when}, it leaves: ${all.join(', ')}`);
      }
    }
  },
  end: (module, order, place) => {
    for (const { left, idle } of runs(module, order, place, { steps: [...INJECTED.steps, 'tear-down', 'wait'] })) {
      const links = left.filter((what) => what.startsWith('link'));
      assert.equal(links, [], `after tear-down without undo: ${links.join(', ')}`);
      assert.is(idle, undefined, idle);
    }
  },
  due: (module, order, place) => {
    for (const startMs of [0, LATE_MS]) {
      for (const { idle } of runs(module, order, place, { ...WHOLE, startMs })) assert.is(idle, undefined, idle);
    }
  },
};

/** Again, elsewhere, on a clock that has run for long; then in turn with another that begins before or after it. */
function checkPure(module: FaultModule, order: FaultOrder, place: FaultPlace): void {
  for (const plan of [WHOLE, LATE]) {
    const parts = partsOf(module, order, place);
    const [first, ...others] = [0, LATE_MS, 0, LATE_MS].map((startMs) =>
      elsewhere(() => [module.plan(order, place), runs(module, order, place, { ...plan, startMs })]));
    for (const other of others) assert.equal(other, first, 'the same order again: another plan, or other actions');
    const [, alone] = first as [unknown, SiteRun[]];
    for (const [index, part] of parts.entries()) {
      for (let lead = -plan.steps.length; lead <= plan.steps.length; lead += 1) {
        const [one, other] = [0, 1].map(() => new FaultSiteModel(module, order, place, part, plan));
        for (let step = 0; step < lead; step++) other?.next();
        for (let step = 0; one?.next() === true; step++) if (step >= -lead) other?.next();
        assert.equal(one?.finish(), alone[index], 'another injection changes its actions');
      }
    }
  }
}
