/** From options to what is planned, as on the command line, and for a caller of whom nothing is the process's. */

import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StciError } from '@stci/interface';
import type { HeldAllocation } from '../alloc/held-allocation.js';
import { AGENT_MAIN } from '../agent/agent-files.js';
import type { Variables } from '../cli/environment.js';
import { parseContexts } from '../cli/parse.js';
import { AGENT_THREADS, checkProcessLimit } from '../process/process-limit.js';
import type { Caller } from '../run/caller.js';
import { TIMEOUT } from '../plugin/params.js';
import { planRun, type PlannedRun } from '../run/plan-run.js';
import { prepare, type Prepared } from '../run/prepare.js';
import { contextsOf, OPTION_OF_FLAG } from './option-table.js';
import type { LaunchOptions } from './options.js';
import type { PluginWatch } from './plugin-watch.js';

/** The built programs, beside this file's folder. */
const AGENTS = fileURLToPath(new URL('../bundle', import.meta.url));

/** Of the caller's environment and directory as they are now. */
export interface Asked {
  readonly contexts: ReturnType<typeof contextsOf>;
  readonly variables: Variables;
  readonly wdir: string | undefined;
}

/** Throws STCI_USAGE naming the option. */
export function ask(options: LaunchOptions): Asked {
  const wdir = directoryOf(options);
  const contexts = contextsOf(options, wdir);
  const variables = Object.fromEntries(Object.entries(options.env ?? process.env).flatMap(([name, value]) =>
    (value === undefined ? [] : [[name, value]])));
  return { contexts, variables, wdir };
}

function directoryOf(options: { readonly wdir?: unknown } | null | undefined): string | undefined {
  const given = typeof options?.wdir === 'string' ? options.wdir : '.';
  try {
    return resolve(given);
  } catch {
    return undefined; // The process's was removed.
  }
}

/** What a caller does between the settings and the plan. */
export interface PlanHooks {
  /** Before any of a plugin's code runs. */
  watch(prepared: Prepared): Promise<unknown>;
  /** Of `alloc`: asks Slurm. */
  ask(prepared: Prepared): Promise<HeldAllocation>;
}

/** Throws StciError, or what a plugin's code throws. */
export async function planAsked(
  { contexts, variables, wdir }: Asked,
  say: Caller['say'],
  writeLog: (line: string) => void,
  { watch, ask: askFor }: PlanHooks,
): Promise<PlannedRun> {
  if (!existsSync(join(AGENTS, AGENT_MAIN))) {
    throw new StciError('STCI_LAUNCH_FAILED',
      `The agent's files are not in ${AGENTS}. Import @stci/stcirun as it is installed, not bundled elsewhere.`);
  }
  const line = await parseContexts(contexts);
  if (line.kind !== 'run') throw new StciError('STCI_INTERNAL', 'options asked for help');
  checkProcessLimit('an agent', AGENT_THREADS);
  // The directory may be one that only other hosts have.
  const isHere = wdir !== undefined && statSync(wdir, { throwIfNoEntry: false })?.isDirectory() === true;
  const caller = { agents: AGENTS, wdir, say, platform: { variables, writeLog, wdir: isHere ? wdir : '/' } };
  // What is for who shows output has no default here.
  const prepared = await prepare(line.request, caller, (defaults) =>
    line.withDefaults(defaults.filter(({ name }) => typeof OPTION_OF_FLAG[name] === 'string')));
  await watch(prepared);
  if (prepared.request.alloc === undefined) return planRun(prepared);
  const allocation = await askFor(prepared);
  try {
    const { withAllocation } = await import('../run/ask-slurm.js');
    return await planRun(withAllocation(prepared, allocation));
  } catch (thrown) {
    await allocation.release();
    throw thrown;
  }
}

/** Loaded only where there are plugins. `onFault`: what has to end the job. */
export async function watchPlugins(
  { plugins, params }: Prepared, onFault: (error: StciError) => void,
): Promise<PluginWatch | undefined> {
  if (plugins.length === 0) return undefined;
  const { watchOver } = await import('./plugin-watch.js');
  return watchOver({ plugins, timeoutMs: params.int(TIMEOUT), onFault });
}
