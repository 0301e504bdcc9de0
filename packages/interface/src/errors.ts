/**
 * Errors. Every error that a user can meet has a code from one table; the table gives the exit code of `stcirun` and
 * whether a retry can help. Errors cross the wire as plain records and become typed errors again; a code that the
 * receiver does not know keeps its data. Programming errors are assertions, not codes.
 */

import { ERROR_KINDS, type ErrorCode } from './error-codes.js';
import type { FailureId } from './failure.js';

/** An error on the wire, and in the output of `--json`. */
export interface ErrorRecord {
  /** From the table, or a code of a newer peer. */
  readonly code: string;
  /** What was wrong, what was expected, what to do: one or more lines of plain text. */
  readonly message: string;
  /** Name of the agent where the error occurred (`root:3`), if known. */
  readonly agent?: string;
  /** Name of the host, if it concerns one. */
  readonly host?: string;
  /** Rank of the tool, if it concerns one. */
  readonly rank?: number;
  /** The failure that it tells of, if it is one of an agent or a rank. */
  readonly failure?: FailureId;
  /** Further facts: numbers, texts and booleans. */
  readonly data?: Readonly<Record<string, string | number | boolean>>;
  /** The error that caused it. */
  readonly cause?: ErrorRecord;
}

export interface StciErrorInit {
  agent?: string | undefined;
  host?: string | undefined;
  rank?: number | undefined;
  failure?: FailureId | undefined;
  data?: Readonly<Record<string, string | number | boolean>> | undefined;
  cause?: unknown;
}

/** The only error class. Callers test `code`, never the text. */
export class StciError extends Error {
  readonly code: ErrorCode;
  readonly agent: string | undefined;
  readonly host: string | undefined;
  readonly rank: number | undefined;
  readonly failure: FailureId | undefined;
  readonly data: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ErrorCode, message: string, init: StciErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'StciError';
    this.code = code;
    this.agent = init.agent;
    this.host = init.host;
    this.rank = init.rank;
    this.failure = init.failure;
    this.data = init.data ?? {};
  }

  /** Of its code; of an agent or host that was lost by a plugin, whose path is its datum `plugin`, of that. */
  get exitCode(): number {
    const isPlugins = typeof this.data['plugin'] === 'string';
    return ERROR_KINDS[isPlugins ? 'STCI_PLUGIN_FAILED' : this.code].exitCode;
  }

  get retryable(): boolean {
    return ERROR_KINDS[this.code].retryable;
  }
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_KINDS, code);
}

/** Longest text of a record; most facts, and the longest text of one; most causes, each of the one before. */
export const ERROR_TEXT_CHARS_MAX = 16 * 1024;
export const ERROR_FACTS_MAX = 64;
export const ERROR_FACT_CHARS_MAX = 4096;
export const ERROR_CAUSES_MAX = 8;

/**
 * The plain record of any thrown value, cut to what a message takes; one that is no StciError, and has none of our
 * codes, gets STCI_INTERNAL.
 */
export function toErrorRecord(thrown: unknown, causesMax = ERROR_CAUSES_MAX): ErrorRecord {
  if (thrown instanceof StciError) {
    const hasCause = thrown.cause !== undefined && causesMax > 0;
    return {
      code: thrown.code,
      message: cutText(thrown.message),
      ...(thrown.agent !== undefined && { agent: thrown.agent }),
      ...(thrown.host !== undefined && { host: thrown.host }),
      ...(thrown.rank !== undefined && { rank: thrown.rank }),
      ...(thrown.failure !== undefined && { failure: thrown.failure }),
      ...(Object.keys(thrown.data).length > 0 && { data: cutFacts(thrown.data) }),
      ...(hasCause && { cause: toErrorRecord(thrown.cause, causesMax - 1) }),
    };
  }
  if (!(thrown instanceof Error)) return { code: 'STCI_INTERNAL', message: cutText(String(thrown)) };
  const { code, name, message } = thrown as Error & { readonly code?: string };
  if (code !== undefined && isErrorCode(code)) return { code, message: cutText(message) };
  return { code: 'STCI_INTERNAL', message: cutText(`${name}: ${message}`) };
}

function cutText(text: string, charsMax = ERROR_TEXT_CHARS_MAX): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}

function cutFacts(data: StciError['data']): StciError['data'] {
  return Object.fromEntries(Object.entries(data).slice(0, ERROR_FACTS_MAX).map(([name, fact]) =>
    [name, typeof fact === 'string' ? cutText(fact, ERROR_FACT_CHARS_MAX) : fact]));
}

/** The typed error of a record; an unknown code becomes STCI_INTERNAL, and `data.code` keeps it. */
export function fromErrorRecord(record: ErrorRecord): StciError {
  const known = isErrorCode(record.code);
  return new StciError(known ? (record.code as ErrorCode) : 'STCI_INTERNAL', record.message, {
    agent: record.agent,
    host: record.host,
    rank: record.rank,
    failure: record.failure,
    data: known ? record.data : { ...record.data, code: record.code },
    cause: record.cause === undefined ? undefined : fromErrorRecord(record.cause),
  });
}

/** What `call` returns; for an error of STCI that it throws, what `onError` does. Any other is a fault, and thrown. */
export function caught<Result>(call: () => Result, onError: (error: StciError) => Result): Result {
  try {
    return call();
  } catch (thrown) {
    if (thrown instanceof StciError) return onError(thrown);
    throw thrown;
  }
}

/** Throws on a programming error. On in production: a broken invariant must not propagate. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${message}`);
}
