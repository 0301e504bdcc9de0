/**
 * Requirements on every detector of agents: what the contract of `DetectorModule` in @stci/interface promises, on a
 * model of a network (detector-model.ts), by seeds: every death is reported within the promised interval, nobody who
 * lives is while messages keep their bound, and it costs what it promises; and on real sockets (detector-sockets.ts),
 * under the failure watch that agents run. A component's own test calls this and adds its guarantees.
 */

import type { DetectorModule } from '@stci/interface';
import { subjectName } from '@stci/interface';
import * as assert from '../kit/assert.js';
import { checkCases, type SuiteCall } from '../kit/cases.js';
import { atBounds, otherParams, paramsOf } from '../kit/component-record.js';
import { promised, verify } from '../kit/counterexample.js';
import { eventually } from '../kit/deadline.js';
import { skip } from '../kit/running-test.js';
import { suite } from '../kit/suite.js';
import { checkDetectorExample } from './detector-checks.js';
import { DETECTOR, type DetectorExample } from './detector-contract.js';
import { detectorExamples, parameterExamples, smallerDetectorExample } from './detector-examples.js';
import { checkComponent } from './detector-record.js';
import { DetectorRun, detectorModule, type DetectorCase, type DetectorComponent } from './detector-run.js';
import { DetectorSockets } from './detector-sockets.js';

/** Size of the test on real sockets. */
const REAL_SIZE = 4;
const REAL_MS_MAX = 2000;
const SLOW = { timeoutMs: 100_000 };

const ON_MODEL = [
  'promise', 'quiet', 'interval', 'several', 'standstill', 'joined', 'left', 'refuted', 'links', 'restart', 'strange',
  'metrics', 'same',
] as const;

const CALL: SuiteCall<DetectorCase> = {
  suite: 'detectorCompliance',
  framework: 'detector',
  fields: {
    label: 'text',
    params: 'an object of texts, as a user sets parameters',
    latencyBoundMs: 'a number, at least 0',
    topology: 'a function',
    links: 'a function',
    waits: 'true or false',
    detection: 'an object',
    graceMs: 'a number, at least 0',
    seeds: 'a whole number, at least 1',
  },
  required: ['label'],
};

/** Defines a suite: tests of the component's record, and for each case a test of each promise. */
export function detectorCompliance(component: DetectorComponent, cases: readonly DetectorCase[]): void {
  checkCases(CALL, component, cases);
  const { name } = component;
  suite(`detector compliance: ${name}`, (test) => {
    test('record', () => verify(DETECTOR, { promise: 'record' }, () => checkComponent(component)));
    for (const one of cases) {
      const module = detectorModule(component, one.params);
      for (const promise of ON_MODEL) {
        test(`${one.label}: ${promise}`, () => {
          for (const example of detectorExamples(promise, module, one)) verifyOne(component, module, one, example);
        }, SLOW);
      }
      test(`${one.label}: other parameters`, () => {
        const sets = [...otherParams(component, one.params)];
        const examples = [...parameterExamples(sets, (params) => withParams(component, one, params), one)];
        if (examples.length === 0) return skip('of no other parameters is it known what they promise');
        for (const example of examples) verifyOne(component, module, one, example);
      }, SLOW);
      // What takes longer is the same in the model.
      if (isSlow(module, one)) continue;
      test(`${one.label}: sockets`, () => verifySockets(component, module, one), SLOW);
    }
  });
}

/**
 * Checks one example again, such as a counter-example that the suite has printed. `cases`: as they were passed to the
 * suite; the one that the example names is used, or the first. Rejects with a BrokenPromise.
 */
export async function detectorExample(
  component: DetectorComponent,
  example: DetectorExample,
  cases: readonly DetectorCase[],
): Promise<void> {
  const one = cases.find(({ label }) => label === example.case) ?? cases[0];
  if (example.promise === 'record') return verify(DETECTOR, example, () => checkComponent(component));
  if (one === undefined) throw new Error('detectorExample needs the cases of the suite');
  const module = detectorModule(component, one.params);
  if (example.promise === 'sockets') return verifySockets(component, module, one);
  verifyOne(component, module, one, example);
}

function verifyOne(
  component: DetectorComponent, module: DetectorModule, one: DetectorCase, example: DetectorExample,
): void {
  const others = () => atBounds(component, undefined).map((params) => detectorModule(component, params));
  const { params } = example;
  const [made, of] = params === undefined ? [module, one] : withParams(component, one, params);
  const check = (each: DetectorExample): void => checkDetectorExample(made, of, each, others);
  verify(DETECTOR, example, check, (found) => smallerDetectorExample(found, one));
}

/** The case with other parameters. A duration may be what an agent is granted at its start. */
function withParams(
  component: DetectorComponent, one: DetectorCase, params: Readonly<Record<string, string>>,
): readonly [DetectorModule, DetectorCase] {
  const all = { ...one.params, ...params };
  const values = paramsOf(component, all);
  const isDuration = (name: string): boolean => component.params[name]?.type === 'duration';
  const graceMs = Object.keys(params).reduce((sum, name) => sum + (isDuration(name) ? Number(values[name]) : 0),
    one.graceMs ?? 0);
  return [detectorModule(component, all), { ...one, params: all, graceMs }];
}

/** An agent that is silent from the start is reported late only. One that cannot be run is told of by its tests. */
function isSlow(module: DetectorModule, one: DetectorCase): boolean {
  try {
    return new DetectorRun(module, one, REAL_SIZE, 1).settleMs > REAL_MS_MAX;
  } catch {
    return false;
  }
}

async function verifySockets({ name }: DetectorComponent, module: DetectorModule, one: DetectorCase): Promise<void> {
  const example = { promise: 'sockets', case: one.label, size: REAL_SIZE } as const;
  await promised(DETECTOR, example, () => checkSockets(name, module, one));
}

async function checkSockets(name: string, module: DetectorModule, one: DetectorCase): Promise<void> {
  const latencyBoundMs = one.latencyBoundMs ?? 5;
  const sockets = new DetectorSockets({
    name, module, size: REAL_SIZE, latencyBoundMs, topologyOf: one.topology, links: one.links?.(REAL_SIZE),
  });
  try {
    await sockets.start();
    sockets.silence(2);
    if (one.waits === true) sockets.waitForAll();
    const subjects = () => sockets.told.map((notices) => notices.map(({ subject }) => subjectName(subject)));
    await eventually(() => subjects().every(({ length }) => length > 0), {
      what: 'all that live are told', deadlineMs: 10_000,
    });
    // Who is accused wrongly may be so a moment after the dead one is.
    const endMs = performance.now() + new DetectorRun(module, one, REAL_SIZE, 1).settleMs;
    await eventually(() => performance.now() > endMs, { what: 'as long again', deadlineMs: 2 * REAL_MS_MAX });
    assert.equal(subjects(), sockets.told.map(() => ['host 1']));
    assert.equal(sockets.faults, []);
  } finally {
    sockets.end();
  }
}
