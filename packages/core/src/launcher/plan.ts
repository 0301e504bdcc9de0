/**
 * Launch plan: the boot tree over the controller (position 0) and all hosts (host i at position i + 1), and what
 * `--dry-run` shows of it: which agent starts each other, how long the whole takes. Pure: computed from the hosts and
 * the policy's answer, as agents compute the same tree.
 */

import { BOOT_ROOT, assert, bootHost, bootPosition } from '@stci/interface';
import type { BootTree, HostIndex, HostSpec, LaunchPlan, Launcher, Position } from '@stci/interface';
import { bootPlanOf } from './boot-plan.js';
import { wholePart, type BootTreePart } from './parent-tree.js';

/** `bootTree` is the scope's: number of hosts and plan to tree. At least one host. Throws STCI_LAUNCHER_TREE. */
export function planLaunch(
  hosts: readonly HostSpec[],
  launcher: Launcher,
  bootTree: (hosts: number, part: BootTreePart) => BootTree,
): LaunchPlan {
  assert(hosts.length >= 1, 'a launch has at least one host');
  const plan = bootPlanOf(launcher, hosts);
  return { policy: launcher.policy, plan, tree: bootTree(hosts.length, wholePart(plan)) };
}

/** The host whose agent starts the agent of `host`; undefined where the controller does. */
export function starterOf({ tree }: LaunchPlan, host: HostIndex): HostIndex | undefined {
  const parent = tree.parent(bootPosition(host));
  return parent === undefined || parent === BOOT_ROOT ? undefined : bootHost(parent);
}

/** Agents on each level: element 0 is the controller's, always 1. */
export function agentsPerLevel({ tree }: LaunchPlan): number[] {
  const levels: number[] = [];
  for (let level: readonly Position[] = [BOOT_ROOT]; level.length > 0; level = childrenOf(tree, level)) {
    levels.push(level.length);
  }
  return levels;
}

/** The largest number of agents that one starts. */
export function childrenMax({ tree }: LaunchPlan): number {
  let most = 0;
  for (let at = 0; at < tree.size; at++) most = Math.max(most, tree.children(at).length);
  return most;
}

/**
 * Steps until the last agent is up, where one start takes one step, an agent begins to start its children when it is
 * up, and starts at most `window` ≥ 1 of them in a step. O(agents).
 */
export function criticalPathSteps({ tree }: LaunchPlan, window: number): number {
  assert(Number.isInteger(window) && window >= 1, `a launch window is at least 1, got ${window}`);
  const upAt = new Float64Array(tree.size);
  let last = 0;
  for (let level: readonly Position[] = [BOOT_ROOT]; level.length > 0; level = childrenOf(tree, level)) {
    for (const at of level) {
      tree.children(at).forEach((child, i) => {
        last = Math.max(last, (upAt[child] = upAt[at]! + Math.floor(i / window) + 1));
      });
    }
  }
  return last;
}

function childrenOf(tree: BootTree, positions: readonly Position[]): Position[] {
  return positions.flatMap((position) => tree.children(position));
}
