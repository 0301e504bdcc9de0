/**
 * Errors. Every error that a user can meet has a code from one table; the table gives the exit code of `stcirun` and
 * whether a retry can help. Errors cross the wire as plain records and become typed errors again; a code that the
 * receiver does not know keeps its data. Programming errors are assertions, not codes.
 */

/** Properties of an error code. */
export interface ErrorKind {
  /** Exit code of `stcirun` if this error ends it: 193..215, each with one meaning; smaller ones are for signals. */
  readonly exitCode: number;
  /** True if the same call may succeed later. */
  readonly retryable: boolean;
}

/** Exit codes of stcirun itself; 0..192 belong to the tools (192 = 128 + the highest signal). */
export const EXIT = {
  usage: 193,
  parameter: 194,
  allocation: 195,
  program: 196,
  launch: 197,
  launchTimeout: 198,
  jobTimeout: 199,
  agentLost: 200,
  protocol: 201,
  output: 202,
  survived: 203,
  experiment: 204,
  internal: 215,
} as const;

const kind = (exitCode: number, retryable = false): ErrorKind => ({ exitCode, retryable });

/** Every error code: `STCI_<AREA>_<WHAT>`. */
export const ERROR_KINDS = {
  STCI_USAGE: kind(EXIT.usage),
  STCI_PARAM_UNKNOWN: kind(EXIT.parameter),
  STCI_PARAM_INVALID: kind(EXIT.parameter),
  STCI_PARAM_FILE: kind(EXIT.parameter),
  STCI_PLUGIN_INVALID: kind(EXIT.parameter),
  STCI_MCA_FRAMEWORK_UNKNOWN: kind(EXIT.parameter),
  STCI_MCA_COMPONENT_UNKNOWN: kind(EXIT.parameter),
  STCI_MCA_COMPONENT_DECLINED: kind(EXIT.parameter),
  STCI_MCA_NONE_AVAILABLE: kind(EXIT.parameter),
  STCI_MCA_DUPLICATE: kind(EXIT.internal),
  STCI_MCA_INVALID: kind(EXIT.internal),
  STCI_MCA_VERSION: kind(EXIT.internal),
  STCI_MCA_CYCLE: kind(EXIT.internal),
  STCI_HOSTLIST_INVALID: kind(EXIT.allocation),
  STCI_HOSTFILE_INVALID: kind(EXIT.allocation),
  STCI_HOST_UNKNOWN: kind(EXIT.allocation),
  STCI_SLOTS_EXCEEDED: kind(EXIT.allocation),
  STCI_JOB_INVALID: kind(EXIT.usage),
  STCI_JOB_UNKNOWN: kind(EXIT.usage),
  /** No session has the name, or several may be meant. */
  STCI_SESSION_UNKNOWN: kind(EXIT.allocation),
  /** The session cannot be used: another version's, another user's, stopping. */
  STCI_SESSION_REFUSED: kind(EXIT.allocation),
  /** The connection to the session ended. */
  STCI_SESSION_LOST: kind(EXIT.agentLost),
  STCI_TOPOLOGY_INVALID: kind(EXIT.parameter),
  /** A launcher policy gave no tree over the hosts, or failed. */
  STCI_LAUNCHER_TREE: kind(EXIT.parameter),
  STCI_PROGRAM_NOT_FOUND: kind(EXIT.program),
  STCI_PROGRAM_NOT_EXECUTABLE: kind(EXIT.program),
  STCI_PROGRAM_WDIR: kind(EXIT.program),
  STCI_PROGRAM_SPAWN: kind(EXIT.program, true),
  /** A tool ended with a status other than 0: the job's exit code is that status. */
  STCI_TOOL_STATUS: kind(EXIT.program),
  /** A tool was ended by a signal that the runtime did not send: the job's exit code is 128 + its number. */
  STCI_TOOL_SIGNAL: kind(EXIT.program),
  /** Processes of a tool that survived SIGKILL: another user's, or in a system call that does not return. */
  STCI_TOOL_SURVIVED: kind(EXIT.survived),
  /** The user ended the job: the exit code is 128 + the signal's number, 130 for Ctrl-C. */
  STCI_JOB_INTERRUPTED: kind(130),
  STCI_LAUNCH_FAILED: kind(EXIT.launch, true),
  STCI_LAUNCH_TIMEOUT: kind(EXIT.launchTimeout, true),
  STCI_JOB_TIMEOUT: kind(EXIT.jobTimeout),
  STCI_AGENT_LOST: kind(EXIT.agentLost, true),
  STCI_FRAME_VERSION: kind(EXIT.protocol),
  STCI_FRAME_LENGTH: kind(EXIT.protocol),
  STCI_FRAME_INVALID: kind(EXIT.protocol),
  STCI_CODEC_INVALID: kind(EXIT.protocol),
  STCI_MESSAGE_UNKNOWN: kind(EXIT.protocol),
  STCI_MESSAGE_INVALID: kind(EXIT.protocol),
  STCI_MESSAGE_TOO_LARGE: kind(EXIT.protocol),
  STCI_MESSAGE_UNROUTABLE: kind(EXIT.protocol, true),
  STCI_MESSAGE_TTL: kind(EXIT.protocol),
  STCI_MESSAGE_WINDOW: kind(EXIT.protocol, true),
  STCI_REQUEST_TIMEOUT: kind(EXIT.protocol, true),
  STCI_REQUEST_LIMIT: kind(EXIT.protocol, true),
  STCI_STREAM_INVALID: kind(EXIT.protocol),
  STCI_STREAM_CREDIT: kind(EXIT.protocol),
  STCI_LINK_CLOSED: kind(EXIT.protocol, true),
  STCI_LISTEN_FAILED: kind(EXIT.launch, true),
  STCI_LINK_UNREACHABLE: kind(EXIT.launch, true),
  STCI_AUTH_FAILED: kind(EXIT.protocol),
  STCI_AUTH_TIMEOUT: kind(EXIT.protocol, true),
  STCI_EVENT_QUEUE_FULL: kind(EXIT.internal),
  STCI_OUTPUT_FAILED: kind(EXIT.output),
  /** The reader of standard output has gone: 128 + SIGPIPE, as for any program that writes into a closed pipe. */
  STCI_OUTPUT_CLOSED: kind(141),
  STCI_OUTPUT_TEMPLATE: kind(EXIT.usage),
  /** An experiment's file, or what it asks for. */
  STCI_EXPERIMENT_INVALID: kind(EXIT.usage),
  /** A repeat of an experiment did not pass. */
  STCI_EXPERIMENT_FAILED: kind(EXIT.experiment),
  /** An experiment's record cannot be read. */
  STCI_HISTORY_INVALID: kind(EXIT.usage),
  STCI_INTERNAL: kind(EXIT.internal),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_KINDS;

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
  /** Further facts: numbers, texts and booleans. */
  readonly data?: Readonly<Record<string, string | number | boolean>>;
  /** The error that caused it. */
  readonly cause?: ErrorRecord;
}

