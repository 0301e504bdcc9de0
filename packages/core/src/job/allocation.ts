/**
 * Allocation: from what the user named to the hosts of a job, each name once.
 *
 * - `--host` alone: its hosts in order. A host named again gets more slots: `a,a` is a with 2, `a:2,a` is a with 3.
 *   Slots are a bound as soon as one entry of the host wrote `:N`; else they are a hint.
 * - `--hostfile` alone: the hosts of the files in order, by the same rule: a line per slot, as PBS writes them.
 * - both: `--host` chooses among the hosts of the files, and its `:N` overrides theirs.
 * - none: this machine, with a slot a processor as a hint.
 * - `--exclude` removes hosts from any of these.
 */

import { StciError } from '@stci/interface';
import type { HostSpec } from '@stci/interface';
import { joinHosts, parseHostfile } from './hostfile.js';
import { expandHostlist } from './hostlist.js';
import { didYouMean } from '../config/nearest.js';
import { THIS_MACHINE } from './slots.js';

/** Names that are compared with a mistyped one. */
const NAMES_COMPARED_MAX = 10_000;

export interface AllocationRequest {
  /** Each `--host` as it was given. */
  readonly hosts: readonly string[];
  readonly hostfiles: readonly { readonly name: string; readonly text: string }[];
  /** Each `--exclude` as it was given. */
  readonly exclude: readonly string[];
  readonly thisMachine: { readonly hostname: string; readonly cpuCount: number };
}

/**
 * The hosts, at least one. Throws STCI_HOSTLIST_INVALID, STCI_HOSTFILE_INVALID, and STCI_HOST_UNKNOWN for a host that
 * `--host` or `--exclude` names and that is not among those it chooses from, or where no host is left.
 */
export function allocate(request: AllocationRequest): HostSpec[] {
  const named = namedHosts(request.hosts);
  const filed = joinHosts(request.hostfiles.flatMap(({ name, text }) => parseHostfile(name, text)));
  const all = choose(named, filed) ?? [thisMachine(request.thisMachine)];
  return exclude(all, request.exclude);
}

function thisMachine({ hostname, cpuCount }: AllocationRequest['thisMachine']): HostSpec {
  return { name: hostname, slots: Math.max(1, cpuCount), slotsBound: false, origin: THIS_MACHINE };
}

function namedHosts(lists: readonly string[]): HostSpec[] {
  const items = lists.flatMap((list) => expandHostlist(list, { name: '--host' }));
  return joinHosts(items.map((item) => {
    return { ...item, slots: item.slots ?? 1, slotsBound: item.slots !== undefined, origin: '--host' };
  }));
}

function choose(named: readonly HostSpec[], filed: readonly HostSpec[]): readonly HostSpec[] | undefined {
  if (filed.length === 0) return named.length === 0 ? undefined : named;
  if (named.length === 0) return filed;
  const byName = new Map(filed.map((host) => [host.name, host]));
  return named.map((host) => {
    const inFile = byName.get(host.name);
    if (inFile === undefined) throw unknown('--host', host.name, 'in the host files', byName.keys());
    return host.slotsBound ? { ...inFile, ...host } : inFile;
  });
}

function exclude(hosts: readonly HostSpec[], lists: readonly string[]): HostSpec[] {
  const excluded = new Set<string>();
  const names = new Set(hosts.map((host) => host.name));
  for (const list of lists) {
    for (const { name } of expandHostlist(list, { name: '--exclude' })) {
      if (!names.has(name)) throw unknown('--exclude', name, 'among the hosts of the job', names);
      excluded.add(name);
    }
  }
  const left = hosts.filter((host) => !excluded.has(host.name));
  if (left.length > 0) return left;
  throw new StciError('STCI_HOST_UNKNOWN', '--exclude: every host of the job is excluded. Leave at least one.');
}

function unknown(option: string, name: string, where: string, known: Iterable<string>): StciError {
  const hint = didYouMean(name, first(known, NAMES_COMPARED_MAX));
  return new StciError('STCI_HOST_UNKNOWN', `${option}: host ${name} is not ${where}.${hint}`, { host: name });
}

function* first(names: Iterable<string>, countMax: number): Generator<string> {
  let count = 0;
  for (const name of names) if (count++ < countMax) yield name;
}
