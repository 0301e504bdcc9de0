/**
 * Faults at the links of one agent (experiments; finject). Rules name agents by position: 0 the controller, host + 1
 * its root agent; links to session agents, tools and front-ends are never concerned. A rule holds for links that are up
 * and for those that are opened later, by either end: towards a peer that this agent is silent to, an attempt hangs as
 * with a cut cable, and neither end of a process, nor its being killed, passes.
 */

import {
  addressIndex, addressKind, bootPosition, entryOf, type Address, type Channel, type Impairment, type Platform,
  type Position,
} from '@stci/interface';
import { ImpairedChannel, type ImpairmentDeps } from './impairment.js';
import type { Link } from './link.js';

/** Channels that their links gave up during a silence, at most; the oldest are closed. */
const KEPT_MAX = 256;

type Direction = 'in' | 'out';

interface Deferred {
  readonly position: Position;
  readonly direction: Direction;
  run(): void;
}

/** One rule may name thousands of agents, of which few have a link to this one. */
interface Rule {
  readonly owner: string;
  readonly peers: Set<Position>;
  readonly how: Impairment;
}

/** What there is between this agent and one position. */
interface Peer {
  readonly links: Set<Link>;
  /** Without a link of their own, or without one any more. */
  readonly channels: Set<ImpairedChannel>;
  /** The rule that they follow. */
  how: Impairment | undefined;
}

export class LinkFaults {
  readonly #platform: Pick<Platform, 'clock' | 'random'>;
  /** The last that names a peer is in force. */
  #rules: Rule[] = [];
  readonly #peers = new Map<Position, Peer>();
  readonly #positions = new Map<Link, Position>();
  readonly #impaired = new Map<Link, ImpairedChannel>();
  readonly #kept = new Set<ImpairedChannel>();
  #deferred: Deferred[] = [];
  #deps: ImpairmentDeps | undefined;

  constructor(platform: Pick<Platform, 'clock' | 'random'>) {
    this.#platform = platform;
  }

  /** Impairs from now on; replaces what the same owner ordered before for these peers. */
  impair(peers: readonly Position[], how: Impairment, owner = ''): void {
    this.#remove(peers, owner);
    this.#rules.push({ owner, peers: new Set(peers), how });
    this.#applyAll();
  }

  /** The owner's rules for these peers are over. */
  restore(peers: readonly Position[], owner = ''): void {
    this.#remove(peers, owner);
    this.#applyAll();
  }

  /** Closes the links to these peers at once, without goodbye. Returns how many there were. */
  close(peers: readonly Position[]): number {
    const links = peers.flatMap((position) => [...(this.#peers.get(position)?.links ?? [])]);
    for (const link of links) link.destroy('closed by an injected fault', 'lost');
    return links.length;
  }

  /** Ends all rules; at the end of the agent, too. */
  clear(): void {
    this.#rules = [];
    this.#applyAll();
  }

  /** A channel to an agent that is being started or reached. */
  channel(agent: Address, channel: Channel): Channel {
    const position = positionOf(agent);
    const how = position === undefined ? undefined : this.#ruleOf(position);
    if (position === undefined || how === undefined) return channel;
    const impaired = new ImpairedChannel(channel, this.#impairmentDeps);
    this.#keep(position, impaired);
    impaired.impair(how);
    return impaired;
  }

  /** Takes the peer of a link that was made, as it says, or as it has proved. */
  onNamed(link: Link, agent: Address): void {
    const position = positionOf(agent);
    if (position === undefined || this.#positions.has(link)) return;
    this.#positions.set(link, position);
    this.#peer(position).links.add(link);
    const how = this.#ruleOf(position);
    if (how !== undefined) this.#impair(link, how);
  }

  /** A link that its end has given up during a silence stays open for the other end. */
  onClosed(link: Link): void {
    const position = this.#positions.get(link);
    if (position === undefined) return;
    const channel = this.#impaired.get(link);
    this.#positions.delete(link);
    this.#impaired.delete(link);
    this.#peer(position).links.delete(link);
    if (channel?.isGivenUp === true) this.#keep(position, channel);
  }

  /** Runs what this agent does to that one, such as killing it, now or when it is not silent to it any more. */
  whenSent(agent: Address, run: () => void): void {
    this.#when('out', agent, run);
  }

  /** Runs what follows from news of that agent, now or when it can be heard again. */
  whenHeard(agent: Address, run: () => void): void {
    this.#when('in', agent, run);
  }

  get #impairmentDeps(): ImpairmentDeps {
    const { clock, random } = this.#platform;
    return (this.#deps ??= { clock, random: random.fork('link-faults') });
  }

  #peer(position: Position): Peer {
    return entryOf(this.#peers, position, () =>
      ({ links: new Set(), channels: new Set(), how: this.#ruleOf(position) }));
  }

  #remove(peers: readonly Position[], owner: string): void {
    for (const rule of this.#rules) if (rule.owner === owner) for (const peer of peers) rule.peers.delete(peer);
    this.#rules = this.#rules.filter((rule) => rule.peers.size > 0);
  }

  #ruleOf(position: Position): Impairment | undefined {
    return this.#rules.findLast(({ peers }) => peers.has(position))?.how;
  }

  #isSilent(position: Position, direction: Direction): boolean {
    const how = this.#ruleOf(position);
    return how?.isSilent === true && (how.direction === 'both' || how.direction === direction);
  }

  #applyAll(): void {
    for (const [position, peer] of this.#peers) {
      const how = this.#ruleOf(position);
      if (how === peer.how) continue;
      peer.how = how;
      for (const link of [...peer.links]) this.#impair(link, how);
      for (const channel of [...peer.channels]) channel.impair(how);
    }
    const deferred = this.#deferred;
    const isOver = ({ position, direction }: Deferred): boolean => !this.#isSilent(position, direction);
    this.#deferred = deferred.filter((each) => !isOver(each));
    for (const each of deferred) if (isOver(each)) each.run();
  }

  #impair(link: Link, how: Impairment | undefined): void {
    const channel = link.impair(how, this.#impairmentDeps);
    if (channel === undefined) this.#impaired.delete(link);
    else this.#impaired.set(link, channel);
  }

  #keep(position: Position, channel: ImpairedChannel): void {
    const { channels } = this.#peer(position);
    channels.add(channel);
    this.#kept.add(channel);
    channel.onIdle = () => {
      if (!channel.isClosed) return;
      channels.delete(channel);
      this.#kept.delete(channel);
    };
    if (this.#kept.size <= KEPT_MAX) return;
    const oldest = [...this.#kept].find(({ isGivenUp }) => isGivenUp) ?? channel;
    this.#kept.delete(oldest);
    oldest.discard();
  }

  #when(direction: Direction, agent: Address, run: () => void): void {
    const position = positionOf(agent);
    if (position === undefined || !this.#isSilent(position, direction)) return run();
    this.#deferred.push({ position, direction, run });
  }
}

function positionOf(agent: Address): Position | undefined {
  const kind = addressKind(agent);
  if (kind === 'controller') return 0;
  return kind === 'root' ? bootPosition(addressIndex(agent)) : undefined;
}
