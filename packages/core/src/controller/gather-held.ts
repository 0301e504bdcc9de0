/** What each agent of a session holds, asked for at the controller: each agent's as it answers, then who did not. */

import { CONTROLLER, addressIndex, addressName, agentName } from '@stci/interface';
import type { HeldRow, Scope } from '../event/scope.js';
import type { AgentNode } from '../node/node.js';
import { requestAll, type AgentOfJob } from '../node/request-all.js';

/** Whoever takes longer is left out. */
const ANSWER_MS = 2000;

export interface GatheredHeld {
  /** `host`: its name; that of the controller has none. */
  onAgent(host: string, agent: string, rows: readonly HeldRow[]): void;
  onDone(silent: readonly string[]): void;
}

export interface GatherHeldInit {
  readonly node: AgentNode;
  /** Of the controller. */
  readonly holds: Scope;
  readonly agents: readonly AgentOfJob[];
  hostName(host: number): string;
}

export function gatherHeld({ node, holds, agents, hostName }: GatherHeldInit, { onAgent, onDone }: GatheredHeld): void {
  onAgent('', addressName(CONTROLLER), holds.rows());
  const silent: string[] = [];
  requestAll(node, agents, {
    name: 'agent.held', body: {}, timeoutMs: ANSWER_MS,
    onAnswer: (error, reply, [agent, job]) => {
      const name = agentName(agent, job);
      if (error === undefined) onAgent(hostName(addressIndex(agent)), name, reply as readonly HeldRow[]);
      else silent.push(name);
    },
    onDone: () => onDone(silent),
  });
}
