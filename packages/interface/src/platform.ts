/**
 * Platform: the only door to the outside. The same agent code runs on `platform-node` (real clock, sockets and
 * processes) and on `platform-sim` (one event heap). Callbacks run to completion and are never called from
 * inside the call that registers them.
 */

import type { Channel } from './channel.js';
import type { ErrorRecord } from './errors.js';

/** A pending timer. `cancel` after it has fired does nothing. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Monotonic time in ms, with a fraction; the origin is arbitrary. */
  nowMs(): number;
  /** Wall-clock time in ms since the epoch, for labels shown to people, never for deadlines. */
  wallMs(): number;
  /** Calls `fire` once, at or after `nowMs() + delayMs`. Does not keep a process alive by itself. */
  after(delayMs: number, fire: () => void): Timer;
  /** Calls `fire` in a later turn of the loop, after input and output that is ready had its chance. */
  soon(fire: () => void): void;
}

export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Uniform integer in [0, below); 1 ≤ below ≤ 2^32. */
  integer(below: number): number;
  /** A generator of its own for `label`; the same label gives the same numbers. */
  fork(label: string): Random;
}

/** Keys and proofs. In simulation deterministic; on Node from the system's random source. */
export interface Secrets {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array;
  /** HMAC-SHA-256 of `data` under `key`: 32 bytes. */
  mac(key: Uint8Array, data: Uint8Array): Uint8Array;
}

/** An address at which a listener waits, such as `ws://127.0.0.1:40123`; `wss:` where it encrypts. */
export type NetworkAddress = string;

export interface Listener {
  /** All addresses at which peers may try, best first. */
  readonly addresses: readonly NetworkAddress[];
  close(): void;
}

/** A connection whose peer has not proved itself. */
export interface EvictionCandidate {
  /** Where it comes from, such as an address without its port. */
  readonly source: string;
  /** Steps made on the way to its proof. */
  readonly progress: number;
}

/** Chooses the connection to drop; undefined where there is none. `pick(n)` draws from 0..n-1. */
export type SelectEviction = <T extends EvictionCandidate>(
  candidates: Iterable<T>,
  pick: (below: number) => number,
) => T | undefined;

export interface ListenOptions {
  /** Interfaces (names or addresses) to listen on; empty: loopback alone. */
  readonly interfaces: readonly string[];
  /** First and last port to try, inclusive; undefined: any free port. */
  readonly ports?: readonly [number, number];
  /** Limits on peers that have not proved themselves: count. */
  readonly pendingMax: number;
  /** Which of them is dropped where there are more. */
  readonly selectEviction: SelectEviction;
  /** 32 bytes: whoever connects must have them too, and all that travels is encrypted. Absent: it is not. */
  readonly key?: Uint8Array;
  /** Longest single frame that may arrive, in bytes. */
  readonly frameBytesMax: number;
}

/** Sockets. What travels on a channel before the handshake is believed by nobody. */
export interface Network {
  listen(
    options: ListenOptions,
    accept: (channel: Channel) => void,
    done: (error: ErrorRecord | undefined, listener: Listener | undefined) => void,
  ): void;
  /**
   * A connecting channel; what is sent before the connection stands is queued. Failure is `onClose`. `key` as in
   * ListenOptions: where one end has none, or another, no connection comes to stand.
   */
  connect(address: NetworkAddress, deadlineMs: number, key?: Uint8Array): Channel;
}

/** Standard signal names without numbers: `SIGTERM`. */
export type SignalName = `SIG${string}`;

/** How a process ended: exactly one of the two is set. */
export interface ProcessEnd {
  readonly status?: number;
  readonly signal?: SignalName;
}

/** What a process's standard streams are connected to. */
export type StdioMode = 'pipe' | 'null' | 'inherit';

export interface SpawnSpec {
  /** Path or name. A name without `/` is looked up in PATH of `env`. */
  readonly program: string;
  readonly args: readonly string[];
  /** The whole environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory; undefined: the caller's. */
  readonly wdir?: string;
  readonly stdin: StdioMode;
  readonly stdout: StdioMode;
  readonly stderr: StdioMode;
  /**
   * `guarded`: own session and process group, which ends when the calling process dies, whatever kills it, the
   * process's own children included. `plain`: a child that ends by itself when its standard input closes.
   */
  readonly lifetime: 'guarded' | 'plain';
}

