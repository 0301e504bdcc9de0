/** The launch message of a job, and the job on the hosts that came up. */

import {
  StciError, type AllocatedJob, type AppSpec, type HostIndex, type HostSpec, type JobId, type JobMap,
  type JobSpec, type Params, type Placement, type SpawnSpec,
} from '@stci/interface';
import { counted } from '@stci/registry';
import { CREDIT_BYTES_MAX, CREDIT_BYTES_MIN } from '../am/credit.js';
import { encode } from '../codec/cbor.js';
import { jobVariables, nodeNumbers } from '../job/environment.js';
import { foldSorted } from '../job/hostset.js';
import { Ledger } from '../job/ledger.js';
import { mapJob } from '../job/map.js';
import { environmentOfJob } from '../job/slurm-variables.js';
import { launchedSize } from '../job/spawn.js';
import { takesStdin } from '../job/stdin.js';
import { validateJob } from '../job/validate.js';
import type { MembershipTable } from '../membership/table.js';
import type { Launch } from '../messages/messages.js';
import type { AgentNode } from '../node/node.js';

/** Part of the largest message that a map has at most: records are told together, and none about hosts is longer. */
const MAP_PART = 1 / 2;

/** Most bytes of a rank in a launch that names its ranks: of those that are started again on one host. */
const RESTART_BYTES = 11;

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
function mapWithin(spec: AllocatedJob, params: Params, taken: readonly number[] = []): JobMap {
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
    const what = `The job's ${counted(size, 'rank')} ${size === 1 ? 'does' : 'do'} not fit now`;
    const text = `${what}: running jobs have ${counted(used, 'rank')} on the `
      + "session's hosts. Wait for them (--wait), or ask for fewer ranks (-n). 'stci ps' shows them.";
    throw new StciError('STCI_SLOTS_EXCEEDED', text, { data: { busy: true } });
  }
}

/** What the launch of a job depends on besides the job. */
interface LaunchingSession {
  readonly node: Pick<AgentNode, 'sessionName' | 'platform' | 'tokenOf'>;
  readonly stays: boolean;
  readonly members: Pick<MembershipTable, 'get'>;
}

/**
 * The launch of a whole job; each agent forwards to a child only the hosts at and below it. Throws as `creditBytes` if
 * they are too many.
 */
export function jobLaunch(
  { node, stays, members }: LaunchingSession, job: JobId,
  { spec, map, spawns }: Pick<Ledger, 'spec' | 'map' | 'spawns'>, jobParams: Params,
  leftOut: ReadonlySet<HostIndex>,
): Launch {
  const { sessionName: session, platform } = node;
  const { apps, wdir, stdin, params } = spec;
  const present = map.hosts.filter(({ host }) => !leftOut.has(host));
  const env = {
    ...environmentOfJob(spec.env, stays ? platform.env.variables : undefined),
    ...jobVariables(present, (host) => members.get(host).network),
  };
  const numbers = nodeNumbers(present.map(({ host }) => host));
  const hosts = map.hosts
    .filter(({ runs }) => runs.length > 0)
    .map(({ host, runs }) => {
      const wireRuns = runs.map((run) => [run.app, run.first, run.count, run.stride] as const);
      return [host, numbers.get(host) as number, wireRuns] as const;
    });
  const size = launchedSize(map, spawns);
  const grown = spawns.length > 0 && { spawns };
  const token = node.tokenOf(job);
  const common = { session, size, nodes: numbers.size, apps, env, wdir, stdin, token, ...grown };
  const window = creditBytes(jobParams, spec.hosts.length);
  const launch: object = { ...common, ...(params !== undefined && { params }), creditBytes: window, hosts };
  return launch as Launch;
}

/** Throws STCI_MESSAGE_TOO_LARGE for a job that is more than its agents, or its front-end, can be told. */
export function checkBytes(launch: Launch, map: JobMap, session: Params, job: Params): void {
  const bytesMax = session.int('message.bytes.max');
  const restarts = Math.min(map.size, job.int('job.ranks.per.host.max')) * RESTART_BYTES;
  const launchBytes = encode(launch).length + restarts;
  const mapBytes = encode(map).length;
  const leastBytes = Math.max(launchBytes, Math.ceil(mapBytes / MAP_PART));
  if (leastBytes <= bytesMax) return;
  const text = `The job is too large for message.bytes.max = ${bytesMax}: its programs, arguments, environment and `
    + `hosts take ${launchBytes} bytes of a message, the map of its ranks ${mapBytes} of half of one. Raise it to at `
    + `least ${leastBytes}, or pass less by arguments and environment.`;
  throw new StciError('STCI_MESSAGE_TOO_LARGE', text, { data: { leastBytes } });
}

/** How one of its tools is started. */
export function toolSpawn(
  { apps, wdir, stdin, size }: Launch, { app, rank }: Placement, env: SpawnSpec['env'],
): SpawnSpec {
  const { program, args, wdir: own } = apps[app] as AppSpec;
  return {
    program, args, env, wdir: own ?? wdir,
    stdin: takesStdin({ stdin, size }, rank) ? 'pipe' : 'null',
    stdout: 'pipe', stderr: 'pipe', lifetime: 'guarded',
  };
}

/** What the map of a job depends on besides the job. */
interface MappingSession {
  readonly node: { readonly params: Params };
  readonly stays: boolean;
  readonly members: Pick<MembershipTable, 'hosts' | 'nameOf'>;
  readonly slots: { taken(job: JobId): readonly number[] };
}

/**
 * The ledger of a job on the hosts that came up: spares in place of the hosts they replaced, no ranks on hosts left
 * out. `launchOf`: what is to be sent for it. Throws StciError if the job cannot be run on them.
 */
export function ledgerIn(
  session: MappingSession,
  spec: JobSpec,
  params: Params,
  { hosts, leftOut, ...of }: {
    readonly job: JobId; readonly hosts: readonly HostSpec[]; readonly leftOut: ReadonlySet<HostIndex>;
    readonly submitWallMs: number;
  },
  launchOf: (ledger: Ledger) => Launch,
): Ledger {
  const placed = onHosts({ ...spec, hosts }, leftOut);
  validateJob(placed); // With fewer ranks, the rank that reads standard input may not exist.
  const map = namingLost(session, () => mapWithin(placed, params, session.slots.taken(of.job)));
  const ledger = new Ledger({ ...of, spec: placed, map });
  checkBytes(launchOf(ledger), map, session.node.params, params);
  return ledger;
}

/** Where a job of a session that stays finds no room, the error names the hosts that are lost. */
function namingLost<T>({ stays, members }: MappingSession, make: () => T): T {
  try {
    return make();
  } catch (fault) {
    const lost = stays ? members.hosts('failed', 'fenced') : [];
    if (!(fault instanceof StciError) || fault.code !== 'STCI_SLOTS_EXCEEDED' || lost.length === 0) throw fault;
    const names = foldSorted(lost.map((host) => members.nameOf(host)));
    const text = `${fault.message}\nLost, and not counted: ${names}. `
      + `'stci add-hosts ${names}' starts their agents again.`;
    throw new StciError(fault.code, text, { data: fault.data });
  }
}

function onHosts(spec: AllocatedJob, leftOut: ReadonlySet<HostIndex>): AllocatedJob {
  if (leftOut.size === 0) return spec;
  const all = [...spec.hosts.keys()];
  const apps = spec.apps.map((app) => ({ ...app, hosts: (app.hosts ?? all).filter((host) => !leftOut.has(host)) }));
  return { ...spec, apps };
}
