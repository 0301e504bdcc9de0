/** The launch message of a job, and the job on the hosts that came up. */

import {
  StciError, type Address, type AllocatedJob, type HostIndex, type JobMap, type Params,
} from '@stci/interface';
import { CREDIT_BYTES_MAX, CREDIT_BYTES_MIN } from '../am/credit.js';
import type { MessageBody } from '../am/messages.js';
import { nodeNumbers } from '../job/environment.js';
import type { Ledger } from '../job/ledger.js';
import { mapJob } from '../job/map.js';
import { counted } from '../job/text.js';

export type Launch = MessageBody<'job.launch'>;

/** Least iof.window with which the output of so many hosts makes progress. */
export function windowBytesMin(hosts: number): number {
  return hosts * CREDIT_BYTES_MIN;
}

/**
 * Window of each session agent in bytes: its share of iof.window; all of them together never exceed it. Throws
 * STCI_PARAM_INVALID if the shares of so many hosts are too small.
 */
export function creditBytes(params: Params, hosts: number): number {
  const window = params.int('iof.window');
  const share = Math.floor(window / hosts);
  if (share >= CREDIT_BYTES_MIN) return Math.min(CREDIT_BYTES_MAX, share);
  const text = `iof.window = ${window} is too small for ${hosts} hosts: output of each needs ${CREDIT_BYTES_MIN} bytes `
    + `of it. Raise it to ${windowBytesMin(hosts)}.`;
  throw new StciError('STCI_PARAM_INVALID', text, { data: { name: 'iof.window', hosts } });
}

/**
 * The job's map, within the bounds of the parameters and the slots that other jobs leave (`taken`: by host). Where it
 * fits but for them, `data.busy` of the error says so.
 */
export function mapWithin(spec: AllocatedJob, params: Params, taken: readonly number[] = []): JobMap {
  const limits = {
    ranksMax: params.int('job.size.max'),
    ranksPerHostMax: params.int('job.ranks.per.host.max'),
  };
  try {
    return mapJob(spec, limits, taken);
  } catch (fault) {
    const isShort = fault instanceof StciError && fault.code === 'STCI_SLOTS_EXCEEDED' && taken.length > 0;
    if (!isShort) throw fault;
    const { size } = mapJob(spec, limits);
    const used = taken.reduce((sum, count) => sum + count, 0);
    const text = `The job's ${counted(size, 'rank')} do not fit now: running jobs have ${counted(used, 'rank')} on the `
      + "session's hosts. Wait for them (--wait), or ask for fewer ranks (-n). 'stci ps' shows them.";
    throw new StciError('STCI_SLOTS_EXCEEDED', text, { data: { busy: true } });
  }
}

/** The launch of a whole job; each agent forwards to a child only the hosts at and below it. */
export function jobLaunch(
  session: string,
  { spec, map }: Pick<Ledger, 'spec' | 'map'>,
  { leftOut, window, owner }: { leftOut: ReadonlySet<HostIndex>; window: number; owner: Address },
): Launch {
  const { apps, env, wdir, stdin, params } = spec;
  const numbers = nodeNumbers(map.hosts.map(({ host }) => host), leftOut);
  const hosts = map.hosts
    .filter(({ runs }) => runs.length > 0)
    .map(({ host, runs }) => {
      const wireRuns = runs.map((run) => [run.app, run.first, run.count, run.stride] as const);
      return [host, numbers.get(host) as number, wireRuns] as const;
    });
  const common = { session, owner, size: map.size, nodes: numbers.size, apps, env, wdir, stdin };
  const launch: object = { ...common, ...(params !== undefined && { params }), creditBytes: window, hosts };
  return launch as Launch;
}

/** The job on the hosts that came up: spares in place of the hosts they replaced, no ranks on hosts left out. */
export function onHosts(spec: AllocatedJob, leftOut: ReadonlySet<HostIndex>): AllocatedJob {
  if (leftOut.size === 0) return spec;
  const all = [...spec.hosts.keys()];
  const apps = spec.apps.map((app) => ({ ...app, hosts: (app.hosts ?? all).filter((host) => !leftOut.has(host)) }));
  return { ...spec, apps };
}
