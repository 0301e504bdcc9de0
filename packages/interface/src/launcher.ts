/**
 * Launching (STCI paper, II-C): `launcher` is the policy, which agent starts which; `launcherproc` is the method, how
 * one agent is started on one host.
 */

import type { ErrorRecord } from './errors.js';
import type { HostSpec } from './job.js';
import type { Address, HostIndex } from './ids.js';
import type { AgentProcess, AgentProcessEnd, AgentProcessEvents, NetworkAddress, Platform } from './platform.js';
import type { BootTree, Position } from './topology.js';

/** Position 0 of a boot tree is the controller; host i is at position i + 1. */
export const BOOT_ROOT: Position = 0;

export function bootPosition(host: HostIndex): Position {
  return host + 1;
}

export function bootHost(position: Position): HostIndex {
  return position - 1;
}

/** The k-ary tree, numbered level by level: host 0 is the controller's first child. */
export interface ArityPlan {
  /** Most children of an agent, 1..1024. */
  readonly arity: number;
}

/** Any tree over the hosts. */
export interface ParentsPlan {
  /**
   * Parent of each host, by index: the host whose agent starts its agent, or undefined, where the controller does. Any
   * index but its own, also a higher one; along its parents each host comes to the controller.
   */
  readonly parents: readonly (HostIndex | undefined)[];
}

/** A policy's answer. */
export type BootTreePlan = ArityPlan | ParentsPlan;

/** A launch as `--dry-run` prints it. */
export interface LaunchPlan {
  readonly policy: string;
  readonly plan: BootTreePlan;
  /** The boot tree over the controller and all hosts. */
  readonly tree: BootTree;
}

/**
 * Module of framework `launcher` (one). Promises, by which the compliance suite of @stci/compliance names what is
 * broken:
 *
 * - `record`: The registry takes it; version, help and parameters can be shown; `query` depends on its input only.
 * - `policy`: Its policy is named in a few characters that can be printed.
 * - `tree`: Its answer is a tree over the hosts: an arity in 1..1024, or the parent of each host, without a cycle.
 * - `same`: The same hosts have the same tree, whoever is asked, whatever was asked before, and when.
 * - `pure`: The hosts that it is given are not changed.
 * - `params`: A parameter with bounds changes some tree.
 * - `depth`: The tree has no more levels than the policy says.
 * - `children`: No agent has more children than the policy says.
 */
export interface Launcher {
  readonly policy: string;
  /**
   * The boot tree over `hosts`, at least one, in the order of their indices. Pure: the same hosts always give the same
   * tree, and `hosts` is not changed. Asked once for a session, by the controller, and for what `--dry-run` and
   * experiments show; an answer that is no tree over the hosts is refused with STCI_LAUNCHER_TREE.
   *
   * Hosts that are added to a running session later have places that follow from the plan: the next ones of the k-ary
   * tree; with `parents`, the next ones of an 8-ary tree below the controller that has the added hosts alone.
   */
  tree(hosts: readonly HostSpec[]): BootTreePlan;
}

/** How an agent runs: as a process, as an object in the process that starts it, as a worker thread. */
export type AgentMethod = 'process' | 'inline' | 'thread';

export const AGENT_METHODS: readonly AgentMethod[] = ['process', 'inline', 'thread'];

export interface AgentStart {
  readonly address: Address;
  readonly host: HostSpec;
  readonly method: AgentMethod;
  /** How long the agent waits for data from the one that starts it; longer than that one waits for the agent. */
  readonly waitMs?: number;
}

/**
 * Where an agent that was started by `startAll` waits for the agent above it in the boot tree: one connection is
 * accepted there, of who has the key. The channel of that connection is as the one that `start` returns.
 */
export interface AgentPlace {
  /** Best first: `tls://10.77.0.3:40123`. */
  readonly addresses: readonly NetworkAddress[];
  /** 32 bytes, for this agent and this start alone. */
  readonly key: Uint8Array;
}

/** What such an agent is told by what started it, besides its program; nobody else may read it. */
export interface AgentWait {
  /** As AgentPlace.key. */
  readonly key: Uint8Array;
  /** As in ListenOptions: where it listens; again, if it loses its parent. */
  readonly interfaces: readonly string[];
  readonly ports?: readonly [number, number];
  /** As AgentsStart.waitMs. */
  readonly waitMs: number;
  /** Tells what started it where it waits: AgentPlace.addresses. Called once, or never, if it cannot listen. */
  say(addresses: readonly NetworkAddress[]): void;
}

/** Agents that are started together. */
export interface AgentsStart {
  /** Of different hosts; at least one. */
  readonly agents: readonly { readonly address: Address; readonly host: HostSpec }[];
  /**
   * How long an agent waits for the connection of the one above it before it ends. The first half is for all others to
   * wait, too, where it is told of all at once; what may take longer for that adds the difference.
   */
  readonly waitMs: number;
}

