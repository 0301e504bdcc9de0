/**
 * Platform: the only access to the outside. The same agent code runs on `platform-node` (real clock, sockets and
 * processes) and on `platform-sim` (one event heap). Callbacks run to completion and are never called from inside the
 * call that registers them.
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
  /** Wall-clock time in ms since the epoch, with a fraction; for display and records, never for deadlines. */
  wallMs(): number;
  /**
   * Calls `fire` once, at or after `nowMs() + delayMs`. Does not keep a process alive by itself. `onOverdue`: what
   * cannot wait for it; called between two inputs of the turn that it is late for, several times if that is long.
   */
  after(delayMs: number, fire: () => void, onOverdue?: () => void): Timer;
  /** Calls `fire` in a later turn of the loop, after ready input and output was handled. */
  soon(fire: () => void): void;
}

export interface Random {
  /** Uniform in [0, 1). */
  uniform(): number;
  /** Uniform integer in [0, below); 1 ≤ below ≤ 2^32. */
  integer(below: number): number;
  /** An independent generator for `label`; the same label gives the same numbers. */
  fork(label: string): Random;
}

/** Keys and proofs. Deterministic in simulation; on Node from the system's random source. */
export interface Secrets {
  /** `length` unpredictable bytes. */
  bytes(length: number): Uint8Array;
  /** HMAC-SHA-256 of `data` under `key`: 32 bytes. */
  mac(key: Uint8Array, data: Uint8Array): Uint8Array;
}

/**
 * Address of a listener: `ws://127.0.0.1:40123`, a WebSocket, `wss:` if it encrypts; `tls://10.77.0.3:40123`: bytes
 * over TLS without more framing (ListenOptions.stream).
 */
export type NetworkAddress = string;

export interface Listener {
  /** All addresses at which peers may connect, best first. */
  readonly addresses: readonly NetworkAddress[];
  close(): void;
}

/** An unauthenticated connection. */
export interface EvictionCandidate {
  /** Source of the connection, such as an address without the port. */
  readonly source: string;
  /** Steps completed towards its authentication. */
  readonly progress: number;
  /** When it was made, ms of any one clock. */
  readonly sinceMs: number;
}

/**
 * Chooses the connection to drop; undefined if there is none. `pick(n)` draws from 0..n-1. Connections made after
 * `exemptMs` are not chosen; default: all may be.
 */
export type SelectEviction = <T extends EvictionCandidate>(
  candidates: Iterable<T>,
  pick: (below: number) => number,
  exemptMs?: number,
) => T | undefined;

export interface ListenOptions {
  /** Interfaces (names or addresses) to listen on; empty: loopback only. */
  readonly interfaces: readonly string[];
  /** First and last port to try, inclusive; undefined: any free port. */
  readonly ports?: readonly [number, number];
  /** Largest number of unauthenticated peers. */
  readonly pendingMax: number;
  /** Chooses which of them is dropped beyond that number. */
  readonly selectEviction: SelectEviction;
  /** 32-byte key: peers must have it to connect, and all data is encrypted. Absent: no encryption. */
  readonly key?: Uint8Array;
  /** Longest single frame that may arrive, in bytes. */
  readonly frameBytesMax: number;
  /** Bytes over TLS without WebSocket framing, which costs less to load; needs `key`. */
  readonly stream?: boolean;
}

/** A unix socket to which only processes of this user, on this host, can connect. */
export interface PrivateListener {
  readonly path: string;
  close(): void;
}

export interface PrivateListenOptions extends Pick<ListenOptions, 'pendingMax' | 'selectEviction'> {
  /** Beginning of the socket's name, of letters, digits and hyphens; the rest is random. */
  readonly prefix: string;
}

/**
 * Why a connection fails, in `data.reach` of the error: `dead`: nobody listens, so its process has ended; `refused`:
 * others could have access to it (private sockets only); `unreachable`: not known, a later attempt may succeed.
 */
export type ReachFailure = 'dead' | 'refused' | 'unreachable';

/** A port of 127.0.0.1 to which only processes of this user, on this host, can connect. */
export interface LoopbackListener {
  readonly port: number;
  close(): void;
}

