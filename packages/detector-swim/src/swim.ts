/**
 * SWIM (Das, Gupta, Motivala, 2002), the papers' point of comparison. Each period an agent pings one other, in a random
 * order that has each member once a round. Without an answer in time it asks some others to ping it (indirect probes);
 * without any answer until the period's end it suspects the member, and says so in rumours that ride on all messages.
 * A suspected member that hears of it raises its number of lives, which refutes the suspicion; else it is reported when
 * the suspicion has lasted long enough. Beyond the paper, who suspects it first tells it so at once, which it reads
 * when it runs again, and a last direct ping must have found no answer either. Who is dead is told by the notifier, not
 * by rumours.
 */

import { bootHost } from '@stci/interface';
import type {
  Detector, DetectorAction, DetectorEvent, DetectorInit, MemberId, Members, Position,
} from '@stci/interface';
import { Gossip, type Rumour } from './gossip.js';
import { NUMBER_MAX, encodeMessage, readMessage, type SwimMessage } from './wire.js';

export interface SwimSettings {
  readonly periodMs: number;
  /** Shorter than the period. */
  readonly timeoutMs: number;
  readonly indirect: number;
  readonly graceMs: number;
  suspicionMs(members: number): number;
}

interface Suspicion {
  readonly sinceMs: number;
  readonly lives: number;
  /** Who suspected it first. */
  readonly by: Position;
  readonly evidence: string;
  /** When it is asked once more, a period before the end. */
  askMs: number;
  endMs: number;
}

/** The one that is probed in this period. */
interface Probed {
  readonly member: MemberId;
  readonly n: number;
  readonly pingedMs: number;
  indirectMs: number;
  isAnswered: boolean;
}

/** Pings for others that are under way at a time. */
const RELAYS_MAX = 4096;

/** A ping that was sent for another agent. */
interface Relay {
  readonly requester: Position;
  readonly n: number;
  readonly target: Position;
  readonly endMs: number;
}

export class Swim implements Detector {
  readonly #init: DetectorInit;
  readonly #settings: SwimSettings;
  readonly #members: Members;
  readonly #gossip = new Gossip();
  readonly #suspicions = new Map<Position, Suspicion>();
  readonly #relays = new Map<number, Relay>();
  /** The highest number of lives that was heard of each member. */
  readonly #lives = new Map<Position, number>();
  #round: Position[] = [];
  #probed: Probed | undefined;
  #periodMs = Infinity;
  /** No suspicion before: others may still be starting. */
  #graceEndMs = Infinity;
  #n = 0;

  constructor(init: DetectorInit, settings: SwimSettings) {
    this.#init = init;
    this.#settings = settings;
    this.#members = init.members;
  }

