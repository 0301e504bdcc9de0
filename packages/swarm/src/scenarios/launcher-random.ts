/**
 * Launch policy `random` of the simulation: any tree over the hosts, drawn from a seed. Parents have higher indices
 * than their children as often as lower ones; between a chain and a tree with few levels.
 */

import { accept, defineComponent, launcherFramework } from '@stci/core/component';
import type { HostIndex } from '@stci/interface';
import { SimRandom } from '@stci/platform-sim';

/** Of more hosts, no chains: messages would take more hops than they may. */
const CHAIN_HOSTS_MAX = 24;

export const launcherRandom = defineComponent({
  framework: launcherFramework,
  name: 'random',
  version: '1.0.0',
  frameworkVersion: 1,
  help: 'Any tree over the hosts.',
  params: { seed: { type: 'int', default: 1, min: 0, help: 'The tree follows from it and the number of hosts.' } },
  query: () => accept(1, 'only by name'),
  create: (_deps, params) => ({
    policy: 'random',
    tree: (hosts) => ({ parents: randomParents(hosts.length, params['seed'] as number) }),
  }),
});

/** Hosts are placed in any order, each below one of the last that were placed, or below the controller. */
export function randomParents(hosts: number, seed: number): (HostIndex | undefined)[] {
  const random = new SimRandom(`boot tree ${seed} ${hosts}`);
  const reach = hosts > CHAIN_HOSTS_MAX ? hosts : random.pick([1, 2, 4, hosts, hosts]);
  const atTop = random.pick([0, 0, 0.1, 0.4]);
  const rest = Array.from({ length: hosts }, (_, host) => host);
  const parents = new Array<HostIndex | undefined>(hosts).fill(undefined);
  const placed: HostIndex[] = [];
  while (rest.length > 0) {
    const [host = 0] = rest.splice(random.integer(rest.length), 1);
    const near = placed.slice(-reach);
    if (near.length > 0 && !random.chance(atTop)) parents[host] = random.pick(near);
    placed.push(host);
  }
  return parents;
}

/** For a share of the runs. By a fork: the other draws do not depend on it. */
export function drawTree(random: SimRandom): Record<string, string> {
  const fork = random.fork('boot tree');
  return fork.chance(0.3) ? { launcher: 'random', 'launcher.random.seed': String(fork.integer(1000)) } : {};
}

/** The policy's answer in a run with these settings: of each host, the host above it. */
export function plannedParents(hosts: number, settings: Readonly<Record<string, string>>): (HostIndex | undefined)[] {
  const { launcher = 'tree', 'launcher.random.seed': seed = '1', 'launcher.tree.arity': text = '8' } = settings;
  if (launcher === 'random') return randomParents(hosts, Number(seed));
  const arity = launcher === 'flat' ? hosts : Number(text);
  return Array.from({ length: hosts }, (_, host) => (host < arity ? undefined : Math.floor(host / arity) - 1));
}

/** All above a host by the plan, nearest first. */
export function hostsAbove(parents: readonly (HostIndex | undefined)[], host: HostIndex): HostIndex[] {
  const parent = parents[host];
  return parent === undefined ? [] : [parent, ...hostsAbove(parents, parent)];
}
