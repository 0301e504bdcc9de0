/**
 * What core itself adds to a registry: every framework, the components that need no package of their own, groups
 * and rules. The assembly adds the components of packages (`topology-*`, `launcher-*`) and of bootcom.
 */

import type { AnyComponent } from '@stci/interface';
import { relationRule, type RegistryInit } from '@stci/registry';
import { bootcomFramework, bootcomRules } from '../bootcom/framework.js';
import { detectorFramework } from '../detector/framework.js';
import { detectorLink } from '../detector/link.js';
import { detectorProcess } from '../detector/process.js';
import { detectorSporadic } from '../detector/sporadic.js';
import { detectorWatchdog } from '../detector/watchdog.js';
import { errmgrAbort } from '../errmgr/abort.js';
import { errmgrContinue, errmgrNotify } from '../errmgr/continue.js';
import { errmgrFramework } from '../errmgr/framework.js';
import { errmgrRestart } from '../errmgr/restart.js';
import { faultFramework } from '../fault/framework.js';
import { launcherFlat } from '../launcher/flat.js';
import { launcherFramework } from '../launcher/framework.js';
import { launcherprocFramework } from '../launcher/launcherproc-framework.js';
import { launcherTree } from '../launcher/tree.js';
import { notifierDirect } from '../notifier/direct.js';
import { notifierFramework } from '../notifier/framework.js';
import { notifierLazy } from '../notifier/lazy.js';
import { notifierTree } from '../notifier/tree.js';
import { pmiFramework } from '../pmi/framework.js';
import { pmi1 } from '../pmi/pmi1.js';
import { pmix } from '../pmix/pmix.js';
import { serviceFramework } from '../service/framework.js';
import { topologyFramework } from '../topology/framework.js';
import { builtinGroups } from './groups.js';
import { builtinRelations } from './relations.js';

/** Core's own part, with `components` added. */
export function builtins(components: readonly AnyComponent[] = []): RegistryInit {
  return {
    frameworks: [
      bootcomFramework,
      detectorFramework,
      errmgrFramework,
      faultFramework,
      launcherFramework,
      launcherprocFramework,
      notifierFramework,
      pmiFramework,
      serviceFramework,
      topologyFramework,
    ],
    components: [
      detectorLink,
      detectorProcess,
      detectorSporadic,
      detectorWatchdog,
      errmgrAbort,
      errmgrContinue,
      errmgrNotify,
      errmgrRestart,
      launcherFlat,
      launcherTree,
      notifierDirect,
      notifierLazy,
      notifierTree,
      pmi1,
      pmix,
      ...components,
    ],
    groups: builtinGroups,
    rules: [...bootcomRules, ...builtinRelations.map(relationRule)],
  };
}
