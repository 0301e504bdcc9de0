/**
 * A net of agents' nodes without roles: node 0 is the controller, node i a root agent, connected as a tree by memory
 * links on one virtual clock. Tests access nodes and links by number.
 */

import {
  CONTROLLER, addressIndex, addressKind, rootAddress, sessionAddress, type Address, type Channel, type JobId,
  type StciError,
} from '@stci/interface';
import type { RequestOptions } from '../../dist/am/requests.js';
import { Link } from '../../dist/bootcom/link.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { AgentNode } from '../../dist/node/node.js';
import { resolved, type Settings } from '../assembly.js';
import { testPlace, type TestPlace } from '../world.js';

export interface Net extends TestPlace {
  readonly nodes: readonly AgentNode[];
  /** Lines that the nodes logged as faults. */
  readonly faults: string[];
  /** Both ends of each link, by child. */
  readonly channels: readonly (readonly [Channel, Channel] | undefined)[];
  /** Links that have closed, in words. */
  readonly closed: string[];
  /** Adds the session agent of a job below node `at`, a root agent. */
  addSession(at: number, job: JobId): AgentNode;
  /** Links node `child` to another parent. */
  adopt(at: number, child: number): void;
}

export function addressOf(i: number): Address {
  return i === 0 ? CONTROLLER : rootAddress(i - 1);
}

/** `parents[i]` is the parent of node i; that of node 0 is not looked at. */
export function makeNet(parents: readonly number[], settings: Settings = {}, seed = 1): Net {
  const place = testPlace(seed);
  const { platform } = place;
  const { params } = resolved(settings);
  const [faults, closed] = [[] as string[], [] as string[]];
  const log = { level: 'warn' as const, write: (_level: string, text: string) => void faults.push(text) };
  const makeNode = (self: Address, job: JobId): AgentNode => new AgentNode({
    platform: { ...platform, log },
    identity: { self, job, session: new Uint8Array(8), secret: new Uint8Array(32) },
    params,
  });
  const nodes = parents.map((_, i) => makeNode(addressOf(i), 0));
  const plan = [...parents];
  routeByTree(nodes, plan);
  const nodeAt = (i: number): AgentNode => nodes[i] as AgentNode;
  const channels = parents.map((parent, i) => (i === 0 ? undefined : join(nodeAt(parent), nodeAt(i), closed)));
  const addSession = (at: number, job: JobId): AgentNode => {
    const node = makeNode(sessionAddress(addressIndex(addressOf(at))), job);
    join(nodeAt(at), node, closed);
    place.until(() => node.router.parentLink !== undefined, 'its link');
    return node;
  };
  place.until(() => nodes.every((node, i) => node.router.links().length >= (i === 0 ? 0 : 1)), 'all links');
  place.run(10);
  const adopt = (at: number, child: number): void => {
    plan[child] = at;
    for (const { router } of nodes) router.clearReachable();
    const former = nodeAt(child).router.parentLink;
    join(nodeAt(at), nodeAt(child), closed);
    place.until(() => nodeAt(child).router.parentLink !== former, 'the new link');
  };
  return { ...place, nodes, faults, channels, closed, addSession, adopt };
}

function routeByTree(nodes: readonly AgentNode[], parents: readonly number[]): void {
  const byAddress = new Map(nodes.map((_, i) => [addressOf(i), i]));
  nodes.forEach((node, self) => {
    node.router.rule = (to) => {
      const destination = addressKind(to) === 'session' ? rootAddress(addressIndex(to)) : to;
      if (to !== destination && destination === addressOf(self)) return to;
      // Walk up from the destination: the node directly below this one is the next hop.
      for (let at = byAddress.get(destination); at !== undefined && at !== 0; at = parents[at]) {
        if (parents[at] === self) return addressOf(at);
      }
      return undefined;
    };
  });
}

function join(above: AgentNode, below: AgentNode, closed: string[]): readonly [Channel, Channel] {
  const [near, far] = memoryChannel(below.platform.clock, `to ${above.name}`, `to ${below.name}`);
  const onClosed = ({ name }: AgentNode) =>
    (_link: Link, reason: string): void => void closed.push(`${name} ${reason}`);
  above.acceptLink(far, 1000, () => undefined, { isConfirmed: true, onClosed: onClosed(above) });
  const { self, job, session } = below.identity;
  const secret = above.secretOf(self, job);
  new Link(
    {
      role: 'parent',
      channel: near,
      clock: below.platform.clock,
      handshake: { role: 'connect', self, job, session, secret, secrets: below.platform.secrets,
        admit: () => undefined, isConfirmed: true },
      limits: below.linkLimits(1000, near),
    },
    below.linkEvents({ onClosed: onClosed(below) }),
  );
  return [near, far];
}

export const line = (size: number): number[] => Array.from({ length: size }, (_, i) => i - 1);
export const star = (size: number): number[] => Array.from({ length: size }, () => 0);
export const tree = (size: number, arity: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.floor((i - 1) / arity));

/** Asks and waits; what came back. */
export function ask(net: Net, from: number, to: Address, body: unknown, options?: RequestOptions) {
  const told: { error: StciError | undefined; reply: unknown }[] = [];
  net.nodes[from]?.messages.request(to, 'agent.echo', body, (error, reply) => told.push({ error, reply }), options);
  net.until(() => told.length > 0, 'a reply or an error');
  return told[0] as (typeof told)[number];
}
