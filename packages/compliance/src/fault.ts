/**
 * Requirements on every kind of fault: what the contract of `FaultModule` in @stci/interface promises, with orders for
 * each kind of victim in a small session (fault-site.ts). Pure: the machine of each part is passed events as its agent
 * passes them.
 */

import { completeFaultArgs, faultFramework, faultOrderProblem } from '@stci/core/component';
import type { Component, FaultModule, FaultOrder, FaultPart, FaultVictim, NoDeps, ParamValue } from '@stci/interface';
import * as assert from './assert.js';
import { checkCases, type SuiteCall } from './cases.js';
import { checkTexts, paramsOf } from './component-record.js';
import { verify, type Contract, type Example } from './counterexample.js';
import { FaultSiteModel, PLACE, VICTIMS, type SiteRun } from './fault-site.js';
import { plainSize } from './plain-size.js';
import { skip } from './running-test.js';
import { suite } from './suite.js';

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
    pure: 'The same order has the same plan, and its machine the same actions for the same events.',
    site: 'Each action is one that the agent of its part can carry out.',
    inject: 'Once all its actions are done, it has said `injected`, once, or `failed`.',
    refused: 'Where its actions cannot be carried out, it says `failed`.',
    undo: 'A kind that undoes says `undone` after `undo`, also if it was not in force yet.',
    clean: 'After it was undone, nothing of it is left: links, processes and stopped ranks are as before.',
    due: 'What was due has been done: `dueMs` is later, or undefined, and is passed in vain only so often.',
  },
} as const satisfies Contract<string>;

/** A counter-example: an order. */
export interface FaultExample extends Example<keyof typeof FAULT.promises> {
  readonly victim?: FaultVictim;
  readonly args?: Readonly<Record<string, ParamValue>>;
}

const DURATION_MS = 1000;
const SENTENCE = /^\S.{3,}$/su;
const IMPACTS = ['none', 'disturbs', 'may-end', 'ends'];
const PROMISES = ['impact', 'plan', 'pure', 'site', 'inject', 'refused', 'undo', 'clean', 'due'] as const;

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
          for (const victim of VICTIMS) check({ promise, victim, ...given });
        });
      }
    }
  });
}

/** Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise. */
export function faultExample(component: FaultComponent, example: FaultExample): void {
  verify(FAULT, example, (one) => check(component, one), smaller);
}

/** The default arguments. */
function* smaller({ args, ...rest }: FaultExample): Generator<FaultExample> {
  if (args !== undefined) yield rest;
}

function check(component: FaultComponent, example: FaultExample): void {
  const { promise } = example;
  if (promise === 'record') return checkRecord(component);
  const module = component.create({}, Object.freeze(paramsOf(component)), undefined);
  if (promise === 'order') return checkOrders(component, module, example);
  const order = orderOf(component, module, example);
  if (order === undefined) return;
  CHECKS[promise](module, order);
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
  { victim, args = {} }: FaultExample,
): FaultOrder | undefined {
  const complete = completeFaultArgs(name, module.args, args);
  if ('problem' in complete) throw new Error(complete.problem);
  if (victim === undefined) return undefined;
  const order: FaultOrder = Object.freeze({
    id: '1', kind: name, args: Object.freeze(complete.args), victim, job: 1, timeoutMs: 10_000,
    durationMs: module.undoes ? DURATION_MS : undefined,
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
  for (const victim of VICTIMS) {
    const complete = completeFaultArgs(component.name, module.args, example.args ?? {});
    const args = 'args' in complete ? complete.args : {};
    const problem: unknown = module.problemOf({ args, victim, durationMs: module.undoes ? 1 : undefined });
    const isSentence = problem === undefined || (typeof problem === 'string' && SENTENCE.test(problem));
    assert.ok(isSentence, `problemOf answers ${JSON.stringify(problem)}`);
  }
}

function partsOf(module: FaultModule, order: FaultOrder): readonly FaultPart[] {
  const plan = module.plan(order, PLACE);
  return typeof plan === 'string' ? [] : plan;
}

/** Of each part. */
function runs(module: FaultModule, order: FaultOrder, play: (site: FaultSiteModel) => SiteRun): SiteRun[] {
  return partsOf(module, order).map((part) => play(new FaultSiteModel(module, order, part)));
}

const CHECKS: Readonly<Record<(typeof PROMISES)[number], (module: FaultModule, order: FaultOrder) => void>> = {
  impact: (module, { args }) => {
    const impact = module.impactOf?.(args) ?? 'disturbs';
    assert.ok(IMPACTS.includes(impact), `impactOf answers ${JSON.stringify(impact)}`);
  },
  plan: (module, order) => {
    const plan: unknown = module.plan(order, PLACE);
    if (typeof plan === 'string') return assert.ok(SENTENCE.test(plan), `plan answers ${JSON.stringify(plan)}`);
    assert.ok(Array.isArray(plan) && plan.length > 0, 'a plan without parts says in a sentence why nobody can');
    const seen = new Set<string>();
    for (const { at, body } of plan as readonly FaultPart[]) {
      const where = `${at.role}:${at.host}`;
      const isAgent = at.role === 'controller' ? at.host === 0 : ['root', 'session'].includes(at.role);
      assert.ok(isAgent && PLACE.isUp(at.host), `there is no agent ${where} that is up`);
      assert.ok(!seen.has(where), `${where} has two parts`);
      seen.add(where);
      plainSize(body);
    }
  },
  pure: (module, order) => {
    const [first, second] = [0, 1].map(() => [module.plan(order, PLACE), runs(module, order, (site) => site.whole())]);
    assert.equal(second, first, 'the same order again: another plan, or other actions');
  },
  site: (module, order) => {
    for (const { misplaced } of runs(module, order, (site) => site.whole())) assert.equal(misplaced, [], misplaced[0]);
  },
  inject: (module, order) => {
    for (const { said } of runs(module, order, (site) => site.inject())) {
      const isRight = said.length === 1 && (said[0] === 'injected' || said[0] === 'failed');
      assert.ok(isRight, `after inject it says: ${said.join(', ') || 'nothing'}`);
    }
  },
  refused: (module, order) => {
    for (const { said, done } of runs(module, order, (site) => site.refused())) {
      assert.ok(done.length === 0 || said.includes('failed'), `${done.join(', ')} could not be done, and it says: ${
        said.join(', ') || 'nothing'}`);
    }
  },
  undo: (module, order) => {
    if (!module.undoes) return skip('its kind is not undone');
    for (const [play, when] of [['whole', 'in force'], ['early', 'not yet in force']] as const) {
      for (const { said } of runs(module, order, (site) => site[play]())) {
        if (said.includes('failed')) continue;
        assert.ok(said.includes('undone'), `undone while ${when}, it says: ${said.join(', ') || 'nothing'}`);
      }
    }
  },
  clean: (module, order) => {
    if (!module.undoes) return skip('its kind is not undone');
    for (const { left } of runs(module, order, (site) => site.whole())) {
      assert.equal(left, [], `it leaves: ${left.join(', ')}`);
    }
  },
  due: (module, order) => {
    for (const { idle } of runs(module, order, (site) => site.whole())) assert.is(idle, undefined, idle);
  },
};
