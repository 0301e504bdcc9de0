/**
 * Ranks that are started again by the controller (the global recovery manager; STCI paper, II-F.4): of lost agents, and
 * those that leave a host on which they fail soon after each start. Those prefer others, while these have free slots.
 * Of lost agents: after their pause each goes back to its own host if that runs, or to the spare in its place, else to
 * the host with the most free slots that its program may use; a slot there is kept for it from the loss on, as other
 * jobs come meanwhile, until its own host has one for it again. Where no host has room, those that are being started,
 * those of which it is not known whether they live, and other jobs that have the slots are waited for.
 *
 * A host whose session agent runs gets the ranks in a message; on another a session agent is started by a launch that
 * names them, as the start of the next number: a root agent takes a launch only if its number is higher.
 */

import { sessionAddress, type Failure, type HostIndex, type Rank, type Timer } from '@stci/interface';
import { heldTimer } from '../event/timers.js';
import { foldRanks } from '../iof/fold.js';
import { moveRanks } from '../job/placement.js';
import { newsOf } from '../job/spawn.js';
import type { Launch } from '../messages/messages.js';
import type { RecoveringJob } from './job-session.js';

export interface RankRelocationEvents {
  /** Ranks are about to be started there; `isNew`: by a session agent that is to be started. */
  onStarting(host: HostIndex, isNew: boolean): void;
  /** Ranks wait for slots that other jobs have. */
  onAwaitingSlots(ranks: readonly Rank[]): void;
  /** No host has room for these, which failures ended, nor is one awaited. */
  onNoRoom(ranks: ReadonlyMap<Rank, Failure>): void;
}

/** Free slots, as one turn gives them away. */
interface Room {
  free(host: HostIndex): number;
  /** Hosts that a program may use now. */
  usable(app: number): readonly HostIndex[];
  /** Of those, among the ones that are meant, the first of those with the most free slots, if they have some. */
  freest(app: number, isMeant?: (host: HostIndex) => boolean): HostIndex | undefined;
  /** The rank gets a slot there, or none, for the one that it has. */
  give(rank: Rank, host: HostIndex | undefined): void;
}

interface Waiting {
  readonly failure: Failure;
  readonly timer: Timer;
  /** Host that the rank has left. */
  readonly left: HostIndex | undefined;
  /** Where a slot is kept for it; its own host's while that is lost and no other has one. */
  slot: HostIndex | undefined;
  isDue: boolean;
  /** The follower was told that the rank waits for other jobs. */
  isTold: boolean;
}

export class RankRelocation {
  readonly #job: RecoveringJob;
  readonly #events: RankRelocationEvents;
  /** So many different ranks that leave a host have it set aside. */
  readonly #ranksMax: number;
  readonly #waiting = new Map<Rank, Waiting>();
  /** By host, the slots that are kept for those. */
  readonly #kept = new Map<HostIndex, number>();
  /** By host, the launch of its session agent's last start after the first. */
  readonly #launches = new Map<HostIndex, Launch>();
  /** By host, messages with ranks that its session agent was sent. */
  readonly #sent = new Map<HostIndex, number>();

  /** By host, the ranks that have left it. */
  readonly #left = new Map<HostIndex, Set<Rank>>();

  /** Places of lost hosts that spares have taken. */
  readonly #spares = new Set<HostIndex>();

  constructor(job: RecoveringJob, events: RankRelocationEvents) {
    this.#job = job;
    this.#events = events;
    this.#ranksMax = job.params.int('errmgr.aside');
    job.holds.atEnd(() => void this.giveUp());
  }

  /** The rank fails soon after each start on this host. */
  leave(rank: Rank, host: HostIndex, failure: Failure, afterMs: number): void {
    const ranks = this.#left.get(host) ?? new Set();
    this.#left.set(host, ranks);
    if (ranks.size + 1 === this.#ranksMax && !ranks.has(rank)) {
      this.#job.front.emit({ type: 'warning', text: this.#asideText(host, [...ranks, rank]) });
    }
    ranks.add(rank);
    this.add([rank], failure, afterMs, host);
  }

