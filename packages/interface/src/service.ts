/**
 * Services of a job. Framework `service`, mode many: what agents do for the programs of a job besides starting them,
 * such as a process manager's interface for MPI. A service has a part at each host of a job that names it, which gives
 * ranks what they find when they start: variables, an inherited socket, a listener to connect to. If these parts have
 * to agree, they send to a part at the controller, which sends to one of them or to all.
 */

import type { Channel } from './channel.js';
import type { HostIndex, JobId, Rank } from './ids.js';
import type { SpawnDone, SpawnRequest } from './job.js';
import type { Timer } from './platform.js';

/** Most bytes of a body that parts send, encoded. */
export const SERVICE_BODY_BYTES_MAX = 1024 * 1024;

/** Number of the descriptor at which a rank finds the socket that a service gives it. */
export const RANK_SOCKET_FD = 3;

/** What each part of a service knows, and can do. */
export interface ServicePart {
  /** Name of the session. With the job's number it is another one for each job. */
  readonly session: string;
  readonly job: JobId;
  /** Ranks with which the job began. */
  readonly size: number;
  nowMs(): number;
  /** The only timers: they end with the part. */
  after(delayMs: number, call: () => void): Timer;
  /** Tells the user. */
  warn(text: string): void;
}

export interface ServiceHost extends ServicePart {
  readonly host: HostIndex;
  readonly hostName: string;
  /**
   * To the part at the controller; once, in order. Plain values and bytes, as CBOR has them. The first has it opened.
   */
  send(body: unknown): void;
  /** Listens at a socket to which only processes of this user can connect; `done` gets its path. At most one. */
  listen(accept: (channel: Channel) => void, done: (problem: string | undefined, path: string) => void): void;
}

export interface ServiceController extends ServicePart {
  /** Hosts of the job, with a part each that has sent something, may still do so, or is lost. */
  readonly hosts: readonly HostIndex[];
  /** Where a rank was started last. */
  hostOf(rank: Rank): HostIndex;
  /** To the part at a host of the job; once, in order. */
  send(host: HostIndex, body: unknown): void;
  /** To the parts at all hosts. */
  sendAll(body: unknown): void;
  /**
   * Starts further ranks of the job, numbered from `size` on, or behind those that were spawned before. `done` is
   * called before this returns. What is sent in it comes to parts that there are before the ranks do; one that is
   * opened for the ranks is not there yet, and has to ask.
   */
  spawn(request: SpawnRequest, done: SpawnDone): void;
}

/** What a rank gets when it is started. */
export interface RankStart {
  /** Variables of its environment; those that begin with STCI_ are not a service's. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * It inherits a socket, at RANK_SOCKET_FD; called with the other end once it runs. One service of a job can have it;
   * in a simulation there is none.
   */
  readonly socket?: (channel: Channel) => void;
}

export interface HostService {
  /** Ranks are started when `done` was called, once; with a problem, none is. Absent: at once. */
  open?(done: (problem?: string) => void): void;
  /** A rank is about to be started here; `attempt`: 1, 2, … */
  onStart?(rank: Rank, attempt: number): RankStart;
  /** Its process has ended, or was not started. */
  onEnd?(rank: Rank, attempt: number): void;
  /** From the part at the controller. */
  onMessage?(body: unknown): void;
  /** The job is over here, or its agent stops. Timers, channels and the listener are closed after it. */
  close?(): void;
}

export interface ControllerService {
  /** From the part at this host. */
  onMessage?(host: HostIndex, body: unknown): void;
  /** A rank has ended; `failure`: why it did not end well, and is not started again. */
  onEnd?(rank: Rank, failure: string | undefined): void;
  /** An attempt of a rank has ended, and another follows, here or elsewhere. */
  onRestart?(rank: Rank): void;
  /** The part there is lost. One that is opened there later knows nothing of it. */
  onHostLost?(host: HostIndex): void;
  close?(): void;
}

/**
 * Module of framework `service`.
 *
 * Promises, by which the compliance suite of @stci/compliance names what is broken:
 *
 * - `record`: The registry takes it; version, help and parameters can be shown; `query` depends on its input only.
 * - `open`: A part at a host calls `done` once, within a minute: ranks are started then.
 * - `env`: A rank gets variables: names that shells know, texts without a zero byte, none that begins with STCI_.
 * - `plain`: What parts send can be encoded, is within its bound, and has a part that gets it.
 * - `same`: The same job has the same course, whatever other jobs have the service at that time.
 * - `again`: A rank that is started again gets variables of the same names as before.
 * - `course`: Whichever ranks and hosts are lost, and when, the parts throw nothing.
 * - `bytes`: Whatever programs send, and whenever they connect and leave, the parts throw nothing.
 * - `close`: After `close` a part sends nothing.
 */
export interface ServiceModule {
  /** At a host, before the first rank is started there. */
  atHost(part: ServiceHost): HostService;
  /** At the controller, when the first message from a host has come. Absent: nothing is sent. */
  atController?(part: ServiceController): ControllerService;
}
