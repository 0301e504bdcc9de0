/** Registry and composition of the tests: the components of an installation, parameters as on a command line. */

import {
  bootcomComponents,
  builtins,
  createRegistry,
  createComposition,
  createSelector,
  paramsSnapshot,
  resolveParams,
  type ParamSnapshot,
  type Registry,
  type Selector,
} from '@stci/core';
import '@stci/core/services-here';
import type { Facts, Params } from '@stci/interface';
import { detectorMesh } from '@stci/detector-mesh';
import { detectorRing } from '@stci/detector-ring';
import { detectorSwim } from '@stci/detector-swim';
import { launcherLocal } from '@stci/launcher-local';
import { topologyBmg } from '@stci/topology-bmg';
import { topologyMesh } from '@stci/topology-mesh';
import { topologyTree } from '@stci/topology-tree';

const registry = createRegistry(builtins([
  detectorMesh, detectorRing, detectorSwim, topologyTree, topologyBmg, topologyMesh, launcherLocal,
  ...bootcomComponents,
]));

export const composition = createComposition(registry);

export type Settings = Readonly<Record<string, string>>;

/** Of a registry of the test's own. */
export function selectorOf(own: Registry, settings: Settings = {}, facts: Facts = {}): Selector {
  const commandLine = Object.entries(settings).map(([key, value]) => ({ key, value }));
  return createSelector(own, resolveParams(own.catalog, { commandLine }, own.rules).params, facts);
}

export function resolved(settings: Settings): { params: Params; snapshot: ParamSnapshot } {
  const commandLine = Object.entries(settings).map(([key, value]) => ({ key, value }));
  const { params } = resolveParams(registry.catalog, { commandLine }, registry.rules);
  return { params, snapshot: paramsSnapshot(registry.catalog, params) };
}
