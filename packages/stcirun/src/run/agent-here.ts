/**
 * The agent of a command's own run whose only host is this machine: it lives in this process, where the controller is.
 * So one process starts in place of two, and output takes one step less. A caller of the library may compute for long,
 * and hosts under other names are there to be tried: their agents have processes of their own.
 */

import { withParams } from '@stci/core';
import { foreignHosts } from '@stci/launcher-local';
import { ownLimit } from '@stci/platform-node';
import type { PlannedRun } from './plan-run.js';

const METHOD = 'launcher.root.method';

/** The run with what its agent is, where that was left open. */
export function withAgentHere(run: PlannedRun): PlannedRun {
  if (!mayBeHere(run)) return run;
  const { params, registry, platform } = run;
  platform.processes.prepare();
  return { ...run, params: withParams(registry.catalog, params, new Map([[METHOD, 'inline']])) };
}

function mayBeHere({ session, allocation, params, platform, scope, spec, spares }: PlannedRun): boolean {
  if (session !== undefined || params.string(METHOD) !== 'auto') return false;
  // What holds an allocation outlives stcirun, to give it back; the guardian would take it for one of its programs.
  if (allocation !== undefined) return false;
  const hosts = [...spec.hosts, ...spares];
  if (hosts.length !== 1 || foreignHosts({ hosts }, platform.env.hostname.toLowerCase()).length > 0) return false;
  // Without the mark that bin/stcirun.cjs sets, daemons of programs that clear their environment would not be found.
  return ownLimit() !== undefined && scope.launchMethod(hosts) === 'local';
}
