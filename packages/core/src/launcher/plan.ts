/**
 * Launch plan: the boot tree over the controller (position 0) and all hosts (host i at position i + 1), and what
 * `--dry-run` shows of it: which agent starts each other, how long the whole takes. Pure: computed from the number of
 * hosts and the policy's arity, from which agents compute the same tree.
 */

import { BOOT_ROOT, assert, bootHost, bootPosition } from '@stci/interface';
import type { HostIndex, LaunchPlan, Launcher, TreeTopology } from '@stci/interface';

/** `createTree` is the topology component's: size (controller included) and arity to tree. `hosts` ≥ 1. */
export function planLaunch(
  hosts: number,
  launcher: Launcher,
  createTree: (size: number, arity: number) => TreeTopology,
): LaunchPlan {
  assert(Number.isInteger(hosts) && hosts >= 1, `a launch has at least one host, got ${hosts}`);
  const arity = launcher.arity(hosts);
  assert(Number.isInteger(arity) && arity >= 1, `policy ${launcher.policy} gives an arity of at least 1, got ${arity}`);
  return { policy: launcher.policy, tree: createTree(hosts + 1, arity) };
}

/** The host whose agent starts the agent of `host`; undefined where the controller does. */
export function starterOf({ tree }: LaunchPlan, host: HostIndex): HostIndex | undefined {
  const parent = tree.parent(bootPosition(host));
  return parent === undefined || parent === BOOT_ROOT ? undefined : bootHost(parent);
}

/** Agents on each level: element 0 is the controller's, always 1. */
export function agentsPerLevel({ tree }: LaunchPlan): number[] {
  const levels: number[] = [];
  for (let first = 0, last = 0; first < tree.size; ) {
    levels.push(Math.min(last, tree.size - 1) - first + 1);
    first = tree.arity * first + 1;
    last = tree.arity * last + tree.arity;
  }
  return levels;
}

/**
 * Steps until the last agent is up, where one start takes one step, an agent begins to start its children when it is
 * up, and starts at most `window` ≥ 1 of them in a step. O(agents).
 */
export function criticalPathSteps({ tree }: LaunchPlan, window: number): number {
  assert(Number.isInteger(window) && window >= 1, `a launch window is at least 1, got ${window}`);
  const below = new Float64Array(tree.size);
  for (let at = tree.size - 1; at > 0; at--) {
    const parent = Math.floor((at - 1) / tree.arity);
    const round = Math.floor((at - tree.arity * parent - 1) / window) + 1;
    below[parent] = Math.max(below[parent]!, round + below[at]!);
  }
  return below[0]!;
}
