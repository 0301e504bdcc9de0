/**
 * Survey of links: the controller asks every root agent for its links, each of which measures the round trip to its
 * peers. For people, on demand; nothing is sent otherwise.
 */

import {
  CONTROLLER, addressIndex, addressKind, addressName, agentName, rootAddress, type HostIndex,
} from '@stci/interface';
import type { Link } from '../bootcom/link.js';
import type { Scope } from '../event/scope.js';
import { Timers } from '../event/timers.js';
import type { HostStatus } from '../hosts/host-status.js';
import type { AgentLinks, LinkReport, TopologyReport } from '../messages/topology-report.js';
import type { AgentNode } from '../node/node.js';

/** Longest round trip that is measured, and how long answers are awaited. */
const ECHO_MS = 1000;
const SURVEY_MS = 2 * ECHO_MS;

/** Links that an agent may report besides one to each host: those to agents of jobs. */
const LINKS_BESIDE_MAX = 1024;

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
  node.messages.on('links.survey', ({ survey }) => reportLinks(node, (links) => {
    const host = addressIndex(node.identity.self);
    node.messages.send(CONTROLLER, 'links.report', { host, survey, links: [...links] });
  }));
}

export class LinkSurveys {
  readonly #node: AgentNode;
  readonly #hosts: () => readonly HostStatus[];
  readonly #found = new Map<HostIndex | undefined, readonly LinkReport[]>();
  #survey = 0;
  readonly #timers: Timers<'survey'>;
  #asked: readonly HostIndex[] = [];

  constructor(node: AgentNode, holds: Scope, hosts: () => readonly HostStatus[]) {
    this.#node = node;
    this.#timers = new Timers(node.platform.clock, holds);
    this.#hosts = hosts;
    node.messages.on('links.report', ({ host, survey, links }) => {
      if (survey !== this.#survey || !this.#asked.includes(host)) return;
      this.#found.set(host, links.slice(0, this.#hosts().length + LINKS_BESIDE_MAX));
    });
  }

  /** Number 0 begins a survey, its own number asks how far it is. Several who ask at a time get the same survey. */
  report(survey: number): TopologyReport {
    if (survey === 0 && !this.#timers.has('survey')) this.#begin();
    const agents: AgentLinks[] = [{ agent: addressName(CONTROLLER), links: this.#found.get(undefined) }];
    for (const { host, spec } of this.#connected) {
      agents.push({ agent: addressName(rootAddress(host)), host: spec.name, links: this.#found.get(host) });
    }
    const isDone = !this.#timers.has('survey') || this.#found.size > this.#asked.length;
    const overlay = this.#node.params.string('overlay.topology');
    return { survey: this.#survey, isDone, overlay, agents };
  }

  get #connected(): readonly HostStatus[] {
    return this.#hosts().filter(({ state }) => state === 'up' || state === 'suspect' || state === 'orphaned');
  }

  #begin(): void {
    const { messages } = this.#node;
    this.#survey += 1;
    const survey = this.#survey;
    this.#found.clear();
    this.#timers.set('survey', SURVEY_MS, () => undefined);
    this.#asked = this.#connected.map(({ host }) => host);
    // First: what is sent over a link of the overlay after a survey, which goes by the tree, would wait for that there.
    reportLinks(this.#node, (links) => {
      if (survey === this.#survey) this.#found.set(undefined, links);
    });
    for (const host of this.#asked) messages.send(rootAddress(host), 'links.survey', { survey });
  }
}