  get dueMs(): number | undefined {
    let due = Math.min(this.#periodMs, this.#probed?.indirectMs ?? Infinity);
    for (const { askMs, endMs } of this.#suspicions.values()) due = Math.min(due, askMs, endMs);
    return due === Infinity ? undefined : due;
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    switch (event.type) {
      case 'start':
        // Periods begin at different times, so that probes spread.
        this.#periodMs = nowMs + this.#init.random() * this.#settings.periodMs;
        this.#graceEndMs = nowMs + this.#settings.graceMs;
        return [];
      case 'due':
        return this.#onDue(nowMs);
      case 'message':
        return this.#onMessage(event.from, event.body, nowMs);
      case 'joined':
      case 'gone':
        this.#forget(event.member);
        if (event.type === 'joined') this.#onJoined(nowMs);
        return [];
      case 'refuted':
        return this.#suspicions.delete(event.member.position) ? [{ type: 'trust', member: event.member }] : [];
      case 'lag':
        this.#onLag(event.lagMs);
        return [];
      default:
        return [];
    }
  }

  #onJoined(nowMs: number): void {
    this.#graceEndMs = Math.max(this.#graceEndMs, nowMs + this.#settings.graceMs);
  }

  /** The answer may wait unread: the probe of this period says nothing. */
  #onLag(lagMs: number): void {
    if (this.#probed !== undefined) this.#probed.isAnswered = true;
    if (this.#probed !== undefined) this.#probed.indirectMs = Infinity;
    for (const suspicion of this.#suspicions.values()) {
      suspicion.askMs += lagMs;
      suspicion.endMs += lagMs;
    }
  }

  #onDue(nowMs: number): DetectorAction[] {
    const actions: DetectorAction[] = [];
    for (const [position, suspicion] of this.#suspicions) {
      if (nowMs >= suspicion.endMs) this.#report(position, suspicion, actions);
      else if (nowMs >= suspicion.askMs) this.#askAgain(position, suspicion, actions);
    }
    if (nowMs >= (this.#probed?.indirectMs ?? Infinity)) this.#askOthers(actions);
    if (nowMs >= this.#periodMs) this.#nextPeriod(nowMs, actions);
    return actions;
  }

  #nextPeriod(nowMs: number, actions: DetectorAction[]): void {
    const { periodMs, timeoutMs } = this.#settings;
    for (const [n, { endMs }] of this.#relays) if (nowMs >= endMs) this.#relays.delete(n);
    const before = this.#probed;
    if (before !== undefined && !before.isAnswered && this.#members.has(before.member)) {
      const evidence = `no answer for ${Math.round(nowMs - before.pingedMs)} ms, asked through others too`;
      const by = this.#init.self.position;
      const rumour = { member: before.member, isSuspect: true, lives: this.#livesOf(before.member), by };
      if (nowMs >= this.#graceEndMs) {
        actions.push({ type: 'count', metric: 'misses', value: 1 });
        this.#suspect(rumour, evidence, nowMs, actions);
      }
    }
    // From now on: each probe has a whole period for its answer, also one that went late.
    this.#periodMs = nowMs + periodMs;
    const member = this.#nextMember();
    this.#probed = undefined;
    if (member === undefined) return;
    this.#probed = {
      member, n: this.#nextNumber(), pingedMs: nowMs, indirectMs: nowMs + timeoutMs, isAnswered: false,
    };
    this.#send(member.position, { type: 'ping', n: this.#probed.n }, actions);
    actions.push({ type: 'count', metric: 'pings', value: 1 });
  }

  /** Each member once in a round, in a random order. */
  #nextMember(): MemberId | undefined {
    for (;;) {
      const position = this.#round.pop();
      if (position === undefined) break;
      const member = this.#members.at(position);
      if (member !== undefined) return member;
    }
    this.#round = this.#shuffled(this.#others());
    const position = this.#round.pop();
    return position === undefined ? undefined : this.#members.at(position);
  }

  #others(): Position[] {
    const { position: self } = this.#init.self;
    return this.#members.living().map(({ position }) => position).filter((position) => position !== self);
  }

  #shuffled(positions: Position[]): Position[] {
    for (let i = positions.length - 1; i > 0; i--) {
      const j = Math.floor(this.#init.random() * (i + 1));
      [positions[i], positions[j]] = [positions[j]!, positions[i]!];
    }
    return positions;
  }

  #askOthers(actions: DetectorAction[]): void {
    const probed = this.#probed;
    if (probed === undefined) return;
    probed.indirectMs = Infinity;
    if (probed.isAnswered) return;
    const { position } = probed.member;
    const helpers = this.#shuffled(this.#others().filter((other) => other !== position));
    for (const helper of helpers.slice(0, this.#settings.indirect)) {
      this.#send(helper, { type: 'ping-for', n: probed.n, position }, actions);
    }
  }

  #onMessage(from: MemberId, body: unknown, nowMs: number): DetectorAction[] {
    const message = readMessage(body);
    if (message === undefined || !this.#members.has(from)) return [];
    const actions: DetectorAction[] = [];
    for (const rumour of message.rumours) this.#onRumour(rumour, nowMs, actions);
    switch (message.type) {
      case 'ping':
        this.#send(from.position, { type: 'answer', n: message.n }, actions);
        break;
      case 'ping-for':
        this.#pingFor(from.position, message, nowMs, actions);
        break;
      case 'answer':
        this.#onAnswer(from.position, message, nowMs, actions);
    }
    return actions;
  }

  #pingFor(requester: Position, { n, position }: SwimMessage, nowMs: number, actions: DetectorAction[]): void {
    if (position === undefined || this.#members.at(position) === undefined || this.#relays.size >= RELAYS_MAX) return;
    const own = this.#nextNumber();
    this.#relays.set(own, { requester, n, target: position, endMs: nowMs + this.#settings.periodMs });
    this.#send(position, { type: 'ping', n: own }, actions);
  }

  #onAnswer(from: Position, { n, position }: SwimMessage, nowMs: number, actions: DetectorAction[]): void {
    const relay = this.#relays.get(n);
    if (position === undefined && relay !== undefined && relay.target === from) {
      this.#relays.delete(n);
      this.#send(relay.requester, { type: 'answer', n: relay.n, position: from }, actions);
      return;
    }
    const probed = this.#probed;
    if (probed === undefined || probed.n !== n || (position ?? from) !== probed.member.position) return;
    if (!probed.isAnswered) {
      actions.push({ type: 'count', metric: 'round_trip_ms', value: nowMs - probed.pingedMs });
    }
    probed.isAnswered = true;
    probed.indirectMs = Infinity;
  }

  #onRumour(rumour: Rumour, nowMs: number, actions: DetectorAction[]): void {
    const { member, isSuspect, lives } = rumour;
    if (!this.#members.has(member)) return;
    if (member.position === this.#init.self.position) {
      if (isSuspect) this.#refute(lives, actions);
      return;
    }
    const known = this.#livesOf(member);
    if (isSuspect) {
      if (lives >= known) this.#suspect(rumour, `no answer to ${nameOf(rumour.by)}, nor to others`, nowMs, actions);
      return;
    }
    if (lives <= known) return;
    this.#lives.set(member.position, lives);
    this.#gossip.add(rumour);
    if (this.#suspicions.delete(member.position)) actions.push({ type: 'trust', member });
  }

  /** Refutes a suspicion, of an earlier life, too: who still has it has not heard of the refutation. */
  #refute(suspectedLives: number, actions: DetectorAction[]): void {
    const { self } = this.#init;
    const lives = Math.max(this.#livesOf(self), Math.min(NUMBER_MAX, suspectedLives + 1));
    this.#lives.set(self.position, lives);
    this.#gossip.add({ member: self, isSuspect: false, lives, by: self.position });
    actions.push({ type: 'count', metric: 'refutations', value: 1 });
  }

  /** Rumours may have missed it. */
  #askAgain(position: Position, suspicion: Suspicion, actions: DetectorAction[]): void {
    suspicion.askMs = Infinity;
    this.#askSuspect(position, actions);
  }

  /** The answer brings its refutation. */
  #askSuspect(position: Position, actions: DetectorAction[]): void {
    this.#send(position, { type: 'ping', n: this.#nextNumber() }, actions);
  }

