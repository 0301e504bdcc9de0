/**
 * Detectors of agents on a model of a network, with a virtual clock: messages take any time up to a bound and keep
 * their order on each link; agents crash, stand still, are cut off and come back. What one reports, all that it can
 * reach are told within a bound (an ideal notifier). An agent that is declared dead and lives ends itself as soon as it
 * learns of it; one that reports the controller, position 0, is cut off from it and ends itself.
 *
 * Pure: the seed decides everything, so that thousands of runs take seconds.
 */

import { MemberView, PROBE_LATENCIES } from '@stci/core/component';
import type {
  Detector, DetectorAction, DetectorEvent, DetectorModule, FailureCause, MemberId, Position, Topology,
} from '@stci/interface';
import { frozen } from '../kit/frozen.js';
import { hear } from '../kit/hear.js';
import { MachineNet, NetAgent } from '../kit/machine-net.js';
import { plainSize } from '../kit/plain-size.js';
import { Suspicions, checkHeard, checkReport, checkSuspected, type Suspicion } from './detector-news.js';

export interface DetectorModelInit {
  readonly module: DetectorModule;
  readonly size: number;
  readonly seed: number;
  /** Longest time of a message. */
  readonly latencyBoundMs: number;
  /** Longest time until a survivor is told of a report; default: as of a message. */
  readonly noticeBoundMs?: number;
  readonly topologyOf?: ((size: number) => Topology) | undefined;
  /** Whose links' ends the agents see when one crashes. */
  readonly links?: Topology | undefined;
  /** Agents start within this time; default 0. */
  readonly startSpreadMs?: number;
  /** What the clock shows then; default 0. */
  readonly startMs?: number;
  /** Positions at which nobody is: they have left before. */
  readonly absent?: readonly Position[];
}

export interface ModelReport {
  readonly atMs: number;
  readonly by: Position;
  readonly failed: MemberId;
  readonly cause: FailureCause;
  /** For so long it has been suspected; undefined: it was not. */
  readonly leadMs: number | undefined;
  /** The agent had not crashed: a mistake. */
  readonly isAlive: boolean;
}

export interface ModelDeath {
  readonly atMs: number;
  readonly member: MemberId;
  readonly why: 'crash' | 'fenced' | 'cut off';
}

const BODY_BYTES_MAX = 64 * 1024;

/** How long the controller waits for an answer: as agents have it, by the time of a message. */
export function answerMsOf(latencyBoundMs: number): number {
  return PROBE_LATENCIES * latencyBoundMs;
}

/** Detector of a position at which nobody is. */
const NOBODY: Detector = { dueMs: undefined, on: () => [] };

class ModelAgent extends NetAgent<DetectorEvent, DetectorAction> {
  readonly members: MemberView;
  isStarted = false;

  constructor(members: MemberView, machine: Detector) {
    super(members.self, machine);
    this.members = members;
  }
}

export class DetectorModel extends MachineNet<DetectorEvent, DetectorAction, ModelAgent> {
  readonly reports: ModelReport[] = [];
  /** Deaths, the ones that agents caused themselves included: they learned that they were declared dead. */
  readonly deaths: ModelDeath[] = [];
  messages = 0;
  /** By metric, the sum of what was counted. */
  readonly counted = new Map<string, number>();
  bodyBytes = 0;
  /** Sees every message as it is sent. */
  onSend: ((from: Position, to: Position, body: unknown) => void) | undefined;
  /** Every event and action as a line, if it is set. */
  trace: ((line: string) => void) | undefined;
  readonly #init: DetectorModelInit;
  readonly #suspicions = new Suspicions();

