/**
 * A net of agents' nodes without roles: node 0 is the controller, node i a root agent, connected as a tree by memory
 * links on one virtual clock. Tests access nodes and links by number.
 */

import { CONTROLLER, rootAddress, type Address, type Channel, type StciError } from '@stci/interface';
import { AgentNode } from '../../dist/agent/node.js';
import { Link } from '../../dist/bootcom/link.js';
import { memoryChannel } from '../../dist/bootcom/memory-channel.js';
import { resolved, composition, type Settings } from '../assembly.js';
import { testPlace, type TestPlace } from '../world.js';

export interface Net extends TestPlace {
  readonly nodes: readonly AgentNode[];
  /** Lines that the nodes logged as faults. */
  readonly faults: string[];
  /** Both ends of each link, by child. */
  readonly channels: readonly (readonly [Channel, Channel] | undefined)[];
  /** Links that have closed, in words. */
  readonly closed: string[];
}

export function addressOf(i: number): Address {
  return i === 0 ? CONTROLLER : rootAddress(i - 1);
}

/** `parents[i]` is the parent of node i; that of node 0 is not looked at. */
export function makeNet(parents: readonly number[], settings: Settings = {}, seed = 1): Net {
  const place = testPlace(seed);
  const { platform } = place;
  const { params } = resolved(settings);
  const scope = composition.scope('net', params, platform);
  const [faults, closed] = [[] as string[], [] as string[]];
  const log = { level: 'warn' as const, write: (_level: string, text: string) => void faults.push(text) };
  const nodes = parents.map((parent, i) => new AgentNode({
    platform: { ...platform, log },
    identity: {
      self: addressOf(i),
      parent: i === 0 ? undefined : addressOf(parent),
      session: new Uint8Array(8),
      secret: new Uint8Array(32),
    },
    params,
    treeOf: (spec) => scope.streamTree(spec),
  }));
  routeByTree(nodes, parents);
  const channels = parents.map((parent, i) => (i === 0 ? undefined : join(nodes, parent, i, closed)));
  place.until(() => nodes.every((node, i) => node.router.links().length >= (i === 0 ? 0 : 1)), 'all links');
  place.run(10);
  return { ...place, nodes, faults, channels, closed };
}

function routeByTree(nodes: readonly AgentNode[], parents: readonly number[]): void {
  const byAddress = new Map(nodes.map((_, i) => [addressOf(i), i]));
  nodes.forEach((node, self) => {
    node.router.rule = (destination) => {
      // Walk up from the destination: the node directly below this one is the next hop.
      for (let at = byAddress.get(destination); at !== undefined && at !== 0; at = parents[at]) {
        if (parents[at] === self) return addressOf(at);
      }
      return undefined;
    };
  });
}

function join(nodes: readonly AgentNode[], parent: number, child: number, closed: string[]): readonly [Channel,
  Channel] {
  const [above, below] = [nodes[parent] as AgentNode, nodes[child] as AgentNode];
  const [near, far] = memoryChannel(below.platform.clock, `to ${parent}`, `to ${child}`);
  const onClosed = (who: number) => (_link: Link, reason: string): void => void closed.push(`${who} ${reason}`);
  above.acceptLink(far, 1000, () => undefined, { onClosed: onClosed(parent) });
  const { self, session, secret } = below.identity;
  new Link(
    {
      channel: near,
      clock: below.platform.clock,
      handshake: { role: 'connect', self, session, secret, secrets: below.platform.secrets, admit: () => undefined },
      limits: below.linkLimits(1000, near),
    },
    below.linkEvents({ onClosed: onClosed(child) }),
  );
  return [near, far];
}

export const line = (size: number): number[] => Array.from({ length: size }, (_, i) => i - 1);
export const star = (size: number): number[] => Array.from({ length: size }, () => 0);
export const tree = (size: number, arity: number): number[] =>
  Array.from({ length: size }, (_, i) => Math.floor((i - 1) / arity));

/** Asks and waits; what came back. */
export function ask(net: Net, from: number, to: Address, body: unknown, timeoutMs?: number) {
  const told: { error: StciError | undefined; reply: unknown }[] = [];
  net.nodes[from]?.messages.request(to, 'agent.echo', body, (error, reply) => told.push({ error, reply }), timeoutMs);
  net.until(() => told.length > 0, 'a reply or an error');
  return told[0] as (typeof told)[number];
}
