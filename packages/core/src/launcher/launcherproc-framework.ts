/**
 * Framework `launcherproc` (STCI paper, II-C), keyed: the method, how one agent is started on one host. Components
 * come as packages (`launcher-local`). Without a name the best that accepts the hosts is taken.
 */

import { defineFramework } from '@stci/interface';
import type { LauncherProc, LauncherProcDeps, LauncherProcRequest } from '@stci/interface';

export const launcherprocFramework = defineFramework<LauncherProc, LauncherProcDeps, LauncherProcRequest>({
  name: 'launcherproc',
  mode: 'keyed',
  version: 1,
  help: 'Launch method: how one agent is started on one host.',
  params: {},
});
