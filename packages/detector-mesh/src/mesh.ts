/**
 * Periodic ping-pong along a topology (Kharbas, 2.1.1; STCI paper, II-F.1): each agent pings its neighbours. Where a
 * neighbour is dead, those behind it become neighbours in its place, so that every living agent stays watched.
 */

import { Prober, bySize, readProbe, type ProbeTimes } from '@stci/core/component';
import type {
  Detector, DetectorAction, DetectorEvent, DetectorInit, MemberId, Members, Position, Topology,
} from '@stci/interface';

export interface MeshSettings extends ProbeTimes {
  /** For the first answer of an agent that may still be starting, in addition to the timeout. */
  readonly graceMs: number;
}

export class Mesh implements Detector {
  readonly #self: MemberId;
  readonly #settings: MeshSettings;
  readonly #topologyOf: (size: number) => Topology;
  readonly #members: Members;
  readonly #prober: Prober;
  #isStarted = false;

  constructor({ self, members, topologyOf }: DetectorInit, settings: MeshSettings) {
    this.#self = self;
    this.#settings = settings;
    this.#topologyOf = bySize(topologyOf);
    this.#members = members;
    this.#prober = new Prober(settings);
  }

  get dueMs(): number | undefined {
    return this.#prober.dueMs;
  }

  on(event: DetectorEvent, nowMs: number): readonly DetectorAction[] {
    switch (event.type) {
      case 'start':
        this.#isStarted = true;
        this.#watchNeighbours(nowMs, this.#settings.graceMs);
        return [];
      case 'due':
        return this.#prober.onDue(nowMs);
      case 'message': {
        const probe = readProbe(event.body);
        if (probe === undefined || this.#members.isGone(event.from)) return [];
        return this.#prober.on(event.from, probe, nowMs);
      }
      case 'joined':
      case 'gone':
      case 'refuted':
        this.#watchNeighbours(nowMs, event.type === 'joined' ? this.#settings.graceMs : 0);
        return [];
      case 'lag':
        this.#prober.onLag(event.lagMs);
        return [];
      default:
        return [];
    }
  }

  #watchNeighbours(nowMs: number, graceMs: number): void {
    if (!this.#isStarted) return;
    const neighbours = this.#neighbours();
    for (const position of this.#prober.watched) if (!neighbours.has(position)) this.#prober.unwatch(position);
    for (const member of neighbours.values()) this.#prober.watch(member, nowMs, { cause: 'silent', graceMs });
  }

  /** The living agents that are linked with this one, or behind dead ones that are. */
  #neighbours(): Map<Position, MemberId> {
    const found = new Map<Position, MemberId>();
    const seen = new Set<Position>([this.#self.position]);
    const through: Position[] = [this.#self.position];
    const topology = this.#topologyOf(this.#members.size);
    for (const at of through) {
      for (const next of topology.neighbours(at)) {
        if (seen.has(next)) continue;
        seen.add(next);
        const member = this.#members.at(next);
        if (member === undefined) through.push(next);
        else found.set(next, member);
      }
    }
    return found;
  }
}
