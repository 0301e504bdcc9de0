/** What programs ask their session agent: values of keys, where ranks are, and what topologies say. */

import { FORMS, StciError, caught, type Form, type SpanningTree, type Topology } from '@stci/interface';
import type { MessageBody } from '../messages/messages.js';
import { PROGRAM_TOPOLOGY_SIZE_MAX } from './program-turns.js';
import type { RequestOf } from './program-connection.js';
import type { Program } from './program.js';
import type { RankStatusView } from './rank-status-view.js';

/** Topologies that are kept, if they have not more positions together than the largest one may. */
const TOPOLOGIES_MAX = 16;

/** As users write it. Throws STCI_TOPOLOGY_INVALID or STCI_MCA_*. */
type TopologyOf = (text: string, size: number) => Topology;

interface Known {
  readonly topology: Topology;
  readonly trees: Map<number, SpanningTree>;
}

export class ProgramQueries {
  readonly #news: RankStatusView;
  readonly #topologyOf: TopologyOf;
  readonly #pairs = new Map<string, readonly [form: number, value: Uint8Array]>();
  readonly #topologies = new Map<string, Known>();

  constructor(news: RankStatusView, topologyOf: TopologyOf) {
    this.#news = news;
    this.#topologyOf = topologyOf;
  }

  onPairs(pairs: MessageBody<'program.agreed'>['pairs']): void {
    for (const [key, form, value] of pairs) this.#pairs.set(key, [form, value.slice()]);
  }

  /** Positions of a topology and a tree that are to be built for the answer. */
  positionsOf({ spec, size, root = 0 }: RequestOf<'topology'>): number {
    const isKnown = this.#topologies.get(keyOf(spec, size))?.trees.has(root) === true;
    return isKnown || size > PROGRAM_TOPOLOGY_SIZE_MAX ? 0 : size;
  }

  get(program: Program, { id, key }: RequestOf<'get'>): void {
    const pair = this.#pairs.get(key);
    const form = FORMS[pair?.[0] ?? 0] as Form;
    program.connection?.send({ type: 'value', id, found: pair !== undefined, form }, pair?.[1]);
  }

  hosts(program: Program, { id }: RequestOf<'hosts'>): void {
    program.connection?.send({ type: 'hosts', id, hosts: this.#news.places() });
  }

  topology(program: Program, request: RequestOf<'topology'>): void {
    const { id, spec, size, position, root = 0, target } = request;
    if (size > PROGRAM_TOPOLOGY_SIZE_MAX) {
      const reason = `topology ${spec}: size ${size} is more than ${PROGRAM_TOPOLOGY_SIZE_MAX}`;
      return program.fail(id, { code: 'STCI_CLIENT_TOPOLOGY', reason });
    }
    caught(() => {
      const { topology, trees } = this.#topology(spec, size);
      for (const [what, at] of Object.entries({ position, root, target: target ?? 0 })) {
        if (at < size) continue;
        throw new StciError('STCI_TOPOLOGY_INVALID', `topology ${spec}: ${what} ${at} is not below its size, ${size}`);
      }
      const tree = trees.get(root) ?? topology.spanningTree(root);
      trees.clear(); // The last root: others are rare.
      trees.set(root, tree);
      program.connection?.send({
        type: 'topology', id,
        neighbours: topology.neighbours(position),
        parent: tree.parent(position) ?? -1,
        children: tree.children(position),
        diameter: topology.diameter,
        ...(target !== undefined && { next: topology.nextHop(position, target) ?? -1 }),
      });
    }, ({ message }) => program.fail(id, { code: 'STCI_CLIENT_TOPOLOGY', reason: message }));
  }

  #topology(spec: string, size: number): Known {
    const key = keyOf(spec, size);
    const known = this.#topologies.get(key) ?? { topology: this.#topologyOf(spec, size), trees: new Map() };
    this.#topologies.delete(key);
    this.#topologies.set(key, known);
    this.#forget();
    return known;
  }

  /** The last one stays. */
  #forget(): void {
    let positions = 0;
    for (const { topology } of this.#topologies.values()) positions += topology.size;
    for (const [key, { topology }] of this.#topologies) {
      const isOver = this.#topologies.size > TOPOLOGIES_MAX || positions > PROGRAM_TOPOLOGY_SIZE_MAX;
      if (!isOver || this.#topologies.size === 1) return;
      positions -= topology.size;
      this.#topologies.delete(key);
    }
  }
}

function keyOf(spec: string, size: number): string {
  return `${size} ${spec}`;
}
