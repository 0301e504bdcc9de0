/**
 * Suites. uvu runs them one after another, but only in steps that cannot pass by accident: by itself, uvu 0.5 passes
 * when a before hook throws, when a failing test's after.each throws, when undefined is thrown and when `.run()` is
 * forgotten, and it has no timeouts. Here tests and hooks only ever throw plain Errors into uvu, each has a deadline,
 * the suite runs itself, and a test that asserts nothing fails.
 */

import { suite as uvuSuite } from 'uvu';
import { DEFAULT_TIMEOUT_MS } from './deadline.js';
import {
  addResult, attempt, beginSuite, endSuite, fault, openSuite, standDown, textOf, underRunner, wanted,
} from './file-state.js';
import { watchTest } from './running-test.js';
import { progress, watchForStalls } from './stall.js';

export type TestBody = () => unknown;
export type Hook = (body: TestBody, options?: StepOptions) => void;

export interface StepOptions {
  /** Deadline of the test or hook. Default 5 000. */
  readonly timeoutMs?: number;
}

export interface TestApi {
  (name: string, body: TestBody, options?: StepOptions): void;
  /** Once, before the suite's first test. If it fails, every test of the suite fails. */
  readonly before: Hook;
  /** Once, after the suite's last test. */
  readonly after: Hook;
  readonly beforeEach: Hook;
  /** Also after a failed test; fails the test if it throws. */
  readonly afterEach: Hook;
  /** Skipped, counted and printed with its reason if `condition` holds; else run as usual. */
  skipIf(condition: boolean, reason: string, name: string, body: TestBody, options?: StepOptions): void;
}

/** Nothing that can go wrong would be noticed: it is as good as absent. */
const NOTHING_ASSERTED = 'The test asserted nothing. It must call an assertion (assert.*) or eventually each time it '
  + 'runs; where it does not apply, skip it with the reason: test.skipIf(…) or skip(reason)';

interface Step {
  readonly body: TestBody;
  readonly timeoutMs: number;
}

interface Test extends Step {
  readonly name: string;
  readonly skipReason: string | undefined;
}

interface Plan {
  readonly name: string;
  readonly tests: Test[];
  readonly before: Step[];
  readonly after: Step[];
  readonly beforeEach: Step[];
  readonly afterEach: Step[];
}

/** A test that is run by a program, not as one of a file. */
export interface CollectedTest {
  readonly suite: string;
  readonly name: string;
  /** Resolves to what was thrown, by the test or its hooks; empty: it passed, or does not apply. */
  run(): Promise<readonly unknown[]>;
}

let collected: Plan[] | undefined;

/** The tests of the suites that `define` defines, in place of running them with the file. */
export function collectTests(define: () => void): CollectedTest[] {
  const plans: Plan[] = [];
  collected = plans;
  try {
    define();
  } finally {
    collected = undefined;
  }
  return testsOf(plans);
}

/** Tests of the suites that a module defines when it is loaded. */
export async function collectTestsOf(load: () => Promise<unknown>): Promise<CollectedTest[]> {
  const plans: Plan[] = [];
  collected = plans;
  try {
    await load();
  } finally {
    collected = undefined;
  }
  return testsOf(plans);
}

/** Tests to be run in this order: a suite's `before` runs with its first test, `after` with its last. */
function testsOf(plans: readonly Plan[]): CollectedTest[] {
  standDown();
  return plans.flatMap((plan) => {
    const tests = plan.tests.filter(({ skipReason }) => skipReason === undefined);
    const run = async (test: Test): Promise<unknown[]> => [
      ...(test === tests[0] ? await runAll(plan.before, 'before', plan) : []),
      ...(await runBody(plan, test)).thrown,
      ...(test === tests.at(-1) ? await runAll(plan.after, 'after', plan) : []),
    ];
    return tests.map((test) => ({ suite: plan.name, name: test.name, run: () => run(test) }));
  });
}

/** Defines a suite; it runs by itself once the file is loaded. `define` registers tests and hooks, synchronously. */
export function suite(name: string, define: (test: TestApi) => void): void {
  if (collected === undefined) openSuite(name);
  const plan: Plan = { name, tests: [], before: [], after: [], beforeEach: [], afterEach: [] };
  const registration = { open: true };
  const returned: unknown = define(testApi(plan, registration));
  registration.open = false;
  if (returned !== undefined) throw new Error(`suite "${name}": define must be synchronous and return nothing`);
  if (plan.tests.length === 0) throw new Error(`suite "${name}" has no tests`);
  if (collected !== undefined) collected.push(plan);
  else enqueue({ ...plan, tests: plan.tests.filter((test) => wanted(name, test.name)) });
}

