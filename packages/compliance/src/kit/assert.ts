/**
 * Assertions: uvu's (`equal` is deep, `is` is ===), and two for coded errors. uvu's `throws` does not await the promise
 * of an async function, so both forms refuse one. Each call is counted: a test without one fails (suite.ts).
 */

import { Assertion } from 'uvu/assert';
import * as uvuAssert from 'uvu/assert';
import type { ErrorCode } from '@stci/interface';
import { countAssertion } from './running-test.js';

export { Assertion } from 'uvu/assert';

type Assertions = Pick<typeof uvuAssert,
  'equal' | 'fixture' | 'instance' | 'is' | 'ok' | 'snapshot' | 'type' | 'unreachable'>;
export const equal: Assertions['equal'] = counted(uvuAssert.equal);
export const fixture: Assertions['fixture'] = counted(uvuAssert.fixture);
export const instance: Assertions['instance'] = counted(uvuAssert.instance);
export const is: Assertions['is'] = Object.assign(counted(uvuAssert.is), { not: counted(uvuAssert.is.not) });
export const ok: Assertions['ok'] = counted(uvuAssert.ok);
export const snapshot: Assertions['snapshot'] = counted(uvuAssert.snapshot);
export const type: Assertions['type'] = counted(uvuAssert.type);
export const unreachable: Assertions['unreachable'] = counted(uvuAssert.unreachable);

function counted<Args extends unknown[]>(assertion: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    countAssertion();
    assertion(...args);
  };
}

type Expectation = string | RegExp | ((error: unknown) => boolean);

/** Passes if `actual` contains the string or matches the pattern; the message shows `actual`, which uvu's does not. */
export function match(actual: string, expects: string | RegExp, message?: string): void {
  countAssertion();
  if (typeof expects === 'string' ? actual.includes(expects) : actual.search(expects) >= 0) return;
  throw new Assertion({
    message: `${message ?? 'Expected text'} to ${typeof expects === 'string' ? 'contain' : 'match'} ${String(expects)}`,
    details: `    found: ${actual}`,
    operator: 'match',
    expects,
    actual,
  });
}

/** Passes if the synchronous `fn` throws (and the error fits `expects`). */
export function throws(fn: () => unknown, expects?: Expectation, message?: string): void {
  countAssertion();
  let returned: unknown;
  try {
    returned = fn();
  } catch (thrown) {
    uvuAssert.throws(() => { throw thrown; }, expects, message);
    return;
  }
  refusePromise(returned, 'rejectsWith');
  uvuAssert.throws(() => undefined, expects, message);
}

/** The negative forms: `not.equal`, `not.ok`, `not.throws`, … */
export const not = Object.assign(counted(uvuAssert.not), {
  equal: counted(uvuAssert.not.equal),
  fixture: counted(uvuAssert.not.fixture),
  instance: counted(uvuAssert.not.instance),
  match: counted(uvuAssert.not.match),
  ok: counted(uvuAssert.not.ok),
  snapshot: counted(uvuAssert.not.snapshot),
  type: counted(uvuAssert.not.type),
  throws(fn: () => unknown): void {
    countAssertion();
    let returned: unknown;
    uvuAssert.not.throws(() => { returned = fn(); });
    refusePromise(returned, 'await on the call itself');
  },
});

/** Passes if the synchronous `fn` throws an error whose `code` is `code`. Returns the error. */
export function throwsCode(code: ErrorCode, fn: () => unknown): Error {
  countAssertion();
  let returned: unknown;
  try {
    returned = fn();
  } catch (error) {
    return expectCode(code, error);
  }
  refusePromise(returned, 'rejectsWith');
  throw mismatch(code, 'the function returned', undefined);
}

/** Passes if `fn` throws or rejects with an error whose `code` is `code`. Resolves to the error. */
export async function rejectsWith(
  code: ErrorCode,
  fn: (() => unknown) | PromiseLike<unknown>,
): Promise<Error> {
  countAssertion();
  try {
    await (typeof fn === 'function' ? fn() : fn);
  } catch (error) {
    return expectCode(code, error);
  }
  throw mismatch(code, 'the promise was fulfilled', undefined);
}

function expectCode(code: ErrorCode, thrown: unknown): Error {
  if (thrown instanceof Assertion) throw thrown;
  if (thrown instanceof Error && (thrown as Error & { code?: unknown }).code === code) return thrown;
  const found = thrown instanceof Error ? String((thrown as Error & { code?: unknown }).code ?? 'no code') : 'no Error';
  throw mismatch(code, `there came ${found}: ${String(thrown)}`, thrown);
}

function mismatch(code: ErrorCode, found: string, actual: unknown): Assertion {
  return new Assertion({
    message: `Expected an error with code ${code}, but ${found}`,
    operator: 'code',
    expects: code,
    actual,
  });
}

function refusePromise(returned: unknown, instead: string): void {
  if (!isPromiseLike(returned)) return;
  Promise.resolve(returned).catch(() => undefined);
  throw new Assertion({
    message: `Expected a synchronous function, but it returned a promise; use ${instead}`,
    operator: 'throws',
    expects: 'a synchronous function',
    actual: 'a promise',
  });
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
