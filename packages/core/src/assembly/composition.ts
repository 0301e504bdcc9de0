/**
 * Composition: what the agents of one process share: the registry's components behind the interface that agents use.
 * Built by compose.ts; agents never see a container.
 */

import type {
  AgentProcess,
  AgentProcessEvents,
  AgentStart,
  BootTree,
  ErrorManager,
  HostSpec,
  Launcher,
  LauncherProc,
  Params,
  Platform,
} from '@stci/interface';
import type { ParamSnapshot, Registry } from '@stci/registry';
import type { BootTreePart } from '../launcher/parent-tree.js';
import type { AgentNode } from '../node/node.js';
import type { Service, ServiceScope } from '../service/contracts.js';

/** What is made of plugins outside of the registry. */
export interface PluginHooks {
  /** At an agent: the registry of a session with these parameters, if it has more components than its own. */
  registry?(snapshot: ParamSnapshot): Registry | undefined;
  /** The files of a copy, as `plugin.copies` has it. */
  archive?(copy: string): Uint8Array | undefined;
  /** Throws StciError for the copies of a job that its session does not have. */
  checkJob?(session: readonly string[], job: readonly string[]): void;
}

export interface Composition {
  /** Of each agent. */
  readonly services: readonly Service[];
  /** Sees the node of each agent that is made: for checkers. */
  onNode?(node: AgentNode): void;
  /** Decodes the parameters that an agent's parent sent. Throws STCI_PARAM_* if they do not match this version's. */
  paramsOf(encoded: Uint8Array): Params;
  /** The modules of the agent `name`, selected by its parameters. */
  scope(name: string, params: Params, platform: Platform): AgentScope;
}

/** The modules that one agent uses. */
export interface AgentScope extends ServiceScope {
  /** Over the controller and so many hosts. */
  bootTree(hosts: number, part: BootTreePart): BootTree;
  /** The files of a plugin, by its number among the session's; undefined: they are not here. */
  pluginArchive(index: number): Uint8Array | undefined;
  launcher(): Launcher;
  /** The scope's parameters with a job's own. Throws STCI_PARAM_*. */
  jobParams(own: ParamSnapshot | undefined): Params;
  /** Of the session, or of a job with these parameters. */
  errorManager(params: Params): ErrorManager;
  /** The launcherproc itself. Throws if none accepts the hosts. */
  launcherProc(
    hosts: readonly HostSpec[],
    inline: (start: AgentStart, events: AgentProcessEvents) => AgentProcess,
  ): LauncherProc;
}
