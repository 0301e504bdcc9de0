/** What MPI_Comm_spawn asks for, as Open MPI passes it on. */

import type { SpawnedApp } from '@stci/interface';
import { readText, textOf, type PmixApp, type PmixInfo, type PmixRequestOf } from '@stci/pmi';

/** Keys that are heeded. */
export const SPAWN_KEYS = ['pmix.host', 'pmix.wdir'] as const;
/** Of the rank that spawns: others get variables of their own. */
const OF_RANK = /^(?:_|STCI_.*|PMI_.*|PMIX_(?!MCA_|INSTALL_PREFIX$).*|JSM_.*)$/u;

export function spawnedApps({ apps, infos }: PmixRequestOf<'spawn'>): SpawnedApp[] {
  return apps.map((app) => spawnedApp(app, [...app.infos, ...infos]));
}

/** Keys of the program itself count before those of all. */
function spawnedApp({ command, args, env, cwd, processesMax }: PmixApp, infos: readonly PmixInfo[]): SpawnedApp {
  const text = (key: string): string | undefined => {
    const found = textOf(infos, key);
    return found === undefined ? undefined : readText(found);
  };
  const wdir = text('pmix.wdir') ?? (cwd === null ? undefined : readText(cwd));
  const hosts = (text('pmix.host') ?? text('pmix.hosts'))?.split(',').map((host) => host.replace(/:.*$/u, ''));
  return {
    program: readText(command ?? args[0] ?? ''), args: args.slice(1).map(readText), count: processesMax,
    env: variablesOf(env.map(readText)),
    ...(wdir !== undefined && { wdir }), ...(hosts !== undefined && { hosts }),
  };
}

function variablesOf(env: readonly string[]): Record<string, string> {
  const pairs = env.map((entry) => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== '' && !OF_RANK.test(name)));
}