  add(ranks: readonly Rank[], failure: Failure, afterMs: number, left?: HostIndex): void {
    const { holds, session } = this.#job;
    const timer = heldTimer(holds, session.node.platform.clock, 'pause', afterMs, () => {
      for (const one of added) one.isDue = true;
      this.place();
    });
    const added = ranks.map((rank) => {
      this.#drop(rank);
      const one: Waiting = { failure, timer, left, slot: undefined, isDue: false, isTold: false };
      this.#waiting.set(rank, one);
      this.#keep(one, this.#job.ledger.placements.host(rank));
      return one;
    });
    this.#keepSlots(this.#room());
  }

  #asideText(host: HostIndex, ranks: readonly Rank[]): string {
    const { hosts } = this.#job.ledger.spec;
    return `host ${hosts[host]?.name ?? host} is set aside: ranks ${foldRanks(ranks)} failed there soon after each `
      + 'start (errmgr.aside)';
  }

  /** Starts what is due, as far as there is room. */
  place(): void {
    if (this.#waiting.size === 0) return;
    const { ledger, front } = this.#job;
    const hasAdopted = this.#adoptSpares();
    const room = this.#room();
    this.#keepSlots(room);
    const byHost = new Map<HostIndex, Rank[]>();
    const moved = new Map<Rank, HostIndex>();
    for (const [rank, { isDue }] of this.#waiting) {
      const host = isDue ? this.#hostFor(rank, room) : undefined;
      if (host === undefined) continue;
      room.give(rank, host);
      append(byHost, host, rank);
      if (ledger.placements.host(rank) !== host) moved.set(rank, host);
    }
    if (moved.size > 0) ledger.remap(moveRanks(ledger.map, moved));
    if (moved.size > 0 || hasAdopted) front.emit({ type: 'mapped', map: ledger.map });
    for (const [host, ranks] of byHost) this.start(host, ranks);
    this.#judgeLacking();
  }

  /** What is due and was not started waits for hosts or slots, or is given up. */
  #judgeLacking(): void {
    const { session: { members } } = this.#job;
    const lacking = this.#lacking(({ isDue }) => isDue);
    const isAwaited = (host: HostIndex): boolean => members.isRestarting(host) || members.isDoubted(host);
    if (lacking.length === 0 || members.hosts().some(isAwaited)) return;
    const hopeless = new Set(this.#unplaced(lacking, this.#roomLater()));
    const untold = lacking.filter((rank) => !hopeless.has(rank) && this.#waiting.get(rank)?.isTold === false);
    for (const rank of untold) (this.#waiting.get(rank) as Waiting).isTold = true;
    if (untold.length > 0) this.#events.onAwaitingSlots(untold);
    if (hopeless.size === 0) return;
    this.#events.onNoRoom(new Map([...hopeless].map((rank) => [rank, (this.#drop(rank) as Waiting).failure])));
    // Ranks of other jobs wait behind them no longer.
    this.#job.session.slots.onFree();
  }

  /** The rank runs nowhere until it has been placed. */
  isWaiting(rank: Rank): boolean {
    return this.#waiting.has(rank);
  }

  /** Slots of ranks without an outcome, and kept ones. */
  slotsOn(host: HostIndex): number {
    const { ledger } = this.#job;
    const open = host < ledger.map.hosts.length ? ledger.openRanks(host) : [];
    if (this.#waiting.size === 0) return open.length;
    return open.filter((rank) => !this.#waiting.has(rank)).length + (this.#kept.get(host) ?? 0);
  }

  /** A rank waits for a slot that another job has. */
  get lacksRoom(): boolean {
    return this.#awaitsSlots(() => true);
  }

  /** ... and is due: it waits for nothing else. */
  get isStuck(): boolean {
    return this.#awaitsSlots(({ isDue }) => isDue);
  }

  #awaitsSlots(isMeant: (one: Waiting) => boolean): boolean {
    const lacking = this.#lacking(isMeant);
    if (lacking.length === 0) return false;
    const [now, alone] = [this.#room(), this.#room(() => [])].map((room) => this.#unplaced(lacking, room).length);
    return alone! < now!;
  }

  /** Whether all that wait without a slot would get one if other jobs had no slots but these. */
  fitsBeside(taken: readonly number[]): boolean {
    return this.#unplaced(this.#lacking(), this.#room(() => taken)).length === 0;
  }

  /** Whether each of them could be started now, or when other jobs have ended. */
  hasRoom(ranks: readonly Rank[]): boolean {
    const room = this.#roomLater();
    this.#unplaced(this.#lacking(), room);
    return this.#unplaced(ranks, room).length === 0;
  }

  /** Ranks that wait and have no slot on a host that can be used. */
  #lacking(isMeant: (one: Waiting) => boolean = () => true): Rank[] {
    return [...this.#waiting].flatMap(([rank, one]) =>
      (isMeant(one) && (one.slot === undefined || !this.isUsable(one.slot)) ? [rank] : []));
  }

  /** Gives them slots, as far as there are some. Returns those without. */
  #unplaced(ranks: readonly Rank[], room: Room): Rank[] {
    return ranks.filter((rank) => {
      const host = this.#hostFor(rank, room);
      if (host !== undefined) room.give(rank, host);
      return host === undefined;
    });
  }

  /** A rank that goes back to its host has its slot there, once that has one; one that leaves it may come back. */
  #keepSlots(room: Room): void {
    for (const [rank, one] of this.#waiting) {
      const own = this.#job.ledger.placements.host(rank);
      const isOwnUsable = this.isUsable(own);
      if (one.left !== undefined && one.slot === own && isOwnUsable) continue;
      const host = this.#hostFor(rank, room) ?? (isOwnUsable ? undefined : own);
      room.give(rank, host);
      this.#keep(one, host);
    }
  }

  #keep(one: Waiting, host: HostIndex | undefined): void {
    if (one.slot === host) return;
    for (const [each, change] of [[one.slot, -1], [host, 1]] as const) {
      if (each !== undefined) this.#kept.set(each, change + (this.#kept.get(each) ?? 0));
    }
    one.slot = host;
    one.isTold = false;
  }

  #drop(rank: Rank): Waiting | undefined {
    const one = this.#waiting.get(rank);
    if (one !== undefined) this.#keep(one, undefined);
    this.#waiting.delete(rank);
    return one;
  }

  /** When those other jobs have ended that may end. */
  #roomLater(): Room {
    return this.#room(() => this.#job.session.slots.held(this.#job.job));
  }

  /** `takenNow`: by other jobs, by host. Each host is counted once. */
  #room(takenNow = () => this.#job.session.slots.taken(this.#job.job)): Room {
    const { spec, placements } = this.#job.ledger;
    let taken: readonly number[] | undefined;
    const counted: number[] = [];
    const usableBy: (readonly HostIndex[])[] = [];
    /** Programs none of whose hosts has a free slot. */
    const full = new Set<number>();
    const free = (host: HostIndex): number =>
      (counted[host] ??= (spec.hosts[host]?.slots ?? 0) - ((taken ??= takenNow())[host] ?? 0) - this.slotsOn(host));
    const usable = (app: number): readonly HostIndex[] =>
      (usableBy[app] ??= [...(spec.apps[app]?.hosts ?? spec.hosts.keys())].filter((host) => this.isUsable(host)));
    const freest = (app: number, isMeant = (_host: HostIndex): boolean => true): HostIndex | undefined => {
      if (!full.has(app) && usable(app).every((host) => free(host) <= 0)) full.add(app);
      if (full.has(app)) return undefined;
      return usable(app).reduce<HostIndex | undefined>((best, host) =>
        (free(host) > (best === undefined ? 0 : free(best)) && isMeant(host) ? host : best), undefined);
    };
    return {
      free, usable, freest,
      give: (rank, host) => {
        const one = this.#waiting.get(rank);
        const before = one === undefined ? placements.host(rank) : one.slot;
        if (before === host) return;
        full.clear();
        if (before !== undefined) counted[before] = free(before) + 1;
        if (host !== undefined) counted[host] = free(host) - 1;
      },
    };
  }

  /** The job ends: nothing is started again. Returns the ranks that wait, with the failures that they wait for. */
  giveUp(): ReadonlyMap<Rank, Failure> {
    const given = new Map([...this.#waiting].map(([rank, { failure }]) => [rank, failure]));
    for (const [rank, { timer }] of this.#waiting) {
      timer.cancel();
      this.#drop(rank);
    }
    return given;
  }

  /** Launches of session agents that were started here. */
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

  /** Spares that have the places of lost hosts are the job's hosts from now on. Returns whether there are new ones. */
  #adoptSpares(): boolean {
    const { session: { members }, ledger } = this.#job;
    let hasNew = false;
    for (const [host, { name }] of ledger.spec.hosts.entries()) {
      const { spec } = members.get(host);
      if (spec.name === name || !members.isUsable(host)) continue;
      ledger.replaceHost(host, spec);
      this.#spares.add(host);
      hasNew = true;
    }
    return hasNew;
  }

  #hostFor(rank: Rank, room: Room): HostIndex | undefined {
    const { spec, placements } = this.#job.ledger;
    const { host: own, app } = placements.placement(rank);
    const { left, slot } = this.#waiting.get(rank) ?? { left: undefined, slot: own };
    const mayExceed = (host: HostIndex): boolean => spec.oversubscribe || spec.hosts[host]?.slotsBound === false;
    // A spare in its place may have fewer slots.
    const isSpare = this.#spares.has(own);
    const hasOwn = this.isUsable(own) && (slot === own
      ? !isSpare || room.free(own) >= 0
      : room.free(own) > 0 || (!isSpare && mayExceed(own)));
    const isGood = (host: HostIndex): boolean =>
      host !== left && (this.#left.get(host)?.size ?? 0) < this.#ranksMax;
    if (hasOwn && isGood(own)) return own;
    if (slot !== undefined && slot !== own && this.isUsable(slot)) return slot;
    return room.freest(app, isGood) ?? (hasOwn ? own : room.freest(app) ?? room.usable(app).find(mayExceed));
  }

  /** It is known to live, as the host that the job has. */
  isUsable(host: HostIndex): boolean {
    const { session: { members }, ledger: { spec } } = this.#job;
    return members.isUsable(host) && !members.isDoubted(host) && members.nameOf(host) === spec.hosts[host]?.name;
  }

  /** Ranks that are placed there, and have not been started there. */
  start(host: HostIndex, ranks: readonly Rank[]): void {
    const { session, ledger, job, front } = this.#job;
    for (const rank of ranks) this.#drop(rank);
    const isNew = this.#job.hosts.isLost(host) || !(this.#job.hasFirstAgent(host) || this.startedAgain(host));
    this.#events.onStarting(host, isNew);
    if (!isNew) {
      this.#sent.set(host, 1 + this.sentTo(host));
      const those = ranks.map((rank) => [rank, ledger.placements.placement(rank).app, ledger.attempt(rank)] as const);
      const told = { start: this.launchOf(host), ranks: those, ...newsOf(those, ledger.spec.apps, ledger.spawns) };
      return front.check(session.node.messages.send(sessionAddress(host), 'job.restart', told, job));
    }
    this.#sent.delete(host);
    const whole = this.#job.launchNow();
    const launch: Launch = {
      ...whole,
      hosts: whole.hosts.filter(([each]) => each === host),
      start: 1 + this.launchOf(host),
      restarts: ranks.map((rank) => [rank, ledger.attempt(rank)] as const),
    };
    this.#launches.set(host, launch);
    front.check(session.passLaunch(launch, job));
  }
}

function append(lists: Map<HostIndex, Rank[]>, host: HostIndex, rank: Rank): void {
  const list = lists.get(host);
  if (list === undefined) lists.set(host, [rank]);
  else list.push(rank);
}
