/** Metrics of all agents, asked for at the controller: each agent's as it answers, then who did not answer. */

import { CONTROLLER, addressName } from '@stci/interface';
import type { MetricRow } from '../metrics/store.js';
import type { AgentNode } from '../node/node.js';
import { requestAll, type AgentOfJob } from '../node/request-all.js';

/** Whoever takes longer is left out. */
const ANSWER_MS = 2000;

export interface GatheredMetrics {
  onAgent(agent: string, rows: readonly MetricRow[]): void;
  onDone(silent: readonly string[]): void;
}

export function gatherMetrics(
  node: AgentNode,
  own: readonly MetricRow[],
  agents: readonly AgentOfJob[],
  { onAgent, onDone }: GatheredMetrics,
): void {
  onAgent(addressName(CONTROLLER), own);
  const silent: string[] = [];
  requestAll(node, agents, {
    name: 'agent.metrics', body: {}, timeoutMs: ANSWER_MS,
    onAnswer: (error, reply, [agent, job]) => {
      const name = job === 0 ? addressName(agent) : `${addressName(agent)} of job ${job}`;
      if (error === undefined) onAgent(name, reply as readonly MetricRow[]);
      else silent.push(name);
    },
    onDone: () => onDone(silent),
  });
}