function testApi(plan: Plan, registration: { readonly open: boolean }): TestApi {
  const check = (what: string, body: unknown): void => {
    if (!registration.open) throw new Error(`${plan.name}: ${what} was registered after define returned`);
    if (typeof body !== 'function') throw new Error(`${plan.name}: ${what} needs a function`);
  };
  const hook = (kind: 'before' | 'after' | 'beforeEach' | 'afterEach'): Hook => (body, options) => {
    check(kind, body);
    plan[kind].push(step(body, options));
  };
  const add = (name: string, body: TestBody, options?: StepOptions, skipReason?: string): void => {
    check(`test "${name}"`, body);
    plan.tests.push({ ...step(body, options), name, skipReason });
  };
  return Object.assign((name: string, body: TestBody, options?: StepOptions) => add(name, body, options), {
    before: hook('before'),
    after: hook('after'),
    beforeEach: hook('beforeEach'),
    afterEach: hook('afterEach'),
    skipIf: (condition: boolean, reason: string, name: string, body: TestBody, options?: StepOptions) =>
      add(name, body, options, condition ? reason : undefined),
  });
}

function step(body: TestBody, { timeoutMs = DEFAULT_TIMEOUT_MS }: StepOptions = {}): Step {
  return { body, timeoutMs };
}

/** Passes the steps to uvu. Its hooks are not used, only its queue and its order. */
function enqueue(plan: Plan): void {
  const uvu = uvuSuite(plan.name);
  let beforeFailed: unknown[] = [];
  uvu.before(async () => {
    beginSuite();
    if (!underRunner) watchForStalls();
    if (needsHooks(plan)) beforeFailed = await runAll(plan.before, 'before', plan);
  });
  for (const test of plan.tests) {
    uvu(test.name, async () => {
      const text = await runTest(plan, test, beforeFailed);
      if (text !== undefined) throw plainError(test, text);
    });
  }
  uvu.after(async () => {
    if (needsHooks(plan)) {
      for (const thrown of await runAll(plan.after, 'after', plan)) fault(`${plan.name} › after hook`, thrown);
    }
    endSuite();
  });
  uvu.run();
}

function needsHooks(plan: Plan): boolean {
  return plan.tests.some((test) => test.skipReason === undefined);
}

/**
 * Without the runner a failure is printed as it comes, and named again by uvu after the suite's last test. Its printer
 * requires an Error with a name, a message and a stack, here of one line.
 */
function plainError({ name }: Test, text: string): Error {
  if (!underRunner) process.stdout.write(`\nFAIL ${name}\n${newsOf(name, text).replace(/^(?!$)/gmu, '    ')}\n\n`);
  const error = new Error(underRunner ? 'failed' : 'as told above');
  error.stack = error.message;
  return error;
}

/** Texts of failures as they were printed, without numbers → the test that had them first. */
const printed = new Map<string, string>();

/** Promises are checked at many sizes: what differs from an earlier failure in numbers alone is no news. */
function newsOf(name: string, text: string): string {
  const kind = text.replace(/\d+(?:,\d+)*/gu, '#');
  const first = printed.get(kind);
  if (first === undefined || !/ is broken\. /u.test(text)) {
    printed.set(kind, name);
    return text;
  }
  return `${text.split('\n', 1)[0]?.split('. ', 1)[0]}, as in ${first}`;
}

/** Runs a test with its hooks and records its result; returns the text of its failure. */
async function runTest(plan: Plan, test: Test, beforeFailed: readonly unknown[]): Promise<string | undefined> {
  const result = { suite: plan.name, name: test.name };
  if (test.skipReason !== undefined) {
    addResult({ ...result, ms: 0, ...skippedFor(test.skipReason) });
    return undefined;
  }
  progress(`${plan.name} › ${test.name}`);
  const startMs = performance.now();
  const { thrown, skipReason }: Outcome = beforeFailed.length > 0
    ? { thrown: [new Error('Not run: a before hook of the suite failed'), ...beforeFailed] }
    : await runBody(plan, test);
  const ms = performance.now() - startMs;
  if (thrown.length === 0) {
    addResult({ ...result, ms, ...(skipReason === undefined ? { status: 'passed' } : skippedFor(skipReason)) });
    return undefined;
  }
  const text = thrown.map(textOf).join('\nand then: ');
  addResult({ ...result, status: 'failed', ms, text });
  return text;
}

interface Outcome {
  readonly thrown: readonly unknown[];
  /** The test has found that it does not apply. */
  readonly skipReason?: string | undefined;
}

async function runBody(plan: Plan, test: Test): Promise<Outcome> {
  const thrown = await runAll(plan.beforeEach, 'beforeEach', plan);
  const activity = watchTest();
  if (thrown.length === 0) {
    const outcome = await attempt(`${plan.name} › ${test.name}`, test.timeoutMs, test.body);
    if (outcome !== undefined) thrown.push(outcome.thrown);
  }
  const { assertions, skipReason } = activity();
  if (thrown.length + assertions === 0 && skipReason === undefined) thrown.push(new Error(NOTHING_ASSERTED));
  return { thrown: [...thrown, ...(await runAll(plan.afterEach, 'afterEach', plan))], skipReason };
}

function skippedFor(reason: string): { readonly status: 'skipped'; readonly text: string } {
  return { status: 'skipped', text: reason };
}

/** Runs every step, even after a failed one, and returns what was thrown. */
async function runAll(steps: readonly Step[], kind: string, plan: Plan): Promise<unknown[]> {
  const thrown: unknown[] = [];
  for (const { body, timeoutMs } of steps) {
    const outcome = await attempt(`${plan.name} › ${kind} hook`, timeoutMs, body);
    if (outcome !== undefined) thrown.push(outcome.thrown);
  }
  return thrown;
}
