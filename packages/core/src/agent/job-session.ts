/** What a job at the controller and its session know of each other. */

import type { Address, ErrorRecord, HostIndex, HostSpec, JobId, JobSpec } from '@stci/interface';
import type { AgentScope } from './composition.js';
import type { Launch } from './job-launch.js';
import type { AgentNode } from './node.js';

export interface HostLoss {
  readonly host: HostIndex;
  readonly kind: 'agent-launch' | 'agent-lost' | 'session-lost';
  readonly error: ErrorRecord;
}

/** What a job uses of its session. */
export interface JobSession {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  /** It has jobs of others, on hosts that may be no concern of this one. */
  readonly stays: boolean;
  /** Names of hosts that are neither up nor left out. */
  missing(): readonly string[];
  /** By host, slots that other jobs have. */
  slotsTaken(job: JobId): readonly number[];
  /** Sends a launch down the boot tree. */
  passLaunch(launch: Launch, job: JobId): void;
  /** The job is over: its report has been sent. `launched`: it may have session agents. */
  onOver(job: JobId, launched: boolean): void;
}

export interface ControllerJobInit {
  readonly session: JobSession;
  readonly job: JobId;
  readonly spec: JobSpec;
  /** Of the session, as they are now. */
  readonly hosts: readonly HostSpec[];
  /** Those that the job cannot use. */
  readonly leftOut: ReadonlySet<HostIndex>;
  /** The front-end that submitted the job: it gets its events and its output. */
  readonly owner: Address;
}
