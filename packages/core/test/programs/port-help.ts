/** The socket of programs at their session agent, with a controller and programs that the test speaks for. */

import {
  RecordReader, StciError, programRecord, type Channel, type ProgramEvent, type Rank, type Topology,
} from '@stci/interface';
import { createTree } from '@stci/topology-tree';
import { Scope } from '../../dist/event/scope.js';
import type { AgentNode } from '../../dist/node/node.js';
import type { ServiceScope } from '../../dist/service/contracts.js';
import { ProgramPort } from '../../dist/programs/program-port.js';
import { testPlace } from '../world.js';

export const SIZE = 8;

export interface Peer {
  readonly channel: Channel;
  readonly told: ProgramEvent[];
  /** The bytes that came with each. */
  readonly bodies: string[];
  isClosed: boolean;
  send(...lines: unknown[]): void;
}

interface PlayOptions {
  readonly bytesMax?: number;
  /** The controller has told its state, in which nothing has happened. */
  readonly isKnown?: boolean;
  /** A detector wants to know who waits. */
  readonly hearsWaits?: boolean;
}

/** A port with ranks 2 and 3; `sent`: to the controller; `deliver`: a message of the controller. */
export function play({ bytesMax = 1 << 26, isKnown = false, hearsWaits = true }: PlayOptions = {}) {
  const place = testPlace();
  const sent: [string, unknown][] = [];
  const alive: [Rank, number][] = [];
  const handlers = new Map<string, (body: unknown) => void>();
  const messages = {
    on: (name: string, handler: (body: unknown) => void) => handlers.set(name, handler),
    send: (_to: number, name: string, body: unknown) => sent.push([name, body]),
    sendList: (_to: number, name: string, items: unknown[], bodyOf: (items: unknown[]) => unknown) =>
      sent.push([name, bodyOf(items)]),
    sendNeighbour: (_link: unknown, name: string, body: unknown) => sent.push([name, body]),
  };
  const params = { int: (name: string) => (name.endsWith('.max') && name !== 'bootcom.pending.max' ? bytesMax : 64) };
  const collects = { on: () => undefined };
  const parts = { platform: place.platform, params, messages, collects, router: { parentLink: {} } };
  const node = parts as unknown as AgentNode;
  /** When topologies were built, and of how many positions. */
  const built: [number, number][] = [];
  const topologyOf = (text: string, size: number): Topology => {
    built.push([place.platform.clock.nowMs(), size]);
    if (text === 'bmg') return createTree(size, 2);
    throw new StciError('STCI_TOPOLOGY_INVALID', 'no such topology');
  };
  const onAlive = (rank: Rank, withinMs: number): void => void alive.push([rank, withinMs]);
  const holds = new Scope('job 7');
  const port = new ProgramPort({
    node, holds, host: 1, hostName: 'b', job: 7, size: SIZE, hosts: 2, onAlive, bindingOf: () => undefined,
    processOf: () => undefined,
    scope: { topologyOf, detectors: () => [{ module: { hearsWaits } }] } as unknown as ServiceScope,
  });
  let isOpen = false;
  port.open((error) => (isOpen = error === undefined));
  place.until(() => isOpen, 'the port');
  const variables = new Map([2, 3].map((rank) => [rank, port.add(rank, rank - 1)]));
  const connect = (): Peer => {
    const channel = place.platform.network.connectPrivate(variables.get(2)?.['STCI_CLIENT_SOCKET'] ?? '', 1000);
    const peer: Peer = {
      channel, told: [], bodies: [], isClosed: false,
      send: (...list) => {
        channel.send(list.map((line) => line instanceof Uint8Array ? line : programRecord(line as object)));
        place.run();
      },
    };
    const reader = new RecordReader({ lineBytesMax: 1 << 25, bytesMax: 1 << 25 }, (head, bytes) => {
      peer.told.push(head as unknown as ProgramEvent);
      peer.bodies.push(new TextDecoder().decode(bytes));
    });
    channel.bind({
      onData: (chunk) => void reader.add(chunk),
      onDrain: () => undefined,
      onClose: () => (peer.isClosed = true),
    });
    return peer;
  };
  const hello = (rank: Rank, version = 2): object => ({ type: 'hello', version, token: tokenOf(rank) });
  const tokenOf = (rank: Rank): string => variables.get(rank)?.['STCI_CLIENT_TOKEN'] ?? '';
  const deliver = (name: string, body: unknown): void => {
    handlers.get(name)?.(body);
    place.run();
  };
  if (isKnown) deliver('program.state', state(0, []));
  return { ...place, port, sent, alive, built, connect, hello, deliver };
}

export const PLACES = [[0, 'a', [[0, 3]]], [1, 'b', [[4, 7]]]];
export const state = (decided: number, lost: unknown[]) => ({
  decided, lost, ended: [], places: PLACES, attempts: [], pairs: [],
});
export const decision = (agreed: object, joins: unknown[] = []) => ({
  sequence: 5, kind: 0, ...agreed, joins, code: '', reason: '', parts: [], pairs: [],
});
export const VOTE = { type: 'vote', kind: 'agree', flag: true };
