/**
 * The part that all notifiers share: who has had a broadcast, and what is still to be sent. A broadcast is spread from
 * agent to agent; every agent that gets it computes from its source, and from the positions that the source knew to be
 * dead, to whom it sends copies, so that all compute the same graph (IJHPCA, 2.3). A notifier is the rule for that.
 */

import { NOTIFIER_PAYLOAD_MAX, assert } from '@stci/interface';
import type {
  MemberId, Members, Notifier, NotifierAction, NotifierEvent, NotifierInit, Position,
} from '@stci/interface';
import { decodeBroadcast, encodeBroadcast, type Broadcast } from './broadcast.js';
import { DuplicateFilter } from './duplicate-filter.js';

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
  /** Since the broadcast came: how long to wait whether `to` sends one first. */
  readonly afterMs: number;
}

/** The source, and whoever a copy came from, get none in any case. */
export interface RelayRule {
  /** Who gets a copy at once, in the order of sending. */
  copies(route: Route): Iterable<Position>;
  /** Who gets one later; computed after `delayMs`, because others wait for the first copies. */
  readonly later?: { readonly delayMs: number; copies(route: Route): Iterable<Copy> };
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
  /** When the later copies are computed; undefined: there are none, or they wait. */
  laterMs: number | undefined;
  readonly waiting: Map<Position, number>;
}

export function createRelay(init: NotifierInit, rule: RelayRule): Notifier {
  return new Relay(init, rule);
}

class Relay implements Notifier {
  readonly #self: MemberId;
  readonly #members: Members;
  readonly #rule: RelayRule;
  readonly #seen = new DuplicateFilter();
  readonly #open = new Map<string, Open>();
  #number = 0;

  constructor(init: NotifierInit, rule: RelayRule) {
    this.#self = init.self;
    this.#members = init.members;
    this.#rule = rule;
  }

  get dueMs(): number | undefined {
    let due: number | undefined;
    for (const { laterMs, waiting } of this.#open.values()) {
      if (laterMs !== undefined) due = Math.min(due ?? laterMs, laterMs);
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
        return [];
      case 'gone':
        return this.#rule.repairs ? this.#repair(event.member, nowMs) : [];
    }
  }

  #broadcast(payload: Uint8Array, nowMs: number): NotifierAction[] {
    assert(payload.byteLength <= NOTIFIER_PAYLOAD_MAX, `a broadcast of ${payload.byteLength} bytes is too large`);
    const { size, absent } = this.#members;
    const broadcast = { source: this.#self, number: this.#number++, size, dead: new Set(absent), payload };
    this.#seen.add(this.#self, broadcast.number);
    return this.#spread(broadcast, this.#self.position, nowMs);
  }

  #receive(from: MemberId, body: unknown, nowMs: number): NotifierAction[] {
    const broadcast = decodeBroadcast(body, this.#members.size + GROWTH_MAX);
    const { source, number, payload } = broadcast;
    if (!this.#seen.add(source, number)) {
      this.#open.get(keyOf(broadcast))?.told.add(from.position);
      return [];
    }
    return [...this.#spread(broadcast, from.position, nowMs), { type: 'deliver', source, payload }];
  }

  #spread(broadcast: Broadcast, from: Position, nowMs: number): NotifierAction[] {
    const told = new Set([this.#self.position, broadcast.source.position, from]);
    const delayMs = this.#rule.later?.delayMs;
    const laterMs = delayMs === undefined ? undefined : nowMs + delayMs;
    const open: Open = { broadcast, sinceMs: nowMs, told, laterMs, waiting: new Map() };
    const actions = this.#copy(open);
    if (laterMs === undefined && !this.#rule.repairs) return actions;
    this.#open.set(keyOf(broadcast), open);
    return [...actions, ...this.#trim(nowMs)];
  }

  /** Sends the copies that are due at once. */
  #copy(open: Open): NotifierAction[] {
    const route = this.#routeOf(open.broadcast);
    if (route === undefined) return [];
    return [...this.#rule.copies(route)].flatMap((to) => this.#send(open, to));
  }

  /** Undefined: its source did not know this agent, which has no place in the graph. */
  #routeOf({ source, size, dead: carried }: Broadcast): Route | undefined {
    if (this.#self.position >= size || carried.has(this.#self.position)) return undefined;
    const { absent } = this.#members;
    const dead = carried.size === 0 ? absent : new Set([...carried, ...absent]);
    return { self: this.#self.position, source: source.position, size, carried, dead };
  }

  #send({ broadcast, told }: Open, to: Position): NotifierAction[] {
    if (told.has(to) || this.#members.at(to) === undefined) return [];
    told.add(to);
    return [{ type: 'send', to, body: encodeBroadcast(broadcast) }];
  }

  #flush(key: string, open: Open, untilMs: number): NotifierAction[] {
    const { broadcast, sinceMs, waiting } = open;
    const route = open.laterMs !== undefined && open.laterMs <= untilMs ? this.#routeOf(broadcast) : undefined;
    if (route !== undefined) {
      for (const { to, afterMs } of this.#rule.later?.copies(route) ?? []) {
        if (!waiting.has(to)) waiting.set(to, sinceMs + afterMs);
      }
    }
    if ((open.laterMs ?? Infinity) <= untilMs) open.laterMs = undefined;
    const actions: NotifierAction[] = [];
    for (const [to, atMs] of waiting) {
      if (atMs > untilMs) continue;
      waiting.delete(to);
      actions.push(...this.#send(open, to));
    }
    if (open.laterMs === undefined && waiting.size === 0 && !this.#rule.repairs) this.#open.delete(key);
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

  #repair({ position }: MemberId, nowMs: number): NotifierAction[] {
    const actions = this.#trim(nowMs);
    for (const open of this.#open.values()) {
      if (!open.broadcast.dead.has(position)) actions.push(...this.#copy(open));
    }
    return actions;
  }
}

function keyOf({ source, number }: Broadcast): string {
  return `${source.position} ${source.incarnation} ${number}`;
}