/** What a running process tells. Data is paused until `readable` is called with true. */
export interface ProcessEvents {
  /** The process could not be started: not found, no permission, bad working directory, no memory. */
  onError(error: ErrorRecord): void;
  /** Bytes of stdout or stderr, and when they were read (`Clock.wallMs`). */
  onOutput(stream: 'stdout' | 'stderr', chunk: Uint8Array, wallMs: number): void;
  /** The stream has ended: nothing more will come from it. */
  onOutputEnd(stream: 'stdout' | 'stderr'): void;
  /** Standard input takes more after `writeStdin` returned false. */
  onStdinDrain(): void;
  /** The process does not read its standard input any more. */
  onStdinClosed(): void;
  /** The process itself has ended; its output may still be on the way. */
  onExit(end: ProcessEnd): void;
}

export interface Process {
  /** 0 where the process could not be started. */
  readonly pid: number;
  /** Sends a signal to the process, or to its whole group. False where nobody was left to take it. */
  signal(name: SignalName, whom: 'process' | 'group'): boolean;
  /** Number of living members of the process's group, itself included; zombies are dead. 0 once it is gone. */
  groupSize(): number;
  /** Their process ids, for people; empty where the system does not say. */
  groupMembers(): readonly number[];
  /** False when the pipe is full: wait for `onStdinDrain`. */
  writeStdin(chunk: Uint8Array): boolean;
  closeStdin(): void;
  /** Starts or stops reading stdout and stderr. */
  readable(on: boolean): void;
  /** Stops reading for good; `onOutputEnd` follows for each stream that was still open. */
  closeOutput(): void;
}

/** An agent in a process or thread of its own, with the channel to it. */
export interface AgentProcess {
  readonly pid: number;
  /** How far its start is, for the message of a deadline: `in the login shell`. undefined: nothing to say. */
  readonly phase?: string | undefined;
  readonly channel: Channel;
  /** Ends it at once. */
  kill(): void;
}

export interface AgentProcessEvents {
  onError(error: ErrorRecord): void;
  /** Text that the agent wrote to its standard error, whole lines. */
  onDiagnostic(line: string): void;
  onExit(end: ProcessEnd): void;
}

/** The agent as one file that any Node from version 20 on runs: what is sent to hosts that have nothing of ours. */
export interface AgentBundle {
  /** SHA-256 of the bytes, 64 small hexadecimal digits. */
  readonly hash: string;
  readonly bytes: Uint8Array;
  /** Path of the Node that runs it on this host. */
  readonly node: string;
  /**
   * Shell text that defines `hold ARG…`, which makes what the agent would have to fork for, then calls `run HELD ARG…`
   * in the same process. Whoever starts the agent defines `run`; it executes Node and gives it HELD.
   */
  readonly holder: string;
}

export interface Processes {
  /** Makes ready what the first start of a tool would wait for; for times in which nothing else is to be done. */
  prepare(): void;
  /** Starts a tool. */
  spawn(spec: SpawnSpec, events: ProcessEvents): Process;
  /**
   * Starts an agent whose standard input and output are the channel. `method` is `process` for `command`
   * (its first element is the program), `thread` for a worker thread of this process that runs the agent's main.
   */
  spawnAgent(
    method: 'process' | 'thread',
    command: readonly string[],
    events: AgentProcessEvents,
  ): AgentProcess;
  /** The command that starts this machine's agent; for hosts that share our file system. */
  readonly agentCommand: readonly string[];
  /** The same agent for a host that shares nothing with us. Throws StciError where this program has none. */
  agentBundle(): AgentBundle;
  /**
   * Ends every process that carries `mark` in its environment and is still there, such as a daemon that left its
   * group; tells how many it ended. Bounded by `deadlineMs`.
   */
  sweep(mark: string, deadlineMs: number, done: (ended: number) => void): void;
}

export interface Environment {
  readonly hostname: string;
  readonly pid: number;
  readonly user: string;
  readonly wdir: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Logical processors of this machine, at least 1. */
  readonly cpuCount: number;
  /** What this thread has had of them so far; undefined where the system does not say. */
  cpuTimes(): CpuTimes | undefined;
}

/** Time in which a thread ran, and in which it could have run and waited for a processor, ms. */
export interface CpuTimes {
  readonly ranMs: number;
  readonly waitedMs: number;
}

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';

export interface Log {
  readonly level: LogLevel;
  write(level: LogLevel, text: string): void;
}

export interface Platform {
  readonly clock: Clock;
  readonly random: Random;
  readonly secrets: Secrets;
  readonly network: Network;
  readonly processes: Processes;
  readonly env: Environment;
  readonly log: Log;
}
