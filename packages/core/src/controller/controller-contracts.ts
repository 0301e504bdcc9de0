/** What the controller is made from, and who watches it. */

import type { Failure, JobEvent, StciError } from '@stci/interface';
import type { ParamSnapshot } from '@stci/registry';
import type { AgentScope } from '../assembly/composition.js';
import type { AgentLauncher } from '../boot/agent-launcher.js';
import type { HeldRow } from '../event/scope.js';
import type { AgentNode } from '../node/node.js';

export interface ControllerDeps {
  readonly node: AgentNode;
  readonly scope: AgentScope;
  readonly agentLauncher: AgentLauncher;
  readonly snapshot: ParamSnapshot;
  /** Of a session that stays. */
  readonly observer?: SessionObserver | undefined;
}

/** Of the start of a session's agents, besides what its jobs are told. */
export interface SessionObserver {
  onEvent(event: JobEvent): void;
  /** All wanted hosts are up. */
  onReady(): void;
  onAborted(failures: readonly Failure[]): void;
  /** Slots may be free that were not: after those who had waited for them have been given some. */
  onRoom(): void;
  /** A batch system takes the hosts. */
  onEnding(error: StciError): void;
}

/** What each agent of the session holds, as it comes; then the names of those that did not answer. */
export interface GatheredHeld {
  /** `host`: its name; that of the controller has none. */
  onAgent(host: string, agent: string, rows: readonly HeldRow[]): void;
  onDone(silent: readonly string[]): void;
}