/** Events of agents that are started together; `index` is one of AgentsStart.agents. */
export interface AgentsEvents {
  /** The agent waits. Once for each agent, or `onFailed` in its place. */
  onPlace(index: number, place: AgentPlace): void;
  /** The agent does not come up, for this reason. */
  onFailed(index: number, error: ErrorRecord): void;
  /** A line of an agent's standard error; `undefined`: of what started them. */
  onDiagnostic(index: number | undefined, line: string): void;
  /** After `onPlace`: the agent's process has ended. */
  onExit(index: number, end: AgentProcessEnd): void;
  /** A batch system ends all of them, in its words; they have its grace period. At most once. */
  onEnding(error: ErrorRecord): void;
  /** What started them has ended, after all other events. */
  onOver(): void;
}

/** Agents that were started together. */
export interface AgentGroup {
  /** As AgentProcess.phase, of all: `the step waits for processors`. A start whose phase changes makes progress. */
  readonly phase?: string | undefined;
  /**
   * Within this time, in ms, `onPlace` or `onFailed` is told of each agent, also where hosts do not answer; only later
   * does the controller give the start of all up. Undefined: no such promise, and `launcher.handshake` bounds the time
   * without progress. Constant.
   */
  readonly settleMs?: number;
  /** What started them has ended this time, in ms, after `kill`, at the latest. Constant; default: 0, at once. */
  readonly endMs?: number;
  /** Ends all of them, and what started them; `onOver` follows. */
  kill(): void;
}

/** An agent that runs already, and waits at a private socket. */
export interface AgentReach {
  readonly host: HostSpec;
  /** PrivateListener.path on that host. */
  readonly path: string;
  /** How long the far end may take to connect, and to get the first data of the one that reaches it. */
  readonly waitMs?: number;
}

export interface LauncherProcDeps {
  readonly platform: Platform;
  /** Starts an agent as an object in this process, linked by a memory channel. */
  inline(start: AgentStart, events: AgentProcessEvents): AgentProcess;
  /** `bootcom.lease`, ms: a connection that is silent for longer is of no use, and need not be kept. */
  readonly leaseMs: number;
}

/** The request on which a launcherproc's `query` decides. */
export interface LauncherProcRequest {
  readonly hosts: readonly HostSpec[];
}

/**
 * Module of framework `launcherproc` (keyed). `start` returns at once; a failure is reported once, by `onError` or
 * `onExit`. The channel that it returns carries the boot record and, if the boot link is `stdio` or `memory`, the link
 * itself.
 *
 * `reach` connects to an agent that was started before, by the same means and with the same rights as `start`, and
 * starts nothing. The process that it returns is the connection: `kill` ends it, and the agent goes on. `onError` has
 * `data.reach`, a ReachFailure; once the two are connected, the end is an `onExit`.
 *
 * `startAll`, where a method has it, starts the agents of many hosts by one call, such as a step of a batch system:
 * each waits for the agent above it in the boot tree, which connects to it. The controller calls it once, for the
 * hosts with which the session begins; a later start of one agent is `start`. An agent that waits ends when its time is
 * over, and when what started it has ended. Nothing is in arguments or environments that would let others connect.
 *
 * Promises, by which the compliance suite names what is broken:
 *
 * - `record`: The registry takes it; version, help and parameters can be shown; `query` depends on its input only.
 * - `name`: Its name is that of its component.
 * - `params`: Each parameter changes what it asks of its platform, or tells, and that of no other instance.
 * - `method`: An agent is started by the method that is asked for; `inline` is passed all, and its agent returned.
 * - `up`: `start` returns at once, and its channel carries the boot record; closing it ends the agent, one exit.
 * - `kill`: `kill` ends an agent that is up, also if called twice: one exit.
 * - `several`: Agents of several hosts come up at the same time; the end of one is told once, and leaves the others.
 * - `speaks`: A line that an agent writes to its standard error is told once, as it is.
 * - `missing`: Where there is no such command, one failure is reported, with its code, and the channel closed.
 * - `exits`: An agent that exits at once is one exit, of the agent itself, with its status.
 * - `silent`: An agent that says nothing is ended by `kill`: one exit.
 * - `asks`: `reach` asks for the path, for as long as it is told, and returns what says that it is a connection.
 * - `carries`: `reach` carries bytes both ways, in order, also those sent before it is closed.
 * - `ends`: If the far end closes, what it has sent before arrives, and one exit is reported.
 * - `leaves`: `kill` ends a connection of `reach`, one exit, and neither the agent nor another connection.
 * - `dead`: Where nobody listens any more, `reach` reports `dead`, once.
 * - `unreachable`: A host that does not answer is reported as `unreachable`, once.
 * - `places`: `startAll` tells where each agent waits, once; who has the key connects, once, and it comes up.
 * - `waits`: An agent to which nobody connects ends when its time is over: one exit, and `onOver` after the last.
 * - `group`: `kill` of all ends those that wait and those that are up: `onOver`, once, after all else.
 * - `failed`: A host where no agent comes up is one `onFailed`, and the others wait all the same.
 */
export interface LauncherProc {
  readonly name: string;
  start(start: AgentStart, events: AgentProcessEvents): AgentProcess;
  reach(reach: AgentReach, events: AgentProcessEvents): AgentProcess;
  startAll?(start: AgentsStart, events: AgentsEvents): AgentGroup;
}
