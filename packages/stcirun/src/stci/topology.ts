/** `stci topology`: the agents of a running session, and the links between them. */

import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { alignColumns, counted } from '@stci/core';
import type { AgentLinks, LinkReport } from '@stci/core/session';
import { printable } from '@stci/interface';
import { jsonText, printOut } from '../process/print.js';
import { answered } from '../session/ask.js';
import { inOrder } from './held.js';
import { timeText } from './ps.js';
import { connectTo, openSessions, SESSION_ARGUMENT, StciCommand } from './session-command.js';
import { paramFlags } from './base.js';

export class TopologyCommand extends StciCommand {
  static override readonly summary = 'agents of a session and their links: roles, state, round trip';
  static override readonly synopsis = '[SESSION] [--json]';
  static override readonly page = 'overlay.md';
  static override readonly details = `
Without a name: the session of STCI_SESSION, else the only one. Round trips are measured now.

Examples:
  stci start --host 'n[01-16]' --overlay bmg --name night
  stci topology night
`;

  static override args = { session: Args.string({ ignoreStdin: true, description: SESSION_ARGUMENT }) };
  static override flags = {
    json: Flags.boolean({ description: 'one JSON object; each link at both of its ends' }),
    ...paramFlags,
  };

  async run(): Promise<number> {
    const { args, flags } = await this.parse(TopologyCommand);
    const { facts, client } = await connectTo(await openSessions(flags), args.session);
    const agents: AgentLinks[] = [];
    const overlay = await answered<string>((done) =>
      client.call('client.topology', {}, done, (one) => agents.push(one)));
    client.close();
    agents.sort(inOrder);
    const { name: session } = facts;
    printOut(flags.json ? jsonText({ session, overlay, agents }) : topologyText(session, overlay, agents));
    return 0;
  }
}

export function topologyText(name: string, overlay: string, agents: readonly AgentLinks[]): string {
  const rows = agents.flatMap((agent) => rowsOf(agent, agents));
  const beside = overlay === '' ? 'no overlay' : `overlay ${printable(overlay)}`;
  const head = `${name}: ${counted(agents.length, 'agent')}, ${counted(rows.length, 'link')}, ${beside}\n`;
  const names = ['agent', 'host', 'peer', 'role', 'kind', 'state', 'for', 'round trip'];
  const table = alignColumns([names, ...rows]).map((line) => `  ${line.trimEnd()}\n`).join('');
  const mute = agents.filter(({ links }) => links === undefined).map(({ agent }) => agent);
  return head + table + (mute.length === 0 ? '' : `  no answer of ${mute.join(', ')}\n`);
}

/** Each link once: at its upper end, or at the one that comes first, unless only the other has told of it. */
function rowsOf(agent: AgentLinks, all: readonly AgentLinks[]): string[][] {
  const isShownThere = ({ peer, role }: LinkReport): boolean => {
    const at = all.findIndex((other) => other.agent === peer);
    const known = all[at]?.links?.some((link) => link.peer === agent.agent) === true;
    return known && (role === 'parent' || (role === 'overlay' && at < all.indexOf(agent)));
  };
  return (agent.links ?? []).filter((link) => !isShownThere(link)).map((link) => [
    agent.agent, printable(agent.host ?? ''), printable(link.peer), link.role, printable(link.kind), link.state,
    timeText(link.inStateMs), link.roundTripMs === undefined ? '-' : `${link.roundTripMs.toFixed(1)} ms`,
  ]);
}
