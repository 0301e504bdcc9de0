/**
 * Failures as text. A test may throw anything: `throw undefined`, an error with a broken name, an error whose getters
 * throw. The result is always a plain Error with a message, safe for the code that handles it.
 */

const DETAILS_CHARS_MAX = 8_000;

/** Stack lines outside the test's own code. */
const HARNESS_FRAME = /node:internal|\/uvu\/|compliance\/src\/(assert|deadline|file-state|suite)\.ts/;

/** The Error of any thrown value. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  return new Error(`A value that is not an Error was thrown: ${printable(thrown)}`);
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

function printable(value: unknown): string {
  try {
    return typeof value === 'string' ? JSON.stringify(value) : String(value);
  } catch {
    return `a ${typeof value} that cannot be printed`;
  }
}
