/**
 * Composition: the one place where an agent's modules are resolved. A universe is made once a process from the
 * registry; each agent has a scope of its own in it.
 */

import {
  assert,
  type HostSpec,
  type LauncherProc,
  type Params,
  type Platform,
  type TreeTopology,
} from '@stci/interface';
import { bootcomFramework } from '../bootcom/framework.js';
import { paramsFromSnapshot } from '../config/params.js';
import { errmgrFramework } from '../errmgr/framework.js';
import { launcherFramework } from '../launcher/framework.js';
import { launcherprocFramework } from '../launcher/launcherproc-framework.js';
import type { Facts } from '../mca/candidates.js';
import type { Registry } from '../mca/registry.js';
import { createSelector, type Selector } from '../mca/selector.js';
import { topologyFramework } from '../topology/framework.js';
import type { AgentScope, Universe } from './universe.js';

export function createUniverse(registry: Registry): Universe {
  return {
    paramsOf: (snapshot) => paramsFromSnapshot(registry.catalog, snapshot),
    scope: (params, platform) => createScope(registry, params, platform),
  };
}

/** Facts that components may decide by. */
export function platformFacts(platform: Platform): Facts {
  return { hostname: platform.env.hostname, user: platform.env.user };
}

function createScope(registry: Registry, params: Params, platform: Platform): AgentScope {
  const selector: Selector = createSelector(registry, params, platformFacts(platform));
  const topologies = selector.keyed(topologyFramework);
  const topology = (kind: string, size: number, options: Readonly<Record<string, unknown>>) =>
    topologies.create(kind, {}, { kind, size, options });
  return {
    bootTree: (hosts, arity) => {
      const tree = topology('tree', hosts + 1, { arity });
      assert(tree.kind === 'tree', 'the boot tree is a tree');
      return tree as TreeTopology;
    },
    streamTree: ({ members, topology: { kind, options = {} } }) =>
      topology(kind, members.length, options).spanningTree(0),
    launcher: () => selector.one(launcherFramework).create({}, undefined),
    errorManager: () => selector.one(errmgrFramework).create({}, undefined),
    bootcom: (kind) => selector.keyed(bootcomFramework).create(kind, { platform }, undefined),
    launcherProc: (hosts: readonly HostSpec[], inline): LauncherProc =>
      selector.keyed(launcherprocFramework).best({ hosts }).create({ platform, inline }, { hosts }),
  };
}
