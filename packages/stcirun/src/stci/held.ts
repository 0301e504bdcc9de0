/** `stci info --held`: what each agent of a running session holds, as its scopes have it. */

import type { AgentHeld } from '@stci/core/session';
import { printable } from '@stci/interface';
import { jsonText, printError, printOut } from '../process/print.js';
import { answered } from '../session/ask.js';
import { connectToEither } from './session-command.js';

/** `named`: the session's name, or its beginning, as an argument. */
export async function printHeld(
  flags: Parameters<typeof connectToEither>[0] & { readonly json: boolean }, named: string | undefined,
): Promise<void> {
  const { facts, client } = await connectToEither(flags, named);
  const agents: AgentHeld[] = [];
  const silent = await answered<readonly string[]>((done) =>
    client.call('client.held', {}, done, (one) => agents.push(one)));
  client.close();
  agents.sort(inOrder);
  printOut(flags.json ? jsonText(heldObject(facts.name, agents, silent)) : heldText(agents));
  if (silent.length > 0) printError(`stci info: without ${silent.join(', ')}, which did not answer\n`);
}

/** Each agent's name, and what it holds below, by depth. */
export function heldText(agents: readonly AgentHeld[]): string {
  return agents.map(({ agent, host, rows }) => {
    const lines = rows.map(([depth, label, count]) =>
      `${'  '.repeat(depth + 1)}${printable(label)}${count > 1 ? ` ×${count}` : ''}\n`);
    return `${agent}${host === '' ? '' : ` on ${printable(host)}`}\n${lines.join('')}`;
  }).join('\n');
}

function heldObject(session: string, agents: readonly AgentHeld[], silent: readonly string[]): object {
  const objects = agents.map(({ agent, host, rows }) =>
    ({ agent, ...(host !== '' && { host }), held: rows.map(([depth, label, count]) => ({ depth, label, count })) }));
  return { session, agents: objects, silent };
}

type NamedAgent = Pick<AgentHeld, 'agent'>;

/** The controller, then by host: its root agent, then its session agents by job. */
export function inOrder(a: NamedAgent, b: NamedAgent): number {
  const [left, right] = [numbersOf(a), numbersOf(b)];
  const at = left.findIndex((each, i) => each !== right[i]);
  return at === -1 ? left.length - right.length : (left[at] ?? 0) - (right[at] ?? -1);
}

/** Of the agent's name: none, its host, or host and job. */
function numbersOf({ agent }: NamedAgent): number[] {
  return (agent.match(/\d+/gu) ?? []).map(Number);
}
