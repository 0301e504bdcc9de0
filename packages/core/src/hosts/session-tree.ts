/** The boot tree of a session, as its controller gets it from the launcher policy. */

import { StciError, type BootTree, type HostSpec, type Params } from '@stci/interface';
import type { AgentScope } from '../assembly/composition.js';
import { bootPlanOf } from '../launcher/boot-plan.js';
import { wholePart, type BootTreePart } from '../launcher/parent-tree.js';

export interface SessionTree {
  /** All of the plan. */
  readonly part: BootTreePart;
  /** The boot tree over so many hosts. */
  treeOf(hosts: number): BootTree;
  /** Throws STCI_PARAM_INVALID if the depth of the tree over so many hosts exceeds message.ttl. */
  checkSize(hosts: number): void;
}

/** Asks the policy once. Throws STCI_LAUNCHER_TREE, or STCI_PARAM_INVALID as checkSize. */
export function sessionTree(scope: AgentScope, hosts: readonly HostSpec[], params: Params): SessionTree {
  const launcher = scope.launcher();
  const part = wholePart(bootPlanOf(launcher, hosts));
  const treeOf = (size: number): BootTree => scope.bootTree(size, part);
  const checkSize = (size: number): void => {
    // From the front-end to the controller, down the tree, to a session agent.
    const hops = treeOf(size).height + 2;
    const ttl = params.int('message.ttl');
    if (hops <= ttl) return;
    const [where, what] = 'arity' in part
      ? [`where each agent starts ${part.arity} (launcher.tree.arity)`, 'the one or the other']
      : [`along the tree of launcher ${launcher.policy}`, 'it, or choose a flatter tree'];
    const text = `message.ttl = ${ttl}: a message to the last of ${size} hosts takes ${hops} hops ${where}. `
      + `Raise ${what}.`;
    throw new StciError('STCI_PARAM_INVALID', text, { data: { name: 'message.ttl', hops } });
  };
  checkSize(hosts.length);
  return { part, treeOf, checkSize };
}
