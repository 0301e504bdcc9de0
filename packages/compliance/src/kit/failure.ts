/**
 * Failures as text. A test may throw anything: `throw undefined`, an error with a broken name, an error whose getters
 * throw. The result is always a plain Error with a message, safe for the code that handles it.
 */

import { fileURLToPath } from 'node:url';

const DETAILS_CHARS_MAX = 8_000;

/** Stack lines outside the test's own code. */
const HARNESS_FRAME = /node:internal|\/uvu\/|compliance\/src\/kit\/(assert|deadline|file-state|suite)\.ts/;

/** Where this package is, and STCI's others beside it. */
const PACKAGES = fileURLToPath(new URL('../../..', import.meta.url));
/** Packages that run a component; the others have components of their own. */
const RUNNING = /^(compliance|core|interface|platform-node|platform-sim|testkit)\/(dist|src)\//;
/** `at name (file:///path:1:2)`, or without the name. */
const FRAME = /^\s+at (?:(?:async )?(.+?) \()?(?:file:\/\/)?(\/[^()]*?:\d+):\d+\)?$/u;
const OWN_FRAMES_MAX = 5;

/** The Error of any thrown value. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(`A value that is not an Error was thrown: ${printable(thrown)}`);
}

/** Lines of the stack that are neither Node's nor of what runs components: `/path/index.js:12`, the innermost first. */
export function ownFrames({ stack }: Error): string[] {
  const frames = typeof stack === 'string' ? stack.split('\n') : [];
  return frames.flatMap((line) => {
    const [, , place] = FRAME.exec(line) ?? [];
    return place === undefined || !isOwnPath(place) ? [] : [place];
  });
}

export function isOwnPath(path: string): boolean {
  if (path.includes('/node_modules/uvu/')) return false;
  return !path.startsWith(PACKAGES) || !RUNNING.test(path.slice(PACKAGES.length));
}

/**
 * What a writer of components needs: of a broken promise its text alone; of anything else the message, and where
 * his own code is in the stack. All of the stack where nothing of it is.
 */
export function describeShortly(thrown: unknown): string {
  try {
    return shortText(thrown);
  } catch {
    return describe(thrown);
  }
}

function shortText(thrown: unknown): string {
  const error = toError(thrown);
  if (error.name === 'BrokenPromise') return error.message;
  const frames = ownFrames(error).slice(0, OWN_FRAMES_MAX);
  if (frames.length === 0 && error.name !== 'DeadlineError' && error.name !== 'Assertion') return describe(thrown);
  const { details } = error as Error & { details?: unknown };
  const shown = typeof details === 'string' ? [cut(stripColours(details))] : [];
  return [`${error.name}: ${error.message}`, ...shown, ...frames.map((place) => `    at ${place}`)].join('\n');
}

/** Message, details of the assertion, stack and causes of any thrown value, as lines of text. */
export function describe(thrown: unknown): string {
  try {
    return describeError(toError(thrown), 0);
  } catch (broken) {
    return `An error that cannot be printed: ${printable(broken)}`;
  }
}

function describeError(error: Error, depth: number): string {
  const { details, code } = error as Error & { details?: unknown; code?: unknown };
  const head = `${String(error.name)}${typeof code === 'string' ? ` [${code}]` : ''}: ${String(error.message)}`;
  const parts = [head];
  if (typeof details === 'string') parts.push(cut(stripColours(details)));
  const frames = stackFrames(error);
  if (frames !== '') parts.push(frames);
  if (depth < 5) parts.push(...inner(error).map((each) => `caused by ${describeError(toError(each), depth + 1)}`));
  return parts.join('\n');
}

function inner(error: Error): unknown[] {
  const all: unknown[] = error.cause === undefined ? [] : [error.cause];
  return error instanceof AggregateError ? [...all, ...(error.errors as unknown[])] : all;
}

function stackFrames(error: Error): string {
  const lines = typeof error.stack === 'string' ? error.stack.split('\n') : [];
  return lines.filter((line) => /^\s+at /.test(line) && !HARNESS_FRAME.test(line)).join('\n');
}

function stripColours(text: string): string {
  return text.replace(/\u001b\[[0-9;]*m/g, '');
}

function cut(text: string): string {
  if (text.length <= DETAILS_CHARS_MAX) return text;
  return `${text.slice(0, DETAILS_CHARS_MAX)}\n… ${text.length - DETAILS_CHARS_MAX} more characters`;
}

/** Printable form of anything. */
export function printable(value: unknown): string {
  try {
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  } catch {
    return `a ${typeof value} that cannot be printed`;
  }
}
