/**
 * Composition: what the agents of one process share: the registry's components behind the few questions that agents
 * ask. Made by compose.ts; agents never see a container.
 */

import type {
  AgentProcess,
  AgentProcessEvents,
  AgentStart,
  Bootcom,
  BootstrapPolicy,
  ErrorManager,
  HostSpec,
  Launcher,
  LauncherProc,
  ParamValue,
  Params,
  Platform,
  SpanningTree,
  StreamSpec,
  TreeTopology,
} from '@stci/interface';

/** Job-wide parameters by full name, as they travel. */
export type ParamSnapshot = Readonly<Record<string, ParamValue>>;

export interface Composition {
  /** Parameters of an agent, from what its parent sent. Throws STCI_PARAM_* where the two differ in version. */
  paramsOf(encoded: Uint8Array): Params;
  /** The modules of the agent `name`, selected by its parameters. */
  scope(name: string, params: Params, platform: Platform): AgentScope;
}

/** What one agent works with. */
export interface AgentScope {
  bootTree(hosts: number, arity: number): TreeTopology;
  streamTree(spec: StreamSpec): SpanningTree;
  launcher(): Launcher;
  bootstrapPolicy(): BootstrapPolicy;
  errorManager(): ErrorManager;
  bootcom(kind: string): Bootcom;
  /** Name of the launcherproc for these hosts. Throws where none takes them. */
  launchMethod(hosts: readonly HostSpec[]): string;
  /** The launcherproc itself. Throws where none takes the hosts. */
  launcherProc(
    hosts: readonly HostSpec[],
    inline: (start: AgentStart, events: AgentProcessEvents) => AgentProcess,
  ): LauncherProc;
}
