/** What the bootstrap is made of, and what it reports. */

import type { ErrorManager, ErrorRecord, Failure, HostIndex, HostSpec, JobEvent, StciError } from '@stci/interface';
import type { ParamSnapshot } from '@stci/registry';
import type { AgentLauncher } from '../boot/agent-launcher.js';
import type { LossEvidence } from '../membership/mender.js';
import type { ParentHost } from '../membership/table.js';
import type { AgentNode } from '../node/node.js';
import type { SessionTree } from './session-tree.js';

export interface BootstrapInit {
  readonly node: AgentNode;
  readonly agentLauncher: AgentLauncher;
  readonly tree: SessionTree;
  readonly errorManager: ErrorManager;
  readonly hosts: readonly HostSpec[];
  readonly spares: readonly HostSpec[];
  /** The session stays, and may get more hosts. */
  readonly stays: boolean;
  readonly snapshot: ParamSnapshot;
}

export interface BootstrapEvents {
  emit(event: JobEvent): void;
  /** All hosts are up or left out. */
  onReady(): void;
  /** The error manager ended the launch; all failures in order. */
  onAborted(failures: readonly Failure[]): void;
  /** As TreeMenderEvents has it; `cause`: its agent was up, and was lost before onReady. */
  onStartFailed(host: HostIndex, error: StciError, reporter: ParentHost, cause?: LossEvidence): void;
  /** Its start failed, and the launch ends: for this reason, where there is one besides. */
  onLaunchEnding(host: HostIndex, reason: string | undefined): void;
  /** What started the agents ends them. */
  onEnding(error: ErrorRecord): void;
}
