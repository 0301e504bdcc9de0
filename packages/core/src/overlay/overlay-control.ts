/**
 * Overlay control, at the controller: has the agents listen once all are up, then tells each its neighbours and the
 * keys of their links; again when a host joins.
 */

import {
  addressIndex, bootHost, bootPosition, rootAddress, type HostIndex, type HostSpec, type MemberId,
  type Position, type Topology,
} from '@stci/interface';
import { LOCAL } from '../boot/agent-launcher.js';
import type { MembershipTable } from '../membership/table.js';
import type { Neighbour, OverlayLinkKind } from '../messages/neighbour.js';
import type { ControllerPlace, Gone, OpenService } from '../service/contracts.js';
import { overlayTls, pairKey } from './keys.js';
import { LinkedOverlay } from './linked-overlay.js';

/** Hosts that a warning names. */
const NAMES_MAX = 8;

interface Listening {
  readonly incarnation: number;
  readonly addresses: readonly string[];
}

export class OverlayControl implements OpenService {
  readonly #place: ControllerPlace;
  #linked: LinkedOverlay | undefined;
  #table: MembershipTable | undefined;
  #kind: OverlayLinkKind = 'ws';
  #size = 0;
  /** Where the members listen, as they have said. */
  readonly #listeners = new Map<Position, Listening>();
  /** Members that have not answered yet, while the overlay begins. */
  readonly #awaited = new Set<Position>();
  /** Why members do not listen, until the user is told. */
  readonly #problems = new Map<Position, string>();

  constructor(place: ControllerPlace) {
    this.#place = place;
    place.node.messages.on('overlay.opened', ({ host, incarnation, addresses, problem }, { source }) => {
      const member = this.#table === undefined ? undefined : memberOf(this.#table, host);
      if (host !== addressIndex(source) || member?.incarnation !== incarnation) return;
      this.#onOpened(member, addresses, problem);
    });
  }

  onOpen(hosts: readonly HostSpec[], spares: readonly HostSpec[]): void {
    this.#kind = this.#place.scope.launchMethod([...hosts, ...spares]) === LOCAL ? 'private' : 'ws';
    this.#linked = new LinkedOverlay(this.#place, hosts.length + 1);
  }

  onReady(): void {
    const { overlay, session } = this.#place;
    this.#table = session.table;
    const members = this.#members;
    this.#awaited.clear();
    for (const { position } of members) this.#awaited.add(position);
    this.#linked?.listen(this.#kind, (addresses, problem) => this.#onOpened(overlay.self, addresses, problem));
    for (const { position } of members) if (position > 0) this.#open(bootHost(position));
  }

  /** The agent of a host came up while the session runs. */
  onUp(host: HostIndex): void {
    if (this.#table !== undefined) this.#open(host);
  }

  /** A host is given up. */
  onGone({ host, job }: Gone): void {
    if (this.#table === undefined || host === undefined || job !== undefined) return;
    this.#listeners.delete(bootPosition(host));
    this.#awaited.delete(bootPosition(host));
    this.#place.overlay.members.lose(memberOf(this.#table, host), 'gone');
    this.#begin();
  }

  stop(): void {
    this.#table = undefined;
    this.#linked?.close();
  }

  #open(host: HostIndex): void {
    this.#place.node.messages.send(rootAddress(host), 'overlay.open', { kind: this.#kind });
  }

  /** One that cannot listen connects to those that do. All neighbours are told, so nothing is taken twice. */
  #onOpened(member: MemberId, addresses: readonly string[], problem: string | undefined): void {
    const { position, incarnation } = member;
    if (!isNews(this.#listeners.get(position), incarnation, addresses)) return;
    if (problem !== undefined) this.#problems.set(position, problem);
    this.#listeners.set(position, { incarnation, addresses });
    this.#awaited.delete(position);
    if (this.#size === 0) this.#begin();
    else if (this.#positions > this.#size) this.#tellAll();
    else this.#join(member);
    if (this.#awaited.size === 0 && this.#problems.size > 0) this.#warn();
  }

  #warn(): void {
    const all = [...this.#problems].sort(([a], [b]) => a - b);
    const [[position, problem]] = all as [[Position, string]];
    const names = all.slice(0, NAMES_MAX).map(([at]) => this.#nameOf(at)).join(', ');
    const more = all.length > NAMES_MAX ? ` and ${all.length - NAMES_MAX} more` : '';
    this.#problems.clear();
    this.#place.warn(`The overlay lacks links, and the session survives fewer failures: no listener on ${names}`
      + `${more}. Agents there connect to those that listen, but not to each other. On ${this.#nameOf(position)}: `
      + problem);
  }

  #nameOf(position: Position): string {
    return position === 0 ? 'the controller\'s host' : this.#place.session.hostName(bootHost(position));
  }

  #begin(): void {
    if (this.#size === 0 && this.#awaited.size === 0) this.#tellAll();
  }

  get #positions(): number {
    return (this.#table?.size ?? 0) + 1;
  }

  #tellAll(): void {
    this.#size = this.#positions;
    const topology = this.#topologyOf(this.#size);
    for (const member of this.#members) this.#tell(member, topology.neighbours(member.position));
  }

  /** It replaces a former incarnation: only its neighbours need to know. */
  #join(member: MemberId): void {
    const neighbours = this.#topologyOf(this.#size).neighbours(member.position);
    this.#tell(member, neighbours);
    for (const other of this.#members) if (neighbours.includes(other.position)) this.#tell(other, [member.position]);
  }

  #tell(member: MemberId, positions: readonly Position[]): void {
    const neighbours = this.#members
      .filter(({ position }) => positions.includes(position) && this.#listeners.has(position))
      .map((other) => this.#neighbour(member, other));
    if (member.position === 0) return this.#linked?.connect(this.#size, neighbours);
    const to = rootAddress(bootHost(member.position));
    this.#place.node.messages.send(to, 'overlay.links', { size: this.#size, neighbours });
  }

  #neighbour(member: MemberId, other: MemberId): Neighbour {
    const { platform, identity, params } = this.#place.node;
    const { secrets } = platform;
    const address = other.position === 0 ? undefined : rootAddress(bootHost(other.position));
    const secret = address === undefined ? identity.secret : this.#place.node.secretOf(address, 0);
    const tls = this.#kind === 'ws' ? overlayTls(secrets, secret, params) : undefined;
    return {
      ...other, addresses: this.#listeners.get(other.position)?.addresses ?? [],
      key: pairKey(secrets, identity.secret, member, other), tls,
    };
  }

  #topologyOf(size: number): Topology {
    return this.#place.scope.topologyOf(this.#place.node.params.string('overlay.topology'), size);
  }

  /** Those that take part, and may be reached, by position. */
  get #members(): MemberId[] {
    const table = this.#table;
    const hosts = table?.hosts('up', 'suspect', 'orphaned') ?? [];
    return [this.#place.overlay.self, ...hosts.map((host) => memberOf(table as MembershipTable, host))];
  }
}

/** An incarnation says once where it listens, and once that it does no more. */
function isNews(said: Listening | undefined, incarnation: number, addresses: readonly string[]): boolean {
  if (said?.incarnation !== incarnation) return true;
  return addresses.length === 0 && said.addresses.length > 0;
}

function memberOf(table: MembershipTable, host: HostIndex): MemberId {
  return { position: bootPosition(host), incarnation: table.get(host).incarnation };
}