  constructor(init: DetectorModelInit) {
    super({ ...init, inOrder: true });
    this.#init = init;
    const all = Array.from({ length: init.size }, (_, position): MemberId => first(position));
    const isAbsent = ({ position }: MemberId): boolean => init.absent?.includes(position) === true;
    const members = frozen(all.filter((member) => !isAbsent(member)));
    for (const self of all) {
      const agent = isAbsent(self) ? new ModelAgent(new MemberView(self), NOBODY) : this.#open(self, members);
      if (isAbsent(self)) agent.sendsLeft = 0;
      this.agents.set(self.position, agent);
    }
    for (const agent of this.agents.values()) {
      this.at(this.nowMs + this.random() * (init.startSpreadMs ?? 0), () => this.#start(agent));
    }
  }

  /** Suspicions so far. */
  get suspected(): number {
    return this.#suspicions.count;
  }

  /** Suspicions of agents that live, by others that do, for so long. */
  suspicions(forMs: number): Suspicion[] {
    return this.#suspicions.before(this.nowMs - forMs).filter(({ by, position }) => (
      this.agent(by).isAlive && this.agent(position).isAlive));
  }

  crash(position: Position, why: ModelDeath['why'] = 'crash'): void {
    const agent = this.agent(position);
    if (!agent.isAlive) return;
    agent.sendsLeft = 0;
    this.deaths.push({ atMs: this.nowMs, member: agent.member, why });
    this.trace?.(`${this.nowMs} ${position} ${why}`);
    for (const peer of this.#init.links?.neighbours(position) ?? []) {
      const closed = { type: 'link', peer: agent.member, state: 'closed', reason: 'lost', text: '' } as const;
      this.at(this.nowMs + this.delayMs(), () => this.give(peer, closed));
    }
  }

  /** The agent leaves, as all are told; it lives until they know. */
  leave(position: Position): void {
    const { member } = this.agent(position);
    for (const other of this.living) if (other !== position) this.#tell(position, other, { type: 'gone', member });
    const left = { type: 'link', peer: member, state: 'closed', reason: 'goodbye', text: '' } as const;
    this.at(this.nowMs + 2 * (this.#init.noticeBoundMs ?? this.#init.latencyBoundMs), () => {
      this.agent(position).sendsLeft = 0;
      for (const peer of this.#init.links?.neighbours(position) ?? []) this.give(peer, left);
    });
  }

  /** The agent has left before the others start, who are told so before. */
  leaveEarly(position: Position): void {
    const { member } = this.agent(position);
    this.agent(position).sendsLeft = 0;
    for (const other of this.living) this.give(other, { type: 'gone', member });
  }

  /** Another agent joins, at the next position; `lateMs` later it starts. */
  grow(lateMs = 0): void {
    this.#join({ position: this.agents.size, incarnation: 1 }, lateMs);
  }

  /** Another incarnation takes its place, and all are told within the notice's bound. */
  restart(position: Position): void {
    this.#join({ position, incarnation: this.agent(position).member.incarnation + 1 });
  }

  #join(member: MemberId, lateMs = 0): void {
    const { position } = member;
    // As the controller has them: a death that nobody has reported yet is not known to it.
    const known = [...this.agents.values()].map((each) => each.member).filter((each) => {
      const isAbsent = this.#init.absent?.includes(each.position) === true;
      return each.position !== position && !isAbsent && !this.reports.some(({ failed }) => sameMember(failed, each));
    });
    const agent = this.#open(member, frozen(known));
    const before = this.agents.get(position);
    if (before !== undefined) before.sendsLeft = 0;
    this.agents.set(position, agent);
    this.#suspicions.forget(position);
    for (const other of this.living) {
      if (other !== position) this.#tell(position, other, { type: 'joined', member });
    }
    agent.isAway = lateMs > 0;
    if (lateMs === 0) this.#start(agent);
    else this.at(this.nowMs + lateMs, () => this.#start(agent));
  }

  /** `others`: frozen. */
  #open(self: MemberId, others: readonly MemberId[]): ModelAgent {
    const { module, topologyOf, latencyBoundMs } = this.#init;
    const answerMs = answerMsOf(latencyBoundMs);
    const { random } = this;
    const members = new MemberView(frozen(self), others);
    return new ModelAgent(members, module.open(Object.freeze({ self, members, topologyOf, answerMs, random })));
  }

  #start(agent: ModelAgent): void {
    agent.isStarted = true;
    agent.isAway = false;
    this.give(agent.member.position, { type: 'start' });
    this.catchUp(agent);
  }

  protected override thawed(agent: ModelAgent, lagMs: number): void {
    this.on(agent, { type: 'lag', lagMs });
  }

  protected override on(agent: ModelAgent, event: DetectorEvent): void {
    const { position } = agent.member;
    this.trace?.(`${this.nowMs} ${position} < ${JSON.stringify(event)}`);
    if (event.type === 'gone' && sameMember(event.member, agent.member)) {
      this.crash(position, 'fenced');
      return;
    }
    if (!hear(agent.members, event)) return;
    if (event.type === 'gone') this.#suspicions.end(position, event.member.position);
    super.on(agent, event);
    const { dueMs = 0 } = agent.machine;
    if (!Number.isFinite(dueMs)) throw new Error(`dueMs is a time, got ${dueMs}`);
  }

  protected override act(agent: ModelAgent, action: DetectorAction, event: DetectorEvent): void {
    const { type } = action;
    const { position } = agent.member;
    const isEarly = !agent.isStarted && event.type !== 'message' && (type === 'send' || type === 'report');
    if (isEarly) throw new Error(`agent ${position} begins to ${type} before its start, on ${event.type}`);
    if (type !== 'count') this.trace?.(`${this.nowMs} ${position} > ${JSON.stringify(action)}`);
    switch (action.type) {
      case 'send':
        return this.#send(agent, action.to, action.body);
      case 'report':
        return this.#report(position, action);
      case 'suspect':
        return this.#suspicions.begin(position, action, this.nowMs);
      case 'trust':
        return this.#suspicions.end(position, action.member.position);
      case 'count':
        if (this.#init.module.metrics[action.metric] === undefined) throw new Error(`no metric ${action.metric}`);
        if (!(action.value >= 0)) throw new Error(`${action.metric} counts ${action.value}`);
        this.counted.set(action.metric, (this.counted.get(action.metric) ?? 0) + action.value);
    }
  }

  #send(agent: ModelAgent, to: Position, body: unknown): void {
    const from = agent.member;
    const bytes = plainSize(body);
    if (bytes > BODY_BYTES_MAX) throw new Error(`a body of ${bytes} bytes`);
    this.send(agent, to, { type: 'message', from, body }, (receiver) => this.agent(to) !== receiver);
    this.messages++;
    this.onSend?.(from.position, to, body);
    this.bodyBytes += bytes;
  }

  /** How long the agent has stood still since then. */
  #lagMs(by: Position, fromMs: number): number {
    return this.agent(by).standstills
      .reduce((sum, { sinceMs, untilMs }) => sum + Math.max(0, untilMs - Math.max(sinceMs, fromMs)), 0);
  }

  /** When the last message of an agent that died then may come to `by`, which hears it later if it stands still. */
  #lastHeardMs(by: Position, deathMs: number): number {
    let lastMs = deathMs + this.#init.latencyBoundMs;
    for (const { sinceMs, untilMs } of this.agent(by).standstills) {
      if (sinceMs <= lastMs) lastMs = Math.max(lastMs, untilMs);
    }
    return lastMs;
  }

  #report(by: Position, report: Extract<DetectorAction, { type: 'report' }>): void {
    const { failed, cause } = report;
    if (!('position' in failed)) throw new Error('a detector of agents reports a rank');
    if (failed.position === by) throw new Error(`agent ${by} reports itself`);
    if (this.agent(by).members.isGone(failed)) {
      throw new Error(`agent ${by} reports agent ${nameOf(failed)}, of whose end it was told`);
    }
    checkReport(report, this.#init.startMs ?? 0, this.nowMs);
    const death = this.deaths.find(({ member }) => sameMember(member, failed));
    if (death !== undefined) checkHeard(report, this.#lastHeardMs(by, death.atMs));
    const sinceMs = this.#suspicions.sinceMs(by, failed.position);
    if (sinceMs !== undefined) checkSuspected(report, sinceMs, this.#lagMs(by, sinceMs));
    this.#suspicions.end(by, failed.position);
    const agent = this.agent(failed.position);
    const isAlive = agent.isAlive && agent.member.incarnation === failed.incarnation;
    const leadMs = sinceMs === undefined ? undefined : this.nowMs - sinceMs;
    this.reports.push({ atMs: this.nowMs, by, failed, cause, leadMs, isAlive });
    if (failed.position === 0) {
      this.at(this.nowMs, () => this.crash(by, 'cut off'));
      return;
    }
    for (const other of this.agents.keys()) this.#tell(by, other, { type: 'gone', member: failed });
  }

  #tell(from: Position, to: Position, event: DetectorEvent): void {
    if (this.isCut(from, to)) return;
    const bound = this.#init.noticeBoundMs ?? this.#init.latencyBoundMs;
    this.at(this.nowMs + (from === to ? 0 : this.random() * bound), () => this.give(to, event));
  }

  /** Often at one of its ends, where mistakes show. */
  protected override delayMs(): number {
    const share = this.below(4) === 0 ? this.below(2) : this.random();
    return share * this.#init.latencyBoundMs;
  }
}

function first(position: Position): MemberId {
  return { position, incarnation: position === 0 ? 0 : 1 };
}

function nameOf({ position, incarnation }: MemberId): string {
  return `${position}#${incarnation}`;
}

function sameMember(a: MemberId, b: MemberId): boolean {
  return a.position === b.position && a.incarnation === b.incarnation;
}
