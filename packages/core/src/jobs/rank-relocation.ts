/**
 * Ranks that are started again by the controller (the global recovery manager; STCI paper, II-F.4): of lost agents, and
 * those that leave a host on which they fail soon after each start. Those prefer others, while these have free slots.
 * Of lost agents:
 * after their pause each goes back to its own host if that runs, or to the spare in its place, else to the host with
 * the most free slots that its program may use; a slot there is kept for it from the loss on, as other jobs come
 * meanwhile. Where no host has room, those that are being started, those of which it is not known whether they live,
 * and other jobs that have the slots are waited for.
 *
 * A host whose session agent runs gets the ranks in a message; on another a session agent is started by a launch that
 * names them, as the start of the next number: a root agent takes a launch only if its number is higher.
 */

import {
  sessionAddress, type Failure, type StciError, type HostIndex, type JobId, type JobMap, type Rank, type Timer,
} from '@stci/interface';
import type { Ledger } from '../job/ledger.js';
import { moveRanks } from '../job/placement.js';
import type { Launch } from '../messages/messages.js';
import type { JobSession } from './job-session.js';

export interface RankRelocationInit {
  readonly session: JobSession;
  readonly job: JobId;
  readonly ledger: Ledger;
  /** The launch of all hosts with the map as it is now. */
  launchNow(): Launch;
  /** A session agent was started there by the launch of the whole job. */
  hasFirstAgent(host: HostIndex): boolean;
  isLost(host: HostIndex): boolean;
  /** Ranks are about to be started there; `isNew`: by a session agent that is to be started. */
  onStarting(host: HostIndex, isNew: boolean): void;
  onMapped(map: JobMap): void;
  /** So many different ranks that leave a host have it set aside: these. */
  readonly ranksMax: number;
  onSetAside(host: HostIndex, ranks: ReadonlySet<Rank>): void;
  /** A session agent cannot be told the ranks that are to be started there. */
  onUnsent(error: StciError | undefined): void;
  /** These wait for slots that other jobs have. */
  onAwaitingSlots(ranks: readonly Rank[]): void;
  /** No host has room for these, which failures ended, nor is one awaited. */
  onNoRoom(ranks: ReadonlyMap<Rank, Failure>): void;
}

/** Free slots, as one turn gives them away. */
interface Room {
  free(host: HostIndex): number;
  /** The rank gets one there, if it has none. */
  take(rank: Rank, host: HostIndex): void;
}

interface Waiting {
  readonly failure: Failure;
  readonly timer: Timer;
  /** It has left this host. */
  readonly left: HostIndex | undefined;
  /** Not its own: where a slot is kept for it. */
  kept: HostIndex | undefined;
  isDue: boolean;
  /** It was told that it waits for other jobs. */
  isTold: boolean;
}

export class RankRelocation {
  readonly #init: RankRelocationInit;
  readonly #waiting = new Map<Rank, Waiting>();
  /** By host, the launch of its session agent's last start after the first. */
  readonly #launches = new Map<HostIndex, Launch>();
  /** By host, messages with ranks that its session agent was sent. */
  readonly #sent = new Map<HostIndex, number>();

  /** By host, the ranks that have left it. */
  readonly #left = new Map<HostIndex, Set<Rank>>();

  /** Places of lost hosts that spares have taken. */
  readonly #spares = new Set<HostIndex>();

  constructor(init: RankRelocationInit) {
    this.#init = init;
  }

  /** It fails soon after each start on this host. */
  leave(rank: Rank, host: HostIndex, failure: Failure, afterMs: number): void {
    const ranks = this.#left.get(host) ?? new Set();
    this.#left.set(host, ranks);
    if (ranks.size + 1 === this.#init.ranksMax && !ranks.has(rank)) {
      this.#init.onSetAside(host, new Set([...ranks, rank]));
    }
    ranks.add(rank);
    this.add([rank], failure, afterMs, host);
  }