/** Sockets. Their peers are unauthenticated until the handshake of the link. */
export interface Network {
  listen(
    options: ListenOptions,
    accept: (channel: Channel) => void,
    done: (error: ErrorRecord | undefined, listener: Listener | undefined) => void,
  ): void;
  /**
   * Connects a channel, which queues what is sent before the connection is established. A failure is reported by
   * `onClose`. `key` as in ListenOptions: without the same key at both ends, the connection fails. `done`, called once
   * before other events, and not after `destroy`, tells whether the connection is established, encryption included;
   * an error has `data.reach`, a ReachFailure.
   */
  connect(
    address: NetworkAddress,
    deadlineMs: number,
    key?: Uint8Array,
    done?: (error: ErrorRecord | undefined) => void,
  ): Channel;
  /** Listens on a unix socket in a directory that only this user may enter. The socket disappears with its listener. */
  listenPrivate(
    options: PrivateListenOptions,
    accept: (channel: Channel) => void,
    done: (error: ErrorRecord | undefined, listener: PrivateListener | undefined) => void,
  ): void;
  /**
   * Listens on a free port of 127.0.0.1, for programs that know no other way. A connection whose other end is not a
   * socket of this user is closed before anything of it is read.
   */
  listenLoopback(
    options: Pick<ListenOptions, 'pendingMax' | 'selectEviction'>,
    accept: (channel: Channel) => void,
    done: (error: ErrorRecord | undefined, listener: LoopbackListener | undefined) => void,
  ): void;
  /** Connects to a private listener of this host; `done` as in `connect`. */
  connectPrivate(path: string, deadlineMs: number, done?: (error: ErrorRecord | undefined) => void): Channel;
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
  /** Path or name. A name without `/` is searched in PATH of `env`. */
  readonly program: string;
  readonly args: readonly string[];
  /** Complete environment of the child. */
  readonly env: Readonly<Record<string, string>>;
  /** Working directory; undefined: the caller's. */
  readonly wdir?: string;
  readonly stdin: StdioMode;
  readonly stdout: StdioMode;
  readonly stderr: StdioMode;
  /**
   * `guarded`: own session and process group, which is ended when the calling process dies, however it dies, with the
   * process's own children. `plain`: a child that ends by itself when its standard input closes. `apart`: as `plain`,
   * in a session and process group of its own, where it gets no signals of a terminal.
   */
  readonly lifetime: 'guarded' | 'plain' | 'apart';
  /** Processors on which it may run, such as `0-3,8`; absent: those of the caller. */
  readonly cpus?: string;
  /** Nodes of these processors, where the host has several: its memory is taken of the node on which it runs. */
  readonly nodes?: string;
  /** It inherits one end of a pair of sockets, as descriptor 3; the other is `Process.socket`. */
  readonly hasSocket?: boolean;
}

/** Events of a process. Output is paused until `readable` is called with true. */
export interface ProcessEvents {
  /** The process could not be started: program not found, no permission, bad working directory, no memory. */
  onError(error: ErrorRecord): void;
  /** Bytes of stdout or stderr, and when they were read (`Clock.wallMs`). */
  onOutput(stream: 'stdout' | 'stderr', chunk: Uint8Array, wallMs: number): void;
  /** The stream has ended: no more output follows. */
  onOutputEnd(stream: 'stdout' | 'stderr'): void;
  /** Standard input has room again after `writeStdin` returned false. */
  onStdinDrain(): void;
  /** The process does not read its standard input any longer. */
  onStdinClosed(): void;
  /** The process itself has ended; output may still follow. */
  onExit(end: ProcessEnd): void;
}

export interface Process {
  /** 0 if the process could not be started. */
  readonly pid: number;
  /** Where the spec wanted one; absent also where the platform has none. */
  readonly socket?: Channel | undefined;
  /** Sends a signal to the process, or to its whole group. False if no process was left to receive it. */
  signal(name: SignalName, whom: 'process' | 'group'): boolean;
  /** Number of living members of the process's group, itself included; zombies do not count. 0 once it is gone. */
  groupSize(): number;
  /** Process ids of the group, for messages; empty if the system does not tell. */
  groupMembers(): readonly number[];
  /** Returns false when the pipe is full: wait for `onStdinDrain`. */
  writeStdin(chunk: Uint8Array): boolean;
  closeStdin(): void;
  /** Once it has ended: something was read of its standard input; true also where that is not known. */
  hasReadInput(): boolean;
  /** Resumes or pauses reading stdout and stderr. */
  readable(on: boolean): void;
  /** Stops reading for good; `onOutputEnd` follows for each stream that is still open. */
  closeOutput(): void;
}

/** An agent in its own process or thread, with the channel to it. */
export interface AgentProcess {
  readonly pid: number;
  /** Phase of its start, for the message of a deadline: `in the login shell`; undefined: not known. */
  readonly phase?: string | undefined;
  readonly channel: Channel;
  /** True if this is only the way to the agent, which goes on when it ends. */
  readonly isConnection?: boolean;
  /** Ends it at once. */
  kill(): void;
}

export interface AgentProcessEvents {
  onError(error: ErrorRecord): void;
  /** Text that the agent wrote to its standard error, in whole lines. */
  onDiagnostic(line: string): void;
  onExit(end: AgentProcessEnd): void;
}

