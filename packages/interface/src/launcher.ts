/**
 * Launching (STCI paper, II-C): `launcher` is the policy, who starts whom; `launcherproc` is the method, how one
 * agent is started on one host.
 */

import type { HostSpec } from './job.js';
import type { Address, HostIndex } from './ids.js';
import type { AgentProcess, AgentProcessEvents, Platform } from './platform.js';
import type { Position, TreeTopology } from './topology.js';

/** Position 0 of a boot tree is the controller; host i is at position i + 1. */
export const BOOT_ROOT: Position = 0;

export function bootPosition(host: HostIndex): Position {
  return host + 1;
}

export function bootHost(position: Position): HostIndex {
  return position - 1;
}

/** Who starts whom: pure, the same everywhere, printed by `--dry-run`. */
export interface LaunchPlan {
  readonly policy: string;
  /** The boot tree over the controller and all hosts. */
  readonly tree: TreeTopology;
}

/** Module of framework `launcher` (one). */
export interface Launcher {
  readonly policy: string;
  /** Children of each agent in the boot tree for `hosts` hosts, at least 1. */
  arity(hosts: number): number;
}

/** How an agent is embodied: a process of its own, an object in its starter's process, a worker thread. */
export type AgentMethod = 'process' | 'inline' | 'thread';

export const AGENT_METHODS: readonly AgentMethod[] = ['process', 'inline', 'thread'];

export interface AgentStart {
  readonly address: Address;
  readonly host: HostSpec;
  readonly method: AgentMethod;
  /** How long the agent waits for what its starter sends: longer than the starter waits for the agent. */
  readonly waitMs?: number;
}

export interface LauncherProcDeps {
  readonly platform: Platform;
  /** Starts an agent as an object in this process, joined by a memory channel. */
  inline(start: AgentStart, events: AgentProcessEvents): AgentProcess;
}

/** What a launcherproc's `query` decides about. */
export interface LauncherProcRequest {
  readonly hosts: readonly HostSpec[];
}

/**
 * Module of framework `launcherproc` (keyed). `start` returns at once; a failure comes by `onError` or `onExit`,
 * once. The channel that it returns carries the boot record and, where the boot link is `stdio` or `memory`, the
 * link itself.
 */
export interface LauncherProc {
  readonly name: string;
  start(start: AgentStart, events: AgentProcessEvents): AgentProcess;
}
