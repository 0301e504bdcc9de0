/**
 * Groups of hosts that a file names, for parameters with `hostGroupsAs`: a line each of a host list and a group.
 *
 *     # hosts      cabinet
 *     n[001-032]   east
 *     n[033-064]   west
 */

import { StciError, entryOf } from '@stci/interface';
import { quote } from '@stci/registry';
import { parseLines } from './hostfile.js';
import { expandHostlist } from './hostlist.js';

/** The group of each host. Throws STCI_HOSTFILE_INVALID: of each bad line, its place and what was expected. */
export function parseHostGroups(name: string, text: string): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  parseLines(name, text, (line, origin) => {
    const [list, group, ...more] = line.replace(/(^|\s)#.*$/, '').match(/\S+/g) ?? [];
    if (list === undefined) return [];
    const code = 'STCI_HOSTFILE_INVALID';
    const invalid = (what: string): StciError => new StciError(code, `${origin}: ${what}`);
    if (group === undefined || more.length > 0) {
      throw invalid(`expected a host list and the name of its group, got ${quote(line.trim())}`);
    }
    for (const { name: host, slots, user } of expandHostlist(list, { name: origin, code })) {
      if (slots !== undefined || user !== undefined) throw invalid(`expected names of hosts, got ${quote(list)}`);
      const before = groups.get(host);
      if (before !== undefined && before !== group) {
        throw invalid(`host ${host} is in ${quote(before)} and ${quote(group)}`);
      }
      groups.set(host, group);
    }
    return [];
  });
  return groups;
}

/** The groups of hosts, by their order, as numbers: `0*32,1*32`. A host that has none has a number of its own. */
export function groupRuns(groups: ReadonlyMap<string, string>, hosts: readonly string[]): string {
  const numbers = new Map<string, number>();
  const runs: [number, number][] = [];
  for (const host of hosts) {
    const group = groups.get(host);
    const key = group === undefined ? `host ${host}` : `group ${group}`;
    const number = entryOf(numbers, key, () => numbers.size);
    const last = runs.at(-1);
    if (last?.[0] === number) last[1] += 1;
    else runs.push([number, 1]);
  }
  return runs.map(([number, count]) => `${number}*${count}`).join();
}
