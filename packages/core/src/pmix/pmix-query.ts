/** What a library may ask of its job and of its launcher, beside what it is told at the start. */

import {
  PMIX_STATUS, PMIX_TYPE, jobPairs, textOf, type PmixData, type PmixInfo, type PmixProcInfo, type PmixQuery,
  type PmixReplyOf, type PmixTypeName, type PmixValue,
} from '@stci/pmi';
import type { ProcessSet } from '../pmi/contracts.js';
import type { PmixHost } from './pmix-host.js';
import { SPAWN_KEYS } from './pmix-spawn.js';

type Answer = (server: PmixHost, set: ProcessSet) => PmixData | undefined;

/** PMIX_PROC_STATE_RUNNING. */
const RUNNING = 5;

/** Key → the type of its value, and the value; undefined: it is not known here. */
const ANSWERS: Readonly<Record<string, readonly [type: PmixTypeName, Answer]>> = {
  'pmix.qry.keys': ['string', () => Object.keys(ANSWERS).join(',')],
  'pmix.qry.ns': ['string', ({ host }) => host.nspaces().join(',')],
  'pmix.qry.jst': ['status', () => PMIX_STATUS.success],
  'pmix.qry.lptable': ['dataArray', (server, set) => table(server, set)],
  'pmix.qry.ptable': ['dataArray', (server, set) => (set.hosts.length > 1 ? undefined : table(server, set))],
  'pmix.qry.psetnum': ['size', () => 0n],
  'pmix.qry.psets': ['string', () => ''],
  'pmix.qry.spawn': ['string', () => SPAWN_KEYS.join(',')],
  'pmix.qry.attrs': ['dataArray', () => ({ type: 'info', items: [
    attributes('PMIx_Query_info', Object.entries(ANSWERS).map(([key, [type]]) => [key, type])),
    attributes('PMIx_Spawn', SPAWN_KEYS.map((key) => [key, 'string'])),
  ] })],
};

/** Calls `done` with what is known; of sets that this host does not know the controller is asked. */
export function answerQueries(
  server: PmixHost, own: string, queries: readonly PmixQuery[],
  done: (status: number, reply: PmixReplyOf<'query'>) => void,
): void {
  const { host } = server;
  const asked = queries.flatMap(({ keys, qualifiers }) =>
    keys.map((key) => [key, nspaceOf(qualifiers) ?? own] as const));
  const foreign = [...new Set(asked.map(([, nspace]) => nspace))].filter((nspace) => host.setOf(nspace) === undefined);
  const answer = (): void => {
    const infos = asked.flatMap(([key, nspace]): PmixInfo[] => {
      const set = host.setOf(nspace);
      const value = set && valueOf(server, set, key);
      return value === undefined ? [] : [{ key, value }];
    });
    const { success, notFound, partialSuccess } = PMIX_STATUS;
    done(infos.length === asked.length ? success : infos.length > 0 ? partialSuccess : notFound, { infos });
  };
  // Ranks may have been spawned since.
  if (foreign.length > 0 || asked.some(([key]) => key === 'pmix.qry.ns')) host.learn(foreign, answer);
  else answer();
}

function nspaceOf(qualifiers: readonly PmixInfo[]): string | undefined {
  const process = qualifiers.find(({ key }) => key === 'pmix.procid')?.value;
  return process?.type === 'proc' ? process.data.nspace : textOf(qualifiers, 'pmix.nspace');
}

function valueOf(server: PmixHost, set: ProcessSet, key: string): PmixValue | undefined {
  const known = Object.hasOwn(ANSWERS, key) ? ANSWERS[key] : undefined;
  if (known === undefined) return jobPairs(server.jobInfo(set)).find(([own]) => own === key)?.[1];
  const [type, of] = known;
  const data = of(server, set);
  return data === undefined ? undefined : { type, data } as PmixValue;
}

/** Processes of this host that run. */
function table({ host: { place } }: PmixHost, set: ProcessSet): PmixData {
  const own = set.job === place.job ? set.hosts.find(([host]) => host === place.host)?.[2] ?? [] : [];
  const items: PmixProcInfo[] = [];
  for (const [low, high] of own) {
    for (let rank = low; rank <= high; rank++) {
      const process = place.processOf(rank);
      if (process === undefined) continue;
      const proc = { nspace: set.nspace, rank: rank - set.first };
      items.push({ proc, host: place.node.platform.env.hostname, ...process, state: RUNNING });
    }
  }
  return { type: 'procInfo', items };
}

function attributes(call: string, keys: readonly (readonly [key: string, type: PmixTypeName])[]): PmixInfo {
  const items = keys.map(([key, type]) => ({ name: key, key, type: PMIX_TYPE[type], descriptions: [] }));
  return { key: call, value: { type: 'dataArray', data: { type: 'regattr', items } } };
}
