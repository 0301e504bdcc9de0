/**
 * Survey of links: the controller asks every root agent for its links, each of which measures the round trip to its
 * peers. For people, on demand; nothing is sent otherwise.
 */

import { CONTROLLER, addressIndex, addressKind, addressName, agentName, rootAddress } from '@stci/interface';
import { Later } from '../am/answer.js';
import type { Link } from '../bootcom/link.js';
import type { HostStatus } from '../hosts/host-status.js';
import type { AgentLinks, LinkReport } from '../messages/link-report.js';
import type { AgentNode } from '../node/node.js';

/** Longest round trip that is measured, and how long answers are awaited. */
const ECHO_MS = 1000;
const SURVEY_MS = 2 * ECHO_MS;

/** Reports the links of this agent: to session agents without a measurement, as they share its host. */
export function reportLinks(node: AgentNode, done: (links: readonly LinkReport[]) => void): void {
  const { clock } = node.platform;
  const links = node.router.links();
  const found: LinkReport[] = [];
  let missing = links.length;
  const one = (link: Link, roundTripMs?: number): void => {
    const { facts: { kind, state }, role, inStateMs, peer, job } = link;
    if (roundTripMs !== undefined) node.metrics.count('link_round_trip_ms', roundTripMs, { role });
    const name = agentName(peer, job);
    found.push({ peer: name, kind, role, state, inStateMs, ...(roundTripMs !== undefined && { roundTripMs }) });
    missing -= 1;
    if (missing === 0) done(found.sort((a, b) => a.peer.localeCompare(b.peer, 'en', { numeric: true })));
  };
  if (links.length === 0) done(found);
  for (const link of links) {
    const kind = addressKind(link.peer);
    const sinceMs = clock.nowMs();
    if (kind !== 'root' && kind !== 'controller') one(link);
    else {
      node.messages.request(link.peer, 'agent.echo', 0, (error) =>
        one(link, error === undefined ? clock.nowMs() - sinceMs : undefined), { timeoutMs: ECHO_MS });
    }
  }
}

/** At a root agent. */
export function answerSurveys(node: AgentNode): void {
  node.messages.on('links.survey', () => new Later<'links.survey'>((answer) =>
    reportLinks(node, (links) => answer.done([...links]))));
}

/** Who asks. */
export interface GatheredLinks {
  onAgent(agent: AgentLinks): void;
  /** All have answered, or had the time to: a silent one was told of without links. `overlay`: as it was asked for. */
  onDone(overlay: string): void;
}

/** At the controller: its own links, and those of these hosts' agents. */
export function gatherLinks(node: AgentNode, hosts: readonly HostStatus[], { onAgent, onDone }: GatheredLinks): void {
  const agents = hosts.filter(({ state }) => state === 'up' || state === 'suspect' || state === 'orphaned')
    .map(({ host }) => rootAddress(host));
  let missing = 1 + agents.length;
  const one = (): void => {
    missing -= 1;
    if (missing === 0) onDone(node.params.string('overlay.topology'));
  };
  // First: what is sent over a link of the overlay after a survey, which goes by the tree, would wait for that there.
  reportLinks(node, (links) => {
    onAgent({ agent: addressName(CONTROLLER), links: [...links] });
    one();
  });
  for (const agent of agents) {
    node.messages.request(agent, 'links.survey', {}, (error, reply) => {
      const links = error === undefined ? reply as LinkReport[] : undefined;
      onAgent({ agent: addressName(agent), host: hosts[addressIndex(agent)]?.spec.name, links });
      one();
    }, { timeoutMs: SURVEY_MS });
  }
}
