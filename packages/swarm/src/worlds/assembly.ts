/** The registry of simulated jobs: the components of a real installation, and the launch method of the simulation. */

import {
  bootcomComponents,
  builtins,
  createRegistry,
  createComposition,
  paramsSnapshot,
  resolveParams,
  type ParamSnapshot,
  type Registry,
  type Composition,
} from '@stci/core';
import '@stci/core/services-here';
import type { AnyComponent, Params } from '@stci/interface';
import { detectorMesh } from '@stci/detector-mesh';
import { detectorRing } from '@stci/detector-ring';
import { detectorSwim } from '@stci/detector-swim';
import { faultComponents } from '@stci/finject';
import { launcherLocal } from '@stci/launcher-local';
import { launcherSsh } from '@stci/launcher-ssh';
import { notifierBmg } from '@stci/notifier-bmg';
import { notifierHypercube } from '@stci/notifier-hypercube';
import { topologyBmg } from '@stci/topology-bmg';
import { topologyMesh } from '@stci/topology-mesh';
import { topologyTree } from '@stci/topology-tree';
import { launcherRandom } from '../scenarios/launcher-random.js';
import { serviceSpawner } from '../scenarios/spawner.js';
import { launcherRemote } from './launcher-remote.js';
import { launcherTogether } from './launcher-together.js';
import { detectorWitness } from './witness.js';

const OWN: readonly AnyComponent[] = [
  detectorMesh, detectorRing, detectorSwim, detectorWitness, launcherLocal, launcherRandom, launcherRemote,
  launcherSsh, launcherTogether, notifierBmg, notifierHypercube, topologyBmg, topologyMesh, topologyTree,
  serviceSpawner, ...bootcomComponents, ...faultComponents,
];

/** Components of plugins, by framework and name. */
const added = new Map<string, AnyComponent>();

let registry: Registry = createRegistry(builtins(OWN));

/** One for all agents of all runs: it holds no state. */
export let composition: Composition = createComposition(registry);

/** Adds components of plugins, for the runs that are made from now on. */
export function addComponents(components: readonly AnyComponent[]): void {
  if (components.length === 0) return;
  for (const component of components) added.set(`${component.framework.name}:${component.name}`, component);
  registry = createRegistry(builtins([...OWN, ...added.values()]));
  composition = createComposition(registry);
}

export interface ResolvedSettings {
  readonly params: Params;
  readonly snapshot: ParamSnapshot;
}

/** `settings` by full name, as on a command line. */
export function resolveSettings(settings: Readonly<Record<string, string>>): ResolvedSettings {
  const commandLine = Object.entries(settings).map(([key, value]) => ({ key, value }));
  const { params } = resolveParams(registry.catalog, { commandLine }, registry.rules);
  return { params, snapshot: paramsSnapshot(registry.catalog, params) };
}
