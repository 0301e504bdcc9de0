/** Metrics of all agents, asked for at the controller: each agent's as it answers, then who did not answer. */

import { CONTROLLER, addressName, type Address, type JobId } from '@stci/interface';
import type { MetricRow } from '../metrics/store.js';
import type { AgentNode } from './node.js';

/** Whoever takes longer is left out. */
const ANSWER_MS = 2000;

/** Of a session agent its job, else 0. */
export type AgentOfJob = readonly [agent: Address, job: JobId];

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
  let missing = agents.length;
  if (missing === 0) return onDone(silent);
  for (const [agent, job] of agents) {
    const name = job === 0 ? addressName(agent) : `${addressName(agent)} of job ${job}`;
    node.messages.request(agent, 'agent.metrics', {}, (error, reply) => {
      if (error === undefined) onAgent(name, reply as readonly MetricRow[]);
      else silent.push(name);
      missing -= 1;
      if (missing === 0) onDone(silent);
    }, { timeoutMs: ANSWER_MS, job });
  }
}