  #suspect(rumour: Rumour, evidence: string, nowMs: number, actions: DetectorAction[]): void {
    const { member, lives, by } = rumour;
    const before = this.#suspicions.get(member.position);
    if (before !== undefined && before.lives >= lives) return;
    this.#lives.set(member.position, lives);
    // Who suspected it first reports it, if he lives: his report comes before.
    const waitMs = by === this.#init.self.position ? 0 : this.#settings.timeoutMs;
    const endMs = nowMs + this.#settings.suspicionMs(this.#members.alive) + waitMs;
    const askMs = endMs - this.#settings.periodMs;
    this.#suspicions.set(member.position, { sinceMs: nowMs, lives, by, evidence, askMs, endMs });
    this.#gossip.add(rumour);
    actions.push({ type: 'suspect', member, evidence });
    if (by === this.#init.self.position) this.#askSuspect(member.position, actions);
  }

  #report(position: Position, suspicion: Suspicion, actions: DetectorAction[]): void {
    const { sinceMs, evidence } = suspicion;
    const member = this.#members.at(position);
    // Until it is gone, or heard: of the controller others do not tell.
    suspicion.askMs = suspicion.endMs = Infinity;
    if (member !== undefined) {
      actions.push({ type: 'report', failed: member, cause: 'silent', evidence, suspectedMs: sinceMs });
    }
  }

  #forget(member: MemberId): void {
    this.#suspicions.delete(member.position);
    this.#lives.delete(member.position);
    this.#gossip.remove(member);
  }

  #livesOf({ position }: MemberId): number {
    return this.#lives.get(position) ?? 0;
  }

  #nextNumber(): number {
    this.#n = (this.#n + 1) % 0x1_0000_0000;
    return this.#n;
  }

  #send(to: Position, message: Omit<SwimMessage, 'rumours'>, actions: DetectorAction[]): void {
    const rumours = this.#gossip.take(this.#members.alive);
    // A suspicion is always told to the suspected one itself: it alone can refute it.
    const suspicion = this.#suspicions.get(to);
    const member = this.#members.at(to);
    if (suspicion !== undefined && member !== undefined && !rumours.some((rumour) => rumour.member.position === to)) {
      rumours.splice(0, 1, { member, isSuspect: true, lives: suspicion.lives, by: suspicion.by });
    }
    actions.push({ type: 'send', to, body: encodeMessage(message, rumours) });
  }
}

/** As all agents are called. */
function nameOf(position: Position): string {
  return position === 0 ? 'controller' : `root:${bootHost(position)}`;
}
