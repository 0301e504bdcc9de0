/** What every run begins with: the platform, the parameters, the request with its defaults. */

import type { Composition, ConfigFile, Registry } from '@stci/core';
import { StciError, type Params } from '@stci/interface';
import { createNodePlatform, type NodePlatform } from '@stci/platform-node';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { agentFiles } from '../agent/agent-files.js';
import { optionDefaults, type OptionDefault } from '../cli/defaults.js';
import type { Variables } from '../cli/environment.js';
import type { RunRequest } from '../cli/parse.js';
import type { Caller } from './caller.js';
import { loadRunSettings, type Settings } from '../settings/settings.js';

/** Everything that is determined before an agent is started. */
export interface Prepared extends Pick<Caller, 'wdir' | 'say'>, Pick<Settings, 'plugins'> {
  readonly request: RunRequest;
  readonly registry: Registry;
  readonly composition: Composition;
  readonly params: Params;
  readonly platform: NodePlatform;
  /** Of Slurm, where `--alloc` asked for it. */
  readonly allocation?: HeldAllocation;
  /** The same with other variables. */
  openPlatform(variables: Variables): NodePlatform;
}

export async function prepare(
  given: RunRequest,
  caller: Caller,
  withDefaults: (defaults: readonly OptionDefault[]) => Promise<RunRequest>,
): Promise<Prepared> {
  const { agents, wdir, say } = caller;
  const openPlatform = (variables: Variables | undefined): NodePlatform => createNodePlatform({
    ...agentFiles(agents),
    logLevel: process.env['STCI_DEBUG'] === '1' ? 'debug' : given.quiet ? 'error' : 'warn',
    ...caller.platform,
    variables,
  });
  const platform = openPlatform(caller.platform?.variables);
  const settings = await loadRunSettings(withSteps(given), wdir, platform.env.variables,
    (registry) => checkRetries(registry, given.mca));
  const { registry, composition, params, plugins, warnings, files } = settings;
  const request = await withDefaults(optionDefaults(params));
  if (!request.quiet) warnings.forEach(say);
  if (request.verbose) files.flatMap(fileText).forEach(say);
  return { wdir, say, request, registry, composition, params, plugins, platform, openPlatform };
}

/** `--on-failure POLICY:N` sets a parameter of the policy, which not all have. */
function checkRetries(registry: Registry, mca: RunRequest['mca']): void {
  for (const { key, origin } of mca) {
    const [, policy] = /^errmgr\.([a-z0-9]+)\.retries$/u.exec(key) ?? [];
    if (policy === undefined || !origin.startsWith('--on-failure') || registry.catalog.has(key)) continue;
    if (!registry.components('errmgr').some(({ name }) => name === policy)) continue;
    throw new StciError('STCI_USAGE', `${origin}: policy ${policy} takes no number. Write ${policy} alone.`);
  }
}

/** Traces ssh's steps with --verbose, unless the user has set the parameter. */
function withSteps({ verbose, mca, am }: RunRequest): Pick<RunRequest, 'mca' | 'am'> {
  const steps = { key: 'launcherproc.ssh.steps', value: 'true', origin: '--verbose' };
  return { am, mca: verbose && !mca.some(({ key }) => key.endsWith('.ssh.steps')) ? [steps, ...mca] : mca };
}

/** What `--verbose` reports of a file of parameters; nothing where there is none. */
function fileText({ source, path, state, reason }: ConfigFile): readonly string[] {
  if (state === 'read') return [`${source} ${path}`];
  return state === 'unreadable' ? [`${source} ${path} cannot be read: ${reason}. Going on without it.`] : [];
}