export interface StciErrorInit {
  agent?: string | undefined;
  host?: string | undefined;
  rank?: number | undefined;
  data?: Readonly<Record<string, string | number | boolean>> | undefined;
  cause?: unknown;
}

/** The only error class. Callers test `code`, never the text. */
export class StciError extends Error {
  readonly code: ErrorCode;
  readonly agent: string | undefined;
  readonly host: string | undefined;
  readonly rank: number | undefined;
  readonly data: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ErrorCode, message: string, init: StciErrorInit = {}) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = 'StciError';
    this.code = code;
    this.agent = init.agent;
    this.host = init.host;
    this.rank = init.rank;
    this.data = init.data ?? {};
  }

  get exitCode(): number {
    return ERROR_KINDS[this.code].exitCode;
  }

  get retryable(): boolean {
    return ERROR_KINDS[this.code].retryable;
  }
}

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERROR_KINDS, code);
}

/** The plain record of any thrown value; a value that is no StciError gets STCI_INTERNAL. */
export function toErrorRecord(thrown: unknown): ErrorRecord {
  if (thrown instanceof StciError) {
    return {
      code: thrown.code,
      message: thrown.message,
      ...(thrown.agent !== undefined && { agent: thrown.agent }),
      ...(thrown.host !== undefined && { host: thrown.host }),
      ...(thrown.rank !== undefined && { rank: thrown.rank }),
      ...(Object.keys(thrown.data).length > 0 && { data: thrown.data }),
      ...(thrown.cause !== undefined && { cause: toErrorRecord(thrown.cause) }),
    };
  }
  const message = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  return { code: 'STCI_INTERNAL', message };
}

/** The typed error of a record; an unknown code becomes STCI_INTERNAL, and `data.code` keeps it. */
export function fromErrorRecord(record: ErrorRecord): StciError {
  const known = isErrorCode(record.code);
  return new StciError(known ? (record.code as ErrorCode) : 'STCI_INTERNAL', record.message, {
    agent: record.agent,
    host: record.host,
    rank: record.rank,
    data: known ? record.data : { ...record.data, code: record.code },
    cause: record.cause === undefined ? undefined : fromErrorRecord(record.cause),
  });
}

/** Throws on a programming error. On in production: a broken invariant must not propagate. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`Assertion failed: ${message}`);
}
