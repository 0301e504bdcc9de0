/**
 * Requirements on every service: what the contract of `ServiceModule` in @stci/interface promises, in jobs of a model:
 * small ones first, then drawn ones in which ranks and hosts are lost, and programs say anything. Pure.
 */

import type { Component, NoDeps, ServiceModule } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { checkCases, type SuiteCall } from '../kit/cases.js';
import { atBounds, checkTexts, paramsOf } from '../kit/component-record.js';
import { less, verify, type Contract, type Example } from '../kit/counterexample.js';
import { frozen } from '../kit/frozen.js';
import { skip } from '../kit/running-test.js';
import { progress } from '../kit/stall.js';
import { suite } from '../kit/suite.js';
import { ServiceModel, type Found, type JobPlan } from './service-model.js';

export type ServiceComponent = Component<ServiceModule, NoDeps>;

export interface ServiceCase {
  /** Used in the names of tests. */
  readonly label: string;
  /** Parameters of the component, by short name, as a user sets them. */
  readonly params?: Readonly<Record<string, string>>;
}

/** As in the docstring of `ServiceModule`. */
export const SERVICE = {
  framework: 'service',
  again: 'serviceExample',
  promises: {
    record: 'The registry takes it; version, help and parameters can be shown; `query` depends on its input only.',
    open: 'A part at a host calls `done` once, within a minute: ranks are started then.',
    env: 'A rank gets variables: names that shells know, texts without a zero byte, none that begins with STCI_.',
    plain: 'What parts send can be encoded, is within its bound, and has a part that gets it.',
    same: 'The same job has the same course, whatever other jobs have the service at that time.',
    again: 'A rank that is started again gets variables of the same names as before.',
    course: 'Whichever ranks and hosts are lost, and when, the parts throw nothing.',
    bytes: 'Whatever programs send, and whenever they connect and leave, the parts throw nothing.',
    close: 'After `close` a part sends nothing.',
  },
} as const satisfies Contract<string>;

/** A counter-example: a job. */
export interface ServiceExample extends Example<keyof typeof SERVICE.promises> {
  readonly params?: Readonly<Record<string, string>>;
  readonly seed?: number;
  readonly hosts?: number;
  /** On each host. */
  readonly ranks?: number;
}

const SEEDS = 200;
const LONG = { timeoutMs: 60_000 };
const SIZES = [[1, 1], [1, 3], [2, 1], [3, 2], [8, 4]] as const;
const PROMISES = ['open', 'env', 'plain', 'same', 'again', 'course', 'bytes', 'close'] as const;

const CALL: SuiteCall<ServiceCase> = {
  suite: 'serviceCompliance',
  framework: 'service',
  fields: { label: 'text', params: 'an object of texts, as a user sets parameters' },
  required: ['label'],
};

/** Defines a suite; for each case, such as each value of a parameter that changes what it does, tests of its own. */
export function serviceCompliance(
  component: ServiceComponent,
  cases: readonly ServiceCase[] = [{ label: 'default' }],
): void {
  checkCases(CALL, component, cases);
  suite(`service compliance: ${component.name}`, (test) => {
    test('record', () => serviceExample(component, { promise: 'record' }));
    for (const { label, params } of cases) {
      const check = (example: ServiceExample): void =>
        serviceExample(component, { ...example, ...(params && { params }) });
      for (const promise of PROMISES) {
        test(`${label}: ${promise}`, () => {
          for (const [hosts, ranks] of SIZES) check({ promise, hosts, ranks });
          for (let seed = 1; seed <= SEEDS; seed++) {
            check({ promise, seed, hosts: 1 + (seed % 5), ranks: 1 + (seed % 3) });
          }
        }, LONG);
      }
    }
    test('parameters at their bounds', () => {
      const all = atBounds(component, undefined);
      if (all.length === 0) return skip('no parameter has bounds');
      for (const params of all) {
        for (const promise of PROMISES) serviceExample(component, { promise, params, hosts: 2 });
      }
    }, LONG);
  });
}

/** Checks one example again, such as a counter-example that the suite has printed; throws if it breaks its promise. */
export function serviceExample(component: ServiceComponent, example: ServiceExample): void {
  verify(SERVICE, example, (one) => check(component, one), smaller);
}

/** Fewer hosts and ranks; nothing is lost; no parameters. */
function* smaller(example: ServiceExample): Generator<ServiceExample> {
  const { params, seed, hosts = 1, ranks = 1 } = example;
  if (params !== undefined) {
    const { params: _, ...rest } = example;
    yield rest;
  }
  for (const fewer of less(hosts, 1)) yield { ...example, hosts: fewer };
  for (const fewer of less(ranks, 1)) yield { ...example, ranks: fewer };
  if (seed !== undefined) for (const other of less(seed, 0)) yield { ...example, seed: other };
}

function check(component: ServiceComponent, example: ServiceExample): void {
  const { promise, params, seed = 0, hosts = 1, ranks = 1 } = example;
  progress();
  if (promise === 'record') return checkRecord(component);
  const given = frozen(paramsOf(component, params));
  const create = (): ServiceModule => component.create({}, given, undefined);
  const plan: JobPlan = {
    seed, hosts, ranks, restarts: promise === 'again' || seed % 2 === 1, losses: seed > 0,
    isHostile: promise === 'bytes',
  };
  const model = new ServiceModel(create, plan);
  model.run();
  if (promise === 'same') return checkSame(model, create, plan);
  const found = model.found.get(promise as Found);
  assert.ok(found === undefined, found ?? '');
}

function checkRecord(component: ServiceComponent): void {
  checkTexts(component, undefined);
  const module = component.create({}, frozen(paramsOf(component)), undefined);
  assert.is(typeof module.atHost, 'function', 'it has a part at hosts');
}

/** Once alone, once beside another job. */
function checkSame(alone: ServiceModel, create: () => ServiceModule, plan: JobPlan): void {
  const beside = new ServiceModel(create, plan);
  const other = new ServiceModel(create, { ...plan, seed: plan.seed + 1, job: 2, hosts: plan.hosts + 1 });
  for (let goesOn = true; goesOn;) {
    const [one, two] = [beside.step(), other.step()];
    goesOn = one || two;
  }
  const at = alone.trace.findIndex((line, index) => line !== beside.trace[index]);
  if (at < 0 && alone.trace.length === beside.trace.length) return;
  const [found, expected] = [beside, alone].map(({ trace }) => trace[at < 0 ? alone.trace.length : at]);
  assert.equal(found, expected, 'beside another job it has another course:');
}
