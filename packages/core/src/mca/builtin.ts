/**
 * What core itself adds to a registry: every framework, the components that need no package of their own, groups
 * and rules. The assembly adds the components of packages (`topology-*`, `launcher-*`) and of bootcom.
 */

import type { AnyComponent } from '@stci/interface';
import { bootcomFramework, bootcomRules } from '../bootcom/framework.js';
import { relationRule } from '../config/relations.js';
import { errmgrAbort } from '../errmgr/abort.js';
import { errmgrContinue } from '../errmgr/continue.js';
import { errmgrFramework } from '../errmgr/framework.js';
import { launcherFlat } from '../launcher/flat.js';
import { launcherFramework } from '../launcher/framework.js';
import { launcherprocFramework } from '../launcher/launcherproc-framework.js';
import { launcherTree } from '../launcher/tree.js';
import { topologyFramework } from '../topology/framework.js';
import { builtinGroups } from './groups.js';
import type { RegistryInit } from './registry.js';
import { builtinRelations } from './relations.js';

/** Core's own part, with `components` added. */
export function builtins(components: readonly AnyComponent[] = []): RegistryInit {
  return {
    frameworks: [
      bootcomFramework,
      errmgrFramework,
      launcherFramework,
      launcherprocFramework,
      topologyFramework,
    ],
    components: [
      errmgrAbort,
      errmgrContinue,
      launcherFlat,
      launcherTree,
      ...components,
    ],
    groups: builtinGroups,
    rules: [...bootcomRules, ...builtinRelations.map(relationRule)],
  };
}
