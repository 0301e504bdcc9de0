/**
 * What this program is made of: every component that it can choose from. Front-end and agents assemble the same; the
 * front-end adds what is used there only.
 */

import {
  bootcomComponents,
  builtins,
  createRegistry,
  type ParamRule,
  type Registry,
  type RegistryInit,
} from '@stci/core';
import type { AnyComponent, AnyFramework, Params } from '@stci/interface';
import { detectorMesh } from '@stci/detector-mesh';
import { detectorRing } from '@stci/detector-ring';
import { detectorSwim } from '@stci/detector-swim';
import { faultComponents } from '@stci/finject';
import { portsProblem } from '@stci/core/component';
import { launcherLocal } from '@stci/launcher-local';
import { launcherSlurm, optionsProblem, relativeFile, slurmParams } from '@stci/launcher-slurm';
import { findRelativePath, launcherSsh, sshParams, type SshParams } from '@stci/launcher-ssh';
import { notifierBmg } from '@stci/notifier-bmg';
import { notifierHypercube } from '@stci/notifier-hypercube';
import { topologyBmg } from '@stci/topology-bmg';
import { topologyMesh } from '@stci/topology-mesh';
import { topologyTree } from '@stci/topology-tree';
import { pluginError } from '../plugin/error.js';
import type { Plugin } from '../plugin/load.js';
import { pluginGroup } from '../plugin/params.js';

const OWN: readonly AnyComponent[] = [
  ...bootcomComponents,
  detectorMesh,
  detectorRing,
  detectorSwim,
  topologyBmg,
  topologyMesh,
  topologyTree,
  launcherLocal,
  launcherSlurm,
  launcherSsh,
  notifierBmg,
  notifierHypercube,
  ...faultComponents,
];

/** Throws STCI_PLUGIN_INVALID for a plugin's component whose name another one has. */
export function assembleRegistry(more: Partial<RegistryInit> = {}, plugins: readonly Plugin[] = []): Registry {
  checkNames(plugins);
  const init = builtins([...OWN, ...(more.components ?? []), ...plugins.flatMap(({ components }) => components)]);
  const rules = [...(init.rules ?? []), ...FIXED_PATHS.map(fixedPathRule), slurmPortsRule, slurmOptionsRule];
  const frameworks = [...init.frameworks, ...(more.frameworks ?? [])];
  const groups = [...(init.groups ?? []), pluginGroup, ...(more.groups ?? [])];
  return createRegistry({ ...init, frameworks, rules, groups });
}

/** What plugins may have components of. */
export function pluginFrameworks(): readonly AnyFramework[] {
  // A link is made before there are plugins; their contract does not have it.
  return builtins().frameworks.filter(({ name }) => name !== 'bootcom');
}

function checkNames(plugins: readonly Plugin[]): void {
  if (plugins.length === 0) return;
  const nameOf = ({ framework, name }: AnyComponent): string => `${framework.name}:${name}`;
  const own = builtins(OWN).components;
  const owners = new Map(own.map((component) => [nameOf(component), 'a component of STCI itself']));
  for (const { path, components } of plugins) {
    for (const name of components.map(nameOf)) {
      const other = owners.get(name);
      if (other !== undefined) {
        throw pluginError(path, `${name} is the name of ${other}, too. Leave one out, or rename it`);
      }
      owners.set(name, `a component of plugin ${path}`);
    }
  }
}

const SLURM_PORTS = 'launcherproc.slurm.ports';
const slurmPortsRule: ParamRule = {
  param: SLURM_PORTS, check: (params) => portsProblem(params.string(SLURM_PORTS)),
};

const SLURM_OPTIONS = 'launcherproc.slurm.options';
const slurmOptionsRule: ParamRule = {
  param: SLURM_OPTIONS, check: (params) => optionsProblem(slurmParams(params.under('launcherproc.slurm')).options),
};

const FILES: ReadonlySet<string> = new Set(['override', 'am file', 'project file', 'user file', 'system file']);

/** A parameter, and the relative path that its value names. */
type FixedPath = readonly [param: string, find: (params: Params) => string | undefined];

const FIXED_PATHS: readonly FixedPath[] = [
  ['launcherproc.ssh.client', (params) => findRelativePath(ssh(params).client, [])],
  ['launcherproc.ssh.options', (params) => findRelativePath('', ssh(params).options)],
  ['launcherproc.slurm.client', (params) => findRelativePath(params.string('launcherproc.slurm.client'), [])],
  [SLURM_OPTIONS, (params) => relativeFile(slurmParams(params.under('launcherproc.slurm')).options)],
];

function ssh(params: Params): SshParams {
  return sshParams(params.under('launcherproc.ssh'));
}

/** A configuration file names no file relative to the working directory, which may be another user's. */
function fixedPathRule([param, find]: FixedPath): ParamRule {
  return {
    param,
    check: (params) => {
      const given = params.entries().find((entry) => entry.name === param);
      if (given === undefined || !FILES.has(given.source)) return undefined;
      const path = find(params);
      return path === undefined ? undefined
        : `'${path}' depends on the working directory. In a file, write an absolute path.`;
    },
  };
}
