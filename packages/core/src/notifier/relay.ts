/**
 * The part that all notifiers share: who has had a broadcast, and what is still to be sent. A broadcast is spread from
 * agent to agent; every agent that gets it computes from its source, and from the positions that the source knew to be
 * dead, to whom it sends copies, so that all compute the same graph (IJHPCA, 2.3). A notifier is the rule for that.
 */

import { NOTIFIER_PAYLOAD_MAX, assert } from '@stci/interface';
import type { MemberId, Notifier, NotifierAction, NotifierEvent, NotifierInit, Position } from '@stci/interface';
import { decodeBroadcast, encodeBroadcast, type Broadcast } from './broadcast.js';
import { Seen } from './seen.js';

/** A broadcast as one of its relays, or its source, sees it. */
export interface Route {
  readonly self: Position;
  readonly source: Position;
  /** Positions 0..size-1 take part, without those that are dead. */
  readonly size: number;
  /** As the source knew them: the same at every relay. */
  readonly carried: ReadonlySet<Position>;
  /** Those, and what this relay knows besides. */
  readonly dead: ReadonlySet<Position>;
}

export interface Copy {
  readonly to: Position;
  /** How long to wait whether `to` sends one first. */
  readonly afterMs: number;
}

export interface RelayRule {
  /** In the order of sending. The source, and whoever a copy came from, get none in any case. */
  copies(route: Route): Iterable<Copy>;
  /** If a relay dies that had not been known to be dead, those next to it send again, past it. */
  readonly repairs: boolean;
}

/** Agents that a broadcast's source may know beyond those that its relay knows: they have just joined. */
const GROWTH_MAX = 4096;
/** Broadcasts of which copies may still have to be sent: each holds its payload. Beyond, the oldest is sent at once. */
const OPEN_MAX = 128;
/** Whoever relayed a broadcast has failed noticeably, or has passed it on, after this time. */
const REPAIR_MS = 60_000;

interface Open {
  readonly broadcast: Broadcast;
  readonly sinceMs: number;
  /** Agents that have sent it, or got it from here. */
  readonly told: Set<Position>;
  readonly waiting: Map<Position, number>;
}

export function createRelay(init: NotifierInit, rule: RelayRule): Notifier {
  return new Relay(init, rule);
}

class Relay implements Notifier {
  readonly #self: MemberId;
  readonly #rule: RelayRule;
  readonly #seen = new Seen();
  /** Incarnation by position. */
  readonly #alive = new Map<Position, number>();
  /** The positions between them, where nobody is: dead, or never taken. */
  readonly #dead = new Set<Position>();
  readonly #open = new Map<string, Open>();
  #size = 0;
  #number = 0;

  constructor(init: NotifierInit, rule: RelayRule) {
    this.#self = init.self;
    this.#rule = rule;
    for (const member of [init.self, ...init.members]) this.#join(member);
  }

  get dueMs(): number | undefined {
    let due: number | undefined;
    for (const { waiting } of this.#open.values()) {
      for (const at of waiting.values()) due = Math.min(due ?? at, at);
    }
    return due;
  }

