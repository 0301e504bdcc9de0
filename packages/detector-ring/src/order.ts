/**
 * The order of the ring (RDaemon#, 4.5): agents that die together should not be neighbours on it, since each gap of
 * the ring costs a timeout, one after another. All agents compute the same order from the same parameter.
 */

import type { Position } from '@stci/interface';

/** Host h is at position h + 1; the controller, at 0, is first in every order. */
export type RingOrder =
  | { readonly type: 'rank' }
  /** The front-end has not read it yet. */
  | { readonly type: 'file' }
  /** Hosts as they follow one another; others come after them, by number. */
  | { readonly type: 'hosts'; readonly hosts: readonly number[] }
  /** The cabinet of each host; one that is not listed has its own. */
  | { readonly type: 'cabinets'; readonly cabinets: readonly number[] };

export const ORDER_FORM =
  'rank, hosts:0,2,1,…, cabinets:0*4,1*4,… (N*COUNT for COUNT hosts in cabinet N) or file:PATH';

/** More than any session has hosts. */
const ENTRIES_MAX = 1_000_000;

/** The order that a text means; undefined if it means none. */
export function parseOrder(text: string): RingOrder | undefined {
  if (text === 'rank') return { type: 'rank' };
  if (/^file:./s.test(text)) return { type: 'file' };
  const match = /^(hosts|cabinets):(.*)$/.exec(text);
  if (match === null) return undefined;
  const [, type, list = ''] = match;
  const entries: number[] = [];
  for (const part of list.split(',')) {
    const item = /^(\d{1,9})(?:\*(\d{1,7}))?$/.exec(part.trim());
    if (item === null || (type === 'hosts' && item[2] !== undefined)) return undefined;
    const count = Number(item[2] ?? 1);
    if (entries.length + count > ENTRIES_MAX) return undefined;
    for (let i = 0; i < count; i++) entries.push(Number(item[1]));
  }
  if (type === 'cabinets') return { type: 'cabinets', cabinets: entries };
  return new Set(entries).size === entries.length ? { type: 'hosts', hosts: entries } : undefined;
}

/**
 * What is wrong with an order in a session that has so many hosts and gets no more. Cabinets may be those of more
 * hosts: one description of a machine serves jobs of any size.
 */
export function orderProblem(order: RingOrder, hosts: number): string | undefined {
  const absent = order.type === 'hosts' ? order.hosts.find((host) => host >= hosts) : undefined;
  if (absent === undefined) return undefined;
  return `there is no host ${absent}. Hosts are numbered from 0 as they are allocated: expected 0 to ${hosts - 1}`;
}

/** Indices 0..n-1 of `cabinets` in an order in which neighbours differ, around, where no cabinet has more than half. */
export function spreadCabinets(cabinets: readonly number[]): number[] {
  const groups = new Map<number, number[]>();
  cabinets.forEach((cabinet, index) => {
    const group = groups.get(cabinet);
    if (group === undefined) groups.set(cabinet, [index]);
    else group.push(index);
  });
  const largestFirst = [...groups.values()].sort((a, b) => b.length - a.length || a[0]! - b[0]!).flat();
  // The even places first, then the odd ones: members of a group are then two places apart.
  const order = new Array<number>(cabinets.length);
  const evens = Math.ceil(cabinets.length / 2);
  largestFirst.forEach((member, i) => (order[i < evens ? 2 * i : 2 * (i - evens) + 1] = member));
  return order;
}

/** `positions` as they follow one another on the ring. */
export function orderRing(order: RingOrder, positions: readonly Position[]): Position[] {
  const ascending = [...positions].sort((a, b) => a - b);
  if (order.type === 'rank' || order.type === 'file') return ascending;
  const hosts = order.type === 'hosts' ? order.hosts : spreadCabinets(order.cabinets);
  const present = new Set(ascending);
  const listed = [0, ...hosts.map((host) => host + 1)].filter((position) => present.delete(position));
  return [...listed, ...ascending.filter((position) => present.has(position))];
}
