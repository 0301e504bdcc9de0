/** What MPI_Comm_spawn asks for, as Open MPI passes it on. */

import { StciError, type Files, type MapBy, type Rank, type SpawnRequest, type SpawnedApp } from '@stci/interface';
import { readText, textOf, type PmixApp, type PmixInfo, type PmixRequestOf } from '@stci/pmi';
import { quote } from '@stci/registry';
import { parseHostfile } from '../job/hostfile.js';

/** Keys that are heeded. */
export const SPAWN_KEYS = ['pmix.host', 'pmix.hostfile', 'pmix.wdir', 'pmix.mapby', 'pmix.ppr'] as const;
/** Keys that say where, and cannot be heeded: key of PMIx, as MPI has it. */
const REFUSED = [['pmix.addhost', 'add-host'], ['pmix.addhostfile', 'add-hostfile']] as const;
const HOSTFILE_BYTES_MAX = 1 << 20;
/** Of the rank that spawns: others get variables of their own. */
const OF_RANK = /^(?:_|STCI_.*|PMI_.*|PMIX_(?!MCA_|INSTALL_PREFIX$).*|JSM_.*)$/u;

type Read = Files['readNamed'];

/**
 * Throws StciError, for a key that cannot be heeded. Keys that are not known are left. `read`: files of the host where
 * the rank is that spawns.
 */
export function spawnRequestOf(parent: Rank, { apps, infos }: PmixRequestOf<'spawn'>, read: Read): SpawnRequest {
  const all = [...infos, ...apps.flatMap((app) => app.infos)];
  const refused = REFUSED.find(([key]) => textOf(all, key) !== undefined);
  if (refused !== undefined) {
    const text = `key ${refused[1]} is not served: a job gets no further hosts. Name hosts of the job by the key host, `
      + 'or in a file by the key hostfile';
    throw new StciError('STCI_JOB_INVALID', text);
  }
  const mapBy = mapByOf(all);
  return {
    parent, apps: apps.map((app) => spawnedApp(app, [...app.infos, ...infos], read)),
    ...(mapBy !== undefined && { mapBy }),
  };
}

/** As of --map-by; Open MPI writes npernode as `pmix.ppr`, or, since 5, as PPR:N:NODE. */
function mapByOf(infos: readonly PmixInfo[]): MapBy | undefined {
  const perHost = textOf(infos, 'pmix.ppr');
  const text = perHost === undefined ? textOf(infos, 'pmix.mapby') : `ppr:${perHost}`;
  if (text === undefined) return undefined;
  const by = text.toLowerCase();
  if (by === 'slot' || by === 'node') return { by };
  const [, count] = /^ppr:([1-9][0-9]{0,8})(?::n|:node)?$/u.exec(by) ?? [];
  if (count !== undefined) return { by: 'ppr', perHost: Number(count) };
  throw new StciError('STCI_JOB_INVALID', `key map_by: expected slot, node or ppr:N, got ${quote(text)}`);
}

/** Keys of the program itself count before those of all. */
function spawnedApp(
  { command, args, env, cwd, processesMax }: PmixApp, infos: readonly PmixInfo[], read: Read,
): SpawnedApp {
  const text = (key: string): string | undefined => {
    const found = textOf(infos, key);
    return found === undefined ? undefined : readText(found);
  };
  const wdir = text('pmix.wdir') ?? (cwd === null ? undefined : readText(cwd));
  const named = (text('pmix.host') ?? text('pmix.hosts'))?.split(',').map((host) => host.replace(/:.*$/u, ''));
  const file = text('pmix.hostfile');
  const listed = file === undefined ? undefined : hostsOf(file, cwd === null ? undefined : readText(cwd), read);
  const hosts = listed && named ? named.filter((host) => listed.includes(host)) : listed ?? named;
  return {
    program: readText(command ?? args[0] ?? ''), args: args.slice(1).map(readText), count: processesMax,
    env: variablesOf(env.map(readText)),
    ...(wdir !== undefined && { wdir }), ...(hosts !== undefined && { hosts }),
  };
}

/** Names alone: the slots are the job's. */
function hostsOf(file: string, directory: string | undefined, read: Read): string[] {
  if (!file.startsWith('/') && directory === undefined) {
    throw new StciError('STCI_JOB_INVALID', `key hostfile: expected an absolute path, got ${quote(file)}`);
  }
  const path = file.startsWith('/') ? file : `${directory}/${file}`;
  const found = read(path, HOSTFILE_BYTES_MAX);
  if ('text' in found) return parseHostfile(path, found.text).map(({ name }) => name);
  throw new StciError('STCI_JOB_INVALID', `key hostfile: ${path} cannot be used: ${found.problem}`);
}

function variablesOf(env: readonly string[]): Record<string, string> {
  const pairs = env.map((entry) => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== '' && !OF_RANK.test(name)));
}
