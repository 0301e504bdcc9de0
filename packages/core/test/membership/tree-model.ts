/**
 * A model of root agents in a boot tree, with virtual time, for the mender: agents, their links as each end sees them,
 * reports and attempts on their way. Everything that is lost or cut here is random.
 */

import type { HostIndex } from '@stci/interface';
import { seeded, type Seeded } from '@stci/testkit';
import { createTree } from '@stci/topology-tree';
import { Mender, type AdoptionAnswer, type LossEvidence, type MendAction } from '../../dist/membership/mender.js';
import { MembershipTable, type ParentHost } from '../../dist/membership/table.js';
import { specs } from './specs.js';

export const LEASE_MS = 10_000;
/** How long an answer is awaited of an agent that does not answer. */
export const ATTEMPT_MS = LEASE_MS / 2;

/** Position 0 is the controller, as in the boot tree. */
type At = number;

interface ModelLink {
  readonly above: ModelAgent;
  readonly below: ModelAgent;
}

interface ModelAgent {
  readonly at: At;
  runs: boolean;
  /** Its host does not answer at all. */
  hostGone: boolean;
  parent: ModelLink | undefined;
  /** When it lost its parent last. */
  orphanedMs: number;
  readonly children: Map<At, ModelLink>;
  /** Messages to the controller. */
  readonly outbox: (() => void)[];
}

const hostOf = (at: At): ParentHost => (at === 0 ? undefined : at - 1);
const atOf = (host: ParentHost): At => (host === undefined ? 0 : host + 1);

export class TreeModel {
  readonly random: Seeded;
  readonly table: MembershipTable;
  readonly mender: Mender;
  readonly agents: ModelAgent[];
  /** Actions by kind, and hosts by what was declared. */
  readonly attempted: HostIndex[] = [];
  readonly declared = new Map<HostIndex, number>();
  /** Agents that were killed, or that could not be reached by the controller for a while. */
  readonly killedMs = new Map<HostIndex, number>();
  readonly wasCut = new Set<HostIndex>();
  /** When something fell silent; it may be noticed later than a lease. */
  readonly silencedMs: number[] = [];
  /** Agents that ended because nobody took them back. */
  readonly givenUpMs = new Map<HostIndex, number>();
  nowMs = 0;
  readonly #cuts = new Set<string>();
  readonly #events: { readonly ms: number; readonly run: () => void }[] = [];

  constructor(seed: number, hosts: number, arity: number) {
    this.random = seeded(seed);
    const tree = createTree(hosts + 1, arity);
    this.table = new MembershipTable(tree, specs(hosts));
    this.mender = new Mender({ table: this.table, leaseMs: LEASE_MS, handshakeMs: 1000 });
    this.agents = Array.from({ length: hosts + 1 }, (_, at) => ({
      at, runs: true, hostGone: false, parent: undefined, orphanedMs: 0, children: new Map(), outbox: [],
    }));
    for (let at = 1; at <= hosts; at++) {
      this.#link(this.#agent(tree.parent(at) as At), this.#agent(at));
      for (const event of ['start', 'up'] as const) this.table.apply(at - 1, event);
    }
  }

  after(delayMs: number, run: () => void): void {
    this.#events.push({ ms: this.nowMs + delayMs, run });
  }

  /** Runs until nothing is left to happen. */
  run(): void {
    for (let steps = 0; ; steps++) {
      if (steps > 100_000) throw new Error('the model comes to no end');
      const dueMs = this.mender.dueMs ?? Infinity;
      const next = this.#events.reduce((best, { ms }, i) => (ms < (this.#events[best]?.ms ?? Infinity) ? i : best), 0);
      const event = this.#events[next];
      if (event === undefined && dueMs === Infinity) return;
      if (event === undefined || dueMs <= event.ms) {
        this.nowMs = Math.max(this.nowMs, dueMs);
        this.#carryOut(this.mender.tick(this.nowMs));
      } else {
        this.#events.splice(next, 1);
        this.nowMs = event.ms;
        event.run();
      }
    }
  }

  /** The agent's process ends: both ends see it soon, and the agent above may learn that it exited. */
  kill(host: HostIndex): void {
    const agent = this.#agent(atOf(host));
    if (!agent.runs) return;
    this.killedMs.set(host, this.nowMs);
    this.#end(agent);
  }

  /** The host is gone without a word. */
  crash(host: HostIndex): void {
    const agent = this.#agent(atOf(host));
    if (!agent.runs) return;
    this.killedMs.set(host, this.nowMs);
    agent.runs = false;
    agent.hostGone = true;
    for (const link of this.#linksOf(agent)) this.#silence(link);
  }

  /** The connection between an agent and its parent breaks, the network stays. */
  breakLink(host: HostIndex): void {
    const link = this.#agent(atOf(host)).parent;
    if (link === undefined) return;
    this.after(this.#short(), () => this.#lostBelow(link, 'closed'));
    this.after(this.#short(), () => this.#lostAbove(link));
  }

  /** Nothing passes between the two hosts for a while. */
  cut(host: HostIndex, other: ParentHost, forMs: number): void {
    const pair = this.#pair(atOf(host), atOf(other));
    if (other === undefined) this.wasCut.add(host);
    this.#cuts.add(pair);
    this.silencedMs.push(this.nowMs);
    const link = this.#agent(atOf(host)).parent;
    if (link?.above.at === atOf(other)) this.#silence(link);
    this.after(forMs, () => this.#cuts.delete(pair));
  }

  /** Linked to the controller, at both ends of every link. */
  isConnected(at: At): boolean {
    const agent = this.#agent(at);
    if (at === 0) return true;
    const link = agent.parent;
    if (!agent.runs || link === undefined || link.above.children.get(at) !== link) return false;
    return !this.#cuts.has(this.#pair(at, link.above.at)) && this.isConnected(link.above.at);
  }

  #agent(at: At): ModelAgent {
    return this.agents[at] as ModelAgent;
  }

  #pair(a: At, b: At): string {
    return `${Math.min(a, b)} ${Math.max(a, b)}`;
  }

  #short(): number {
    return 1 + this.random.below(50);
  }

  #linksOf(agent: ModelAgent): ModelLink[] {
    return [...agent.children.values(), ...(agent.parent === undefined ? [] : [agent.parent])];
  }

