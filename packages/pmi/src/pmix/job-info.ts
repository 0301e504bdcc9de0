/**
 * Job info: what a client is told of its job with its first request, for the store `hash`. It is the same for all ranks
 * of a host, and is made once. About 150 bytes a rank.
 */

import { encodeValue } from './bfrops/codecs.js';
import { Packer } from './bfrops/packing.js';
import type { BufferForm, PmixInfo, PmixKval, PmixProc, PmixValue } from './bfrops/types.js';

export interface JobInfoHost {
  /** As the host's own gethostname says it: a client finds its host by it. */
  readonly name: string;
  /** Of this job, ascending: local rank i is the i-th. */
  readonly ranks: readonly number[];
}

export interface JobInfoApp {
  readonly firstRank: number;
  readonly size: number;
}

/** What is known of single ranks beside their place. */
export interface JobInfoRank {
  /** Locality, as hwloc's locations: else Open MPI asks hwloc. */
  readonly locality?: string;
  readonly cpuset?: string;
  /** Absent: 0. */
  readonly reincarnation?: number;
}

export interface JobInfo {
  /** Unguessable, and never used twice on a host: Open MPI makes names of shared memory of it. */
  readonly nspace: string;
  readonly universeSize: number;
  readonly hosts: readonly JobInfoHost[];
  readonly apps: readonly JobInfoApp[];
  /** The job's directory on the host; and one of this namespace below, which Open MPI 4 removes at the end. */
  readonly directory: string;
  readonly nspaceDirectory: string;
  readonly server: PmixProc;
  /** The rank that spawned this job. */
  readonly parent?: PmixProc;
  readonly ranks?: ReadonlyMap<number, JobInfoRank>;
  /** Of the job: `pmix.mapby`, `pmix.bindto` and the like. */
  readonly more?: readonly (readonly [string, PmixValue])[];
}

type Pairs = readonly (readonly [string, PmixValue])[];

const text = (data: string): PmixValue => ({ type: 'string', data });
const u16 = (data: number): PmixValue => ({ type: 'uint16', data });
const u32 = (data: number): PmixValue => ({ type: 'uint32', data });
const rank = (data: number): PmixValue => ({ type: 'rank', data });

/** The keys of a job, as replies to `jobInfo`, `spawn` and `connect` hold them. */
export function jobInfoKvals(form: BufferForm, job: JobInfo): PmixKval[] {
  return [
    ...jobPairs(job).map(([key, value]) => ({ key, bytes: encodeValue(value) })),
    ...job.hosts.map((host, node) => array('pmix.node.arr', hostPairs(host, node))),
    ...job.apps.map((app, index) => array('pmix.app.arr', [
      ['pmix.appnum', u32(index)], ['pmix.app.size', u32(app.size)], ['pmix.aldr', rank(app.firstRank)],
    ])),
    ...rankBlobs(form, job),
  ];
}

/** Of the job as a whole. */
export function jobPairs(job: JobInfo): Pairs {
  const size = job.hosts.reduce((sum, host) => sum + host.ranks.length, 0);
  return [
    ['pmix.jobid', text(job.nspace)],
    ['pmix.job.size', u32(size)],
    ['pmix.max.size', u32(size)],
    ['pmix.num.nodes', u32(job.hosts.length)],
    ['pmix.job.napps', u32(job.apps.length)],
    ['pmix.univ.size', u32(job.universeSize)],
    ['pmix.nlist', text(job.hosts.map(({ name }) => name).join(','))],
    ['pmix.tmpdir', text(job.directory)],
    ['pmix.nsdir', text(job.nspaceDirectory)],
    ['pmix.srv.nspace', text(job.server.nspace)],
    ['pmix.srv.rank', rank(job.server.rank)],
    ...(job.parent === undefined ? [] : [
      ['pmix.parent', { type: 'proc', data: job.parent }], ['pmix.spawned', { type: 'bool', data: true }],
    ] as const),
    ...(job.more ?? []),
  ];
}

function hostPairs(host: JobInfoHost, node: number): Pairs {
  return [
    ['pmix.hname', text(host.name)],
    ['pmix.nodeid', u32(node)],
    ['pmix.node.size', u32(host.ranks.length)],
    ['pmix.lpeers', text(host.ranks.join(','))],
    ['pmix.lldr', rank(host.ranks[0] ?? 0)],
    ['pmix.local.size', u32(host.ranks.length)],
  ];
}

function array(key: string, pairs: Pairs): PmixKval {
  const items = pairs.map(([name, value]): PmixInfo => ({ key: name, value }));
  return { key, bytes: encodeValue({ type: 'dataArray', data: { type: 'info', items } }) };
}

function rankBlobs(form: BufferForm, job: JobInfo): PmixKval[] {
  return job.hosts.flatMap((host, node) => host.ranks.map((own, local) => {
    const app = Math.max(0, job.apps.findIndex(({ firstRank, size }) => own >= firstRank && own < firstRank + size));
    const known = job.ranks?.get(own);
    const pairs: Pairs = [
      ['pmix.lrank', u16(local)],
      ['pmix.nrank', u16(local)],
      ['pmix.nodeid', u32(node)],
      ['pmix.hname', text(host.name)],
      ['pmix.appnum', u32(app)],
      ['pmix.grank', rank(own)],
      ['pmix.apprank', rank(own - (job.apps[app]?.firstRank ?? 0))],
      ['pmix.reinc', u32(known?.reincarnation ?? 0)],
      ...(known?.locality === undefined ? [] : [['pmix.locstr', text(known.locality)] as const]),
      ...(known?.cpuset === undefined ? [] : [['pmix.cpuset', text(known.cpuset)] as const]),
    ];
    const blob = new Packer(form);
    blob.pack('rank', own);
    for (const [key, value] of pairs) blob.pack('kval', { key, bytes: encodeValue(value) });
    return { key: 'pmix.pblob', bytes: encodeValue({ type: 'byteObject', data: blob.finish() }) };
  }));
}
