/**
 * A model of agents that come up: the real bring-up and boot subtrees, with children, links and messages that are
 * played. Links are first in, first out, each with a delay of its own; the controller handles messages at its own pace,
 * while the end of a link is seen at once. What becomes of each start is the test's to say.
 */

import {
  CONTROLLER, StciError, addressIndex, bootHost, bootPosition, rootAddress, toErrorRecord,
} from '@stci/interface';
import type {
  Address, BootstrapDecision, BootstrapPolicy, HostIndex, HostSpec, JobEvent, TreeTopology,
} from '@stci/interface';
import { seededIntegers, type IntegerSource } from '@stci/testkit';
import { BootSubtree, loginsOf, type HostLogin } from '../../dist/agent/boot-subtree.js';
import { decodeBootDetails } from '../../dist/agent/boot-details.js';
import { Bootstrap, type BootstrapFailure } from '../../dist/agent/bootstrap.js';
import type { ChildSpec, SupervisorEvents } from '../../dist/agent/child-supervisor.js';
import { resolved, composition } from '../assembly.js';
import { testPlace } from '../world.js';

/** A start: it fails, hangs until its deadline, comes up, or comes up and dies after so many ms. */
export type Fate = 'fail' | 'hang' | 'up' | number;

export interface Play {
  readonly hosts: number;
  readonly arity: number;
  readonly spares?: number;
  readonly policy: BootstrapPolicy;
  /** `start`: 1 for the first start of an agent on the host of that name. */
  fate(name: string, start: number): Fate;
  readonly collectMs?: number;
  readonly seed?: number;
  /** Longest delay of one hop, ms. */
  readonly delayMs?: number;
}

export const HANG_MS = 10_000;

type Body = { readonly [key: string]: unknown };
type Handler = (name: string, body: Body) => void;

interface Child {
  readonly spec: ChildSpec;
  agent: Agent | undefined;
  told: boolean;
}

interface Agent {
  readonly position: number;
  readonly name: string;
  readonly up: Agent | undefined;
  readonly children: Map<Address, Child>;
  readonly handle: Handler;
  alive: boolean;
  below: BootSubtree | undefined;
  events: SupervisorEvents | undefined;
  rule: (destination: Address) => Address | undefined;
}

export class BootModel {
  readonly events: JobEvent[] = [];
  readonly decisions: BootstrapDecision[] = [];
  readonly starts = new Map<string, number>();
  /** Host → name of the host whose agent got its part of the launch. */
  readonly launched: [HostIndex, string][] = [];
  readonly ready: { hosts: readonly HostSpec[]; leftOut: ReadonlySet<HostIndex>; atMs: number }[] = [];
  readonly aborted: { failures: readonly BootstrapFailure[]; atMs: number }[] = [];
  readonly lost: Address[] = [];
  readonly faults: string[] = [];
  readonly bootstrap: Bootstrap;
  readonly tree: TreeTopology;
  nowMs = 0;
  readonly #play: Play;
  readonly #random: IntegerSource;
  readonly #agenda: { atMs: number; order: number; call: () => void }[] = [];
  readonly #lastMs = new Map<string, number>();
  readonly #controller: Agent;
  readonly #params = resolved({}).params;
  #order = 0;

