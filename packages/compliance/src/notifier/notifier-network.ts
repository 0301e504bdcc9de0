/**
 * Agents that run one notifier each, over links whose messages take 1 to LATENCY_MS: pure, in whole milliseconds, all
 * randomness from a seed. Agents die at a time, or after so many messages; nobody is told before the test says so.
 */

import { MemberView } from '@stci/core/component';
import type {
  MemberId, Notifier, NotifierAction, NotifierEvent, NotifierModule, Position, Topology,
} from '@stci/interface';
import * as assert from '../kit/assert.js';
import { frozen } from '../kit/frozen.js';
import { hear } from '../kit/hear.js';
import { MachineNet, NetAgent } from '../kit/machine-net.js';

export const LATENCY_MS = 10;
/** Bound on each agent's timers without a message. */
const DUES_MAX = 100;

export interface NotifierNetworkInit {
  readonly module: NotifierModule;
  readonly topologyOf: ((size: number) => Topology) | undefined;
  readonly members: readonly MemberId[];
  readonly seed: number;
  /** A message takes at most so long; default LATENCY_MS. */
  readonly latencyMs?: number;
  /** What their clocks show at the start; default: 0. */
  readonly startMs?: number;
}

class Agent extends NetAgent<NotifierEvent, NotifierAction> {
  readonly members: MemberView;
  /** In the order of delivery, `source payload`, with the time since the start. */
  readonly delivered: { readonly what: string; readonly atMs: number }[] = [];

  constructor(members: MemberView, machine: Notifier) {
    super(members.self, machine);
    this.members = members;
  }
}

export class NotifierNetwork extends MachineNet<NotifierEvent, NotifierAction, Agent> {
  /** Bodies sent, by receiver. */
  readonly sent: { readonly from: MemberId; readonly to: Position; readonly body: unknown }[] = [];
  #sentMax = 0;
  /** Timers that ran since there was another event. */
  #dues = 0;
  readonly #init: NotifierNetworkInit;

  constructor(init: NotifierNetworkInit) {
    super(init);
    this.#init = init;
    const members = frozen(init.members);
    for (const member of members) this.#open(member, members);
  }

  /** Another incarnation takes part; all agents are told. */
  join(member: MemberId): void {
    const members = [...this.agents.values()].map((each) => each.member)
      .filter(({ position }) => position !== member.position);
    this.#open(frozen(member), members);
    this.tell({ type: 'joined', member });
  }

  /** Dies after `sends` more messages. */
  kill(position: Position, sends = 0): void {
    this.agent(position).sendsLeft = sends;
  }

  isAlive(position: Position): boolean {
    return this.agents.get(position)?.isAlive === true;
  }

  survivors(): Position[] {
    return this.living;
  }

  tell(event: NotifierEvent): void {
    for (const position of this.living) this.give(position, event);
  }

  tellOthers(but: Position, event: NotifierEvent): void {
    for (const position of this.living) if (position !== but) this.give(position, event);
  }

  broadcast(source: Position, payload: Uint8Array): void {
    this.#sentMax += 3 * this.agents.size ** 2;
    this.give(source, { type: 'broadcast', payload });
  }

  /** The message reaches the agent now. */
  receive(to: Position, from: MemberId, body: unknown): void {
    this.give(to, { type: 'message', from, body });
  }

  deliveries(position: Position): string[] {
    return this.agent(position).delivered.map(({ what }) => what);
  }

  /** They are frozen. */
  #open(self: MemberId, others: readonly MemberId[]): void {
    const { module, topologyOf } = this.#init;
    const members = new MemberView(self, others);
    const machine = module.open(Object.freeze({ self, members, topologyOf }));
    this.agents.set(self.position, new Agent(members, machine));
  }

  protected override delayMs(): number {
    return 1 + this.below(this.#init.latencyMs ?? LATENCY_MS);
  }

  protected override on(agent: Agent, event: NotifierEvent): void {
    this.#dues = event.type === 'due' ? this.#dues + 1 : 0;
    // One that was reported, and lives.
    const isBack = event.type === 'joined' && agent.members.refute(event.member);
    if (!isBack && !hear(agent.members, event)) return;
    const isEndless = this.#dues > DUES_MAX + DUES_MAX * this.agents.size;
    if (isEndless) throw new Error(`timers run without end: ${this.#dues} since the last message`);
    super.on(agent, event);
    const { dueMs } = agent.machine;
    if (dueMs === undefined || !agent.isAlive) return;
    assert.ok(dueMs >= this.nowMs, `dueMs is ${dueMs}, which is over at ${this.nowMs} ms`);
    assert.ok(event.type !== 'due' || dueMs > this.nowMs, 'what was due has been done');
  }

  protected override act(agent: Agent, action: NotifierAction): void {
    const { member: from, delivered } = agent;
    if (action.type === 'deliver') {
      const { source, payload } = action;
      assert.ok(source.position !== from.position || source.incarnation !== from.incarnation, 'not to itself');
      const atMs = this.nowMs - (this.#init.startMs ?? 0);
      delivered.push({ what: `${source.position}#${source.incarnation} ${payload.join()}`, atMs });
      return;
    }
    agent.sendsLeft--;
    const { to, body } = action;
    this.sent.push({ from, to, body });
    if (this.sent.length > this.#sentMax) throw new Error(`agents send without end: ${this.#sentMax} messages`);
    // Of an agent that dies, what is under way may be lost.
    const mayBeLost = this.below(2) === 0;
    this.send(agent, to, { type: 'message', from, body }, () => mayBeLost && !agent.isAlive);
  }
}

/** Positions 0..size-1 in their first incarnation; 0 for the controller. */
export function membersOf(size: number): MemberId[] {
  return Array.from({ length: size }, (_, position) => ({ position, incarnation: Math.min(position, 1) }));
}