  #link(above: ModelAgent, below: ModelAgent): void {
    below.parent = { above, below };
    above.children.set(below.at, below.parent);
  }

  /** Each end notices by itself, when its lease is over. */
  #silence(link: ModelLink): void {
    this.silencedMs.push(this.nowMs);
    const lateMs = (): number => LEASE_MS + this.random.below(LEASE_MS / 4);
    this.after(lateMs(), () => this.#lostBelow(link, 'silent'));
    this.after(lateMs(), () => this.#lostAbove(link, LEASE_MS / 2));
  }

  #end(agent: ModelAgent): void {
    agent.runs = false;
    const parent = agent.parent;
    const evidence = this.random.pick(['exited', 'closed'] as const);
    if (parent !== undefined) this.after(this.#short(), () => this.#lostBelow(parent, evidence));
    for (const link of agent.children.values()) this.after(this.#short(), () => this.#lostAbove(link));
  }

  /** The parent's end notices, and reports it. */
  #lostBelow(link: ModelLink, evidence: LossEvidence): void {
    const { above, below } = link;
    if (!above.runs || above.children.get(below.at) !== link) return;
    above.children.delete(below.at);
    const report = { reporter: hostOf(above.at), host: below.at - 1, incarnation: 1, evidence, text: evidence };
    this.#toController(above, () => this.#carryOut(this.mender.lost(report, this.nowMs)));
  }

  /** The child's end notices: an orphan, which ends if nobody links to it within the lease. */
  #lostAbove(link: ModelLink, waitMs = LEASE_MS): void {
    const { below } = link;
    if (!below.runs || below.parent !== link) return;
    below.parent = undefined;
    below.orphanedMs = this.nowMs;
    this.after(waitMs, () => {
      if (!below.runs || below.parent !== undefined || this.nowMs < below.orphanedMs + waitMs) return;
      this.givenUpMs.set(below.at - 1, this.nowMs);
      this.#end(below);
    });
  }

  /** In order, as soon as there is a way; until then the agent keeps it. */
  #toController(agent: ModelAgent, run: () => void): void {
    agent.outbox.push(run);
    if (agent.outbox.length === 1) this.#deliver(agent);
  }

  #deliver(agent: ModelAgent): void {
    this.after(1 + this.random.below(20), () => {
      if (this.isConnected(agent.at)) agent.outbox.shift()?.();
      else if (!agent.runs) agent.outbox.length = 0;
      if (agent.outbox.length > 0) this.#deliver(agent);
    });
  }

  #carryOut(actions: readonly MendAction[]): void {
    for (const action of actions) {
      if (action.type === 'lost') this.declared.set(action.host, this.nowMs);
      else if (action.type === 'attempt') {
        this.attempted.push(action.host);
        this.#request(action, this.#agent(atOf(action.by)), this.#agent(atOf(action.host)));
      } else if (action.type === 'expel') {
        const by = this.#agent(atOf(action.by));
        const link = by.children.get(atOf(action.host));
        by.children.delete(atOf(action.host));
        if (link !== undefined) this.after(this.#short(), () => this.#lostAbove(link));
      }
    }
  }

  /** The request waits for a way to the agent that is to try. */
  #request(attempt: MendAction & { type: 'attempt' }, by: ModelAgent, target: ModelAgent): void {
    const { id, waitMs } = attempt;
    this.after(1 + this.random.below(20), () => {
      if (!by.runs) return;
      if (!this.isConnected(by.at)) return this.#request(attempt, by, target);
      const slow = target.hostGone || this.#cuts.has(this.#pair(by.at, target.at));
      this.after(slow ? waitMs : Math.min(waitMs, 20 + this.random.below(400)), () => {
        if (!by.runs) return;
        const answer = this.#reach(by, target);
        this.#toController(by, () => this.#carryOut(this.mender.answered(id, answer, this.nowMs)));
      });
    });
  }

  #reach(by: ModelAgent, target: ModelAgent): AdoptionAnswer {
    if (target.hostGone || this.#cuts.has(this.#pair(by.at, target.at))) return { result: 'unreachable' };
    if (!target.runs) return { result: 'dead' };
    const above = target.parent?.above;
    if (above !== undefined && above !== by) return { result: 'busy', parent: hostOf(above.at) };
    this.#link(by, target);
    return { result: 'adopted' };
  }
}
