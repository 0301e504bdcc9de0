/**
 * What this program is made of: every component that it can choose from. Front-end and agents assemble the same; the
 * front-end adds `groups` of parameters that are used there only.
 */

import { bootcomComponents, builtins, createRegistry, type ParamGroup, type Registry } from '@stci/core';
import { launcherLocal } from '@stci/launcher-local';
import { launcherSsh } from '@stci/launcher-ssh';
import { topologyBmg } from '@stci/topology-bmg';
import { topologyMesh } from '@stci/topology-mesh';
import { topologyTree } from '@stci/topology-tree';

export function assembleRegistry(groups: readonly ParamGroup[] = []): Registry {
  const init = builtins([
    ...bootcomComponents,
    topologyBmg,
    topologyMesh,
    topologyTree,
    launcherLocal,
    launcherSsh,
  ]);
  return createRegistry({ ...init, groups: [...(init.groups ?? []), ...groups] });
}
