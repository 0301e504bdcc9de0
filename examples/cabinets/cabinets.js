// @ts-check
/** Hosts by cabinet, and the boot tree over them. */

import { StciError } from '@stci/interface';

/**
 * The hosts of each cabinet, by index, cabinets in the order of their first hosts.
 *
 * @param {string} of parameter `launcher.cabinets.of`
 * @param {readonly string[]} names of the hosts
 * @returns {number[][]}
 */
export function cabinetsOf(of, names) {
  const keys = of === 'name' ? names.map((name) => name.replace(/\d+$/u, '')) : listed(of, names.length);
  /** @type {Map<string, number[]>} */
  const cabinets = new Map();
  for (const [host, key] of keys.entries()) {
    const hosts = cabinets.get(key);
    if (hosts === undefined) cabinets.set(key, [host]);
    else hosts.push(host);
  }
  return [...cabinets.values()];
}

/** Longest list of hosts: that of a boot tree. */
const HOSTS_MAX = 2 ** 28;

/**
 * The cabinet of each host in `cabinets:0*4,1*4`; hosts behind the list have one each.
 *
 * @param {string} of
 * @param {number} count
 */
function listed(of, count) {
  const keys = [];
  for (const run of of.replace(/^cabinets:/u, '').split(',')) {
    const [, cabinet, times = '1'] = /^(\d{1,9})(?:\*(\d{1,9}))?$/u.exec(run) ?? [];
    if (!of.startsWith('cabinets:') || cabinet === undefined || Number(times) < 1 || Number(times) > HOSTS_MAX) {
      throw new StciError('STCI_PARAM_INVALID',
        `launcher.cabinets.of = ${of}: expected name, file:PATH or cabinets:0*4,1*4 (N*COUNT: COUNT hosts of N)`);
    }
    for (let left = Math.min(Number(times), count - keys.length); left > 0; left--) keys.push(cabinet);
  }
  return Array.from({ length: count }, (_, host) => keys[host] ?? `alone ${host}`);
}

/**
 * The host that starts each host; undefined where the controller does.
 *
 * @param {readonly (readonly number[])[]} cabinets
 * @param {number} between
 * @param {number} within
 */
export function parentsOf(cabinets, between, within) {
  /** @type {(number | undefined)[]} */
  const parents = [];
  const firsts = cabinets.map(([first]) => first);
  for (const [i, hosts] of cabinets.entries()) {
    // The controller is before the first of the first hosts, and each cabinet's first host before its others.
    parents[hosts[0]] = i < between ? undefined : firsts[Math.floor((i - between) / between)];
    for (let at = 1; at < hosts.length; at++) parents[hosts[at]] = hosts[Math.floor((at - 1) / within)];
  }
  return parents;
}
