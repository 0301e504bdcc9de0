/**
 * Allocation: from what the user named, and the source of hosts, to the hosts of a job, each name once.
 *
 * - Of source `given`: `--host` alone, its hosts in order. A host named again gets more slots: `a,a` is a with 2,
 *   `a:2,a` is a with 3. Slots are a bound as soon as one entry of the host wrote `:N`; else they are a hint.
 *   `--hostfile` alone: the hosts of the files in order, by the same rule: a line per slot, as PBS writes them. Both:
 *   `--host` chooses among the hosts of the files, and its `:N` overrides theirs.
 * - Of any other source: all of its hosts, or those that are named, in the order in which they are named; a `:N` that
 *   is written overrides its slots.
 * - `--exclude` removes hosts from any of these.
 */

import { StciError } from '@stci/interface';
import type { AllocationDeps, AllocationRequest, HostSource, HostSpec } from '@stci/interface';
import { didYouMean, type Selector } from '@stci/registry';
import { joinHosts, parseHostfile } from '../job/hostfile.js';
import { expandHostlist } from '../job/hostlist.js';
import { allocationFramework } from './framework.js';

/** Names that are compared with a mistyped one. */
const NAMES_COMPARED_MAX = 10_000;

/** Hosts as a command names them. */
export interface NamedHosts extends AllocationRequest {
  /** Each `--exclude` as it was given. */
  readonly exclude: readonly string[];
}

/**
 * The hosts, at least one. Throws STCI_HOSTLIST_INVALID, STCI_HOSTFILE_INVALID, STCI_HOST_UNKNOWN for a host that
 * `--host`, `--hostfile` or `--exclude` names and that is not among those it chooses from, or where no host is left;
 * STCI_MCA_* where no source of hosts can be used; and what that source throws.
 */
export function allocate(selector: Selector, deps: AllocationDeps, named: NamedHosts): HostSpec[] {
  const source = selector.one(allocationFramework, named).create(deps, named);
  const hosts = source.hosts();
  return exclude(source.takesNames ? hosts : chooseAmong(source, hosts, namedHosts(named)), named.exclude);
}

/** The hosts that a request names; none where it names none. */
export function namedHosts({ hosts, hostfiles }: AllocationRequest): readonly HostSpec[] {
  const items = hosts.flatMap((list) => expandHostlist(list, { name: '--host' }));
  const named = joinHosts(items.map((item) => {
    return { ...item, slots: item.slots ?? 1, slotsBound: item.slots !== undefined, origin: '--host' };
  }));
  const filed = joinHosts(hostfiles.flatMap(({ name, text }) => parseHostfile(name, text)));
  if (filed.length === 0 || named.length === 0) return filed.length === 0 ? named : filed;
  return choose(named, filed, (name) => unknown('--host', name, 'in the host files', filed));
}

function chooseAmong(source: HostSource, all: readonly HostSpec[], named: readonly HostSpec[]): readonly HostSpec[] {
  if (named.length === 0) return all;
  return choose(named, all, (name, { origin }) => {
    return unknown(origin, name, source.place, all, ' --mca allocation=given takes names as they are.');
  });
}

function choose(
  named: readonly HostSpec[], all: readonly HostSpec[], refusal: (name: string, host: HostSpec) => StciError,
): readonly HostSpec[] {
  const byName = new Map(all.map((host) => [host.name, host]));
  return named.map((host) => {
    const found = byName.get(host.name);
    if (found === undefined) throw refusal(host.name, host);
    const { user } = host;
    return host.slotsBound ? { ...found, ...host } : { ...found, ...(user !== undefined && { user }) };
  });
}

function exclude(hosts: readonly HostSpec[], lists: readonly string[]): HostSpec[] {
  const excluded = new Set<string>();
  const names = new Set(hosts.map((host) => host.name));
  for (const list of lists) {
    for (const { name } of expandHostlist(list, { name: '--exclude' })) {
      if (!names.has(name)) throw unknown('--exclude', name, 'among the hosts of the job', hosts);
      excluded.add(name);
    }
  }
  const left = hosts.filter((host) => !excluded.has(host.name));
  if (left.length > 0) return left;
  throw new StciError('STCI_HOST_UNKNOWN', '--exclude: every host of the job is excluded. Leave at least one.');
}

function unknown(
  option: string, name: string, place: string, known: readonly HostSpec[], remedy = '',
): StciError {
  const hint = didYouMean(name, known.slice(0, NAMES_COMPARED_MAX).map((host) => host.name));
  return new StciError('STCI_HOST_UNKNOWN', `${option}: host ${name} is not ${place}.${hint}${remedy}`, { host: name });
}
