/** One request to several agents at the same time. */

import type { Address, JobId, StciError } from '@stci/interface';
import type { MessageBody, MessageName } from '../messages/messages.js';
import type { AgentNode } from './node.js';

/** An agent; of a session agent with its job, else with 0. */
export type AgentOfJob = readonly [agent: Address, job: JobId];

export interface RequestAll<Name extends MessageName> {
  readonly name: Name;
  readonly body: MessageBody<Name>;
  /** Whoever takes longer is given up. */
  readonly timeoutMs: number;
  onAnswer?(error: StciError | undefined, reply: unknown, agent: AgentOfJob): void;
  /** Once: each has answered or is given up. */
  onDone(): void;
}

export function requestAll<Name extends MessageName>(
  { messages }: Pick<AgentNode, 'messages'>, agents: readonly AgentOfJob[],
  { name, body, timeoutMs, onAnswer, onDone }: RequestAll<Name>,
): void {
  let missing = agents.length;
  if (missing === 0) return onDone();
  for (const each of agents) {
    const [agent, job] = each;
    messages.request(agent, name, body, (error, reply) => {
      onAnswer?.(error, reply, each);
      missing -= 1;
      if (missing === 0) onDone();
    }, { timeoutMs, job });
  }
}