  constructor(play: Play) {
    this.#play = play;
    this.#random = seededIntegers(play.seed ?? 1);
    this.tree = composition.scope('model', this.#params, testPlace().platform).bootTree(play.hosts, play.arity);
    const handle: Handler = (name, body) => {
      const later = (call: () => void): void => this.#queue('controller', call);
      if (name === 'agent.up') later(() => this.bootstrap.onUp(body['host'] as number));
      if (name === 'agent.failed') later(() => this.#onFailed(body));
    };
    this.#controller = this.#agent(0, 'controller', undefined, handle);
    const spec = (name: string): HostSpec => ({ name, slots: 1, slotsBound: false, origin: 'model' });
    const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => spec(`${prefix}${i}`));
    const policy: BootstrapPolicy = {
      policy: play.policy.policy,
      decide: (failure, context) => {
        const decision = play.policy.decide(failure, context);
        this.decisions.push(decision);
        return decision;
      },
    };
    this.bootstrap = new Bootstrap(
      { node: this.#node(this.#controller) as never, agentLauncher: this.#starter(this.#controller) as never,
        tree: this.tree, policy, hosts: named('h', play.hosts), spares: named('s', play.spares ?? 0), snapshot: {} },
      {
        tell: (event) => void this.events.push(event),
        onReady: (hosts, leftOut) => void this.ready.push({ hosts, leftOut, atMs: this.nowMs }),
        onAborted: (failures) => void this.aborted.push({ failures: [...failures], atMs: this.nowMs }),
        onLost: (agent) => void this.lost.push(agent),
      },
    );
    this.#controller.below = this.bootstrap.below;
  }

  /** All that happens until `untilMs`. */
  run(untilMs = Infinity): this {
    for (;;) {
      const next = this.#agenda.sort((a, b) => a.atMs - b.atMs || a.order - b.order)[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#agenda.shift();
      this.nowMs = next.atMs;
      next.call();
    }
    return this;
  }

  start(): this {
    this.bootstrap.start();
    return this;
  }

  launch(): void {
    const hosts = Array.from({ length: this.#play.hosts }, (_, host) => [host, []] as const);
    const leftOut = this.ready[0]?.leftOut;
    const wanted = hosts.filter(([host]) => leftOut?.has(host) !== true);
    this.bootstrap.below.passLaunch({ hosts: wanted } as never);
  }

  /** Agents that are alive, by position. */
  get living(): ReadonlyMap<number, { readonly name: string; readonly parent: number }> {
    const found = new Map<number, { name: string; parent: number }>();
    const visit = (agent: Agent): void => {
      for (const { agent: child } of agent.children.values()) {
        if (child?.alive !== true) continue;
        found.set(child.position, { name: child.name, parent: agent.position });
        visit(child);
      }
    };
    visit(this.#controller);
    return found;
  }

  /** The neighbour that the agent at `position` names for that destination; undefined: its default route. */
  nextHop(position: number, destination: Address): Address | undefined {
    return this.#find(this.#controller, position)?.rule(destination);
  }

  /** The agent of `host` dies now. */
  kill(host: HostIndex): void {
    const agent = this.#find(this.#controller, bootPosition(host));
    if (agent !== undefined) this.#die(agent);
  }

  #onFailed(body: Body): void {
    const { error } = body as { error: { code: 'STCI_LAUNCH_FAILED'; message: string; host: string } };
    const fault = new StciError(error.code, error.message, { host: error.host });
    this.bootstrap.onFailed(body['agent'] as number, fault);
  }

  #find(agent: Agent, position: number): Agent | undefined {
    if (agent.position === position) return agent;
    for (const { agent: child } of agent.children.values()) {
      const found = child?.alive === true ? this.#find(child, position) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #after(delayMs: number, call: () => void): { cancel(): void } {
    const entry = { atMs: this.nowMs + delayMs, order: this.#order++, call };
    this.#agenda.push(entry);
    return { cancel: () => void (entry.call = () => undefined) };
  }

  /** After a delay, and after whatever went the same way before. */
  #queue(way: string, call: () => void): void {
    const atMs = Math.max(this.nowMs + 1 + this.#random(this.#play.delayMs ?? 30), this.#lastMs.get(way) ?? 0);
    this.#lastMs.set(way, atMs);
    this.#after(atMs - this.nowMs, call);
  }

  #agent(position: number, name: string, up: Agent | undefined, handle: Handler): Agent {
    return { position, name, up, handle, alive: true, children: new Map(), below: undefined, events: undefined,
      rule: () => undefined };
  }

  #node(agent: Agent): unknown {
    const router = {
      set rule(rule: Agent['rule']) {
        agent.rule = rule;
      },
      link: (address: Address) => (agent.children.get(address)?.agent?.alive === true ? address : undefined),
    };
    return {
      router,
      params: { string: () => 'process', int: () => this.#play.collectMs ?? 1000 },
      platform: { clock: { wallMs: () => this.nowMs, after: (ms: number, call: () => void) => this.#after(ms, call) } },
      fault: (fault: unknown) => void this.faults.push(String(fault)),
      messages: {
        send: (to: Address, name: string, body: Body) => {
          if (!this.#send(agent, to, name, body)) throw new StciError('STCI_MESSAGE_UNROUTABLE', `no way to ${to}`);
        },
        sendNeighbour: (link: Address, name: string, body: Body) => {
          const child = agent.children.get(link)?.agent as Agent;
          this.#queue(`down ${id(child)}`, () => child.alive && child.handle(name, body));
        },
      },
    };
  }

  /** False where no link leads there. */
  #send(from: Agent, to: Address, name: string, body: Body): boolean {
    if (to === CONTROLLER) {
      if (from.up === undefined) from.handle(name, body);
      else this.#queue(`up ${id(from)}`, () => from.up?.alive === true && this.#send(from.up, to, name, body));
      return true;
    }
    if (bootPosition(addressIndex(to)) === from.position) {
      from.handle(name, body);
      return true;
    }
    const hop = from.children.get(to)?.agent?.alive === true ? to : from.rule(to);
    const next = hop === undefined ? undefined : from.children.get(hop)?.agent;
    if (next?.alive !== true) return false;
    this.#queue(`down ${id(next)}`, () => next.alive && this.#send(next, to, name, body));
    return true;
  }

  #starter(agent: Agent): unknown {
    const start = (spec: ChildSpec): void => {
      agent.children.set(spec.address, { spec, agent: undefined, told: false });
      this.#queue(`start ${this.#order}`, () => this.#begin(agent, spec.address));
    };
    return {
      ready: (done: (error: undefined) => void) => done(undefined),
      close: () => undefined,
      addresses: () => [],
      rootSpec: (what: { address: Address; host: HostSpec }, details: Uint8Array) => ({ ...what, details }),
      supervise: (events: SupervisorEvents) => {
        agent.events = events;
        return {
          launch: (specs: readonly ChildSpec[]) => specs.forEach(start),
          relaunch: (spec: ChildSpec) => agent.children.get(spec.address)?.told !== false && start(spec),
          stop: (_reason: string, done: () => void) => done(),
        };
      },
    };
  }

  #begin(starter: Agent, address: Address): void {
    const child = starter.children.get(address) as Child;
    if (!starter.alive) return;
    const { name } = child.spec.host;
    const start = (this.starts.get(name) ?? 0) + 1;
    this.starts.set(name, start);
    const fate = this.#play.fate(name, start);
    if (fate === 'fail') return this.#fail(starter, child, `${name} refuses`);
    if (fate === 'hang') return void this.#after(HANG_MS, () => this.#fail(starter, child, `${name} hangs`));
    const agent = this.#bootstrap(starter, child, name);
    this.#send(agent, CONTROLLER, 'agent.up', { host: addressIndex(address) });
    if (fate !== 'up') this.#after(fate, () => this.#die(agent));
  }

  #bootstrap(starter: Agent, child: Child, name: string): Agent {
    const details = decodeBootDetails(child.spec.details);
    const position = bootPosition(details.host);
    const handle: Handler = (what, body) => {
      const { host, subtree } = body as { host: HostIndex; subtree: readonly HostLogin[] };
      if (what === 'launch.restart') agent.below?.restart(host, subtree);
      if (what === 'launch.takeover') agent.below?.takeOver(host, subtree);
      if (what !== 'job.launch') return;
      const { hosts } = body as { hosts: readonly (readonly [HostIndex])[] };
      for (const [each] of hosts) if (each === bootHost(position)) this.launched.push([each, name]);
      agent.below?.passLaunch(body as never);
    };
    const agent = this.#agent(position, name, starter, handle);
    child.agent = agent;
    const report = (address: Address, error: StciError): void =>
      void this.#send(agent, CONTROLLER, 'agent.failed', { agent: address, error: toErrorRecord(error) });
    const logins = loginsOf(this.tree, position, details.subtree);
    const { hosts, arity, params } = details;
    agent.below = new BootSubtree(
      { node: this.#node(agent) as never, agentLauncher: this.#starter(agent) as never, tree: this.tree,
        position, logins,
        common: { hosts, arity, params } },
      { onUp: () => undefined, onFailed: report, onLost: report },
    );
    agent.below.start();
    return agent;
  }

  #fail(starter: Agent, child: Child, text: string): void {
    if (!starter.alive || child.told) return;
    child.told = true;
    const error = new StciError('STCI_LAUNCH_FAILED', text, { host: child.spec.host.name });
    starter.events?.onFailed(child.spec.address, error);
  }

  /** With all below it. Its starter sees its end behind what it said last. */
  #die(agent: Agent): void {
    if (!agent.alive) return;
    agent.alive = false;
    for (const { agent: child } of agent.children.values()) if (child !== undefined) this.#die(child);
    const { up } = agent;
    if (up?.alive !== true) return;
    this.#queue(`up ${id(agent)}`, () => {
      const child = up.children.get(rootAddress(bootHost(agent.position))) as Child;
      if (!up.alive || child.told || child.agent !== agent) return;
      child.told = true;
      const error = new StciError('STCI_AGENT_LOST', `${agent.name} is gone`, { host: agent.name });
      up.events?.onLost(child.spec.address, error);
    });
  }
}

const ids = new WeakMap<Agent, number>();
let idsGiven = 0;

function id(agent: Agent): number {
  const known = ids.get(agent) ?? ++idsGiven;
  ids.set(agent, known);
  return known;
}
