/** A child of an agent: what it is started from, and its state. Kept by the supervisor (child-supervisor.ts). */

import {
  StciError, addressName, agentKey, type Address, type AgentProcess, type AgentProcessEvents, type HostSpec, type JobId,
  type Timer,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import type { StartWatch } from './start-watch.js';

/** Lines of a child's standard error kept for its failure report. */
const DIAGNOSTIC_LINES_MAX = 8;

export interface ChildSpec {
  readonly address: Address;
  /** Of a session agent; else 0. */
  readonly job: JobId;
  readonly host: HostSpec;
  /** Its BootDetails as CBOR. */
  readonly details: Uint8Array;
  start(events: AgentProcessEvents): AgentProcess;
}

export type ChildState = 'waiting' | 'starting' | 'up' | 'stopping' | 'gone';

export interface Child {
  readonly spec: ChildSpec;
  /** Number of the start, as in its boot record. */
  readonly start: number;
  state: ChildState;
  process?: AgentProcess;
  link?: Link;
  linkClosed: boolean;
  exited: boolean;
  reported: boolean;
  killed: boolean;
  watch?: StartWatch;
  /** Deadline of the end of one that was released. */
  endTimer?: Timer;
  readonly diagnostics: string[];
}

/** The key of a child among those of its supervisor. */
export function keyOf({ address, job }: ChildSpec): number {
  return agentKey(address, job);
}

/** Keeps a line of its standard error for its failure report. */
export function keepLine({ diagnostics }: Child, line: string): void {
  diagnostics.push(line);
  if (diagnostics.length > DIAGNOSTIC_LINES_MAX) diagnostics.shift();
}

/** The failure of a child, with its host and what it printed last. */
export function childError(
  code: 'STCI_LAUNCH_FAILED' | 'STCI_AGENT_LOST',
  { spec, diagnostics }: Child,
  what: string,
  data?: StciError['data'],
): StciError {
  const printed = diagnostics.map((line) => `\n  it printed: ${line}`).join('');
  const agent = addressName(spec.address);
  const host = spec.host.name;
  return new StciError(code, `Agent ${agent} on host ${host} ${what}${printed}`, { host, agent, data });
}