  add(ranks: readonly Rank[], failure: Failure, afterMs: number, left?: HostIndex): void {
    const timer = this.#init.session.node.platform.clock.after(afterMs, () => {
      for (const one of added) one.isDue = true;
      this.place();
    });
    const added = ranks.map((rank) => {
      const one: Waiting = { failure, timer, left, kept: undefined, isDue: false, isTold: false };
      this.#waiting.set(rank, one);
      return one;
    });
    this.#keepSlots();
  }

  /** Starts what is due, as far as there is room. */
  place(): void {
    if (this.#waiting.size === 0) return;
    this.#adoptSpares();
    this.#keepSlots();
    const byHost = new Map<HostIndex, Rank[]>();
    const room = this.#room();
    const noRoom = new Map<Rank, Failure>();
    const { session, job } = this.#init;
    const { members } = session;
    // When other jobs have ended, if some may.
    const later = session.awaitsSlots(job) ? this.#room([]) : undefined;
    const awaitsHosts = members.hosts.some((_, host) => members.isRestarting(host) || members.table.isDoubted(host));
    const untold: Rank[] = [];
    for (const [rank, one] of this.#waiting) {
      if (!one.isDue) continue;
      const host = this.#hostFor(rank, room, one.left);
      if (host !== undefined) {
        room.take(rank, host);
        append(byHost, host, rank);
      }
      const place = later && this.#hostFor(rank, later, one.left);
      if (place !== undefined) later?.take(rank, place);
      if (host !== undefined || awaitsHosts) continue;
      if (place === undefined) noRoom.set(rank, one.failure);
      else if (!one.isTold) untold.push(rank);
    }
    for (const rank of untold) (this.#waiting.get(rank) as Waiting).isTold = true;
    if (untold.length > 0) this.#init.onAwaitingSlots(untold);
    for (const [host, ranks] of byHost) this.#start(host, ranks);
    for (const rank of noRoom.keys()) this.#waiting.delete(rank);
    if (noRoom.size > 0) this.#init.onNoRoom(noRoom);
  }

  /** It runs nowhere until it has been placed. */
  isWaiting(rank: Rank): boolean {
    return this.#waiting.has(rank);
  }

  /** Slots that are kept there for ranks which have their place elsewhere. */
  keptOn(host: HostIndex): number {
    return this.#kept().get(host) ?? 0;
  }

  /** It has a slot elsewhere. */
  isKept(rank: Rank): boolean {
    return this.#waiting.get(rank)?.kept !== undefined;
  }

  #kept(): ReadonlyMap<HostIndex, number> {
    const counts = new Map<HostIndex, number>();
    for (const { kept } of this.#waiting.values()) {
      if (kept !== undefined) counts.set(kept, 1 + (counts.get(kept) ?? 0));
    }
    return counts;
  }

  /** A rank waits that no host has a slot for. */
  get lacksRoom(): boolean {
    const room = this.#room();
    return [...this.#waiting].some(([rank, { left }]) => this.#hostFor(rank, room, left) === undefined);
  }

  /** Whether each of them could be started now, or when other jobs have ended. */
  hasRoom(ranks: readonly Rank[]): boolean {
    const { session, job } = this.#init;
    return this.#fits(ranks, this.#room()) || (session.awaitsSlots(job) && this.#fits(ranks, this.#room([])));
  }

  #fits(ranks: readonly Rank[], room: Room): boolean {
    return ranks.every((rank) => {
      const host = this.#hostFor(rank, room);
      if (host !== undefined) room.take(rank, host);
      return host !== undefined;
    });
  }

  /** One that goes back to its own host has its slot there; one that leaves it may come back. */
  #keepSlots(): void {
    const lacking = [...this.#waiting].filter(([, { left, kept }]) =>
      left === undefined && (kept === undefined || !this.#isUsable(kept)));
    for (const [, one] of lacking) one.kept = undefined;
    const room = this.#room();
    for (const [rank, one] of lacking) {
      const host = this.#hostFor(rank, room);
      if (host === undefined || host === this.#init.ledger.placements.host(rank)) continue;
      room.take(rank, host);
      one.kept = host;
    }
  }

  /** `taken`: by other jobs. Each host is counted once. */
  #room(taken = this.#init.session.slotsTaken(this.#init.job)): Room {
    const { spec, placements } = this.#init.ledger;
    const kept = this.#kept();
    const counted = new Map<HostIndex, number>();
    const free = (host: HostIndex): number => {
      const slots = counted.get(host) ?? (spec.hosts[host]?.slots ?? 0) - (taken[host] ?? 0)
        - this.#init.ledger.openRanks(host).length - (kept.get(host) ?? 0);
      counted.set(host, slots);
      return slots;
    };
    return {
      free,
      take: (rank, host) => {
        if (placements.host(rank) !== host && this.#waiting.get(rank)?.kept !== host) counted.set(host, free(host) - 1);
      },
    };
  }

  /** The job ends: nothing is started again. Returns the ranks that wait, with the failures that they wait for. */
  giveUp(): ReadonlyMap<Rank, Failure> {
    const given = new Map([...this.#waiting].map(([rank, { failure }]) => [rank, failure]));
    for (const { timer } of this.#waiting.values()) timer.cancel();
    this.#waiting.clear();
    return given;
  }

  /** Those of session agents that were started here. */
  get launches(): readonly Launch[] {
    return [...this.#launches.values()];
  }

  launchOf(host: HostIndex): number {
    return this.#launches.get(host)?.start ?? 1;
  }

  startedAgain(host: HostIndex): boolean {
    return this.#launches.has(host);
  }

  /** Number of messages with ranks that the session agent there was sent. */
  sentTo(host: HostIndex): number {
    return this.#sent.get(host) ?? 0;
  }

  /** Spares that have the places of lost hosts are the job's hosts from now on. */
  #adoptSpares(): void {
    const { session: { members: { table, hosts } }, ledger, onMapped } = this.#init;
    for (const [host, { name }] of ledger.spec.hosts.entries()) {
      const spec = hosts[host];
      if (spec === undefined || spec.name === name || !table.isUsable(host)) continue;
      ledger.replaceHost(host, spec);
      this.#spares.add(host);
      onMapped(ledger.map);
    }
  }

  #hostFor(rank: Rank, room: Room, left?: HostIndex): HostIndex | undefined {
    const { spec, placements } = this.#init.ledger;
    const { host: own, app } = placements.placement(rank);
    // Its own has room for it, and so has a spare in its place that has as many slots.
    const hasRoom = this.#isUsable(own) && (!this.#spares.has(own) || room.free(own) >= 0);
    const isAside = (host: HostIndex): boolean =>
      host === left || (this.#left.get(host)?.size ?? 0) >= this.#init.ranksMax;
    if (hasRoom && !isAside(own)) return own;
    const kept = this.#waiting.get(rank)?.kept;
    if (kept !== undefined && this.#isUsable(kept)) return kept;
    const usable = [...(spec.apps[app]?.hosts ?? spec.hosts.keys())].filter((host) => this.#isUsable(host));
    const freest = (hosts: readonly HostIndex[]): HostIndex | undefined => hosts.reduce<HostIndex | undefined>(
      (best, host) => (room.free(host) > (best === undefined ? 0 : room.free(best)) ? host : best), undefined);
    const first = freest(usable.filter((host) => !isAside(host)));
    if (first !== undefined) return first;
    if (hasRoom) return own;
    return freest(usable)
      ?? usable.find((host) => spec.oversubscribe || spec.hosts[host]?.slotsBound === false);
  }

  #isUsable(host: HostIndex): boolean {
    const { session: { members: { table, hosts } }, ledger: { spec } } = this.#init;
    return table.isUsable(host) && !table.isDoubted(host) && hosts[host]?.name === spec.hosts[host]?.name;
  }

  #start(host: HostIndex, ranks: readonly Rank[]): void {
    const { session, ledger, job } = this.#init;
    for (const rank of ranks) this.#waiting.delete(rank);
    if (ranks.some((rank) => ledger.placements.host(rank) !== host)) {
      ledger.remap(moveRanks(ledger.map, ranks, host));
      this.#init.onMapped(ledger.map);
    }
    const { isLost, hasFirstAgent, onStarting, onUnsent } = this.#init;
    const isNew = isLost(host) || !(hasFirstAgent(host) || this.startedAgain(host));
    onStarting(host, isNew);
    if (!isNew) {
      this.#sent.set(host, 1 + this.sentTo(host));
      const again = ranks.map((rank) => [rank, ledger.placements.placement(rank).app, ledger.attempt(rank)] as const);
      return onUnsent(session.node.messages.send(sessionAddress(host), 'job.restart', { ranks: again }, job));
    }
    this.#sent.delete(host);
    const whole = this.#init.launchNow();
    const launch: Launch = {
      ...whole,
      hosts: whole.hosts.filter(([each]) => each === host),
      start: 1 + this.launchOf(host),
      restarts: ranks.map((rank) => [rank, ledger.attempt(rank)] as const),
    };
    this.#launches.set(host, launch);
    onUnsent(session.passLaunch(launch, job));
  }
}

function append(lists: Map<HostIndex, Rank[]>, host: HostIndex, rank: Rank): void {
  const list = lists.get(host);
  if (list === undefined) lists.set(host, [rank]);
  else list.push(rank);
}