export interface AgentProcessEnd extends ProcessEnd {
  /**
   * `process`, the default: the agent itself has ended. `connection`: only the connection to it is known to have ended,
   * such as a login; the agent may live.
   */
  readonly evidence?: 'process' | 'connection';
}

/** The agent as one file that any Node from version 20 on can run: sent to hosts on which STCI is not installed. */
export interface AgentBundle {
  /** SHA-256 of the bytes, 64 lower-case hexadecimal digits. */
  readonly hash: string;
  readonly bytes: Uint8Array;
  /** Path of the Node that runs it on this host. */
  readonly node: string;
  /**
   * Shell text that defines `hold ARG…`, which opens descriptors for which the agent would have to fork, then calls
   * `run HELD ARG…` in the same process. The caller defines `run`, which executes Node with HELD.
   */
  readonly holder: string;
}

export interface Processes {
  /** Prepares the first start of a tool in advance; to be called when idle. */
  prepare(): void;
  /**
   * Tools share memory by files in /dev/shm whose names begin so (letters, digits, `_` and dots): when this process
   * dies, whoever ends its tools removes those of this user that no process uses, where Files.removeUnused would.
   */
  shareMemory(prefixes: readonly string[]): void;
  /** Starts a tool. */
  spawn(spec: SpawnSpec, events: ProcessEvents): Process;
  /**
   * Starts an agent whose standard input and output are the channel. `method`: `process` runs `command` (its first
   * element is the program), `thread` runs the agent's main function in a worker thread of this process.
   */
  spawnAgent(
    method: 'process' | 'thread',
    command: readonly string[],
    events: AgentProcessEvents,
  ): AgentProcess;
  /** The command that starts this machine's agent; for hosts with the same file system. */
  readonly agentCommand: readonly string[];
  /** The agent for hosts that share no file system with this one. Throws StciError if this program has no bundle. */
  agentBundle(): AgentBundle;
  /**
   * Ends every remaining process that carries `mark` in its environment, such as a daemon that left its group, within
   * `deadlineMs`; calls `done` with the number of processes ended.
   */
  sweep(mark: string, deadlineMs: number, done: (ended: number) => void): void;
  /** Ends this process as SIGKILL does, with all its threads. For injected faults. */
  killSelf(): void;
  /**
   * Stops this process as SIGSTOP does. Another process continues it after so long, or when the process that started
   * it ends; it is gone when this one is. `ready`, once: with the reason why it cannot be done; else `go(true)` does
   * it in a moment, `go(false)` gives it up. So it can be told before, and what tells it has left. For injected faults.
   */
  stopSelf(forMs: number, ready: (error: ErrorRecord | undefined, go: (isWanted: boolean) => void) => void): void;
}

/** Files that programs need, or leave behind. */
export interface Files {
  /**
   * Makes a directory below that for temporary files, which only this user may enter; its name begins with `prefix`,
   * of letters, digits and hyphens. Throws StciError.
   */
  makeDirectory(prefix: string): string;
  /** Removes a directory that was made so, with all that is in it. */
  removeDirectory(path: string): void;
  /**
   * Removes files that a program has named, where they are this user's and lie directly in /dev/shm, or below a
   * directory that was made here, and no link leads out of it. Others stay. Returns those that were not removed.
   */
  removeNamed(paths: readonly string[]): readonly string[];
  /**
   * Text of a regular file that a program has named, where nobody but this user and root could have written it, and it
   * has at most so many bytes; else why it is not used, as the end of a sentence.
   */
  readNamed(path: string, bytesMax: number): { readonly text: string } | { readonly problem: string };
  /**
   * Removes files of this user's in /dev/shm whose names begin so, that were changed since then (`Clock.wallMs`), and
   * that no process has open or mapped: what programs were about to share when they died. Where others may share
   * there whose processes cannot be seen, nothing is removed.
   */
  removeUnused(prefixes: readonly string[], sinceWallMs: number): void;
}

export interface Environment {
  readonly hostname: string;
  readonly pid: number;
  readonly user: string;
  readonly wdir: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Names the network stack of this process among all; undefined: the system does not tell. */
  readonly network?: string | undefined;
  /** Logical processors of this machine, at least 1. */
  readonly cpuCount: number;
  /** Text of a file of the system, below /proc or /sys; undefined: there is none, or it may not be read. */
  systemText(path: string): string | undefined;
  /** Processor time of this thread so far; undefined if the system does not tell. */
  cpuTimes(): CpuTimes | undefined;
}

/** Time in which a thread ran, and in which it was ready to run but waited for a processor, ms. */
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
  readonly files: Files;
  readonly env: Environment;
  readonly log: Log;
}
