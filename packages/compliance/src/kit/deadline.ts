/**
 * Deadlines. A test never sleeps for a guessed time: it awaits a condition or a promise, with a deadline and a
 * description. All times are milliseconds of the real clock (simulated time passes inside a test, not here).
 */

import { toError } from './failure.js';
import { patient } from './patience.js';
import { countAssertion } from './running-test.js';

/** Default deadline of a test or hook. */
export const DEFAULT_TIMEOUT_MS = 5_000;

const DEFAULT_EVERY_MS = 5;

// Saved at load: a test may replace the global timers.
const { setTimeout, clearTimeout } = globalThis;
const now = performance.now.bind(performance);

export interface EventuallyOptions {
  /**
   * How long to try, > 0, on a machine at rest (patience.ts). The default is a little less than DEFAULT_TIMEOUT_MS,
   * so that this error precedes the test's.
   */
  readonly deadlineMs?: number;
  /** Description of the condition, for the message. */
  readonly what: string;
  /** Interval of tries. Default 5. */
  readonly everyMs?: number;
}

/**
 * Tries `condition` until it returns (or resolves to) something truthy, and resolves to that. Rejects at the deadline,
 * with `what` and the last value or error. Counts as an assertion.
 */
export async function eventually<T>(
  condition: () => T | PromiseLike<T>,
  { deadlineMs: restMs = DEFAULT_TIMEOUT_MS - 500, what, everyMs = DEFAULT_EVERY_MS }: EventuallyOptions,
): Promise<T> {
  countAssertion();
  const deadlineMs = patient(restMs);
  const endMs = now() + deadlineMs;
  let last = 'the condition did not answer';
  while (now() < endMs) {
    try {
      const value = await withDeadline(Promise.resolve(condition()), Math.max(1, endMs - now()), what);
      if (value) return value;
      last = `the last value was ${show(value)}`;
    } catch (thrown) {
      if (!(thrown instanceof DeadlineError)) last = `the last error was ${toError(thrown).message}`;
    }
    await pause(Math.min(everyMs, Math.max(0, endMs - now())));
  }
  throw new DeadlineError(`Waited ${deadlineMs} ms for: ${what}; ${last}`);
}

/** Resolves or rejects with `promise`, or rejects after `ms` naming `what`. */
export async function withDeadline<T>(promise: PromiseLike<T>, ms: number, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`Not done within ${ms} ms: ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A deadline expired. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  return String(value);
}