  on(event: NotifierEvent, nowMs: number): readonly NotifierAction[] {
    switch (event.type) {
      case 'broadcast':
        return this.#broadcast(event.payload, nowMs);
      case 'message':
        return this.#receive(event.from, event.body, nowMs);
      case 'due':
        return [...this.#open].flatMap(([key, open]) => this.#flush(key, open, nowMs));
      case 'joined':
        this.#join(event.member);
        return [];
      case 'gone':
        return this.#lose(event.member, nowMs);
    }
  }

  #broadcast(payload: Uint8Array, nowMs: number): NotifierAction[] {
    assert(payload.byteLength <= NOTIFIER_PAYLOAD_MAX, `a broadcast of ${payload.byteLength} bytes is too large`);
    const dead = new Set(this.#dead);
    const broadcast = { source: this.#self, number: this.#number++, size: this.#size, dead, payload };
    this.#seen.add(this.#self, broadcast.number);
    return this.#spread(broadcast, this.#self.position, nowMs);
  }

  #receive(from: MemberId, body: unknown, nowMs: number): NotifierAction[] {
    const broadcast = decodeBroadcast(body, this.#size + GROWTH_MAX);
    const { source, number, payload } = broadcast;
    if (!this.#seen.add(source, number)) {
      this.#open.get(keyOf(broadcast))?.told.add(from.position);
      return [];
    }
    return [...this.#spread(broadcast, from.position, nowMs), { type: 'deliver', source, payload }];
  }

  #spread(broadcast: Broadcast, from: Position, nowMs: number): NotifierAction[] {
    const told = new Set([this.#self.position, broadcast.source.position, from]);
    const open: Open = { broadcast, sinceMs: nowMs, told, waiting: new Map() };
    const actions = this.#copy(open, nowMs);
    if (open.waiting.size === 0 && !this.#rule.repairs) return actions;
    this.#open.set(keyOf(broadcast), open);
    return [...actions, ...this.#trim(nowMs)];
  }

  /** Sends the copies that are due at once, and notes the others. */
  #copy({ broadcast, told, waiting }: Open, nowMs: number): NotifierAction[] {
    const { source, size, dead: carried } = broadcast;
    // Its source did not know this agent: it has no place in the graph.
    if (this.#self.position >= size || carried.has(this.#self.position)) return [];
    const dead = carried.size === 0 ? this.#dead : new Set([...carried, ...this.#dead]);
    const route: Route = { self: this.#self.position, source: source.position, size, carried, dead };
    const actions: NotifierAction[] = [];
    for (const { to, afterMs } of this.#rule.copies(route)) {
      if (told.has(to) || !this.#alive.has(to)) continue;
      if (afterMs > 0) {
        if (!waiting.has(to)) waiting.set(to, nowMs + afterMs);
        continue;
      }
      told.add(to);
      actions.push({ type: 'send', to, body: encodeBroadcast(broadcast) });
    }
    return actions;
  }

  #flush(key: string, { broadcast, told, waiting }: Open, untilMs: number): NotifierAction[] {
    const actions: NotifierAction[] = [];
    for (const [to, atMs] of waiting) {
      if (atMs > untilMs) continue;
      waiting.delete(to);
      if (told.has(to) || !this.#alive.has(to)) continue;
      told.add(to);
      actions.push({ type: 'send', to, body: encodeBroadcast(broadcast) });
    }
    if (waiting.size === 0 && !this.#rule.repairs) this.#open.delete(key);
    return actions;
  }

  #trim(nowMs: number): NotifierAction[] {
    const actions: NotifierAction[] = [];
    for (const [key, open] of this.#open) {
      if (this.#open.size <= OPEN_MAX && open.sinceMs + REPAIR_MS > nowMs) break;
      actions.push(...this.#flush(key, open, Number.POSITIVE_INFINITY));
      this.#open.delete(key);
    }
    return actions;
  }

  #join({ position, incarnation }: MemberId): void {
    if (incarnation < (this.#alive.get(position) ?? 0)) return;
    this.#alive.set(position, incarnation);
    this.#dead.delete(position);
    for (; this.#size <= position; this.#size++) if (this.#size < position) this.#dead.add(this.#size);
  }

  #lose({ position, incarnation }: MemberId, nowMs: number): NotifierAction[] {
    if (position === this.#self.position || (this.#alive.get(position) ?? Infinity) > incarnation) return [];
    this.#alive.delete(position);
    this.#dead.add(position);
    if (!this.#rule.repairs) return [];
    const actions = this.#trim(nowMs);
    for (const open of this.#open.values()) {
      if (!open.broadcast.dead.has(position)) actions.push(...this.#copy(open, nowMs));
    }
    return actions;
  }
}

function keyOf({ source, number }: Broadcast): string {
  return `${source.position} ${source.incarnation} ${number}`;
}
