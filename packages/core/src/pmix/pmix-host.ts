/** PMIx at a session agent: what libraries of one host have in common. */

import { entryOf, type JobId, type Rank } from '@stci/interface';
import {
  BUFFER_FORM, PMIX_RANK, encodeJobInfo, encodeRankData, jobInfoKvals, type BufferForm, type JobInfo, type JobInfoRank,
  type JobInfoReply, type PmixProc,
} from '@stci/pmi';
import { hwlocXml } from '../binding/hwloc-xml.js';
import { rangesOf, type Pair, type ProcessSet, type Range } from '../pmi/contracts.js';
import { PMIX_SERVER } from '../pmi/nspace.js';
import type { PmiHost } from '../pmi/pmi-host.js';

/** Members that one request may name. */
const PROCS_MAX = 0x10_0000;
/** That of most libraries: the one that their environment names. */
const FORM: BufferForm = BUFFER_FORM.plain;

export class PmixHost {
  readonly host: PmiHost;
  readonly #infos = new Map<string, JobInfoReply>();
  readonly #jobInfos = new Map<string, Uint8Array>();
  readonly #data = new Map<BufferForm, WeakMap<readonly Pair[], Uint8Array>>();
  #directory: string | undefined;
  readonly #unserved = new Set<number>();
  readonly #topology: string | undefined;

  constructor(host: PmiHost) {
    this.host = host;
    const { holds, node } = host.place;
    const { env } = node.platform;
    this.#topology = hwlocXml((path) => env.systemText(path));
    holds.atEnd(() => {
      if (this.#directory !== undefined) node.platform.files.removeDirectory(this.#directory);
    });
  }

  /** What each library asks first is made ready before one does. */
  prepare(): void {
    const { host } = this;
    host.whenOpen({ protocol: 'pmix', version: '' }, () => {
      for (const nspace of host.nspaces()) this.jobInfoOf(nspace, FORM);
    });
  }

  /** The answer to a library's first request; undefined as `infoOf`. */
  jobInfoOf(nspace: string, form: BufferForm): Uint8Array | undefined {
    const info = this.infoOf(nspace, form);
    return info && entryOf(this.#jobInfos, `${form} ${nspace}`, () => encodeJobInfo(form, info));
  }

  /** What a process has put, as answers to gets have it. It is encoded once: all libraries of the host are told it. */
  dataOf(proc: PmixProc, pairs: readonly Pair[], form: BufferForm): Uint8Array {
    const known = entryOf(this.#data, form, () => new WeakMap<readonly Pair[], Uint8Array>());
    let data = known.get(pairs);
    if (data === undefined) {
      data = encodeRankData(form, { proc, kvals: pairs.map(([key, bytes]) => ({ key, bytes })) });
      known.set(pairs, data);
    }
    return data;
  }

  /** What a library is told of a set of processes; undefined: it may not know of it. */
  infoOf(nspace: string, form: BufferForm): JobInfoReply | undefined {
    const key = `${form} ${nspace}`;
    const known = this.#infos.get(key);
    if (known !== undefined) return known;
    const set = this.host.setOf(nspace);
    if (set === undefined) return undefined;
    const info = { nspace, kvals: jobInfoKvals(form, this.jobInfo(set)) };
    this.#infos.set(key, info);
    return info;
  }

  jobInfo(set: ProcessSet): JobInfo {
    const { place } = this.host;
    const own = place.node.platform.env.hostname;
    this.#directory ??= place.node.platform.files.makeDirectory('stci-mpi');
    const { first, universe: universeSize, nspace, parent } = set;
    return {
      nspace, universeSize,
      hosts: set.hosts.map(([host, name, ranks]) => ({
        // A library finds its own host by what gethostname says.
        name: host === place.host ? own : name === own ? `${name}.${host}` : name,
        ranks: ranks.flatMap(([low, high]) => Array.from({ length: high - low + 1 }, (_, i) => low + i - first)),
      })),
      apps: set.apps.map(([rank, size]) => ({ firstRank: rank - first, size })),
      ranks: this.#bindings(set),
      directory: this.#directory, nspaceDirectory: `${this.#directory}/${nspace}`, server: PMIX_SERVER,
      ...(this.#topology !== undefined && { more: [['pmix.hwlocxml2', { type: 'string', data: this.#topology }]] }),
      ...(parent !== undefined && { parent: { nspace: parent[0], rank: parent[1] } }),
    };
  }

  /** Where ranks of this host are bound: else Open MPI asks hwloc. */
  #bindings({ hosts, first }: ProcessSet): Map<number, JobInfoRank> {
    const { place } = this.host;
    const own = hosts.find(([host]) => host === place.host)?.[2] ?? [];
    const bound = new Map<number, JobInfoRank>();
    for (const [low, high] of own) {
      for (let rank = low; rank <= high; rank++) {
        const binding = place.bindingOf(rank);
        if (binding !== undefined) bound.set(rank - first, { locality: binding.locality, cpuset: binding.cpus });
      }
    }
    return bound;
  }

  procOf(job: JobId, rank: Rank): PmixProc | undefined {
    const set = this.host.setOfRank(rank, job);
    return set && { nspace: set.nspace, rank: rank - set.first };
  }

  /** Undefined: no such process is known here. */
  rankOf({ nspace, rank }: PmixProc): readonly [JobId, Rank] | undefined {
    const set = this.host.setOf(nspace);
    return set === undefined || rank >= set.size ? undefined : [set.job, set.first + rank];
  }

  /** Undefined: one is not known here, or they are too many. */
  rangesOf(procs: readonly PmixProc[]): readonly Range[] | undefined {
    const [proc] = procs;
    if (procs.length === 1 && proc?.rank === PMIX_RANK.wildcard) {
      const set = this.host.setOf(proc.nspace);
      return set && [[set.job, set.first, set.first + set.size - 1]];
    }
    const ranks: (readonly [JobId, Rank])[] = [];
    for (const proc of procs) {
      const set = this.host.setOf(proc.nspace);
      const isWhole = proc.rank === PMIX_RANK.wildcard;
      if (set === undefined || ranks.length + (isWhole ? set.size : 1) > PROCS_MAX) return undefined;
      if (isWhole) for (let i = 0; i < set.size; i++) ranks.push([set.job, set.first + i]);
      else if (proc.rank < set.size) ranks.push([set.job, set.first + proc.rank]);
      else return undefined;
    }
    return rangesOf(ranks);
  }

  /** A request that is not served is logged once. */
  tellUnserved(code: number, rank: Rank): void {
    if (this.#unserved.has(code)) return;
    this.#unserved.add(code);
    const text = `rank ${rank}: request ${code} of PMIx is not served`;
    this.host.place.node.platform.log.write('info', text);
  }
}
