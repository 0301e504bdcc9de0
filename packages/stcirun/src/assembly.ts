/**
 * What this program is made of: every component that it can choose from. Front-end and agents assemble the same; the
 * front-end adds `groups` of parameters that are used there only.
 */

import {
  bootcomComponents,
  builtins,
  createRegistry,
  type ParamGroup,
  type ParamRule,
  type Registry,
} from '@stci/core';
import type { AnyComponent } from '@stci/interface';
import { detectorMesh } from '@stci/detector-mesh';
import { detectorRing } from '@stci/detector-ring';
import { detectorSwim } from '@stci/detector-swim';
import { faultComponents } from '@stci/finject';
import { launcherLocal } from '@stci/launcher-local';
import { findRelativePath, launcherSsh, sshParams } from '@stci/launcher-ssh';
import { notifierBmg } from '@stci/notifier-bmg';
import { notifierHypercube } from '@stci/notifier-hypercube';
import { topologyBmg } from '@stci/topology-bmg';
import { topologyMesh } from '@stci/topology-mesh';
import { topologyTree } from '@stci/topology-tree';
import { pluginGroup, withPlugins, type Plugin } from './plugins.js';

export function assembleRegistry(groups: readonly ParamGroup[] = [], plugins: readonly Plugin[] = []): Registry {
  return withPlugins(plugins, (added) => assemble(groups, added));
}

function assemble(groups: readonly ParamGroup[], added: readonly AnyComponent[]): Registry {
  const init = builtins([
    ...bootcomComponents,
    detectorMesh,
    detectorRing,
    detectorSwim,
    topologyBmg,
    topologyMesh,
    topologyTree,
    launcherLocal,
    launcherSsh,
    notifierBmg,
    notifierHypercube,
    ...faultComponents,
    ...added,
  ]);
  const rules = [...(init.rules ?? []), ...['client', 'options'].map(fixedPathRule)];
  return createRegistry({ ...init, rules, groups: [...(init.groups ?? []), pluginGroup, ...groups] });
}

const FILES: ReadonlySet<string> = new Set(['override', 'am file', 'project file', 'user file', 'system file']);

/** A configuration file names no file relative to the working directory, which may be another user's. */
function fixedPathRule(name: string): ParamRule {
  const param = `launcherproc.ssh.${name}`;
  return {
    param,
    check: (params) => {
      const given = params.entries().find((entry) => entry.name === param);
      if (given === undefined || !FILES.has(given.source)) return undefined;
      const { client, options } = sshParams(params.under('launcherproc.ssh'));
      const path = name === 'client' ? findRelativePath(client, []) : findRelativePath('', options);
      return path === undefined ? undefined
        : `'${path}' depends on the working directory. In a file, write an absolute path.`;
    },
  };
}
